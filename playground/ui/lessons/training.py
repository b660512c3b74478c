"""The page of the training: a time-lapse that ships with the playground, beside a run that was told where to look, and
two small models trained on the spot."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from playground.assets import TIMELAPSE
from playground.lessons.settings import Setting, Steps
from playground.lessons.words import training as said
from playground.pack import unpack
from playground.samples import named
from playground.serving import pictures
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.lessons import train_now, two_runs
from playground.ui.lessons.reel import Film, show
from playground.ui.messages import plain

STEPS = said.TEXT.titles
STEP = said.TEXT.steps["timelapse"]
MOST = 20  # layers or heads in an address
SHARPER = 2  # bits: by so much entropy has to fall until attention is called sharp

state = st.session_state


def steps() -> dict[str, str]:
    """Those whose files are there."""
    there = {"timelapse": has_lapse(), "pair": has_lapse() and two_runs.is_there(), "now": True}
    return {step: title for step, title in STEPS.items() if there[step]}


def settings() -> dict[str, Setting]:
    moments = [moment.step for moment in lapse().moments] if has_lapse() else [0]
    layer, head = two_runs.BEST  # what it has learned
    return {
        "moment": Setting.of(moments[-1], moments),
        "layer": Setting.of(layer, range(MOST)),
        "head": Setting.of(head, range(MOST)),
        "learner": train_now.LEARNER,
        "patch": Setting.of("", ["", *(f"{row},{column}" for row in range(64) for column in range(64))]),
        "step": Steps.by(steps(), **{step: words for step, words in said.TEXT.settings.items() if step in steps()}),
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
        st.info(STEP.said["none"])
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
    from playground.training.timelapse import first_with_a_habit

    seen = lapse()
    first = first_with_a_habit(seen)
    if first is not None:
        _guess_when(first[0], seen)
    with guess.after("training_when") if first is not None else nullcontext():
        _watch(here, seen, first)


def _watch(here: Here, seen, first: tuple | None) -> None:
    if here.picture.name != seen.sample:
        st.info(STEP.said["another"].format(sample=_title(seen.sample)), icon=":material/info:")
    show(_film(), seen)
    st.caption(STEP.said["always"].format(sample=_title(seen.sample)))
    _what_it_was_asked(seen)
    _exercises(seen, first)


def _guess_when(step: int, seen) -> None:
    """At which step does the first head have a habit?"""
    curve, begun = seen.curve[seen.curve[:, 0] > 0], seen.moments[0]
    some = curve[np.unique(np.geomspace(1, len(curve), 60).astype(int) - 1)]
    total = some[:, 1:].sum(1)
    spread, tokens = 2 ** begun.habits.entropy.mean(), unpack(begun.trace)[0]["tokens"]
    prose = STEP.prose.format(spread=spread, tokens=tokens)
    guess.ask(said.when(step, seen.moments[-1].step, some[:, 0].tolist(), (total / total[0]).tolist(), prose))


def _film() -> Film:
    found = lapse()
    if "lapse_film" not in state:
        picture = pictures.sample(found.sample)
        state.lapse_film = Film("bundled", picture, len(found.moments), whole=False, begins=_begins())
    return state.lapse_film


def _begins() -> tuple:
    from playground.training.recipe import Emergent
    from playground.training.timelapse import begun

    return begun(Emergent(), lapse())


def _what_it_was_asked(seen) -> None:
    """What was taught and what was not: nobody should take a taught map for something that emerged."""
    from playground.training.recipe import Emergent

    asked = "\n".join(f"- *{name}*: {said.LOSSES[name]}" for name in seen.losses if name in said.LOSSES)
    changes = "\n".join(f"- step {one.step:,}: {one.says}" for one in _begins())
    lesson.say(STEP.after, asked=asked, changes=changes, longer=Emergent().longer)


def _exercises(seen, first: tuple | None) -> None:
    """Those for which this run has an answer."""
    done, numbers = {}, {}
    if sharp := _sharp(seen):
        later = sharp.step < state.moment < seen.moments[-1].step  # the last one is where everybody begins
        done["training_sharp"] = state.moment == sharp.step or (later and "later")
        numbers |= {"bits": _bits(seen), "fewer": SHARPER, "sharp": sharp.step} | _when_sharp(seen, sharp)
    if first is not None:
        step, habits = first
        there = any((state.layer, state.head) in found for found in habits.values())
        done["training_first"] = state.moment == step and (there or "head")
        found = "; ".join(f"*{kind}*: {_named(heads)}" for kind, heads in habits.items())
        numbers |= {"first": step, "found": found}
    some = tuple(one for one in STEP.exercises if one.id in done)
    lesson.exercises(replace(STEP, exercises=some), done, **numbers)


def _bits(seen) -> float:
    return float(seen.moments[0].habits.entropy.min()) - SHARPER


def _sharp(seen):
    """The first moment with a head that is so much sharper than any was at the beginning; None if there is none."""
    return next((moment for moment in seen.moments if moment.habits.entropy.min() <= _bits(seen)), None)


def _when_sharp(seen, sharp) -> dict[str, object]:
    losses = seen.curve[:, 1:].sum(1)
    at = min(int(np.searchsorted(seen.curve[:, 0], sharp.step)), len(losses) - 1)
    share = (losses[0] - losses[at]) / (losses[0] - losses[-1])
    return {"share": share, "when": "After" if share > 0.5 else "Before"}


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
