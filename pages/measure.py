"""Measures on this machine what a layer costs as the number of tokens grows: time and memory."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.benchmark import FUSED, GROWTH_POWERS, LINEAR, MATERIALISED, STEP_COUNT, WINDOWS, series


def growth(points: pd.DataFrame, what: str, unit: str) -> go.Figure:
    figure = go.Figure()
    for kind in GROWTH_POWERS:
        line = points[points["kind"] == kind]
        figure.add_scatter(x=line["tokens"], y=line[what], name=kind, mode="lines+markers")
    figure.update_xaxes(type="log", title="tokens")
    figure.update_yaxes(type="log", title=unit)
    return figure.update_layout(height=380, legend={"orientation": "h", "y": -0.3})


def show(points: pd.DataFrame, heads: int) -> None:
    run, skipped = points[points["skip_reason"] == ""], points[points["skip_reason"] != ""]
    time, memory = st.columns(2)
    time.plotly_chart(growth(run, "seconds", "seconds a pass"))
    figure = growth(run.dropna(subset="bytes"), "bytes", "bytes at the peak")
    tokens = run["tokens"][run["kind"] == MATERIALISED]
    tables = cost.TABLE_COUNT * cost.FLOAT_BYTES * heads * tokens**2
    figure.add_scatter(x=tokens, y=tables, name=f"{cost.TABLE_COUNT} tables of N × N", line={"dash": "dot"})
    memory.plotly_chart(figure)
    for kind, left_out in skipped.groupby("kind"):
        first = left_out.iloc[0]
        seconds = f"{first['seconds']:.1f} s a pass"
        reason = seconds if first["skip_reason"] == "time" else "more memory than there is to spare"
        st.caption(f"{kind.capitalize()} was not run with {first['tokens']:,} tokens: it would take {reason}.")
    seconds = run.pivot(index="tokens", columns="kind", values="seconds").dropna()
    if {FUSED, WINDOWS, LINEAR} <= {*seconds.columns} and len(seconds):
        last = seconds.iloc[-1]
        st.write(
            f"**At {seconds.index[-1]:,} tokens windows take {last[WINDOWS] / last[FUSED]:.2f} × and linear attention "
            f"{last[LINEAR] / last[FUSED]:.2f} × the time of fused attention over all pairs.** They compute something "
            "else: in a window nobody hears the rest, and linear attention can’t single out one key as sharply."
        )
    st.caption("Time is the quickest of up to five passes; memory the highest point above what was there before.")
    if run["bytes"].isna().all():
        st.caption("This system does not tell a process its peak memory; Linux does.")


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
    bar, drawn = st.progress(0.0), 0
    for points in series(width, heads, kernel):
        state.measured = pd.DataFrame(points), heads
        bar.progress(min(1.0, len(points) / STEP_COUNT))
        if len(points) // 5 > drawn:
            drawn = len(points) // 5
            with place.container():
                show(*state.measured)
    st.rerun()
elif "measured" in state and len(state.measured[0]):
    with place.container():
        show(*state.measured)
    st.download_button("Numbers as .csv", state.measured[0].to_csv(index=False), "cost.csv", on_click="ignore")
