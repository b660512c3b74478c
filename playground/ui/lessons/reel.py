"""A training run as one person sees it: what goes to the browser, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st

from playground.analysis.heads import HABITS, Habit
from playground.pack import pack, unpack
from playground.serving import people
from playground.serving.cache import Cache
from playground.serving.pictures import Picture
from playground.ui.components import component
from playground.ui.navigation import tell_settings
from playground.vit import Told

if TYPE_CHECKING:  # what trains is imported when it is needed
    from playground.training.timelapse import Moment

state = st.session_state


@dataclass
class Film:
    """A run as one person sees it. Bytes that the browser has are not sent again."""

    run: str
    picture: Picture
    planned: int  # moments, when all is done
    whole: bool  # all layers at once: they are few and small
    begins: tuple = ()  # see training/timelapse.py
    aim: str = ""  # what the chart of `mass` is called; "" for the patch's own object
    habits: tuple[Habit, ...] = HABITS
    kinds: Callable[[Moment], list[list[str]]] = lambda moment: moment.habits.kinds(moment.mass)
    told: tuple[Told, ...] = ()
    sent: set[tuple[int, int]] = field(default_factory=set)  # (step, layer); of a whole one -1 stands for all
    last: tuple = ()  # what the last message is about

    def forget(self) -> None:
        """The browser has nothing: it was on another page, or what was sent has been lost."""
        self.sent.clear()
        self.last = ()

    def blob(self, seen, growing: bool, view: dict, view_id: str, own: Cache) -> bytes:
        """Unchanged as long as nothing has changed. `seen` is a Timelapse. After the last message was dropped out
        of the session's `own` cache, the next one lacks what the browser has, and is a small one."""
        layer = -1 if self.whole else view["layer"]
        message = (self.run, len(seen.moments), growing, view_id, layer)
        if self.last != message:
            self.last = message
            own.drop_where(lambda key: key[0] == "film")  # a message is given out once
        return people.mine(own, ("film", *message), lambda: self._build(seen, growing, view, view_id, layer))

    def _build(self, seen, growing: bool, view: dict, view_id: str, layer: int) -> bytes:
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
            "habits": [{"label": habit.label, "colour": habit.colour} for habit in self.habits],
            "kinds": [self.kinds(moment) for moment in moments],
            "chance": seen.chance,
            "aim": self.aim,
            "told": [[one.layer, one.head, one.what] for one in self.told],
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


def show(film: Film, seen, growing: bool = False, beside: str = "", place: str = "") -> None:
    """Films that are shown `beside` each other share this name and the clock. The view of the session is applied again
    wherever `place` changes."""
    asked = state.pop("reel_asked", None)
    arrived = f"{film.run}-{state.here.view_id}"
    if (asked and asked.get("run") == film.run) or state.get("reel_arrived") != arrived:
        film.forget()
    view = {name: state[name] for name in ("layer", "head", "patch")}
    if not beside or state.get("reel_beside") != beside:
        view["moment"] = seen.moments[-1].step if film.whole else state.moment
    state.reel_arrived, state.reel_beside, state.reel_whole = arrived, beside, film.whole
    data = film.blob(seen, growing, view, f"{arrived}-{place}", state.here.worked)
    component("reel", "shell/training.js", "lessons/reel.css", box="<div data-reel></div>")(
        key="reel", data=data, default={"view": ""}, on_view_change=_on_view, on_ask_change=_on_ask
    )
    tell_settings("reel")


def _on_view() -> None:
    """What the browser shows goes into the address; the moment only where a link can find it again."""
    said = dict(parse_qsl(str(state.reel.view)[:200]))
    for name in ("moment", "layer", "head", "patch"):
        if name != "moment" or not state.get("reel_whole"):
            state[name] = state.settings[name].read(said.get(name))


def _on_ask() -> None:
    asked = state.reel.ask
    if isinstance(asked, dict):
        state.reel_asked = asked
        state.layer = state.settings["layer"].read(str(asked.get("layer")))
