"""What the whole network then predicts."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.lessons.questions import Bars, Number, Photo
from playground.models.names import plain_name
from playground.serving import queue
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import photo
from playground.ui.lessons.scale import INSTEAD, WITH, WITHOUT
from playground.ui.lessons.scale_passes import BELOW, choose_instead, passes, width

state = st.session_state


def predictions(here: Here) -> None:
    """What the whole network predicts with the other scale in every layer."""
    where = st.empty()
    with where, st.spinner("Running the network with the scale and without …"):
        on, off, _ = passes(here)
    where.empty()
    d, verdicts = width(on), softmax.verdicts(on, off)
    if not verdicts:
        _guess_features(here, on, off, d)
        choose_instead(d)
        return
    _guess_verdict(here, verdicts, d)
    with guess.after("scale_answer"):
        choose_instead(d)
        _all_verdicts(on, off, verdicts, d)


def _prose(here: Here, d: int) -> str:
    return (
        f"Every layer of {plain_name(here.wish.model)} runs with {INSTEAD[state.instead].replace('d_k', str(d))} "
        f"instead "
        f"of 1/√{d}, and nothing is trained anew."
    )


def _guess_verdict(here: Here, verdicts: list, d: int) -> None:
    shares, first = tuple(100 * v.on for v in verdicts), verdicts[0]
    guess.number(
        "scale_answer", f"*{first.label}* has {first.on:.0%} with its own scale. With the other one it has ▢.",
        Number(0, 100, " %"), 100 * first.off,
        "The softmax of each layer is sharper or more even than the next layers were trained for. How much of the "
        "answer is left depends on the picture; there is no rule.",
        (here.picture.id, here.wish.model, state.instead), prose=_prose(here, d),
        tempting=(((100 * first.on - 1, 100 * first.on + 1), "The order of a row’s weights stays, but not their size: "
                   "what each token receives is another mixture."),),
        picture=Bars(
            tuple(v.label for v in verdicts), shares, 100, across=True, unit=" %", at=0,
            title=f"Likeliest classes with 1/√{d}; the first is asked for with the other scale",
        ),
    )  # fmt: skip


def _guess_features(here: Here, on, off, d: int) -> None:
    """For a model without classes: how far each patch's feature turns when the scale changes."""
    import torch

    def work():
        with queue.turn():
            before, after = (seen.features()[len(seen.prefix) :] for seen in (on, off))
        return torch.cosine_similarity(before, after, dim=-1)  # (patches,)

    alike = here.kept(("turned by a scale", state.instead), work)
    rows, columns = on.grid
    guess.number(
        "scale_answer",
        "Without classes there are its features: one vector a patch. Their mean cosine with what they were is ▢.",
        Number(-1, 1, step=0.01), float(alike.mean()),
        "1 would be the same direction, 0 a right angle. Bright on the right: patches whose feature turned most.",
        (here.picture.id, here.wish.model, state.instead), prose=_prose(here, d),
        tempting=(((0.97, 1), "The order of a row’s weights stays, but not their size: what each token receives is "
                   "another mixture, layer upon layer."),),
        picture=Photo(
            photo(here.picture.jpeg), (rows, columns), columns / rows, heat=tuple((1 - alike).clamp(min=0).tolist()),
        ),
    )  # fmt: skip


def _all_verdicts(on, off, verdicts: list, d: int) -> None:
    figure = go.Figure()
    labels = [v.label for v in verdicts]
    for values, name, colour in (
        ([v.off for v in verdicts], f"with {INSTEAD[state.instead]}, in every layer".replace("d_k", str(d)), WITHOUT),
        ([v.on for v in verdicts], f"with 1/√{d}", WITH),
    ):
        figure.add_bar(
            y=labels, x=values, orientation="h", name=name, marker_color=colour, text=[f"{p:.0%}" for p in values],
            textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 1.08], tickformat=".0%", title="probability")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    lesson.chart(figure, "verdicts", height=120 + 44 * len(labels), name="predictions with and without the scale")
    most = softmax.changed(on, off)[:3]
    said = ", ".join(f"*{v.label}* from {v.on:.0%} to {v.off:.0%}" for v in most)
    st.markdown(f"Most changed, of all classes: {said}.")
