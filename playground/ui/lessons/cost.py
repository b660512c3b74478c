"""The lesson on the cost: the arithmetic of one case, what grows with the tokens, and the same measured here."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.errors import PlaygroundError
from playground.lessons.benchmark import CONVOLUTION, FUSED, GROWTH, MATERIALISED, MOST_PASS, Series
from playground.serving.measurements import Measurements
from playground.serving.queue import OVER, SERVED, Ticket
from playground.ui import guess, lesson
from playground.ui.navigation import Setting

COUNTS = {cost.ATTENTION: "the whole attention", cost.SCORES: "QKᵀ alone"}
OTHERS = {cost.DENSE: "dense", cost.DEPTHWISE: "depthwise"}
MLPS = {"no": "no", "yes": "on both sides"}
DIALS = {
    "image": Setting.of(
        224, (64, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536)
    ),
    "patch": Setting.of(16, (8, 14, 16, 32, 48)),
    "width": Setting.of(768, (192, 384, 512, 768, 1024, 1280)),
    "heads": Setting.of(12, (1, 2, 3, 4, 6, 8, 12, 16)),
    "layers": Setting.of(12, (1, 2, 4, 6, 12, 24, 32)),
    "kernel": Setting.of(3, (1, 3, 5, 7)),
}
SETTINGS = DIALS | {
    "count": Setting.of(cost.ATTENTION, COUNTS),
    "other": Setting.of(cost.DENSE, OTHERS),
    "mlp": Setting.of("no", MLPS),
}
LABELS = {
    "image": ("Image", "{:,} px"), "patch": ("Patch", "{} px"), "width": ("Width", "{}"), "heads": ("Heads", "{}"),
    "layers": ("Layers", "{}"), "kernel": ("Convolution", "{0}×{0}"),
}  # fmt: skip
ATTENTION, QUIET = "#B63679", "#E8963A"  # of magma, as weights are; the fused kernel is the same with a break
SECONDS, BYTES = [10.0**p for p in range(-4, 2)], [10.0**p for p in range(3, 13)]  # where axes have a line
COLOURS = {MATERIALISED: ATTENTION, FUSED: QUIET, CONVOLUTION: lesson.CONVOLUTION}

IDEA = (
    "In attention every token is compared with every token: twice the image side makes four times as many tokens and "
    "*sixteen times* as many scores. A convolution reads a fixed number of neighbours: its cost grows with the number "
    "of tokens only."
)

state = st.session_state

# The case -------------------------------------------------------------------------------------------------------------


def controls() -> Case | None:
    """What the dials say; None, and a sentence in place, where that can't be."""
    dialled = {name: state[name] for name in DIALS}
    sized = {name: dialled[name] for name in ("width", "heads", "layers", "patch")}
    state.preset = next((name for name, case in PRESETS.items() if asdict(case) == dialled), None)
    state.sized = next((n for n, case in SIZES.items() if sized == {f: getattr(case, f) for f in sized}), None)
    with st.container(horizontal=True, key="cost_presets", gap="medium"):
        st.pills("The classic cases, as a ViT-B", PRESETS, key="preset", on_change=_on_preset)
        st.pills(
            "The usual sizes, with their parameters", SIZES, key="sized", on_change=_on_size,
            format_func=lambda name: f"{name}: {SIZES[name].parameters / 1e6:.3g} M",
        )  # fmt: skip
    with st.container(horizontal=True, key="cost_dials", gap="small"):
        for name, setting in DIALS.items():
            label, words = LABELS[name]
            st.select_slider(label, setting.options, key=name, format_func=words.format, width=150)
    try:
        return Case(**dialled)
    except PlaygroundError as error:
        st.warning(str(error), icon=":material/error:")
        return None


def _on_size() -> None:
    if case := SIZES.get(state.sized):
        state.update({name: getattr(case, name) for name in ("width", "heads", "layers", "patch")})


def _on_preset() -> None:
    if case := PRESETS.get(state.preset):
        state.update(asdict(case))


# The arithmetic -------------------------------------------------------------------------------------------------------


def arithmetic(case: Case) -> None:
    picture, numbers = st.columns([1.1, 1.5], gap="large")
    with picture:
        lesson.chart(_square(case), "square", height=400, name="who asks whom")
    with numbers:
        _numbers(case)
    _compared(case)
    flops, held = st.columns(2, gap="large")
    with flops:
        lesson.chart(_flops(case), "flops", height=340, name="FLOPs of a layer")
    with held:
        lesson.chart(_bytes(case), "bytes", height=340, name="bytes of a layer")


def _square(case: Case) -> go.Figure:
    """To scale: every token as a column, and what it reads stacked upon it."""
    n, reads = case.tokens, min(case.kernel**2, case.tokens)
    figure = go.Figure()
    corners = {"fill": "toself", "mode": "lines", "hoveron": "fills", "showlegend": False}
    figure.add_scatter(
        x=[0, n, n, 0, 0], y=[0, 0, n, n, 0], fillcolor="rgba(182,54,121,0.28)", line={"color": ATTENTION, "width": 2},
        name=f"attention: {n:,} tokens × {n:,} tokens<br>= {case.entries:,} scores in every head", **corners,
    )  # fmt: skip
    for name, other in PRESETS.items():
        if other.tokens < n:
            m = other.tokens
            line = {"color": ATTENTION, "width": 1.5, "dash": "dot"}
            figure.add_scatter(
                x=[0, m, m, 0], y=[m, m, 0, 0], mode="lines", line=line, showlegend=False, hoverinfo="text",
                text=f"{name}: {m:,} tokens, {m**2:,} scores",
            )  # fmt: skip
            if m > 0.04 * n:
                figure.add_annotation(x=m, y=m, text=f"{m:,}", showarrow=False, xanchor="left", yanchor="bottom")
    figure.add_scatter(
        x=[0, n, n, 0, 0], y=[0, 0, reads, reads, 0], fillcolor=lesson.CONVOLUTION,
        line={"color": lesson.CONVOLUTION, "width": 1.5}, name=f"{case.kernel}×{case.kernel} convolution: "
        f"{n:,} tokens × {reads}<br>= {n * reads:,} neighbours read", **corners,
    )  # fmt: skip
    ends = {"showgrid": False, "zeroline": False, "tickvals": [0, n], "ticktext": ["0", f"{n:,}"]}
    figure.update_layout(title={"text": f"One head: {case.entries:,} scores, to scale", "font": {"size": 15}})
    figure.update_xaxes(title="who asks (token)", range=[-0.02 * n, 1.08 * n], constrain="domain", **ends)
    figure.update_yaxes(title="whom", range=[-0.02 * n, 1.08 * n], scaleanchor="x", constrain="domain", **ends)
    return figure


def _numbers(case: Case) -> None:
    cut = f" The last {case.rest} pixels make no whole patch and are cut off." if case.rest else ""
    st.markdown(f"{case.image:,} ÷ {case.patch} = {case.side} patches a side.{cut}")
    with st.container(horizontal=True, gap="medium"):
        for label, value in (
            (f"tokens, {case.side}²", f"{case.tokens:,}"),
            ("scores in a head", f"{case.entries:,}"),
            (f"in {case.heads} heads × {case.layers} layers", f"{case.all_entries:,}"),
        ):
            st.metric(label, value, width="content")
    _formulas(case)
    st.markdown(_kept_words(case))


def _formulas(case: Case) -> None:
    """Of one layer: every formula with its number, and what part of the layer it is."""
    n, d, k = case.tokens, case.width, case.kernel
    attention, mlp = cost.attention_flops(n, d), cost.mlp_flops(n, d)
    pairs = cost.pair_flops(n, d)
    rows = (
        ("attention: four matrices, and every pair twice", "8ND² + 4N²D", attention),
        ("… of that QKᵀ alone", "2N²D", cost.score_flops(n, d)),
        ("its MLP, 4D wide", "16ND²", mlp),
        (f"{k}×{k} convolution, dense (D → D channels)", "2k²ND²", cost.convolution_flops(n, d, k)),
        (f"{k}×{k} convolution, depthwise (a filter a channel)", "2k²ND", cost.depthwise_flops(n, d, k)),
    )
    lines = [f"| {what} | {formula} | {flops_text(value)} |" for what, formula, value in rows]
    st.markdown(
        "\n".join([f"| one layer, N = {n:,}, D = {d:,}, k = {k} | FLOPs | here |", "|---|---|---|", *lines])
        + f"\n\nAttention is **{attention / (attention + mlp):.0%}** of the layer, the MLP the rest. Of attention's "
        f"FLOPs {pairs / attention:.0%} grow with N², the square of the tokens; the others are its four matrices."
    )


def _compared(case: Case) -> None:
    """Which ratio one gets depends on what is counted: both of the ratios that are usually told are here."""
    with st.container(horizontal=True, key="cost_switches"):
        st.segmented_control("Count", COUNTS, key="count", format_func=COUNTS.get, required=True)
        st.segmented_control(
            f"against a {case.kernel}×{case.kernel} convolution that is", OTHERS, key="other", format_func=OTHERS.get,
            required=True,
        )  # fmt: skip
        st.segmented_control("with an MLP", MLPS, key="mlp", format_func=MLPS.get, required=True)
    mine, theirs = _sides(case.tokens, case)
    mlp = ", each with the MLP" if state.mlp == "yes" else ""
    named = COUNTS[state.count]
    short = " This is the textbook's N / k²." if _is_textbook(case) else ""
    st.markdown(
        f"**{named[0].upper()}{named[1:]} ÷ {OTHERS[state.other]} convolution{mlp}: {flops_text(mine)} ÷ "
        f"{flops_text(theirs)} = {mine / theirs:.3g}.**{short} {_crossing_words(case)}"
    )


def _is_textbook(case: Case) -> bool:
    return (state.count, state.other, state.mlp) == (cost.SCORES, cost.DEPTHWISE, "no")


def _sides(tokens: int, case: Case) -> tuple[int, int]:
    """(attention, convolution): FLOPs of one layer, as the switches count them."""
    mlp = state.mlp == "yes"
    return (
        cost.counted(state.count, tokens, case.width, mlp),
        cost.against(state.other, tokens, case.width, case.kernel, mlp),
    )


def _kept_words(case: Case) -> str:
    ratio = case.matrices_bytes / case.kept_bytes
    less = f"{ratio:.3g} times less" if ratio > 1 else f"{1 / ratio:.3g} times *more*, for so few tokens"
    return (
        f"**What this playground keeps.** All N × N weights of the {case.layers} layers are "
        f"{bytes_text(case.matrices_bytes)}. Their queries and keys, from which it makes any row when the cursor asks, "
        f"are **{bytes_text(case.kept_bytes)}**: {less}."
    )


def _crossing_words(case: Case) -> str:
    first = _first(case)
    if first == 1:
        return f"Counted so, it costs more than a {case.kernel}×{case.kernel} convolution with any number of tokens."
    side = int(np.ceil(np.sqrt(first)))
    return (
        f"From **{first:,} tokens** on, {side} × {side} patches or {side * case.patch:,} px, it costs more than the "
        "convolution."
    )


def _first(case: Case) -> int:
    return cost.crossing(case.width, case.kernel, state.count, state.other)


def _grid(case: Case) -> np.ndarray:
    most = max(16_384, 2 * case.tokens, 2 * _first(case))
    return np.unique(np.geomspace(4, most, 60).astype(int))


def _flops(case: Case) -> go.Figure:
    tokens = _grid(case).tolist()
    title = f"FLOPs of a layer of width {case.width}"
    figure = _growing(title)
    mlp = " and MLP" if state.mlp == "yes" else ""
    lines = {
        COUNTS[state.count] + mlp: (lambda n: _sides(n, case)[0], ATTENTION, "solid"),
        "only its pairs, N²": (lambda n: cost.pair_flops(n, case.width), ATTENTION, "dot"),
        f"{OTHERS[state.other]} {case.kernel}×{case.kernel} convolution{mlp}": (
            lambda n: _sides(n, case)[1], lesson.CONVOLUTION, "solid",
        ),
    }  # fmt: skip
    if state.count == cost.SCORES:
        del lines["only its pairs, N²"]
    for name, (of, colour, dash) in lines.items():
        _line(figure, name, tokens, [of(n) for n in tokens], colour, dash, flops_text)
    first = _first(case)
    if first > 1:
        height = _sides(first, case)[0]
        _mark(figure, first, height, f"the crossing: from {first:,} tokens on attention costs more", "x")
        figure.add_annotation(
            x=np.log10(first), y=np.log10(height), text=f"{first:,} tokens", ax=-58, ay=-26, arrowhead=0,
        )  # fmt: skip
    _mark(figure, case.tokens, _sides(case.tokens, case)[0], f"your case: {case.tokens:,} tokens")
    return figure


def _bytes(case: Case) -> go.Figure:
    tokens = _grid(case).tolist()
    figure = _growing(f"Bytes that a layer keeps for training, {case.heads} heads")
    lines = {
        "attention": (lambda n: cost.attention_bytes(n, case.width, case.heads), ATTENTION),
        "fused, without the weights": (lambda n: cost.fused_bytes(n, case.width), QUIET),
        f"{case.kernel}×{case.kernel} convolution": (
            lambda n: cost.convolution_bytes(n, case.width), lesson.CONVOLUTION,
        ),
    }  # fmt: skip
    for name, (of, colour) in lines.items():
        _line(figure, name, tokens, [of(n) for n in tokens], colour, "solid", bytes_text)
    here = cost.attention_bytes(case.tokens, case.width, case.heads)
    _mark(figure, case.tokens, here, f"your case: {case.tokens:,} tokens, {bytes_text(here)}")
    figure.update_yaxes(tickvals=BYTES, ticktext=[bytes_text(n) for n in BYTES])
    return figure


def _growing(title: str) -> go.Figure:
    figure = go.Figure()
    legend = {"x": 1, "xanchor": "right", "y": 0.02, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"}
    figure.update_layout(title={"text": title, "font": {"size": 15}}, legend=legend)
    ticks = [16, 64, 256, 1024, 4096, 16384]
    figure.update_xaxes(type="log", title="tokens", tickvals=ticks, ticktext=[f"{t:,}" for t in ticks], tickangle=0)
    figure.update_yaxes(type="log", exponentformat="SI")
    return figure


def _line(figure: go.Figure, name: str, tokens: list, values: list, colour: str, dash: str, text) -> None:
    figure.add_scatter(
        x=tokens, y=values, name=name, mode="lines", line={"color": colour, "width": 3, "dash": dash},
        text=[f"{name}, {n:,} tokens: {text(v)}" for n, v in zip(tokens, values, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _mark(figure: go.Figure, tokens: int, value: float, said: str, symbol: str = "diamond") -> None:
    figure.add_scatter(
        x=[tokens], y=[value], mode="markers", showlegend=False, hovertemplate=f"{said}<extra></extra>",
        marker={"symbol": symbol, "size": 12, "color": "white", "line": {"color": "black", "width": 2}},
    )  # fmt: skip


def guess_ratio() -> None:
    small, large = PRESETS["224 px, patch 16"], PRESETS["1,024 px, patch 16"]
    guess.number(
        "cost_ratio",
        f"A ViT-B makes {small.tokens} tokens of 224 × 224 pixels. How many times as many scores does a head make of "
        "1,024 × 1,024 pixels?",
        1, 1000, " ×",
        lambda: guess.Truth(
            round(large.entries / small.entries),
            f" {large.tokens:,} tokens instead of {small.tokens}, and the square of that: {large.entries:,} scores "
            f"instead of {small.entries:,}.",
        ),
    )  # fmt: skip


def exercises() -> None:
    small, large, coarse = (PRESETS[name] for name in ("224 px, patch 16", "384 px, patch 16", "384 px, patch 48"))
    lesson.exercise(
        "From 224 to 384 pixels at patch 16: by how much do the scores grow? Which patch takes the growth back?",
        f"{small.tokens} tokens become {large.tokens}, {large.tokens / small.tokens:.2f} times as many, and "
        f"{small.entries:,} scores become {large.entries:,}: {large.entries / small.entries:.1f} times, (384 / 224)⁴. "
        f"With patches of 48 pixels, 384 pixels make {coarse.tokens} tokens and {coarse.entries:,} scores, fewer than "
        "at the start; but one vector then stands for nine times as many pixels.",
    )
    lesson.exercise(
        "More heads: what changes, and what doesn't?",
        "The number of scores changes: every head has its own N × N. The FLOPs of the formulas don't: each head is "
        "narrower by as much as there are more of them.",
    )
    lesson.exercise(
        f"A textbook says that attention costs {small.tokens / 9:.1f} times as much as a 3×3 convolution at "
        f"{small.tokens} tokens. The page says {small.attention_flops / small.convolution_flops:.2f}. Who is right?",
        "Both; they count different things. The textbook counts QKᵀ alone against a depthwise convolution: "
        "2N²D / 2k²ND = N / k². The page begins with the whole attention, its four matrices included, against a dense "
        "convolution of the same width. Turn the two switches, and each number appears.",
    )


# Measured -------------------------------------------------------------------------------------------------------------

_measurements = Measurements()  # of this server: its visitors share them


def measured(case: Case) -> None:
    st.subheader("Measured on this machine", anchor=False)
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
            st.progress(running.done, text=f"Somebody else is measuring ({_doing(running)}). One at a time.")
        st.markdown(
            f"One layer of width {case.width} with {case.heads} heads, one image, one core, in a process of its own: "
            f"attention that makes its N × N weights, attention in a fused kernel, a {case.kernel}×{case.kernel} "
            "convolution. Half a minute or so."
        )
        if st.button("Measure" if series is None else "Measure again", icon=":material/timer:", key="measure"):
            state.measuring = _measurements.start(chosen)
            st.rerun()
    if series is not None and series.points:
        _results(case, series)
    elif (series is not None and not series.running) or (ticket and ticket.trouble):
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
        figure = _growing("Time of a layer")
        _points(figure, series, lambda p: p.seconds, seconds_text)
        figure.update_yaxes(
            tickvals=[10.0**p for p in range(-4, 2)], ticktext=["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s"]
        )
        lesson.chart(figure, "measured_time", height=340, name="measured time")
    with right:
        figure = _growing("Peak memory of a layer")
        _points(figure, series, lambda p: p.bytes, bytes_text)
        tables = [(p.tokens, cost.TABLES * cost.FLOAT * case.heads * p.tokens**2) for p in series.of(MATERIALISED)]
        _line(figure, f"{cost.TABLES} tables of N × N", *zip(*tables, strict=True), "gray", "dot", bytes_text)
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


def _remarks(series: Series) -> list[str]:
    remarks = [
        "Time is the quickest of up to five passes; memory the highest point above what was there before. The chart of "
        "bytes above counts what training keeps of a layer; this one is a forward pass alone, which keeps nothing, but "
        f"by hand it holds {cost.TABLES} tables of N × N for each head at once: scores, scaled scores, weights."
    ]
    for kind in GROWTH:
        if skipped := series.of(kind, skipped=True):
            first = skipped[0]
            if first.skipped == "memory":
                why = f"it would take about {bytes_text(first.bytes)}, and this page takes at most a gigabyte"
            else:
                why = f"it would take about {seconds_text(first.seconds)} a pass, and this page takes {MOST_PASS:.0f}"
            remarks.append(f"**{kind.capitalize()} was not run with {first.tokens:,} tokens:** {why}.")
    if series.points and all(p.bytes is None for p in series.points):
        remarks.append("This system does not tell a process its peak memory; Linux does.")
    if series.stopped:
        remarks.append("Stopped before its end.")
    return remarks


# Numbers in words -----------------------------------------------------------------------------------------------------


def flops_text(n: float) -> str:
    return _with_unit(n, 1000, ("", " K", " M", " G", " T", " P"))


def bytes_text(n: float) -> str:
    """In powers of ten, as disks and the README count."""
    return _with_unit(n, 1000, (" B", " KB", " MB", " GB", " TB"))


def seconds_text(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _with_unit(n: float, step: int, units: tuple[str, ...]) -> str:
    place = 0
    while n >= step and place < len(units) - 1:
        n, place = n / step, place + 1
    return f"{n:.3g}{units[place]}" if n < 999.5 or place else f"{n:.0f}{units[place]}"
