"""The step of the lesson on training that shows two runs of one architecture: in one of them a loss read the attention
weights. Which?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from playground.assets import TAUGHT_CURVES, TIMELAPSE
from playground.lessons.colours import KEY
from playground.lessons.lesson import Settings, Subject
from playground.lessons.parts import After, Ask, Chart, Fold, Part, Row, Table, Words
from playground.lessons.questions import Question, of_choice

if TYPE_CHECKING:
    from playground.training.timelapse import Beginning, Timelapse

RUNS = WITHOUT, WITH = "A", "B"  # in which of the two a loss read the attention weights
QUIET, TOLD = "rgba(128,128,128,0.4)", KEY
FILTER = 0.814  # what the best filter of colour and nearness has on the scenes of a time-lapse; a test measures it
BEST = (3, 0)  # layer and head of the run that was not told: the best one on other scenes; a test chooses it
FIRST = 10  # the first step that an axis of logarithms has room for


@lru_cache(maxsize=1)
def runs() -> tuple[Timelapse, Timelapse]:
    from playground.training import timelapse

    return timelapse.read(TIMELAPSE), timelapse.read(TAUGHT_CURVES)


def pair(subject: Subject, chosen: Settings) -> Iterator[Part]:
    from playground.training import evaluate
    from playground.training.recipe import Recipe
    from playground.training.timelapse import begun

    untold, taught = runs()
    steps = " and ".join(f"{run.moments[-1].step:,}" for run in (untold, taught))
    yield Words(
        f"One architecture, trained twice from random parameters ({steps} steps). A line is a head: how much attention "
        "of an object’s patches stays on their own object. Dashed: an even row. Dotted: a filter of colour and "
        "nearness, without a network."
    )
    begins = tuple(one for one in begun(Recipe(), taught) if one.told and one.loss != "looked")
    both = zip(RUNS, (untold, taught), strict=True)
    yield Row(*(Chart(drawn(run, f"run {name}", ()), f"own object {name}", 330) for name, run in both))
    yield Ask(told())
    title = f"run {WITH}, the heads that were told"
    yield After(
        "training_told",
        Chart(drawn(taught, title, begins), "own object told", 330),
        Words(what_became(untold, taught, begins)),
        Fold(
            "More: how the two runs differ",
            Words(
                f"The coloured heads of run {WITH} had begun to rise before, as other heads do: this run’s losses on "
                "the patches know the objects. No moment was kept in between, so the line is open there. The runs also "
                "differ in their data, their other losses and their length. The badge *was told to* says which way a "
                "head came about, wherever it is shown; the taught model is in *Model* as **our small ViT, told where "
                "to look**."
            ),
        ),
        Fold("More: measured on pictures that nothing trained on", Table(*evaluate.table())),
    )


def told() -> Question:
    return of_choice(
        "training_told",
        "In one run a loss read the attention weights of some heads, and compared them with the objects’ masks. Which?",
        {name: f"run {name}" for name in RUNS}, WITH, "",
        {WITHOUT: "Its heads rise as well, though nobody told them where to look: the two charts are much alike."},
    )  # fmt: skip


def drawn(run: Timelapse, title: str, begins: tuple[Beginning, ...]) -> go.Figure:
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


def what_became(untold: Timelapse, taught: Timelapse, begins: tuple[Beginning, ...]) -> str:
    gathered = next(one for one in begins if one.loss == "gathered")
    best, (layer, head) = float(untold.moments[-1].mass[BEST]), BEST
    last_before = [moment for moment in taught.moments if moment.step < gathered.step][-1]
    first_after = next(moment for moment in taught.moments if moment.step >= gathered.step)
    before, after, end = (
        float(np.mean([moment.mass[one] for one in gathered.told]))
        for moment in (last_before, first_after, taught.moments[-1])
    )
    return (
        f"Run **{WITH}** was told from step {gathered.step:,} on: its {len(gathered.told)} coloured heads stood at "
        f"{before:.0%} at step {last_before.step:,}, at {after:.0%} at step {first_after.step:,}, and end at "
        f"{end:.0%}. Run **{WITHOUT}** was told which average to predict, that of the patches which DINOv2 finds "
        f"alike, and not where to look. Its head that is best on other scenes, head {head} of layer {layer}, reaches "
        f"{best:.0%}, {best / untold.chance:.0f} times an even row. But near patches of one colour are mostly of one "
        f"object: the filter reaches {FILTER:.0%}. A map does not show which of the two ways it came about."
    )
