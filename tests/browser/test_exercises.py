"""Exercises in a browser: each counts as done once the page is in the required state; also hints, answers and stored
progress."""

from urllib.parse import quote

import numpy as np
import pytest
import torch

from browser.truth import model, python_trace
from browser.visitor import Visitor, finish_exercise, with_small_picture
from playground.analysis import block, by_hand, scale
from playground.analysis.heads import measure_heads
from playground.assets import TIMELAPSE
from playground.lessons.block_boxes import boxes
from playground.lessons.registry import EXERCISES
from playground.lessons.scale import curve
from playground.lessons.timelapse import first_habits, read
from playground.lessons.training import SHARPER_BITS


def arrows(queries: torch.Tensor, keys: torch.Tensor) -> str:
    return f"arrows={by_hand.arrows_as_text(torch.cat([queries, keys]))}"


def one_way_arrows() -> str:
    """The words of an address with arrows (queries and keys) with which the tokens A and B both attend to B."""
    queries, keys = torch.zeros(9, 2), torch.zeros(9, 2)
    queries[:2, 0], keys[:2, 0] = 4, torch.tensor([-1.0, 1.0])
    return arrows(queries, keys)


def arrow_at_i() -> str:
    """The words of an address with arrows (queries and keys) with which A attends to I, the token of largest value."""
    queries, keys = torch.zeros(9, 2), torch.zeros(9, 2)
    queries[0, 0] = keys[8, 0] = 4
    return arrows(queries, keys) + "&step=values"


def strongest_head_off(layer: bool) -> str:
    """The words of an address that switch off the head that adds most to the tokens or, if `layer`, its whole layer."""
    effect = measure_heads(python_trace()).effect
    layer_number, head_number = np.unravel_index(np.nanargmax(effect), effect.shape)
    heads_off = range(python_trace().heads) if layer else [head_number]
    return f"off={quote(' '.join(f'{layer_number}.{head}' for head in heads_off))}"


def longest_push() -> str:
    stream = block.stream(python_trace())
    added_lengths, own_lengths = (lengths.median(dim=1).values for lengths in (stream.attention_length, stream.before))
    return f"step=stream&layer={int((added_lengths / own_lengths).argmax())}"


def largest_box() -> str:
    layer_boxes = boxes(model(), python_trace().tokens, python_trace().size)
    return f"box={quote(max(layer_boxes, key=lambda box: box.parameter_count).name)}"


def differing_row() -> str:
    """The words of an address that opens a row whose patch of the largest weight does not add the longest vector."""
    trace = python_trace()
    layer, prefix_count = trace.upper_layer, len(trace.prefix)
    weights = trace.weights(layer)[:, prefix_count:, prefix_count:]  # (heads, queries, patches)
    vector_lengths = weights * trace.value_norms(layer)[:, None, prefix_count:]
    head, query = (weights.argmax(-1) != vector_lengths.argmax(-1)).nonzero()[0].tolist()
    row, column = divmod(query, trace.grid[1])
    return f"look={layer}.{head}.{row}.{column}"


def lower_gradient() -> str:
    without_scale, with_scale = curve("gradient", 0.0), curve("gradient", 0.5)
    width = next(w for w, a, b in zip(scale.WIDTHS, without_scale.median, with_scale.median, strict=True) if a < b)
    return f"step=rows&dk={width}&power=0.0"


def sharp_moment() -> str:
    """The words of an address that opens the first moment at which a head is as sharp as the exercise asks for."""
    entropies = [(moment.step, moment.habits.entropy.min()) for moment in read(TIMELAPSE).moments]
    return f"moment={next(step for step, bits in entropies if bits <= entropies[0][1] - SHARPER_BITS)}"


def first_habit() -> str:
    step, heads = first_habits(read(TIMELAPSE))
    layer, head = next(iter(heads.values()))[0]
    return f"moment={step}&layer={layer}&head={head}"


def choose_told_head(page) -> None:
    """Trains both models and chooses the one with a supervised head: the page opens at that head."""
    page.get_by_role("button", name="Train now").click()
    page.get_by_text("One head is told", exact=True).click()


def suppose_least_likely_label(page) -> None:
    label = model().config.labels[int(python_trace().logits.argmin())]
    page.locator(".lesson-pick select").first.select_option(label=label)


def even_out_scores(page) -> None:
    for _ in range(8):
        page.get_by_role("slider", name="Score of B").press("ArrowRight")


def raise_score_of_a(page) -> None:
    page.get_by_role("slider", name="Score of A").press("End")


def choose_wide_start(page) -> None:
    page.get_by_text("0.1", exact=True).click()


def choose_fewest_tokens(page) -> None:
    page.get_by_role("slider", name="Tokens").press("Home")


# (page, address or function that returns an address, action there, exercises that are done afterwards)
DONE_STATES = [
    ("by_hand", arrows(torch.zeros(9, 2), torch.zeros(9, 2)), None, ("by_hand_even", "by_hand_one_role")),
    ("by_hand", one_way_arrows, None, ("by_hand_one_way",)),
    ("by_hand", arrow_at_i, None, ("by_hand_receive",)),
    ("by_hand", "temperature=1", None, ("by_hand_hot",)),
    ("by_hand", "mask=causal", None, ("by_hand_causal",)),
    ("patches", "patch=8", None, ("patches_halve",)),
    ("patches", "table=sinusoidal", None, ("patches_sines",)),
    ("patches", "positions=on", None, ("patches_told",)),
    ("shapes", "example=own&batch=2&heads=8&tokens=10", None, ("shapes_numbers",)),
    ("block", largest_box, None, ("block_largest",)),
    ("block", longest_push, None, ("block_push",)),
    ("block", "step=answer", suppose_least_likely_label, ("block_dear",)),
    ("scale", "dk=1024&power=0.0", None, ("scale_one_key",)),
    ("scale", lower_gradient, None, ("scale_lower",)),
    ("scale", "step=model", choose_wide_start, ("scale_start",)),
    ("heads", lambda: strongest_head_off(layer=False), None, ("heads_strongest",)),
    ("heads", lambda: strongest_head_off(layer=True), None, ("heads_layer_off",)),
    ("weight", differing_row, None, ("weight_differs",)),
    ("weight", "step=scores", even_out_scores, ("weight_share",)),
    ("weight", "step=scores", raise_score_of_a, ("weight_overflow",)),
    ("cost", "image=384&patch=48", None, ("cost_back",)),
    ("cost", "count=scores&other=depthwise", None, ("cost_textbook",)),
    ("two_ways", "step=shift&moved=3", None, ("two_ways_moved",)),
    ("two_ways", "step=built&reads=other", None, ("two_ways_content",)),
    ("two_ways", "step=cheaper", choose_fewest_tokens, ("two_ways_linear",)),
    ("code", "part=heads", None, ("code_output",)),
    ("training", sharp_moment, None, ("training_sharp",)),
    ("training", first_habit, None, ("training_first",)),
    ("training", "step=now", choose_told_head, ("training_told_head",)),
]


@pytest.fixture
def visitor(arrive, server):
    return arrive(Visitor, server.url)


@pytest.mark.slow
def test_every_exercise_is_done_in_its_state_and_kept(visitor):
    page, done_ids = visitor.page, []
    for name, address, action, ids in DONE_STATES:
        page.goto(f"{visitor.url}/{name}?{with_small_picture(address() if callable(address) else address)}")
        page.locator(f'.exercise[data-id="{ids[0]}"]').wait_for()
        if action:
            action(page)
        for id in ids:
            finish_exercise(page, id)
            done_ids.append(id)
    assert sorted(done_ids) == sorted(EXERCISES)
    page.locator(".overview").get_by_text(f"{len(EXERCISES)} of {len(EXERCISES)} exercises done").wait_for()
