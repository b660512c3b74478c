"""The page of the training: a time-lapse that ships with the playground, and a small model trained on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from playground.assets import TIMELAPSE
from playground.pack import unpack
from playground.samples import named
from playground.serving import pictures
from playground.serving.session import Session
from playground.ui import guess
from playground.ui.lessons import train_now, two_runs
from playground.ui.lessons.reel import Film, show
from playground.ui.messages import plain
from playground.ui.navigation import Setting

LAPSE, PAIR, NOW = "timelapse", "pair", "now"
SHOWS = {LAPSE: "The bundled model", PAIR: "With masks, and without", NOW: "Train one now"}
MOST = 20  # layers or heads in an address
SHARPER = 2  # bits: by so much entropy has to fall until attention is called sharp

state = st.session_state


def idea() -> str:
    before = "every patch listens to nearly all patches"
    if has_lapse():
        first = lapse().moments[0]
        tokens = unpack(first.trace)[0]["tokens"]
        before = f"every patch listens to about {2 ** first.habits.entropy.mean():.0f} of the {tokens} tokens"
    return (
        f"At step 0 the weights are random: no score has a reason, and {before}. Each step changes the weights a "
        "little, so that the losses fall. **Play**, and watch how the attention of one patch changes."
    )


def settings() -> dict[str, Setting]:
    steps = [moment.step for moment in lapse().moments] if has_lapse() else [0]
    layer, head = two_runs.best_of(lapse())[1] if has_lapse() else (0, 0)  # what its best head has learned
    return {
        "run": Setting.of(LAPSE if has_lapse() else NOW, SHOWS),
        "moment": Setting.of(steps[-1], steps),
        "layer": Setting.of(layer, range(MOST)),
        "head": Setting.of(head, range(MOST)),
        "learner": train_now.LEARNER,
        "patch": Setting.of("", ["", *(f"{row},{column}" for row in range(64) for column in range(64))]),
    }


def has_lapse() -> bool:
    return TIMELAPSE.is_file()


def lapse():
    return _read(TIMELAPSE, TIMELAPSE.stat().st_mtime)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read(file: Path, _: float):
    from playground.training import timelapse

    return timelapse.read(file)


# The page -------------------------------------------------------------------------------------------------------------


def chooser() -> None:
    if has_lapse():
        st.segmented_control(
            "Whose training", SHOWS, key="run", format_func=SHOWS.get, required=True, label_visibility="collapsed"
        )
    else:
        st.info(
            "The time-lapse of the bundled model is made of a run by `python -m playground.training.timelapse RUN`."
        )


def stage(here: Session) -> None:
    """Drawn again every second as long as this person's model waits or learns, which also keeps their place."""
    ticking = train_now.learning()
    st.fragment(_stage, run_every=1.0 if ticking else None)(here, ticking)


def lapse_begins() -> tuple:
    from playground.training.beginnings import begun
    from playground.training.recipe import Emergent

    return begun(Emergent(), lapse())


def _what_was_told(begins: tuple, where: str) -> None:
    """What was taught and what was not: nobody should take a taught map for something that emerged."""
    lines = [f"- step {one.step:,}: {one.says};" for one in begins]
    told = any(one.told for one in begins)
    opening = (
        "**This model was told where to look.** "
        if told
        else "**Nobody told this model where to look:** no loss reads its attention weights, and none knows the "
        "objects' masks. What its heads do follows from what it has to predict: DINOv2's features of each patch, and "
        "what the rest of the patch's thing looks like. "
    )
    rest = (
        " No loss looked at the weights of any other head, but the losses on the patches, which know the objects, ask "
        "for features that need them."
        if told
        else ""
    )
    st.markdown(f"{opening}What begins in this run ({where}):\n\n" + "\n".join(lines)[:-1] + f".\n\n{rest.strip()}")


def guess_when() -> None:
    """At which step does the first head have a habit?"""
    if not has_lapse() or state.run != LAPSE:
        return
    from playground.training.beginnings import first_with_a_habit

    first = first_with_a_habit(lapse())
    if first is None:
        return
    steps = [moment.step for moment in lapse().moments]
    guess.choice(
        "training_when", "After how many steps does the first head do something that can be named?",
        {str(step): f"{step:,}" for step in steps},
        lambda: guess.Truth(str(first[0]), f" Of {steps[-1]:,} steps, and no loss asked it to."),
    )  # fmt: skip


def answers() -> tuple[str, str]:
    """What the two exercises of the page find in the run that ships with the app."""
    if not has_lapse():
        return "", ""
    from playground.training import beginnings

    seen, begins = lapse(), lapse_begins()
    return _when_sharp(seen), _first_words(
        beginnings.first_with_a_habit(seen), begins, beginnings.outcome(begins, seen)
    )


def _when_sharp(seen) -> str:
    begun = float(seen.moments[0].habits.entropy.min())
    losses = seen.curve[:, 1:].sum(1)
    sharp = next((m for m in seen.moments if m.habits.entropy.min() < begun - SHARPER), None)
    if sharp is None:
        return f"It does not in this run: no head is ever {SHARPER} bits below where it began."
    at = min(int(np.searchsorted(seen.curve[:, 0], sharp.step)), len(losses) - 1)
    share = (losses[0] - losses[at]) / (losses[0] - losses[-1])
    when = "Later" if share > 0.5 else "Early"
    return (
        f"{when}. The sharpest head begins at {begun:.1f} bits. The first moment at which a head is {SHARPER} bits "
        f"below that is step {sharp.step:,}; by then the losses have done {share:.0%} of all their falling."
    )


def _first_words(first, begins: tuple, found) -> str:
    if first is None:
        return "No head has taken up a habit in this run."
    step, habits = first
    named = "; ".join(
        f"*{kind}*: " + ", ".join(f"layer {layer}, head {head}" for layer, head in heads)
        for kind, heads in habits.items()
    )
    asked = any(one.told and one.step <= step for one in begins)
    words = f"The first ones are there at step {step:,} ({named})" + ("; " if asked else "; no loss asked for it. ")
    if asked:
        words += "some heads had been told where to look by then. "
    if found is None:
        return words
    gathered = next(one for one in begins if one.loss == "gathered")
    scenes = any(one.step == gathered.step and not one.loss for one in begins)
    layer, head = found.others_head
    return (
        words + f"Of the heads that stay on *whole objects*, {len(gathered.told)} were taught to: from step "
        f"{gathered.step:,} on, a loss with the objects' masks asks just these for it. Their mean share on the patch's "
        f"own object is {found.told_before:.0%} at step {found.before:,}, before that, and {found.told_after:.0%} at "
        "the end. "
        + ("At the same step close-ups give way to whole scenes, so the jump has two causes. " if scenes else "")
        + f"The best of all other heads, head {head} of layer {layer}, reaches {found.others_best:.0%} without having "
        "been asked, but the losses on the patches, which know the objects too, ask for features that need it."
    )


def _stage(here: Session, ticking: bool) -> None:
    before = train_now.before()
    if state.run == LAPSE:
        if here.picture.name != lapse().sample:
            st.info(f"The moments of this run are kept for *{_title(lapse().sample)}* alone.", icon=":material/info:")
        show(_lapse_film(), lapse())
        st.caption(
            f"One run of the bundled model, from its first random weights to the end; always on "
            f"*{_title(lapse().sample)}*. Between two moments the picture is blended."
        )
        _what_was_told(lapse_begins(), "dotted lines in the charts")
    elif state.run == PAIR and two_runs.is_there():
        two_runs.show()
    else:
        train_now.show(before)
    if train_now.learning() != ticking:
        st.rerun()  # the whole page: only that can begin or end the looking every second


def _lapse_film() -> Film:
    found = lapse()
    if "lapse_film" not in state:
        state.lapse_film = Film(
            "bundled", pictures.sample(found.sample), len(found.moments), whole=False, begins=lapse_begins()
        )
    return state.lapse_film


def _title(name: str) -> str:
    sample = named(name)
    return sample.title if sample else plain(name)
