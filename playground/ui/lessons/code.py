"""The parts of the page on which vit.py is read: a listing with formulas, the two attentions, what a weight is not."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from playground.lessons.colours import KEY, QUERY
from playground.lessons.questions import Beside, Photo
from playground.lessons.settings import Setting, Steps
from playground.lessons.words import code as said
from playground.serving import queue
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.lessons import beside
from playground.ui.lessons.drawings import body_of, photo, small

state = st.session_state

MOST = 1024  # tokens whose whole matrices of weights are made
PARTS = {  # as in lessons/listing.py, which would import torch before the page is painted
    "patches": "Patches", "positions": "Positions", "attention": "Attention", "heads": "Heads",
    "mlp": "MLP", "layer": "Layer", "answer": "Answer", "torch": "Words of PyTorch",
}  # fmt: skip


TEXT = said.TEXT
STEPS = TEXT.titles
TWICE = TEXT.steps["twice"]
SETTINGS = {"part": Setting.of("attention", PARTS), "step": Steps.by(STEPS, **TEXT.settings)}


def exercises() -> None:
    lesson.exercises(TEXT.steps["file"], {"code_output": state.part == "heads" or (state.part == "layer" and "layer")})


def listing() -> None:
    """The chosen part of vit.py, its formulas beside the lines."""
    from playground.lessons.listing import PARTS as parts

    st.pills("Part", PARTS, format_func=PARTS.get, key="part", label_visibility="collapsed", required=True)
    st.markdown(parts[state.part].says)
    _read(("parts", state.part))


@cache
def _parts(name: str) -> list[dict]:
    from playground.lessons.listing import PARTS as parts

    return [asdict(cut) for cut in parts[name].read()]


def _read(key: tuple[str, str]) -> None:
    component("read", "lessons/read.js", "lessons/read.css")(key="read", data={"parts": _parts(key[1])})


def twins(here: Here) -> None:
    """The largest difference on the person's picture, and both times on this machine."""
    from playground.lessons.listing import listing as lines_of
    from playground.vit import attention, attention_by_hand

    columns = st.columns(2)
    for column, thing in zip(columns, (attention_by_hand, attention), strict=True):
        column.code("\n".join(line.text for line in lines_of(thing).lines), language="python", wrap_lines=True)
    guess.ask(said.fused())
    with guess.after("code_fused"):
        _difference(here)
    with st.expander("In blocks, as FlashAttention does it", icon=":material/view_column:"):
        _in_blocks(here)
    with st.expander("In Julia, beside Python", icon=":material/translate:"):
        _in_julia()


def _in_blocks(here: Here) -> None:
    from playground.lessons import fused

    st.code(body_of(fused.in_blocks), language="python", wrap_lines=True)
    lesson.say(TWICE.after, keys=fused.BLOCK, **on_the_picture(here))


def _in_julia() -> None:
    from playground.lessons.fused import JULIA, PYTHON

    left, right = st.columns(2)
    left.code(PYTHON.strip(), language="python", wrap_lines=True)
    right.code(JULIA.strip(), language="julia", wrap_lines=True)
    lesson.say(TWICE.said["julia"])


def _difference(here: Here) -> None:
    numbers = on_the_picture(here)
    lesson.say(TWICE.said["apart"], some=numbers["some"], apart=numbers["apart"])
    if st.button("Measure both on this machine", icon=":material/timer:", key="measure_attention"):
        state.timed = True
    if state.get("timed"):
        _times(_measured())


@st.cache_data(show_spinner="Measuring", max_entries=1, ttl=3600)
def _measured() -> list[tuple[int, float, float, float]]:
    from playground.lessons.fused import TOKENS, measure

    with queue.turns() as give_way:
        found = [measure(tokens, give_way=give_way) for tokens in TOKENS]
    return [(t.tokens, t.by_hand, t.fused, t.apart) for t in found]


def _times(measured: list[tuple[int, float, float, float]]) -> None:
    tokens = [f"{n:,} tokens" for n, *_ in measured]
    figure = go.Figure()
    for name, place, colour in (("by hand", 1, KEY), ("fused", 2, QUERY)):
        times = [row[place] for row in measured]
        figure.add_bar(
            x=tokens, y=times, name=name, marker_color=colour, text=[f"{t:.3g} ms" for t in times],
            hovertemplate=f"{name}, %{{x}}: %{{y:.3g}} ms<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(type="log", title="milliseconds")
    figure.update_layout(title="12 heads of 64, medians of 7")
    lesson.chart(figure, "times", height=300, name="attention-by-hand-and-fused")
    n, hand, fused, apart = measured[-1]
    lesson.say(TWICE.said["times"], tokens=n, times=fused / hand, apart=apart)


def on_the_picture(here: Here) -> dict[str, Any]:
    """The numbers in this page's sentences, measured on all layers of the picture."""
    return here.kept("measured", lambda: _measured_on(here))


def _measured_on(here: Here) -> dict[str, Any]:
    from playground.analysis import heads
    from playground.analysis.contribution import differing
    from playground.lessons.fused import apart, in_blocks_apart, turned
    from playground.vit import QKV

    seen = here.traced()
    with queue.turns() as give_way:
        found, largest = differing(seen, give_way), 0.0
        some = [QKV(*(t[:, :MOST] for t in layer)) for layer in seen.record.values()]
        middle = len(some) // 2
        for layer in some:
            largest = max(largest, apart(layer, seen.scale))
            give_way()
        return {
            "apart": largest,
            "layer": middle,
            "blocks": in_blocks_apart(some[middle], seen.scale),
            "turned": turned(some[middle], seen.scale),
            "some": TWICE.said["some"].format(most=MOST) if seen.tokens > MOST else "",
            "differs": found.overall,
            "rows": found.rows,
            "drawn": heads.words(seen),
            "breadth": found.breadth,
            "tokens": seen.tokens,
        }


def _row_like(seen, breadth: float) -> tuple[float, int, int, int]:
    """(breadth, layer, head, patch) of a row that spreads over about so many tokens."""
    from playground.tracing import entropy

    asked, found = seen.some_patches(12), []
    for layer in range(seen.layers):
        spread = 2 ** entropy(seen.weights(layer, asked))  # (heads, asked)
        head, one = divmod(int((spread - breadth).abs().argmin()), len(asked))
        found.append((float(spread[head, one]), layer, head, asked[one] - len(seen.prefix)))
    return min(found, key=lambda row: abs(row[0] - breadth))


def _guess_breadth(here: Here, numbers: dict) -> None:
    seen = here.traced()
    _, layer, head, patch = here.kept("typical row", lambda: _row_like(seen, numbers["breadth"]))
    rows, columns = seen.grid
    row = seen.on_grid(seen.row(layer, head, divmod(patch, columns))).flatten()
    shown = Photo(
        photo(here.picture.jpeg), (rows, columns), columns / rows, mark=patch, heat=tuple(row.tolist()), height=360,
        words=said.ROW.format(layer=layer, head=head), beside=_narrow(here, seen),
    )  # fmt: skip
    question = said.breadth(seen.tokens, numbers["breadth"], layer, head, shown)
    guess.ask(question, (here.picture.id, here.wish.model))


def _narrow(here: Here, seen) -> Beside:
    """One of the narrowest rows, for comparison."""
    breadth, layer, head, patch = here.kept("narrow row", lambda: _row_like(seen, 1))
    spot = divmod(patch, seen.grid[1])
    words = said.NARROW.format(layer=layer, head=head, breadth=breadth)
    return beside.row(small(here), seen.on_grid(seen.row(layer, head, spot)), spot, words)


def analogy(here: Here) -> None:
    numbers, step = on_the_picture(here), TEXT.steps["library"]
    lesson.say(step.prose)
    _guess_breadth(here, numbers)
    lesson.say(step.after, **numbers)
