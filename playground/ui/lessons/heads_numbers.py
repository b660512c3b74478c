"""What is measured of every head, on the picture that is shown or on all samples, for every step and other lessons."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from itertools import count

import streamlit as st

from playground.samples import SAMPLES
from playground.serving import people, pictures, queue, traces
from playground.serving.here import Here
from playground.serving.pictures import Picture
from playground.serving.traces import Wish
from playground.ui.lessons.heads import CLASS, ENTROPY, MEASURES, OVER, PICTURE, REGISTERS, TEXT
from playground.ui.messages import plain

SLOW = 1000  # tokens: from there on a layer takes long enough to be reported
Report = Callable[[float, str], object]  # how far, from 0 to 1, and in words


def habits(here: Here, picture: Picture, wish: Wish, report: Report):
    """One picture's numbers."""
    return people.worked_out(picture, wish, here.worked, "habits", lambda: _look(here, picture, wish, report))


def _look(here: Here, picture: Picture, wish: Wish, report: Report):
    from playground.analysis.heads import look

    seen, layers = traces.trace(picture, wish, here.own), count(1)

    @contextmanager
    def turn():
        layer = next(layers)
        if seen.tokens > SLOW:
            report((layer - 1) / seen.layers, f"{plain(picture.name)}: layer {layer} of {seen.layers}")
        with queue.turn():
            yield

    return look(seen, turn)


def habits_here(here: Here):
    """The habits on the picture that is shown; a bar tells how far it is."""
    bar = st.empty()
    found = habits(here, here.picture, here.wish, bar.progress)
    bar.empty()
    return found


def say_drawn(seen) -> None:
    """Where not all rows were measured."""
    from playground.analysis import heads

    if words := heads.words(seen):
        st.caption(words)


def measured(here: Here, seen):
    """(mean, spread) of every head, on what is chosen here: this picture, or all samples."""
    state = st.session_state
    if state.measure not in (offered := measures_of(seen)):
        state.measure = ENTROPY
    with st.container(key="choices", horizontal=True, vertical_alignment="bottom"):
        if state.step == "atlas":
            st.segmented_control("Colour shows", offered, key="measure", format_func=MEASURES.get, required=True)
        st.segmented_control("Measured on", OVER, key="over", format_func=OVER.get, required=True)
    if state.step == "atlas":
        st.caption(f"{TEXT.steps['atlas'].said[state.measure]} {absent(seen)}")
    say_drawn(seen)
    if state.over == PICTURE:
        return habits_here(here), None
    bar = st.empty()
    found = over_samples(here, bar.progress)
    bar.empty()
    return found


def over_samples(here: Here, report: Report):
    """(mean, spread) over the samples."""
    from playground.analysis.heads import average, spread

    many = []
    for n, sample in enumerate(SAMPLES):
        words = f"{sample.title}: {n + 1} of {len(SAMPLES)}"
        report(n / len(SAMPLES), words)
        part = partial(_part, report, n, words)
        many.append(habits(here, pictures.sample(sample.name), here.wish, part))
    return average(many), spread(many)


def _part(report: Report, n: int, words: str, share: float, _: str) -> None:
    report((n + share) / len(SAMPLES), words)


def measures_of(seen) -> list[str]:
    """Those that mean something for this model."""
    registers = any(name.startswith("reg") for name in seen.prefix)
    has = {CLASS: bool(set(seen.prefix) & {"cls", "dist"}), REGISTERS: registers}
    return [key for key in MEASURES if has.get(key, True)]


def absent(seen) -> str:
    """In a word, why a column that others have is not there."""
    there = measures_of(seen)
    missing = [word for key, word in ((CLASS, "class token"), (REGISTERS, "registers")) if key not in there]
    return f"This model has no {' and no '.join(missing)}." if missing else ""
