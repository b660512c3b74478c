"""The words and numbers of the lesson "what a weight is not", and its softmax of three scores against Python's."""

import math

import numpy as np
import pytest
import torch
from twins import in_javascript

import playground
from lessons.playing import flat_parts, parts_of
from playground import samples
from playground.analysis import block
from playground.analysis.explain import RANK_CORRELATIONS
from playground.lessons import weight
from playground.lessons.parts import Ask, Choice, Table, Wait, Words
from playground.serving import effort, worked
from playground.serving.cache import MB, Cache
from playground.serving.here import Here

pytestmark = pytest.mark.usefixtures("nothing_fetched")


def sentences(step: str, **state: object) -> str:
    parts = flat_parts(parts_of("weight", step, **state))
    return " ".join(part.text for part in parts if isinstance(part, Words))


# Scores ---------------------------------------------------------------------------------------------------------------

POWERS = """
const text = (of) => Object.fromEntries(Object.entries(of).map(([name, values]) => [name, [...values].map(String)]));
return given.map(nine.powersOf).map(text);
"""


def test_a_difference_of_scores_is_a_ratio_of_weights():
    text = sentences("scores")
    assert f"e⁸ = {math.exp(8):,.0f} times" in text
    assert f"e⁻⁸ = {math.exp(-8):.5f} times" in text


def test_the_browser_s_powers_and_weights_are_those_of_32_bit_numbers():
    rows = [[8, 0, -8], [88, 88, 88], [1000, 0, -8], [-100, 0, 0], [89, -100, 88], [3, 3, 3]]
    for row, numbers in zip(np.float32(rows), in_javascript(["nine"], POWERS, rows), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            plain_powers, stable_powers = np.exp(row), np.exp(row - row.max())
            expected = {
                "plain": plain_powers,
                "naive": plain_powers / plain_powers.sum(),
                "stable": stable_powers,
                "weights": stable_powers / stable_powers.sum(),
            }
        for name, values in expected.items():
            browser_values = [float(text.replace("Infinity", "inf")) for text in numbers[name]]
            np.testing.assert_allclose(browser_values, values, rtol=1e-6, atol=1e-44, err_msg=f"{name} of {row}")


# Tokens with long vectors ---------------------------------------------------------------------------------------------


class SubjectWithLengths:
    """Stands for a subject whose tokens have these lengths."""

    def __init__(self, small_trace, lengths: block.Lengths):
        self.trace, self.cached, self.name = lambda: small_trace, lambda key, make: lengths, "meadow"


def test_the_words_about_lengths_say_whether_a_model_has_outliers(small_trace):
    plain_lengths = block.Lengths(torch.full((1, 4, 4), 2.0), torch.ones(1, 1))
    assert "It does *not* have the outliers" in weight.lengths_in_words(SubjectWithLengths(small_trace, plain_lengths))
    plain_lengths.patches[0, 1, 1] = 20
    text = weight.lengths_in_words(SubjectWithLengths(small_trace, plain_lengths))
    assert "**10.0 ×**" in text
    assert "1 stands beyond" in text
    assert "It has the outliers" in text


# Does the map explain? ------------------------------------------------------------------------------------------------


def test_with_many_tokens_the_picture_is_blanked_only_on_request(monkeypatch):
    from playground.analysis import occlusion

    monkeypatch.setattr(weight, "MOST_TOKENS_AT_ONCE", 100)  # so that 196 patches count as too many
    monkeypatch.setattr(occlusion, "sides_of", lambda grid: [7])  # few blocks
    monkeypatch.setattr(occlusion, "FEWEST_BLOCKS", 3)
    *_, question, choice = parts_of("weight", "explain")
    assert isinstance(question, Ask), "the question needs no blanking"
    assert isinstance(choice, Choice)
    assert choice.label == "Blank the picture, block by block: 10 passes"
    text = sentences("explain", blank="yes")
    assert "4 blocks of 7 × 7 patches were blanked" in text
    assert "hardly more than chance" in text
    assert "**The cut edge.** The far patch that is most like patch" in text
    assert "the measurement is coarser" not in text


def test_the_question_comes_before_anything_is_blanked(monkeypatch):
    from playground.analysis import occlusion

    block_counts, real_moved = [], occlusion.Blanking.moved
    monkeypatch.setattr(
        occlusion.Blanking, "moved", lambda it, blocks: block_counts.append(len(blocks)) or real_moved(it, blocks)
    )
    subject = Here({"sample": "meadow", "model": "bundled"})
    empty_cache = Cache(60 * MB, size=worked.size)
    monkeypatch.setattr(worked, "shared_results", lambda: empty_cache)  # an empty cache
    part_stream = weight.explain(subject, weight.LESSON.defaults())
    assert isinstance(next(part_stream), Ask)
    assert isinstance(next(part_stream), Wait)
    assert not block_counts


def test_the_maps_stand_beside_a_random_and_a_constant_map():
    question = weight.explain_question(RANK_CORRELATIONS, 3, ["a", "b", "c", "d", "e", "f"], 1.0)
    assert question.truth == "rollout"
    assert "for 12 patches of 4 drawings" in question.asks
    assert "a map that is the same everywhere 0.00" in question.says
    (table,) = (part for part in flat_parts(parts_of("weight", "explain")) if isinstance(part, Table))
    scores = dict(table.rows)
    assert scores["a map that is the same everywhere"] == "0.00"
    assert abs(float(scores["a map drawn at random"])) < 0.4 < float(scores["rollout, all layers"])


def test_on_a_slow_server_larger_blocks_are_blanked_and_the_page_says_so(monkeypatch):
    """The measurement of the cut edge takes six of the passes."""
    monkeypatch.setattr(effort, "passes_in_time", lambda *_: 30)
    text = sentences("explain")
    assert "16 blocks of 4 × 4 patches were blanked" in text
    assert "Blocks of 2 × 2 patches would need 49 passes" in text
    assert "**The cut edge.**" in text


def test_the_question_about_the_small_model_stands_beside_one_of_its_drawings_whatever_is_on_view():
    portrait = Here({"sample": "portrait", "model": "bundled"})
    parts = weight.explain(portrait, weight.LESSON.defaults())
    asked = next(part for part in parts if isinstance(part, Ask)).question
    assert weight.ASKED_SAMPLE in RANK_CORRELATIONS
    assert (
        asked.picture == next(part for part in parts_of("weight", "explain") if isinstance(part, Ask)).question.picture
    )


@torch.no_grad()
def carried_by_hand(trace, layer: int, head: int, token: int) -> float:
    """‖LayerScale · W_O v‖ of a token, divided by the median of all tokens, from the weights of the layer."""
    block, d = trace.vit.blocks[layer], trace.vit.config.width // trace.heads
    handed = trace.record[layer].v[head].float() @ block.attn.proj.weight[:, head * d : (head + 1) * d].T
    lengths = (handed * getattr(block.ls1, "gamma", torch.tensor(1.0))).norm(dim=-1).sort().values
    own = (handed[token] * getattr(block.ls1, "gamma", torch.tensor(1.0))).norm()
    return float(own / lengths[(len(lengths) - 1) // 2])


def test_dinov2_has_both_kinds_of_sink(really_here):
    """One patch of the coffee gets 99.98 % from layer 0, head 5: it carries much, one vector for all. The class token,
    which layer 0, head 3 listens to on the cameraman, carries little."""
    really_here("photographs")
    really_here("dinov2-small")
    vit = playground.load("dinov2-small")
    for name, head, share, kind in (("coffee", 5, 0.9, "same"), ("camera", 3, 0.3, "little")):
        sample = samples.named(name)
        size = tuple(side * vit.config.patch_size for side in sample.look.grid)
        trace = playground.trace(vit, playground.open_image(sample.path), size=size)
        row = trace.weights(0)[head].mean(0)
        token = int(row.argmax())
        carried = float(trace.value_norms(0)[head][token] / trace.value_norms(0)[head].median())
        assert row[token] > share, (name, float(row[token]))
        assert carried == pytest.approx(carried_by_hand(trace, 0, head, token), rel=1e-3)
        assert (carried < 1) == (kind == "little"), (name, carried)
