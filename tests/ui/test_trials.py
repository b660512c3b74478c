"""Every exercise that a page checks is tried with a right answer, with all that are tempting, and with a silly one."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from browser.truth import model, seen
from streamlit.testing.v1 import AppTest
from waiting import until

from playground.analysis.heads import look
from playground.lessons import block, by_hand
from playground.lessons.words import EXERCISES, LESSONS, QUESTIONS, TEXTS
from playground.training import quick, timelapse
from playground.training.timelapse import first_with_a_habit
from playground.ui.lessons import train_now
from playground.ui.lessons.training import SHARPER
from ui.test_exercises import exercises
from ui.test_train_now import short  # noqa: F401, a fixture

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent
RIGHT, SILLY = "right", "silly"
MEADOW = {"model": "bundled", "sample": "meadow"}


def arrows(**tokens: tuple[tuple[float, float], tuple[float, float]]) -> dict[str, str]:
    """Query and key of some of the nine tokens; those of the others are 0."""
    both = torch.zeros(18, 2)
    for name, (query, key) in tokens.items():
        both["ABCDEFGHI".index(name)], both[9 + "ABCDEFGHI".index(name)] = torch.tensor([query, key])
    return {"arrows": by_hand.arrows_as_text(both)}


def start(which: str) -> dict[str, str]:
    both = by_hand.read(by_hand.start(), tokens=18)
    queries, keys = both.chunk(2)
    made = {"A": torch.cat([torch.zeros(1, 2), queries[1:]]), "all": queries}[which]
    return {"arrows": by_hand.arrows_as_text(torch.cat([made, keys if which == "A" else torch.ones(9, 2)]))}


@cache
def effect() -> np.ndarray:
    return look(seen()).effect


def heads(*spots: tuple[int, int]) -> dict[str, str]:
    return {"step": "off", "off": " ".join(f"{layer}.{head}" for layer, head in spots)}


def strongest() -> tuple[int, int]:
    return tuple(int(n) for n in np.unravel_index(np.nanargmax(effect()), effect().shape))


def another() -> tuple[int, int]:
    layer, head = strongest()
    return layer, (head + 1) % seen().heads


def elsewhere() -> tuple[int, int]:
    layer, head = strongest()
    return (layer + 1) % seen().layers, head


@cache
def pushes() -> tuple[int, int, int]:
    """The layers of the longest push beside its token, of the longest itself, and one that is neither."""
    found = block.stream(seen())
    beside = int((found.heard / found.before).median(dim=1).values.argmax())
    itself = int(found.heard.median(dim=1).values.argmax())
    return beside, itself, next(n for n in range(seen().layers) if n not in (beside, itself))


def box(largest: bool) -> dict[str, str]:
    found = block.boxes(model(), seen().tokens, seen().size)
    return {"box": (max if largest else min)(found, key=lambda one: one.weights).name}


def row(differs: bool) -> dict[str, str]:
    trace = seen()
    layer, front = trace.upper_layer, len(trace.prefix)
    weights = trace.weights(layer)[:, front:, front:]
    added = weights * trace.value_norms(layer)[:, None, front:]
    head, query = ((weights.argmax(-1) != added.argmax(-1)) == differs).nonzero()[0].tolist()
    patch = divmod(query, trace.grid[1])
    return {"step": "carries", "look": f"{layer}.{head}.{patch[0]}.{patch[1]}"}


def scores(A: float, B: float, C: float) -> dict[str, float]:
    return {"score_A": A, "score_B": B, "score_C": C}


def sharp(later: bool) -> dict[str, str]:
    steps = [(moment.step, moment.habits.entropy.min()) for moment in timelapse.read().moments]
    there = [step for step, bits in steps if bits <= steps[0][1] - SHARPER]
    return {"moment": str(there[1] if later else there[0])}


def habit(head: bool) -> dict[str, str]:
    moments = timelapse.read()
    step, found = first_with_a_habit(moments)
    with_one = {spot for spots in found.values() for spot in spots}
    spot = min(with_one) if head else next((0, n) for n in range(6) if (0, n) not in with_one)
    return {"moment": str(step), "layer": str(spot[0]), "head": str(spot[1])}


def labels() -> tuple[int, int]:
    order = seen().logits.argsort().tolist()
    return order[0], order[-1]


def trained() -> dict[str, train_now.Trial]:
    """Both have learned, for a few steps: the page shows the head that is told."""
    trial = train_now.Trial(0)
    until(lambda: not trial.before and trial.over, "the two have not learned")  # who does not ask loses their place
    return {"trial": trial}


ONE_WAY = arrows(A=((4.0, 0.0), (-1.0, 0.0)), B=((4.0, 0.0), (1.0, 0.0)))
TRIALS = [  # (page, words of its address, session state, {exercise: what it is}); what is called needs the model
    ("by_hand", start("A"), {}, {"by_hand_even": RIGHT, "by_hand_one_role": SILLY}),
    ("by_hand", start("all"), {}, {"by_hand_even": RIGHT}),
    ("by_hand", {}, {}, {"by_hand_even": SILLY, "by_hand_one_way": SILLY}),
    ("by_hand", arrows(C=((2.0, 1.0), (2.0, 1.0))), {}, {"by_hand_one_role": RIGHT}),
    ("by_hand", ONE_WAY, {}, {"by_hand_one_way": RIGHT, "by_hand_one_role": SILLY}),
    ("by_hand", arrows(A=((4.0, 0.0), (1.0, 0.0)), B=((4.0, 0.0), (1.0, 0.0))), {}, {"by_hand_one_way": SILLY}),
    ("by_hand", arrows(A=((4.0, 0.0), (0.0, 1.0)), B=((0.0, 4.0), (1.0, 0.0))), {}, {"by_hand_one_way": "back"}),
    ("by_hand", arrows(A=((4.0, 0.0), (0.0, 0.0)), I=((0.0, 0.0), (4.0, 0.0))) | {"step": "values"}, {},
     {"by_hand_receive": RIGHT}),
    ("by_hand", arrows(B=((4.0, 0.0), (0.0, 0.0)), I=((0.0, 0.0), (4.0, 0.0))) | {"step": "values"}, {},
     {"by_hand_receive": "other"}),
    ("by_hand", {"step": "values"}, {}, {"by_hand_receive": SILLY}),
    ("by_hand", {"temperature": "1"}, {}, {"by_hand_hot": RIGHT}),
    ("by_hand", {"temperature": "0.5"}, {}, {"by_hand_hot": RIGHT}),
    ("by_hand", {"temperature": "0.001"}, {}, {"by_hand_hot": "cold"}),
    ("by_hand", {"temperature": "0.05"}, {}, {"by_hand_hot": SILLY}),
    ("by_hand", {"mask": "causal"}, {}, {"by_hand_causal": RIGHT}),
    ("by_hand", {"mask": "FGHI"}, {}, {"by_hand_causal": "same"}),
    ("by_hand", {"step": "masks"}, {}, {"by_hand_causal": SILLY}),
    ("patches", {"patch": "8"}, {}, {"patches_halve": RIGHT}),
    ("patches", {"patch": "32"}, {}, {"patches_halve": "larger"}),
    ("patches", {"patch": "14"}, {}, {"patches_halve": SILLY}),
    ("patches", {"table": "sinusoidal"}, {}, {"patches_sines": RIGHT}),
    ("patches", {"table": "rotary"}, {}, {"patches_sines": "rotary"}),
    ("patches", {"step": "positions"}, {}, {"patches_sines": SILLY}),
    ("patches", {"positions": "on"}, {}, {"patches_told": RIGHT}),
    ("patches", {"order": "7"}, {}, {"patches_told": "order"}),
    ("patches", {"step": "shuffle", "after": "3"}, {}, {"patches_told": SILLY}),
    ("shapes", {"example": "own", "batch": "2", "heads": "8", "tokens": "10"}, {}, {"shapes_numbers": RIGHT}),
    ("shapes", {"example": "own", "batch": "8", "heads": "2", "tokens": "10"}, {}, {"shapes_numbers": "other"}),
    ("shapes", {"example": "own", "batch": "1", "heads": "8", "tokens": "10"}, {}, {"shapes_numbers": SILLY}),
    ("block", lambda: box(largest=True), {}, {"block_largest": RIGHT}),
    ("block", lambda: box(largest=False), {}, {"block_largest": SILLY}),
    ("block", lambda: {"step": "stream", "layer": str(pushes()[0])}, {}, {"block_push": RIGHT}),
    ("block", lambda: {"step": "stream", "layer": str(pushes()[1])}, {}, {"block_push": "longest"}),
    ("block", lambda: {"step": "stream", "layer": str(pushes()[2])}, {}, {"block_push": SILLY}),
    ("block", {"step": "answer"}, lambda: {"class_index": labels()[0]}, {"block_dear": RIGHT}),
    ("block", {"step": "answer"}, lambda: {"class_index": labels()[1]}, {"block_dear": SILLY}),
    ("heads", lambda: heads(strongest()), {}, {"heads_strongest": RIGHT, "heads_layer_off": SILLY}),
    ("heads", lambda: heads(strongest(), another()), {}, {"heads_strongest": "several"}),
    ("heads", lambda: heads(another()), {}, {"heads_strongest": "other"}),
    ("heads", lambda: heads(another(), elsewhere()), {}, {"heads_layer_off": "column"}),
    ("heads", lambda: heads(*((strongest()[0], n) for n in range(seen().heads))), {}, {"heads_layer_off": RIGHT}),
    ("heads", {"step": "off"}, {}, {"heads_strongest": SILLY, "heads_layer_off": SILLY}),
    ("weight", lambda: row(differs=True), {}, {"weight_differs": RIGHT}),
    ("weight", lambda: row(differs=False), {}, {"weight_differs": "same"}),
    ("weight", {"step": "carries"}, {}, {"weight_differs": SILLY}),
    ("weight", {"step": "scores"}, scores(-50.0, -50.0, -99.0), {"weight_share": RIGHT}),
    ("weight", {"step": "scores"}, scores(5.0, 5.0, 4.0), {"weight_share": "third", "weight_overflow": SILLY}),
    ("weight", {"step": "scores"}, scores(8.0, 0.0, -8.0), {"weight_share": SILLY}),
    ("weight", {"step": "scores"}, scores(89.0, 0.0, 0.0), {"weight_overflow": RIGHT}),
    ("weight", {"step": "scores"}, scores(88.0, 88.0, 88.0), {"weight_overflow": RIGHT}),
    ("weight", {"step": "scores"}, scores(-100.0, 0.0, 0.0), {"weight_overflow": "small"}),
    ("cost", {"image": "384", "patch": "48"}, {}, {"cost_back": RIGHT}),
    ("cost", {"image": "384", "patch": "32"}, {}, {"cost_back": RIGHT}),
    ("cost", {"image": "384", "patch": "8"}, {}, {"cost_back": "finer"}),
    ("cost", {"image": "224", "patch": "48"}, {}, {"cost_back": "small"}),
    ("cost", {"image": "1024"}, {}, {"cost_back": SILLY}),
    ("cost", {"count": "scores", "other": "depthwise"}, {}, {"cost_textbook": RIGHT}),
    ("cost", {"count": "scores", "step": "formulas"}, {}, {"cost_textbook": "one"}),
    ("cost", {"step": "formulas"}, {}, {"cost_textbook": SILLY}),
    ("two_ways", {"step": "shift", "moved": "3"}, {}, {"two_ways_moved": RIGHT}),
    ("two_ways", {"step": "shift", "moved": "2"}, {}, {"two_ways_moved": SILLY}),
    ("two_ways", {"step": "cheaper"}, {"cheap_tokens": 64}, {"two_ways_linear": RIGHT}),
    ("two_ways", {"step": "cheaper"}, {"cheap_tokens": 16384}, {"two_ways_linear": "most"}),
    ("two_ways", {"step": "cheaper"}, {"cheap_tokens": 196}, {"two_ways_linear": SILLY}),
    ("code", {"part": "heads"}, {}, {"code_output": RIGHT}),
    ("code", {"part": "layer"}, {}, {"code_output": "layer"}),
    ("code", {"part": "mlp"}, {}, {"code_output": SILLY}),
    ("training", lambda: sharp(later=False), {}, {"training_sharp": RIGHT}),
    ("training", lambda: sharp(later=True), {}, {"training_sharp": "later", "training_first": SILLY}),
    ("training", {"moment": "0"}, {}, {"training_sharp": SILLY}),
    ("training", lambda: habit(head=True), {}, {"training_first": RIGHT}),
    ("training", lambda: habit(head=False), {}, {"training_first": "head"}),
    ("training", {"step": "now"}, {}, {"training_told_head": SILLY}),
    ("training", {"step": "now", "learner": quick.TOLD}, lambda: trained(), {"training_told_head": RIGHT}),
    ("training", {"step": "now", "learner": quick.ALONE}, lambda: trained(), {"training_told_head": "alone"}),
]  # fmt: skip


def test_every_exercise_is_tried_with_all_kinds_of_answers():
    tried = {(id, kind) for _, _, _, expected in TRIALS for id, kind in expected.items()}
    texts = (text for name, text in TEXTS.items() if name not in LESSONS)  # those are in lessons/test_lessons.py
    every = [one for text in texts for step in text.steps.values() for one in step.exercises if one.id]
    wanted = {(one.id, kind) for one in every for kind in (RIGHT, SILLY, *one.tempting)}
    assert {id for id, _ in wanted} < {*EXERCISES}
    assert sorted(wanted - tried) == []
    assert sorted(tried - wanted) == []


def names(trial: tuple) -> str:
    return " ".join(f"{id}:{kind}" for id, kind in trial[3].items())


@pytest.mark.parametrize(("page", "words", "state", "expected"), TRIALS, ids=map(names, TRIALS))
@pytest.mark.usefixtures("short")
def test_an_answer_is_what_it_is(page, words, state, expected):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state["guessed"] = set(QUESTIONS)
    app.query_params |= MEADOW | (words() if callable(words) else words)
    for key, value in (state() if callable(state) else state).items():
        app.session_state[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    said = {one["id"]: one for one in exercises(app)}
    told = {one.id: one for step in TEXTS[page].steps.values() for one in step.exercises}
    for id, kind in expected.items():
        why = told[id].tempting.get(kind, "")
        assert (bool(said[id]["done"]), said[id]["why"]) == (kind == RIGHT, why), id
