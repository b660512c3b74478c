"""Measures on this machine what a layer costs as the number of tokens grows: time and memory."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from playground.lessons.benchmark import GROWTH_POWERS, STEP_COUNT, Series


def growth(points: pd.DataFrame, what: str, unit: str) -> go.Figure:
    figure = go.Figure()
    for kind in GROWTH_POWERS:
        line = points[points["kind"] == kind]
        figure.add_scatter(x=line["tokens"], y=line[what], name=kind, mode="lines+markers")
    figure.update_xaxes(type="log", title="tokens")
    figure.update_yaxes(type="log", title=unit)
    return figure.update_layout(height=380, legend={"orientation": "h", "y": -0.3})


def show(points: pd.DataFrame) -> None:
    run = points[points["skip_reason"] == ""]
    time, memory = st.columns(2)
    time.plotly_chart(growth(run, "seconds", "seconds a pass"))
    memory.plotly_chart(growth(run.dropna(subset="bytes"), "bytes", "bytes at the peak"))
    if skipped := len(points) - len(run):
        st.caption(f"{skipped} steps were left out: they would take too long here, or too much memory.")


st.title("Measure here")
st.write(
    "One layer, five ways to mix tokens, from 64 to 4,096 tokens. The process that measures has bounds of time and "
    "memory of its own. On log axes a straight line is a power: full attention rises with the square."
)
one, two, three = st.columns(3)
width = one.select_slider("Width", [192, 384, 768], 384)
heads = two.select_slider("Heads", [3, 6, 12], 6)
kernel = three.select_slider("Kernel of the convolution", [3, 5, 7], 3)
state = st.session_state
start = st.button("Measure", type="primary")
place = st.empty()
if start:
    st.button("Stop")  # any press ends this run of the page, and with it the series
    series, bar = Series(width, heads, kernel), st.progress(0.0)
    if not series.running:
        st.error("There is no memory to spare for it here: close something, and measure again.")
    drawn = 0
    for _ in series.each_moment(lambda: None):
        state.points = pd.DataFrame(series.points)
        bar.progress(min(1.0, len(series.points) / STEP_COUNT))
        if len(series.points) // 5 > drawn:
            drawn = len(series.points) // 5
            with place.container():
                show(state.points)
    st.rerun()
elif "points" in state and len(state.points):
    with place.container():
        show(state.points)
    st.download_button("Numbers as .csv", state.points.to_csv(index=False), "cost.csv", on_click="ignore")
