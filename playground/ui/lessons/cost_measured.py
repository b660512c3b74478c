"""The cost, measured on this machine: one measurement at a time, its progress, and its curves."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import Case
from playground.lessons.benchmark import CONVOLUTION, FUSED, GROWTH, LINEAR, MATERIALISED, MOST_PASS, WINDOWS, Series
from playground.serving.measurements import Measurements
from playground.serving.queue import OVER, SERVED, Ticket
from playground.ui import guess, lesson
from playground.ui.lessons.cost import ATTENTION, QUIET
from playground.ui.lessons.cost_growth import flops_chart, growing, line
from playground.ui.lessons.units import BYTES, bytes_text, seconds_text

COLOURS = {MATERIALISED: ATTENTION, FUSED: QUIET, CONVOLUTION: lesson.CONVOLUTION, WINDOWS: lesson.VALUE,
           LINEAR: lesson.QUERY}  # fmt: skip

state = st.session_state
_measurements = Measurements()  # of this server: its visitors share them


def measured(case: Case) -> None:
    busy = _busy()
    st.fragment(run_every=0.7 if busy else None)(_measured)(case, busy)


def guess_fewer() -> None:
    guess.choice(
        "cost_measured", "At 4,096 tokens the fused kernel is several times as fast. Does it compute less?",
        {
            "same": "no: the same products, but hardly anything goes to memory and back",
            "less": "yes: it leaves out small weights",
            "half": "yes: it makes each score once for both directions",
        },
        "same",
        "FlashAttention and its like make a block of scores, use it and forget it. The N × N table never goes to "
        "memory, "
        "and that is what by-hand attention waits for. Our forward pass uses it too: it keeps queries and keys, and "
        "makes a row when it is asked for.",
        {
            "less": "There are approximations that do. This one gives the same numbers, but for rounding (*Code*, "
            "step 2).",
            "half": "The score of A with B is not that of B with A: q and k are different vectors.",
        },
    )  # fmt: skip


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
            st.progress(running.done, text=f"Somebody else is measuring ({_doing(running)}). One at a time.")
        st.markdown(
            f"One layer of width {case.width} with {case.heads} heads, one image, one core, in a process of its own: "
            "attention that makes its N × N weights, attention in a fused kernel, attention in windows of 4 × 4 "
            "tokens, "
            f"linear attention, a {case.kernel}×{case.kernel} convolution. Half a minute or so."
        )
        if st.button("Measure" if series is None else "Measure again", icon=":material/timer:", key="measure_layer"):
            state.measuring = _measurements.start(chosen)
            st.rerun()
    if series is not None and series.points:
        _results(case, series)
    else:
        figure = flops_chart(case).update_layout(title={"text": "Counted, until it is measured: FLOPs of a layer"})
        lesson.chart(figure, "counted", height=290, name="FLOPs of a layer")
    if not (series and series.points) and ((series is not None and not series.running) or (ticket and ticket.trouble)):
        st.warning("The measurement found no room on this machine: try again later.", icon=":material/error:")


def _progress(ticket: Ticket, before: int) -> None:
    running = _measurements.running()
    with st.container(horizontal=True, vertical_alignment="center"):
        if ticket.state == SERVED and running:
            st.progress(running.done, text=f"Measuring: {_doing(running)}")
        else:
            st.progress(0.0, text=f"{before} before you. Yours begins by itself." if before else "Measuring: starting")
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
    return (
        f"**At {most:,} tokens windows take {windows / fused:.2f} × and linear attention {linear / fused:.2f} × the "
        "time of fused attention over all pairs**, the four matrices included, which all have alike. They compute "
        "something else: in a window nobody hears the rest, and linear attention can’t single out one key as sharply."
    )


def _remarks(series: Series) -> list[str]:
    remarks = [
        "Time is the quickest of up to five passes; memory the highest point above what was there before. Step 3 "
        "counts what training keeps of a layer. This is a forward pass alone, which keeps nothing; but by hand it "
        f"holds {cost.TABLES} tables of N × N for each head at once: scores, scaled scores, weights."
    ]
    for kind in GROWTH:
        if skipped := series.of(kind, skipped=True):
            first = skipped[0]
            if first.skipped == "memory":
                why = f"it would take about {bytes_text(first.bytes)}, and this page takes at most a gigabyte"
            else:
                why = f"it would take about {seconds_text(first.seconds)} a pass, and this page takes {MOST_PASS:.0f}"
            remarks.append(f"**{kind.capitalize()} was not run with {first.tokens:,} tokens:** {why}.")
    if words := _cheaper_words(series):
        remarks.append(words)
    if series.points and all(p.bytes is None for p in series.points):
        remarks.append("This system does not tell a process its peak memory; Linux does.")
    if series.stopped:
        remarks.append("Stopped before its end.")
    return remarks
