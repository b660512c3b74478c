"""Two runs of one architecture side by side: in one of them a loss read the attention weights. Which?"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.assets import TAUGHT_CURVES, TIMELAPSE
from playground.lessons.colours import KEY
from playground.lessons.words.training import RUNS, TEXT, WITH, WITHOUT, told
from playground.training import evaluate, timelapse
from playground.training.recipe import Recipe
from playground.training.timelapse import Timelapse
from playground.ui import guess, lesson

STEP = TEXT.steps["pair"]
QUIET, TOLD = "rgba(128,128,128,0.4)", KEY
FILTER = 0.814  # what the best filter of colour and nearness has on the scenes of a time-lapse; a test measures it
BEST = (3, 0)  # layer and head of the run that was not told: the best one on other scenes; a test chooses it
FIRST = 10  # the first step that an axis of logarithms has room for


def is_there() -> bool:
    return TIMELAPSE.is_file() and TAUGHT_CURVES.is_file()


@st.cache_resource(max_entries=1, show_spinner=False)
def _runs(changed: float) -> tuple[Timelapse, Timelapse]:
    return timelapse.read(TIMELAPSE), timelapse.read(TAUGHT_CURVES)


def show() -> None:
    untold, taught = _runs(TIMELAPSE.stat().st_mtime)
    steps = " and ".join(f"{run.moments[-1].step:,}" for run in (untold, taught))
    lesson.say(STEP.prose, steps=steps)
    begins = tuple(one for one in timelapse.begun(Recipe(), taught) if one.told and one.loss != "looked")
    for column, name, run in zip(st.columns(2), RUNS, (untold, taught), strict=True):
        with column:
            lesson.chart(drawn(run, f"run {name}", ()), f"own object {name}", 330)
    guess.ask(told())
    with guess.after("training_told"):
        lesson.chart(drawn(taught, f"run {WITH}, the heads that were told", begins), "own object told", 330)
        lesson.say(STEP.after, **numbers(untold, taught, begins))
        st.markdown(evaluate.table())


def drawn(run: Timelapse, title: str, begins: tuple[timelapse.Beginning, ...]) -> go.Figure:
    """Mass against steps: a point for each moment that was saved. The heads that a loss asked to stay on objects are
    coloured. No line is drawn across the step at which that loss began: nobody knows when, between the two moments
    around it, a head rose."""
    mass = np.stack([moment.mass for moment in run.moments])  # (M, layers, heads)
    asked = {head for one in begins if one.loss == "gathered" for head in one.told}
    began = next((one.step for one in begins if one.loss == "gathered"), None)
    steps: list[float | None] = [max(FIRST, moment.step) for moment in run.moments]
    if began is not None:
        gap = sum(moment.step < began for moment in run.moments)
        steps.insert(gap, None)
        mass = np.insert(mass, gap, np.nan, axis=0)
    figure = go.Figure()
    for layer, head in sorted(np.ndindex(*mass.shape[1:]), key=lambda place: place in asked):
        is_told = (layer, head) in asked
        figure.add_scatter(
            x=steps, y=mass[:, layer, head], mode="lines+markers" if is_told else "lines", showlegend=False,
            connectgaps=False,
            line={"color": TOLD if is_told else QUIET, "width": 3 if is_told else 1.2},
            hovertemplate=f"layer {layer}, head {head}: %{{y:.0%}} at step %{{x:,}}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(y=run.chance, line={"dash": "dash", "color": "gray", "width": 1})
    figure.add_hline(y=FILTER, line={"dash": "dot", "color": "gray", "width": 1})
    if began is not None:
        figure.add_vline(x=began, line={"dash": "dot", "color": TOLD})
        figure.add_annotation(  # of a log axis, an annotation wants the exponent
            x=float(np.log10(began)),
            y=0.97,
            xanchor="right",
            showarrow=False,
            text=f"the loss begins: step {began:,} ",
        )
    figure.update_xaxes(type="log", title="step", dtick=1)
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    return figure.update_layout(title={"text": title, "x": 0})


def numbers(untold: Timelapse, taught: Timelapse, begins: tuple[timelapse.Beginning, ...]) -> dict[str, object]:
    """What became of both."""
    gathered = next(one for one in begins if one.loss == "gathered")
    best, (layer, head) = float(untold.moments[-1].mass[BEST]), BEST
    last_before = [moment for moment in taught.moments if moment.step < gathered.step][-1]
    first_after = next(moment for moment in taught.moments if moment.step >= gathered.step)
    before, after, end = (
        float(np.mean([moment.mass[one] for one in gathered.told]))
        for moment in (last_before, first_after, taught.moments[-1])
    )
    return {
        "WITH": WITH, "WITHOUT": WITHOUT, "began": gathered.step, "heads": len(gathered.told),
        "before": before, "last_before": last_before.step, "after": after, "first_after": first_after.step,
        "told": end, "layer": layer, "head": head, "best": best, "times": best / untold.chance, "filter": FILTER,
    }  # fmt: skip
