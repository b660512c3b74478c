"""The page of the training: a time-lapse that ships with the playground, beside a run that was told where to look, and
two small models trained on the spot."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import streamlit as st

from playground.assets import TIMELAPSE
from playground.lessons.questions import Lines, Mark, Number, Series
from playground.pack import unpack
from playground.samples import named
from playground.serving import pictures
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons import train_now, two_runs
from playground.ui.lessons.reel import Film, show
from playground.ui.messages import plain
from playground.ui.navigation import Setting, Steps

STEPS = {"timelapse": "1 · From fog to structure", "pair": "2 · Told or not?", "now": "3 · Train two now"}
MOST = 20  # layers or heads in an address
SHARPER = 2  # bits: by so much entropy has to fall until attention is called sharp
LOSSES = {  # of the bundled model's run, see workshop/distil.py
    "class": "what kinds of things a drawn scene shows",
    "features": "DINOv2's feature of each patch",
    "picture": "DINOv2's feature of the whole picture",
    "rest": "the average of the patches that DINOv2 finds alike to a patch, the patch itself left out: their colours, "
    "features and places",
}

state = st.session_state


def steps() -> dict[str, str]:
    """Those whose files are there."""
    there = {"timelapse": has_lapse(), "pair": has_lapse() and two_runs.is_there(), "now": True}
    return {step: title for step, title in STEPS.items() if there[step]}


def settings() -> dict[str, Setting]:
    moments = [moment.step for moment in lapse().moments] if has_lapse() else [0]
    layer, head = two_runs.best_of(lapse())[1] if has_lapse() else (0, 0)  # what its best head has learned
    return {
        "moment": Setting.of(moments[-1], moments),
        "layer": Setting.of(layer, range(MOST)),
        "head": Setting.of(head, range(MOST)),
        "learner": train_now.LEARNER,
        "patch": Setting.of("", ["", *(f"{row},{column}" for row in range(64) for column in range(64))]),
        "step": Steps.by(steps(), now=("learner",)),
    }


def has_lapse() -> bool:
    return TIMELAPSE.is_file()


def lapse():
    return _read(TIMELAPSE, TIMELAPSE.stat().st_mtime)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read(file: Path, changed: float):
    from playground.training import timelapse

    return timelapse.read(file)


def stage(here: Here) -> None:
    """Drawn again every second as long as this person's models wait or learn, which also keeps their place."""
    if not has_lapse():
        st.info(
            "The time-lapse of the bundled model is made of a run by `python -m playground.training.timelapse RUN`."
        )
    ticking = train_now.learning()
    st.fragment(_stage, run_every=1.0 if ticking else None)(here, ticking)


def _stage(here: Here, ticking: bool) -> None:
    before = train_now.before()
    match state.step:
        case "timelapse":
            _timelapse(here)
        case "pair":
            two_runs.show()
        case "now":
            train_now.show(before)
    if train_now.learning() != ticking:
        st.rerun()  # the whole page: only that can begin or end the looking every second


# The time-lapse -------------------------------------------------------------------------------------------------------


def _timelapse(here: Here) -> None:
    from playground.training.beginnings import first_with_a_habit

    seen = lapse()
    first = first_with_a_habit(seen)
    if first is not None:
        _guess_when(first[0], seen)
    with guess.after("training_when") if first is not None else nullcontext():
        _watch(here, seen, first)


def _watch(here: Here, seen, first: tuple | None) -> None:
    if here.picture.name != seen.sample:
        st.info(f"The moments of this run are kept for *{_title(seen.sample)}* alone.", icon=":material/info:")
    show(_film(), seen)
    st.caption(f"Always on *{_title(seen.sample)}*. Between two moments the picture is blended.")
    st.markdown(_what_it_was_asked(seen))
    _exercises(seen, first)


def idea(seen) -> str:
    begun = seen.moments[0]
    tokens = unpack(begun.trace)[0]["tokens"]
    return (
        "One run of the bundled model, from its first step to its last. At step 0 chance decides whom a patch listens "
        f"to: a row spreads over about {2 ** begun.habits.entropy.mean():.0f} of the {tokens} tokens (2 to the power "
        "of its entropy). **Play**, and watch how the attention of one patch changes."
    )


def _guess_when(step: int, seen) -> None:
    """At which step does the first head have a habit?"""
    curve = seen.curve[seen.curve[:, 0] > 0]
    some = curve[np.unique(np.geomspace(1, len(curve), 60).astype(int) - 1)]
    total = some[:, 1:].sum(1)
    last = seen.moments[-1].step
    guess.number(
        "training_when",
        "A head has a **habit** if it does something that can be named on average: it stays near, say, or listens to "
        "patches of the same colour. The first head has one after ▢ steps.",
        Number(10, last, log=True), step,
        f"Of {last:,} steps, and no loss asked it to. It is the first of the moments that were kept.",
        prose=idea(seen),
        tempting=(
            ((0.5 * last, last), "The losses still fall there, but slowly: what is easy is learned early."),
            ((10, max(11, step / 6)), "The losses fall at once, for the answers can first be learned without looking "
             "anywhere: what is frequent."),
        ),
        picture=Lines(
            tuple(float(n) for n in some[:, 0]),
            (Series("sum of the losses", tuple((total / total[0]).tolist()), lesson.QUERY),),
            0, 1.05, "step", title="How far the losses have fallen", log_x=True,
            marks=(Mark(step, f"the first habit: step {step:,}"),),
        ),
    )  # fmt: skip


def _film() -> Film:
    found = lapse()
    if "lapse_film" not in state:
        picture = pictures.sample(found.sample)
        state.lapse_film = Film("bundled", picture, len(found.moments), whole=False, begins=_begins())
    return state.lapse_film


def _begins() -> tuple:
    from playground.training.beginnings import begun
    from playground.training.recipe import Emergent

    return begun(Emergent(), lapse())


def _what_it_was_asked(seen) -> str:
    """What was taught and what was not: nobody should take a taught map for something that emerged."""
    from playground.training.recipe import Emergent

    lines = [f"- step {one.step:,}: {one.says}" for one in _begins()]
    asked = [f"- *{name}*: {LOSSES[name]}" for name in seen.losses if name in LOSSES]
    return "\n".join(
        [
            "**This model was told which average to predict, and not where to look.** No loss reads its attention "
            "weights, and none knows the objects' masks. But the average is over patches that its teacher chose, and "
            "whoever looks at those knows it. Its losses ask it to predict:\n",
            *asked,
            "\nWhat changes on the way, drawn as dotted lines in the charts:\n",
            *lines,
            "\nNot all of its first parameters are small random numbers: the positions begin as sines and cosines, and "
            f"queries and keys are {Emergent().longer:g} times as long as usual. Otherwise all rows would be nearly "
            "even at first, and it would take longer to learn from them.",
        ]
    )


def _exercises(seen, first: tuple | None) -> None:
    if sharp := _sharp(seen):
        lesson.exercise(
            f"Stop the clock at the first moment at which a head has {_bits(seen):.1f} bits of entropy or less: "
            f"{SHARPER} fewer than the sharpest head had at step 0. Is that before or after most of the losses' fall?",
            _when_sharp(seen, sharp),
            hint="Each line of the chart *Entropy of the heads* is a head. Follow the lowest.",
            done=state.moment == sharp.step, id="training_sharp",
        )  # fmt: skip
    if first is not None:
        lesson.exercise(
            "Go to the first moment at which a head has a habit, and choose such a head.",
            _first_words(*first),
            hint="In the chart *Habits* each row is a head. Grey is no habit; click a field in another colour.",
            done=state.moment == first[0] and any((state.layer, state.head) in found for found in first[1].values()),
            id="training_first",
        )  # fmt: skip


def _bits(seen) -> float:
    return float(seen.moments[0].habits.entropy.min()) - SHARPER


def _sharp(seen):
    """The first moment with a head that is so much sharper than any was at the beginning; None if there is none."""
    return next((moment for moment in seen.moments if moment.habits.entropy.min() <= _bits(seen)), None)


def _when_sharp(seen, sharp) -> str:
    losses = seen.curve[:, 1:].sum(1)
    at = min(int(np.searchsorted(seen.curve[:, 0], sharp.step)), len(losses) - 1)
    share = (losses[0] - losses[at]) / (losses[0] - losses[-1])
    when = "After" if share > 0.5 else "Before"
    return f"{when}: at step {sharp.step:,} the sum of the losses has done {share:.0%} of all its falling."


def _first_words(step: int, habits: dict) -> str:
    return f"At step {step:,}: " + "; ".join(f"*{kind}*: {_named(heads)}" for kind, heads in habits.items()) + "."


def _named(heads: list[tuple[int, int]]) -> str:
    """ "head 0 of layer 2, heads 1 and 4 of layer 3" """
    layers: dict[int, list[str]] = {}
    for layer, head in heads:
        layers.setdefault(layer, []).append(str(head))
    said = []
    for layer, (*most, last) in layers.items():
        said.append(f"head{'s' if most else ''} {', '.join(most)}{' and ' if most else ''}{last} of layer {layer}")
    return ", ".join(said)


def _title(name: str) -> str:
    sample = named(name)
    return sample.title if sample else plain(name)
