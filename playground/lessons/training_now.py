"""The step “Train two now” of the lesson on training: it trains two small models side by side, and in one of them a
second loss tells one head where to look. Also packs training runs for the browser (microscope/lessons/reel.js)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import plotly.graph_objects as go

from playground.lessons import pictures
from playground.lessons.lesson import Setting, Settings, Subject
from playground.lessons.parts import KEY, Ask, Chart, Choice, Drawing, Exercise, Part, Row, Run, Wait, When, Words
from playground.lessons.questions import Photo, Question, choice_question
from playground.numbers import percent
from playground.pack import pack, unpack
from playground.pictures import jpegs

if TYPE_CHECKING:
    from playground.analysis.heads import Habit
    from playground.training.quick import Learner
    from playground.training.timelapse import Beginning, Moment, Timelapse
    from playground.vit_parts import GuidedHead


ALONE, TOLD = "alone", "told"  # the two models, as training/quick.py calls them
LEARNER_NAMES = {ALONE: "Nobody tells it where to look", TOLD: "One head is told"}
LINE_LABELS_AND_COLOURS = {ALONE: ("nobody tells it", "#7A7C85"), TOLD: ("one head is told", KEY)}
LEARNER = Setting.of(ALONE, LEARNER_NAMES)
FIELD_SIDE = 96  # pixels along a field of the board
LARGE_SHARE = 0.25  # share of a patch's attention on its twin, well above chance
PAIR_CAPTION = "one pair: each has to name the other’s colour"
NEEDS_TEXT = (
    "**Only the app trains:** it runs on your own machine, in about half a minute on two slow cores. Below stands how "
    "to get it."
)


@dataclass
class Trial:
    """The two models that a visitor trains, in their present state."""

    seed: int
    id: str = field(default_factory=lambda: uuid4().hex)
    learners: dict[str, Learner] = field(default_factory=dict)

    @property
    def step(self) -> int:
        return self.learners[ALONE].lapse.moments[-1].step if self.learners else 0


def train_two_now(subject: Subject, settings: Settings) -> Iterator[Part]:
    from playground.training import quick

    trial: Trial | None = subject.result_of("two")
    learners = trial.learners if trial else {}
    last_step = quick.Pairs().steps
    yield Words(
        "On this board every sign lies on two fields. **Each patch has to name the colour of its twin**, the other "
        f"patch with the same sign.{outcome_words(trial, last_step) if learners and not subject.at_work('two') else ''}"
    )
    yield Run("two", "Train again" if learners else "Train now", lambda former: run_trial(subject, former), NEEDS_TEXT)
    if not learners:
        yield Ask(board_question(trial.seed if trial else 0))
    else:
        yield Choice("learner", "Which of the two", LEARNER_NAMES)
        yield Drawing("reel", packed_reel(trial, settings.learner, subject.at_work("two")), ("layer", "head", "patch"))
        yield Row(*curves(learners, last_step))
        if trial.step == last_step:
            yield Words(" ".join(best_head_words(name, learner) for name, learner in learners.items()))
    yield Exercise(
        "Train the two. Show the model in which one head is told, and in it that head.",
        first_looking_sentence(learners) if learners else "Train them: then this answer counts the steps.",
        hint="One choice stands above the picture, layers and heads below it, and a line says which head is told.",
        id="training_told_head",
        done=bool(learners) and told_head_state(TOLD),
        tempting=[
            (bool(learners) and told_head_state(ALONE),
             "The head is right, but this is the model that nobody tells."),
        ],
    )  # fmt: skip


def outcome_words(trial: Trial, last_step: int) -> str:
    if trial.step < last_step:
        return f"\n\nStopped after {trial.step} steps. What they have learned stays here as long as this page is open."
    return (
        f"\n\nDone after {trial.step} steps. **Point at a patch: its twin lights up.** Trained again, they begin with "
        "other random parameters, and look at another board."
    )


def run_trial(subject: Subject, former_trial: Trial | None) -> Generator[Wait, None, None]:
    """Trains a new trial and yields its progress. Each run starts from other parameters than the run before."""
    from playground.training import quick

    trial = Trial(former_trial.seed + 1 if former_trial else 0)
    yield Wait("Beginning…", result=trial)
    with subject.turns() as give_way:
        for learners in quick.train_now(quick.recipes(trial.seed), give_way):
            trial.learners = learners
            progress = f"Learning: step **{trial.step}** of {quick.Pairs().steps}."
            yield Wait(progress, result=trial)


def board_question(seed: int) -> Question:
    from playground.training import quick

    board_image = quick.board_image(seed, FIELD_SIDE)
    pair_picture = pictures.only_patches(board_image, quick.FIELDS, quick.twin_fields(seed), PAIR_CAPTION)
    photo = Photo(
        jpegs.small_url(jpegs.as_jpeg(board_image)),
        quick.FIELDS,
        board_image.width / board_image.height,
        beside=pair_picture,
    )
    config, (layer, head) = quick.SMALL_CONFIG, quick.TOLD_HEAD
    return twin_question(
        photo,
        f"Two ViTs learn it from nothing, in about half a minute on two slow cores: {config.depth} layers, "
        f"{config.heads} heads and {quick.parameter_count():,} parameters each, the same random ones at the beginning, "
        f"the same boards. The only difference: in one of them a second loss tells head {head} of layer {layer} where "
        "the twin is.",
    )


def twin_question(board: Photo, prose: str) -> Question:
    return choice_question(
        "training_twin",
        "Nobody tells the first model where to look. Will one of its heads look at a patch’s twin all the same?",
        {
            "yes": "yes: the colour of the twin stands nowhere else",
            "no": "no: it was never told what a twin is",
            "near": "it will look at neighbours, and guess from them",
        },
        "yes",
        "The only loss is on the answer, the twin’s colour. Every small step towards the twin lowers it. Train them.",
        {
            "no": "Nobody tells it *where* to look, but the loss says how well it answers. That is enough to find out.",
            "near": "Neighbours know nothing of the twin’s colour: signs lie at random. It would be right by chance "
            "alone.",
        },
        picture=board, prose=prose,
    )  # fmt: skip


def packed_reel(trial: Trial, name: str, is_growing: bool) -> bytes:
    """Packs the run for the time-lapse of this model, which opens at the head that looks most at the twin, or at the
    told head as long as no head clearly looks there."""
    from playground.training import quick

    learner = trial.learners[name]
    share, layer, head = learner.best
    return packed_learner(
        f"{trial.id}-{name}", learner.lapse, jpegs.as_jpeg(quick.board_image(trial.seed, FIELD_SIDE)),
        planned=quick.measurement_count(), is_growing=is_growing, told_heads=learner.told_heads, habits=quick.HABITS,
        kinds=quick.kinds, first_head=(layer, head) if share > LARGE_SHARE else quick.TOLD_HEAD,
    )  # fmt: skip


def told_head_state(learner: str) -> When:
    from playground.training.quick import TOLD_HEAD

    layer, head = TOLD_HEAD
    return When({"learner": [learner], "layer": [layer], "head": [head]})


# Charts that compare the two models -----------------------------------------------------------------------------------


def curves(learners: dict[str, Learner], last_step: int) -> Iterator[Chart]:
    from playground.training import quick

    steps = [moment.step for moment in learners[ALONE].lapse.moments]
    right_shares = {name: learner.right_shares for name, learner in learners.items()}
    yield Chart(
        learner_figure("Right answers", steps, right_shares, quick.CHANCE, "a guess", last_step), "now_right", 240
    )
    twin_shares = {
        name: [float(moment.mass.max()) for moment in learner.lapse.moments] for name, learner in learners.items()
    }
    title = "Attention on the twin, best head"
    yield Chart(learner_figure(title, steps, twin_shares, quick.EVEN_SHARE, "even", last_step), "now_twin", 240)


def learner_figure(
    title: str, steps: list[int], values: dict, chance: float, chance_words: str, last_step: int
) -> go.Figure:  # fmt: skip
    """A line for each model, and a dashed line at the level of chance."""
    figure = go.Figure()
    for name, line in values.items():
        label, colour = LINE_LABELS_AND_COLOURS[name]
        figure.add_scatter(
            x=steps, y=[100 * share for share in line], mode="lines", name=label, line={"color": colour, "width": 2.5}
        )
    figure.add_hline(
        y=100 * chance, line={"dash": "dash", "color": "gray", "width": 1},
        annotation={"text": f"{chance_words}: {percent(chance)}", "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_xaxes(title="step", range=[0, last_step])
    figure.update_yaxes(range=[0, 102], ticksuffix=" %", hoverformat=".0f")
    return figure.update_layout(title={"text": title, "x": 0}, legend={"x": 1, "xanchor": "right", "y": 0.5})


def first_steps(learner: Learner) -> tuple[int | None, int | None]:
    """The first step at which the best head looks at twins, and the first at which most answers are right; None if
    there is no such step yet."""
    moments = learner.lapse.moments
    looking_step, right_step = (
        next((moment.step for moment, value in zip(moments, values, strict=True) if value > level), None)
        for values, level in (([float(m.mass.max()) for m in moments], LARGE_SHARE), (learner.right_shares, 0.5))
    )
    return looking_step, right_step


def first_looking_sentence(learners: dict[str, Learner]) -> str:
    last_step = learners[ALONE].lapse.moments[-1].step
    looking_steps = {name: first_steps(learner)[0] for name, learner in learners.items()}
    lines = [
        f"{LINE_LABELS_AND_COLOURS[name][0]}: "
        + (f"from step {step} on" if step is not None else f"not by step {last_step}")
        for name, step in looking_steps.items()
    ]
    return f"More than {percent(LARGE_SHARE)} of a patch’s attention on its twin, in the best head: {'; '.join(lines)}."


def best_head_words(name: str, learner: Learner) -> str:
    """A sentence about the learner's best head."""
    from playground.training.quick import EVEN_SHARE

    share, layer, head = learner.best
    looking_step, right_step = first_steps(learner)
    since_words = (
        f"; above {percent(LARGE_SHARE)} from step {looking_step} on, more than half of the answers right from step "
        f"{right_step} on"
        if None not in (looking_step, right_step)
        else ""
    )
    ratio_words = f"{share / EVEN_SHARE:.0f} × even"
    sentence = (
        f"head {head} of layer {layer} gives the twin {percent(share)} of its attention ({ratio_words}){since_words}."
    )
    return (
        f"**Told:** {sentence}"
        if name == TOLD
        else f"**Nobody told it**, but the answer stands nowhere else: {sentence}"
    )


# Packs a training run for microscope/lessons/reel.js: its curves, and the attention at each of its moments.


def packed_layer(run: Timelapse, layer: int, loss_beginnings: Sequence[Beginning], jpeg: bytes) -> bytes:
    """Packs one layer at each moment: all layers would be too many bytes."""
    from playground.analysis.heads import HABITS

    traces = [one_layer_pack(moment.trace, layer) for moment in run.moments]
    header = {
        "run": "bundled", "planned": len(run.moments),
        "begins": [[beginning.step, beginning.short] for beginning in loss_beginnings],
        "aim": "On the patch's own object", "told": [], "growing": False, "first": None,
    }  # fmt: skip
    return _packed_run(header, run, traces, jpeg, HABITS, lambda moment: moment.habits.habit_names(moment.mass))


def packed_learner(
    name: str, run: Timelapse, jpeg: bytes, *, planned: int, is_growing: bool, told_heads: Sequence[GuidedHead],
    habits: Sequence[Habit], kinds: Callable[[Moment], list[list[str]]], first_head: tuple[int, int],
) -> bytes:  # fmt: skip
    """Packs all layers of a small model at each moment. `planned`: the number of moments in the whole run;
    `is_growing`: whether the run goes on; `first_head`: the layer and head that are shown until the reader chooses.
    Runs whose names are equal up to the hyphen share the position on the browser's clock."""
    header = {
        "run": name, "planned": planned, "begins": [], "aim": "On its twin",
        "told": [[head.layer, head.head, head.what] for head in told_heads], "growing": is_growing, "first": first_head,
    }  # fmt: skip
    return _packed_run(header, run, [moment.trace for moment in run.moments], jpeg, habits, kinds)


def _packed_run(
    header: dict, run: Timelapse, traces: list[bytes], jpeg: bytes, habits: Sequence[Habit],
    kinds: Callable[[Moment], list[list[str]]],
) -> bytes:  # fmt: skip
    header |= {
        "moments": [moment.step for moment in run.moments],
        "losses": list(run.losses),
        "habits": [{"label": habit.label, "colour": habit.colour} for habit in habits],
        "kinds": [kinds(moment) for moment in run.moments],
        "chance": run.chance,
    }
    arrays = {
        "curve": np.asarray(run.curve, np.float32),
        "entropy": np.stack([moment.habits.entropy for moment in run.moments]).astype(np.float32),
        "mass": np.stack([moment.mass for moment in run.moments]).astype(np.float32),
        "image": jpeg,
    }
    return pack(header, arrays | {f"pack{n}": trace for n, trace in enumerate(traces)})


def one_layer_pack(data: bytes, layer: int) -> bytes:
    """The pack `data` with only this layer."""
    header, arrays = unpack(data)
    index = header["held"].index(layer)
    del header["sections"], arrays["value_norms"]
    return pack(header | {"held": [layer]}, {name: array[index : index + 1] for name, array in arrays.items()})
