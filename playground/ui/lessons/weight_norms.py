"""Tokens that stand far out, and registers: how long this model's tokens are, and a larger pair's where it is here."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import plotly.graph_objects as go
import streamlit as st

from playground import samples
from playground.assets import PROGRAM
from playground.errors import PlaygroundError
from playground.lessons.colours import VALUE
from playground.lessons.words.weight import TEXT
from playground.models.names import plain_name
from playground.serving import effort, models, queue, traces
from playground.serving.here import Here
from playground.ui import lesson
from playground.ui.components import picture
from playground.ui.lessons.drawings import lit, outlined

PAIRS = tuple(  # without registers, and the same training with four of them; the largest first
    (f"vit_{size}_patch14_dinov2.lvd142m", f"vit_{size}_patch14_reg4_dinov2.lvd142m")
    for size in ("giant", "large", "base", "small")
)
WORDS = TEXT.steps["locked"].said
FAR = 3  # × the median
SINK = {"model": "dinov2-small", "sample": "coffee"}  # its layer 0, head 5


def measured(here: Here, seen):
    from playground.analysis import token_norms

    def work() -> token_norms.Lengths:
        with queue.turns() as give_way:
            return token_norms.lengths(seen, give_way)

    return here.kept(("lengths", seen.model), work)


def lengths(here: Here, seen) -> None:
    st.markdown(WORDS["lengths"] + said(seen.model, measured(here, seen)))
    if (here.wish.model, here.picture.name) != tuple(SINK.values()) and _is_here(SINK["model"], SINK["sample"]):
        lesson.say(WORDS["sink"], link=f"./weight?{urlencode(SINK | {'step': 'locked'})}")
    _pair(here)


def said(model: str, found) -> str:
    last, worst = len(found.patches) - 1, found.worst
    many = found.far_out(last)
    stand = "none stands" if not many else "1 stands" if many == 1 else f"{many} stand"
    has = WORDS["outliers" if found.largest(worst) > FAR else "no_outliers"]
    numbers = {"largest": found.largest(last), "most": found.largest(worst), "worst": worst}
    return WORDS["far_out"].format(model=plain_name(model), stand=stand, has=has, **numbers)


def _is_here(model: str, sample: str = "") -> bool:
    try:
        return models.is_here(model) and (not sample or samples.named(sample).is_here)
    except (PlaygroundError, KeyError):
        return False


def pair_here() -> tuple[str, str] | None:
    """The largest pair of which both are on this machine."""
    return next((pair for pair in PAIRS if all(_is_here(name) for name in pair)), None)


def _pair(here: Here) -> None:
    """One picture in a model without registers and in the one with them."""
    if (pair := pair_here()) is None:
        st.caption(WORDS["no_pair"].format(program=PROGRAM, pair=" ".join(PAIRS[1])))
        return
    for column, name in zip(st.columns(2), pair, strict=True):
        with column:
            wish = replace(here.wish, model=name)
            seen = traces.trace(here.picture, wish, here.own)
            try:
                effort.check(seen.vit, seen.grid, 1)
            except PlaygroundError as error:
                st.info(str(error), icon=":material/info:")
                continue
            found = measured(here, seen)
            show(here, seen, found)


def show(here: Here, seen, found) -> None:
    """Lengths after the last layer on the picture, the map of the head that agrees most, and the numbers."""
    small = here.picture.image.convert("RGB")
    small.thumbnail((320, 320))
    last = len(found.patches) - 1
    longest = divmod(int(found.patches[last].argmax()), seen.grid[1])
    asks = (seen.grid[0] // 2, seen.grid[1] // 2)
    st.markdown(f"**{plain_name(seen.model)}**, {sum(name.startswith('reg') for name in seen.prefix)} registers")
    picture(lit(small, found.patches[last], longest), caption="lengths of tokens; the longest in white")
    row = seen.on_grid(seen.rows(last, asks).mean(0))
    picture(lit(small, row, asks), caption="whom the patch in white listens to, last layer, mean of heads")
    picture(outlined(small, seen.grid, longest), caption="the longest token’s patch")
    figure = go.Figure()
    figure.add_histogram(x=found.patches[last].flatten().tolist(), marker_color=VALUE, nbinsx=60)
    figure.update_yaxes(type="log", title="patches")
    figure.update_xaxes(title="length")
    lesson.chart(figure, f"norms_{seen.model}", height=220, name=f"token-lengths-{seen.model}")
    st.markdown(said(seen.model, found))
