"""The lesson on training: the attention of one patch at a dozen moments of a run, a run that was told where to look,
and two models that train here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from playground.assets import TIMELAPSE
from playground.lessons.colours import QUERY
from playground.lessons.lesson import Lesson, Settings, Step, Subject
from playground.lessons.parts import After, Ask, Drawing, Exercise, Fold, Part, When, Words
from playground.lessons.questions import Lines, Mark, Number, Question, Series
from playground.lessons.settings import Setting, Written
from playground.lessons.training_now import LEARNER, now
from playground.lessons.training_pair import BEST, pair
from playground.lessons.training_reel import of_a_layer
from playground.pictures.jpegs import smaller
from playground.samples import named

if TYPE_CHECKING:
    from playground.training.timelapse import Beginning, Head, Moment, Timelapse

LAYERS = 6  # of the model in the time-lapse
SIDE = 640  # pixels of the picture
MOST_HEADS = 20  # in an address
SHARPER = 2  # bits: attention is called sharp when its entropy has fallen by so much
LOSSES = {  # of the bundled model's run, see workshop/distil.py
    "class": "what kinds of things a drawn scene shows",
    "features": "DINOv2’s feature of each patch",
    "picture": "DINOv2’s feature of the whole picture",
    "rest": "the average of the patches that DINOv2 finds similar to a patch, itself left out: their colours, "
    "texture, features and places",
}


@lru_cache(maxsize=1)
def timelapse_run() -> Timelapse:
    from playground.training import timelapse

    return timelapse.read(TIMELAPSE)


def beginnings() -> tuple[Beginning, ...]:
    from playground.training.recipe import Emergent
    from playground.training.timelapse import begun

    return begun(Emergent(), timelapse_run())


# The time-lapse -------------------------------------------------------------------------------------------------------


def timelapse(subject: Subject, chosen: Settings) -> Iterator[Part]:
    from playground.training.recipe import Emergent
    from playground.training.timelapse import first_with_a_habit

    run = timelapse_run()
    step, habits = first_with_a_habit(run)
    yield Ask(when_a_habit(step, run))
    losses = "\n".join(f"- *{name}*: {LOSSES[name]}" for name in run.losses)
    changes = "\n".join(f"- step {one.step:,}: {one.says}" for one in beginnings())
    layer = min(chosen.layer, LAYERS - 1)
    jpeg = smaller(subject.sample(run.sample).jpeg, SIDE)
    blob = subject.kept(("timelapse", layer), lambda: of_a_layer(run, layer, beginnings(), jpeg))
    yield After(
        "training_when",
        Drawing("reel", blob, ("moment", "layer", "head", "patch")),
        Words(f"Always on *{named(run.sample).title}*. Between two moments the picture is blended.", small=True),
        Words(
            "**This model was told which average to predict, and not where to look.** No loss reads its attention "
            "weights; none knows the objects’ masks. But its teacher chose the patches of the average, and whoever "
            "looks at those knows it."
        ),
        Fold("More: what its losses ask it to predict", Words(losses)),
        Fold("More: what changes on the way, the dotted lines of the charts", Words(changes)),
        Fold(
            "More: how its parameters begin",
            Words(
                "Not all are small random numbers. Positions begin as sines and cosines; queries and keys are "
                f"{Emergent().longer:g} times as long as usual. Otherwise all rows would be nearly even at first, and "
                "it would take longer to learn from them."
            ),
        ),
        sharp_exercise(run),
        first_exercise(run, step, habits),
    )


def when_a_habit(step: int, run: Timelapse) -> Question:
    """Asks at which step the first head has a habit."""
    from playground.pack import unpack

    curve = run.curve[run.curve[:, 0] > 0]
    some = curve[np.unique(np.geomspace(1, len(curve), 60).astype(int) - 1)]
    total = some[:, 1:].sum(1)
    first = run.moments[0]
    prose = (
        "One run of the bundled model. At step 0 chance decides whom a patch listens to: a row spreads over about "
        f"{2 ** first.habits.entropy.mean():.0f} of the {unpack(first.trace)[0]['tokens']} tokens. After your guess "
        "**play**: the attention of one patch changes."
    )
    return when(step, run.moments[-1].step, some[:, 0].tolist(), (total / total[0]).tolist(), prose)


def when(step: int, last: int, at: Sequence[float], losses: Sequence[float], prose: str) -> Question:
    """`losses`: at the steps `at`, their sum, of which the first is 1. The first head has a habit at `step`."""
    return Question(
        "training_when",
        "A head has a **habit** if what it does on average has a name: it stays near, say, or listens to the same "
        "colour. The first head has one after ▢ steps.",
        Number(10, last, log=True), step,
        f"The whole run has {last:,} steps. No loss asked for this habit. Only some moments of the run were kept, "
        "so it may have come a little earlier.",
        prose=prose,
        tempting=(
            ((0.5 * last, last), "The losses still fall there, but slowly: what is easy is learned early."),
            ((10, max(11, step / 6)), "The losses fall at once, but at first because the model learns what is "
             "frequent; for that no patch has to look at another one."),
        ),
        picture=Lines(
            tuple(at), (Series("sum of the losses", tuple(losses), QUERY),),
            0, 1.05, "step", title="How far the losses have fallen", log_x=True,
            marks=(Mark(step, f"the first habit: step {step:,}"),),
        ),
    )  # fmt: skip


def sharp_exercise(run: Timelapse) -> Exercise:
    bits, sharp = sharp_bits(run), first_sharp(run)
    share = share_of_the_fall(run, sharp)
    later = [moment.step for moment in run.moments[:-1] if moment.step > sharp.step]  # the last is where all begin
    return Exercise(
        f"Stop the clock at the first moment at which a head has {bits:.1f} bits of entropy or less: {SHARPER} fewer "
        "than the sharpest head had at step 0. Is that before or after most of the losses’ fall?",
        f"{'After' if share > 0.5 else 'Before'}: at step {sharp.step:,} the sum of the losses has done {share:.0%} of "
        "all its falling.",
        hint="Each line of the chart *Entropy of the heads* is a head. Follow the lowest.",
        id="training_sharp",
        done=When({"moment": [sharp.step]}),
        answers=tuple(
            (
                when,
                "" if (when == "after") == (share > 0.5) else f"The losses have done {share:.0%} of their fall there.",
            )
            for when in ("before", "after")
        ),
        tempting=[(When({"moment": later}), "A head is sharp enough here, but it was so at an earlier moment.")],
    )


def sharp_bits(run: Timelapse) -> float:
    return float(run.moments[0].habits.entropy.min()) - SHARPER


def first_sharp(run: Timelapse) -> Moment:
    return next(moment for moment in run.moments if moment.habits.entropy.min() <= sharp_bits(run))


def share_of_the_fall(run: Timelapse, moment: Moment) -> float:
    """How much of all its falling the sum of the losses has done by this moment."""
    losses = run.curve[:, 1:].sum(1)
    at = min(int(np.searchsorted(run.curve[:, 0], moment.step)), len(losses) - 1)
    return float((losses[0] - losses[at]) / (losses[0] - losses[-1]))


def first_exercise(run: Timelapse, step: int, habits: dict[str, list[Head]]) -> Exercise:
    heads = sorted({head for with_habit in habits.values() for head in with_habit})
    named_heads = "; ".join(f"*{kind}*: {in_words(with_habit)}" for kind, with_habit in habits.items())
    return Exercise(
        "Go to the first moment at which a head has a habit, and choose such a head.",
        f"At step {step:,}: {named_heads}.",
        hint="In the chart *Habits* each row is a head. Grey is no habit; click a field in another colour.",
        id="training_first",
        done=tuple(When({"moment": [step], "layer": [layer], "head": [head]}) for layer, head in heads),
        tempting=[(When({"moment": [step]}), "The moment is right. Choose a head that is not grey.")],
    )


def in_words(heads: list[Head]) -> str:
    """ "head 0 of layer 2, heads 1 and 4 of layer 3" """
    layers: dict[int, list[str]] = {}
    for layer, head in heads:
        layers.setdefault(layer, []).append(str(head))
    groups = []
    for layer, (*most, last) in layers.items():
        groups.append(f"head{'s' if most else ''} {', '.join(most)}{' and ' if most else ''}{last} of layer {layer}")
    return ", ".join(groups)


SETTINGS: dict[str, Setting] = {
    "moment": Written("", pattern=r"\d{1,6}"),  # nothing: the last one
    "layer": Setting.of(BEST[0], range(MOST_HEADS)),
    "head": Setting.of(BEST[1], range(MOST_HEADS)),
    "learner": LEARNER,
    "patch": Written("", pattern=r"\d{1,2},\d{1,2}"),
}
FIRST_HABITS = 1  # the layer in which heads first have one; a test holds it

LESSON = Lesson(
    "training",
    "A model begins with random parameters. Each step of its training changes them a little, so that its **losses** "
    "fall: numbers that say how far its answers are from those that it should give.",
    SETTINGS,
    {
        "timelapse": Step(
            "1 · From fog to structure", timelapse, "training_when", ("training_sharp", "training_first"),
            ("moment", "layer", "head", "patch"),
            ahead=({"layer": (FIRST_HABITS, BEST[0])},),
            beyond=f"This page has layers {FIRST_HABITS} and {BEST[0]}; the app has all {LAYERS}.",
        ),
        "pair": Step("2 · Told or not?", pair, "training_told"),
        "now": Step(
            "3 · Train two now", now, "training_twin", ("training_told_head",), ("learner", "layer", "head", "patch")
        ),
    },
)  # fmt: skip
