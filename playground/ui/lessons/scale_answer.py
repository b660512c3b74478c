"""What the whole network then predicts."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.models.names import plain_name
from playground.ui import lesson
from playground.ui.here import Here
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
    st.markdown(
        f"Every layer of {plain_name(here.wish.model)} uses the other scale, and nothing is trained anew. What becomes "
        "of the answer?"
    )
    choose_instead(d)
    if not verdicts:
        st.info(
            f"Having no classifier, {plain_name(here.wish.model)} predicts nothing: only its rows change.",
            icon=":material/label_off:",
        )
        return
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
