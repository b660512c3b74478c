"""The cost, measured on this machine: one measurement at a time, its progress, and its curves."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import Case
from playground.lessons import colours
from playground.lessons.benchmark import CONVOLUTION, FUSED, GROWTH, LINEAR, MATERIALISED, MOST_PASS, WINDOWS, Series
from playground.lessons.words.cost import TEXT
from playground.serving.people import Measurements
from playground.serving.queue import OVER, SERVED, Ticket
from playground.ui import lesson
from playground.ui.lessons.cost_growth import flops_chart, growing, line
from playground.ui.lessons.units import BYTES, bytes_text, seconds_text

COLOURS = {MATERIALISED: colours.WEIGHTS, FUSED: colours.CHANGED, CONVOLUTION: colours.CONVOLUTION,
           WINDOWS: colours.VALUE, LINEAR: colours.QUERY}  # fmt: skip
STEP = TEXT.steps["measured"]

state = st.session_state
_measurements = Measurements()  # of this server: its visitors share them


def measured(case: Case) -> None:
    busy = _busy()
    st.fragment(run_every=0.7 if busy else None)(_measured)(case, busy)


def _busy() -> bool:
    """Whether somebody measures, or this person waits for it."""
    return _measurements.running() is not None or ("measuring" in state and state.measuring.state != OVER)


def _measured(case: Case, was_busy: bool) -> None:
    ticket: Ticket | None = state.get("measuring")
    before = _measurements.before(ticket) if ticket else 0
    if was_busy and not _busy():
        st.rerun()  # it has ended: no more looking every moment
    chosen = (case.width, case.heads, case.kernel)
    series = _measurements.result(chosen)
    if ticket and ticket.state != OVER:
        _progress(ticket, before)
    else:
        if running := _measurements.running():
            st.progress(running.done, text=STEP.said["others"].format(what=_doing(running)))
        lesson.say(STEP.prose, width=case.width, heads=case.heads, k=case.kernel)
        if st.button("Measure" if series is None else "Measure again", icon=":material/timer:", key="measure_layer"):
            state.measuring = _measurements.start(chosen)
            st.rerun()
    if series is not None and series.points:
        _results(case, series)
    else:
        figure = flops_chart(case).update_layout(title={"text": "Counted, until it is measured: FLOPs of a layer"})
        lesson.chart(figure, "counted", height=290, name="FLOPs of a layer")
    if not (series and series.points) and ((series is not None and not series.running) or (ticket and ticket.trouble)):
        st.warning(STEP.said["no_room"], icon=":material/error:")


def _progress(ticket: Ticket, before: int) -> None:
    running = _measurements.running()
    with st.container(horizontal=True, vertical_alignment="center"):
        if ticket.state == SERVED and running:
            st.progress(running.done, text=f"Measuring: {_doing(running)}")
        else:
            st.progress(0.0, text=STEP.said["waits"].format(before=before) if before else "Measuring: starting")
        st.button("Stop", icon=":material/stop:", key="stop", on_click=ticket.stop)


def _doing(series: Series) -> str:
    last = series.points[-1] if series.points else None
    return f"{last.kind}, {last.tokens:,} tokens" if last else "starting"


def _results(case: Case, series: Series) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        figure = growing("Time of a layer")
        _points(figure, series, lambda p: p.seconds, seconds_text)
        figure.update_yaxes(
            tickvals=[10.0**p for p in range(-4, 2)], ticktext=["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s"]
        )
        lesson.chart(figure, "measured_time", height=340, name="measured time")
    with right:
        figure = growing("Peak memory of a layer")
        _points(figure, series, lambda p: p.bytes, bytes_text)
        tables = [(p.tokens, cost.TABLES * cost.FLOAT * case.heads * p.tokens**2) for p in series.of(MATERIALISED)]
        line(figure, f"{cost.TABLES} tables of N × N", *zip(*tables, strict=True), "gray", "dot", bytes_text)
        figure.update_yaxes(tickvals=BYTES, ticktext=[bytes_text(n) for n in BYTES])
        lesson.chart(figure, "measured_memory", height=340, name="measured peak memory")
    st.caption(" ".join(_remarks(series)))


def _points(figure: go.Figure, series: Series, value, text) -> None:
    for kind in GROWTH:
        points = [p for p in series.of(kind) if value(p)]
        figure.add_scatter(
            x=[p.tokens for p in points], y=[value(p) for p in points], name=kind, mode="lines+markers",
            line={"color": COLOURS[kind], "width": 3}, marker={"size": 7},
            text=[f"{kind}, {p.tokens:,} tokens: {text(value(p))}" for p in points],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip


def _cheaper_words(series: Series) -> str:
    """What windows and linear attention save beside the fused kernel, with the most tokens that all three had."""
    there = [{p.tokens: p.seconds for p in series.of(kind)} for kind in (FUSED, WINDOWS, LINEAR)]
    if not (both := set.intersection(*map(set, there))):
        return ""
    most = max(both)
    fused, windows, linear = (of[most] for of in there)
    return STEP.said["cheaper"].format(tokens=most, windows=windows / fused, linear=linear / fused)


def _remarks(series: Series) -> list[str]:
    remarks, words = [STEP.after.format(tables=cost.TABLES)], STEP.said
    for kind in GROWTH:
        if skipped := series.of(kind, skipped=True):
            first = skipped[0]
            if first.skipped == "memory":
                much = words["memory"].format(bytes=bytes_text(first.bytes))
            else:
                much = words["time"].format(seconds=seconds_text(first.seconds), most=MOST_PASS)
            remarks.append(words["skipped"].format(kind=kind.capitalize(), tokens=first.tokens, much=much))
    remarks.append(_cheaper_words(series))
    if series.points and all(p.bytes is None for p in series.points):
        remarks.append(words["no_peak"])
    if series.stopped:
        remarks.append(words["stopped"])
    return remarks
