"""The page of the training: a time-lapse that ships with the playground, and a small model trained on the spot."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl
from uuid import uuid4

import numpy as np
import streamlit as st

from playground.assets import TIMELAPSE
from playground.pack import pack, unpack
from playground.samples import named
from playground.serving import pictures
from playground.serving.pictures import Picture
from playground.serving.queue import OVER, SERVED, Queue, Ticket, pieces
from playground.serving.session import Session
from playground.ui import guess
from playground.ui.components import component
from playground.ui.messages import plain
from playground.ui.navigation import Setting, write_address

LAPSE, NOW = "timelapse", "now"
SHOWS = {LAPSE: "The bundled model", NOW: "Train one now"}
FIRST_LAYER = 4  # where the bundled model's heads look at objects
MOST = 20  # layers or heads in an address

state = st.session_state


def settings() -> dict[str, Setting]:
    steps = [moment.step for moment in lapse().moments] if has_lapse() else [0]
    return {
        "run": Setting.of(LAPSE if has_lapse() else NOW, SHOWS),
        "moment": Setting.of(steps[-1], steps),
        "layer": Setting.of(FIRST_LAYER, range(MOST)),
        "head": Setting.of(0, range(MOST)),
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


# What goes to the browser ---------------------------------------------------------------------------------------------


@dataclass
class Film:
    """A run as one person sees it. Bytes that the browser has are not sent again."""

    run: str
    picture: Picture
    planned: int  # moments, when all is done
    whole: bool  # all layers at once: they are few and small
    begins: tuple = ()  # see training/beginnings.py
    sent: set[tuple[int, int]] = field(default_factory=set)  # (step, layer); of a whole one -1 stands for all
    built: tuple = (None, b"")

    def forget(self) -> None:
        """The browser has nothing: it was on another page, or what was sent has been lost."""
        self.sent.clear()
        self.built = (None, b"")

    def blob(self, seen, growing: bool, view: dict, view_id: str) -> bytes:
        """Unchanged as long as nothing has changed. `seen` is a Timelapse."""
        layer = -1 if self.whole else view["layer"]
        key = (len(seen.moments), growing, view_id, layer)
        if self.built[0] != key:
            self.built = (key, self._build(seen, growing, view, view_id, layer))
        return self.built[1]

    def _build(self, seen, growing: bool, view: dict, view_id: str, layer: int) -> bytes:
        from playground.analysis.heads import HABITS

        moments, packs = seen.moments, []
        arrays = {
            "curve": np.asarray(seen.curve, np.float32),
            "entropy": np.stack([moment.habits.entropy for moment in moments]).astype(np.float32),
            "mass": np.stack([moment.mass for moment in moments]).astype(np.float32),
        }
        if not self.sent:
            arrays["image"] = self.picture.jpeg
        for moment in moments:
            if (moment.step, layer) not in self.sent:
                name = f"pack{len(packs)}"
                arrays[name] = moment.trace if self.whole else layer_of(moment.trace, layer)
                packs.append({"step": moment.step, "section": name})
                self.sent.add((moment.step, layer))
        header = {
            "format": "attention-playground/reel-1",
            "run": self.run,
            "moments": [moment.step for moment in moments],
            "planned": self.planned,
            "begins": [[one.step, one.short] for one in self.begins],
            "losses": list(seen.losses),
            "habits": [{"label": habit.label, "colour": habit.colour} for habit in HABITS],
            "kinds": [moment.habits.kinds(moment.mass) for moment in moments],
            "growing": growing,
            "packs": packs,
            "view": view,
            "view_id": view_id,
        }
        return pack(header, arrays)


def layer_of(data: bytes, layer: int) -> bytes:
    """One layer of a pack that holds several."""
    header, arrays = unpack(data)
    layer = min(layer, header["layers"] - 1)
    place = header["held"].index(layer)
    del header["sections"]
    return pack(header | {"held": [layer]}, {name: array[place : place + 1] for name, array in arrays.items()})


def show(film: Film, seen, growing: bool = False) -> None:
    asked = state.pop("reel_asked", None)
    arrived = f"{film.run}-{state.here.view_id}"
    if (asked and asked.get("run") == film.run) or state.get("reel_arrived") != arrived:
        film.forget()
    state.reel_arrived = arrived
    view = {name: state[name] for name in ("moment", "layer", "head", "patch")}
    if film.whole:
        view["moment"] = seen.moments[-1].step
    data = film.blob(seen, growing, view, arrived)
    component("reel", "shell/training.js", "lessons/reel.css", box="<div data-reel></div>")(
        key="reel", data=data, default={"view": ""}, on_view_change=_on_view, on_ask_change=_on_ask
    )


def _on_view() -> None:
    """What the browser shows goes into the address; the moment only where a link can find it again."""
    said = dict(parse_qsl(str(state.reel.view)[:200]))
    for name in ("moment", "layer", "head", "patch"):
        if name != "moment" or state.run == LAPSE:
            state[name] = state.settings[name].read(said.get(name))
    write_address()


def _on_ask() -> None:
    asked = state.reel.ask
    if isinstance(asked, dict):
        state.reel_asked = asked
        state.layer = state.settings["layer"].read(str(asked.get("layer")))


# Training on the spot -------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def _queue() -> Queue:
    return Queue()


class Trial:
    """One person's small model: a place in the queue, then a run, then what it has come to."""

    def __init__(self, picture: Picture):
        from playground.training import quick
        from playground.training.beginnings import beginnings

        self.film = Film(uuid4().hex, picture, quick.planned(), whole=True, begins=beginnings(quick.SMALL))
        self.seen = None  # the Timelapse so far
        self.ticket: Ticket = _queue().run(self._work)

    def _work(self, ticket: Ticket) -> None:
        from playground.training import quick

        with pieces(ticket) as give_way:
            quick.train_now(self.film.picture.image, self._tell, give_way)

    def _tell(self, seen) -> None:
        self.seen = seen

    @property
    def before(self) -> int:
        """How many come first. Who does not ask for a while is taken to have left."""
        return _queue().before(self.ticket)

    @property
    def served(self) -> bool:
        return self.ticket.state == SERVED

    @property
    def over(self) -> bool:
        return self.ticket.state == OVER

    @property
    def step(self) -> int:
        return self.seen.moments[-1].step if self.seen else 0


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
    ticking = _learning()
    st.fragment(_stage, run_every=1.0 if ticking else None)(here, ticking)


def lapse_begins() -> tuple:
    from playground.training.beginnings import begun
    from playground.training.recipe import Recipe

    return begun(Recipe(), lapse())


def _what_was_told(begins: tuple, where: str) -> None:
    """What was taught and what was not: nobody should take a taught map for something that emerged."""
    if not begins:
        st.markdown(
            "No loss looked at the attention weights of this model: what its heads do, they found by themselves."
        )
        return
    lines = [f"- step {one.step:,}: {one.says};" for one in begins]
    told = any(one.told for one in begins)
    opening = "**This model was told where to look.** " if told else ""
    rest = (
        " No loss looked at the weights of any other head, but the losses on the patches, which know the objects, ask "
        "for features that need them."
        if told
        else ""
    )
    st.markdown(f"{opening}What begins in this run ({where}):\n\n" + "\n".join(lines)[:-1] + f".\n\n{rest.strip()}")


def guess_when() -> None:
    """At which step does the first head have a habit?"""
    if not has_lapse():
        return
    from playground.training.beginnings import first_with_a_habit

    first = first_with_a_habit(lapse())
    if first is None:
        return
    steps = [moment.step for moment in lapse().moments]
    guess.choice(
        "training_when", "After how many steps does the first head do something that can be named?",
        {str(step): f"{step:,}" for step in steps},
        lambda: guess.Truth(str(first[0]), f" Of {steps[-1]:,} steps. Who taught it, and who not, stands below."),
    )  # fmt: skip


def answers() -> tuple[str, str]:
    """What the two exercises of the page find in the run that ships with the app."""
    if not has_lapse():
        return "", ""
    from playground.training import beginnings

    seen, begins = lapse(), lapse_begins()
    even = float(np.log2(unpack(seen.moments[0].trace)[0]["tokens"]))
    losses = seen.curve[:, 1:].sum(1)
    soft = next(m for m in seen.moments if m.habits.entropy.min() < even - 1)
    at = int(np.searchsorted(seen.curve[:, 0], soft.step))
    fallen = 1 - losses[min(at, len(losses) - 1)] / losses[0]
    sharp = (
        f"Later. At step {soft.step:,}, the first moment at which any head is more than one bit below even "
        f"({even:.1f} bits), the loss has already fallen by {fallen:.0%}, with attention still spread wide."
    )
    return sharp, _first_words(beginnings.first_with_a_habit(seen), begins, beginnings.outcome(begins, seen))


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


def _learning() -> bool:
    return "trial" in state and not state.trial.over


def _stage(here: Session, ticking: bool) -> None:
    trial: Trial | None = state.get("trial")
    before = trial.before if trial else 0
    if state.run == LAPSE:
        if here.picture.name != lapse().sample:
            st.info(
                f"The moments of this run are kept for *{_title(lapse().sample)}* alone; **Train one now** looks at "
                "your choice.", icon=":material/info:",
            )  # fmt: skip
        show(_lapse_film(), lapse())
        st.caption(
            f"One run of the bundled model, from its first random weights to the end; always on "
            f"*{_title(lapse().sample)}*. Between two moments the picture is blended."
        )
        _what_was_told(lapse_begins(), "dotted lines in the charts")
    else:
        _controls(here, trial, before)
        if trial and trial.seen:
            show(trial.film, trial.seen, growing=not trial.over)
            _what_was_told(trial.film.begins, "dotted lines in the charts")
    if _learning() != ticking:
        st.rerun()  # the whole page: only that can begin or end the looking every second


def _controls(here: Session, trial: Trial | None, before: int) -> None:
    words, button = st.columns([5, 1.3], vertical_alignment="center")
    with button:
        if trial and not trial.over:
            st.button("Stop" if trial.served else "Leave the queue", on_click=trial.ticket.stop, width="stretch")
        else:
            label = "Train again" if trial else "Train now"
            st.button(label, type="primary", on_click=_begin, args=(here.picture,), width="stretch")
    words.markdown(_said(here, trial, before))


def _said(here: Session, trial: Trial | None, before: int) -> str:
    from playground.training import quick

    small = quick.SMALL
    if trial is None or (trial.over and trial.seen is None):
        trouble = f"It could not be trained: {trial.ticket.trouble}. " if trial and trial.ticket.trouble else ""
        c = small.config
        return (
            f"{trouble}A ViT of {c.depth} layers and {c.heads} heads, {quick.weights():,} weights, from nothing: "
            "about a minute on two slow cores, on scenes that are drawn as it learns. "
            f"It looks at **{_title(here.picture.name)}**."
        )
    if trial.ticket.trouble:
        return f"It broke off at step {trial.step}: {trial.ticket.trouble}"
    if trial.over:
        ended = "Done" if trial.step == small.steps else "Stopped"
        return f"{ended} after {trial.step} steps. Its attention stays here as long as this page is open: hover it."
    if not trial.served:
        others = "One is" if before == 1 else f"{before} are"
        return (
            f"**{others} before you.** One model learns at a time; yours begins by itself." if before else "Beginning…"
        )
    return f"Learning: step **{trial.step}** of {small.steps}. It looks at **{_title(trial.film.picture.name)}**."


def _begin(picture: Picture) -> None:
    state.trial = Trial(picture)


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
