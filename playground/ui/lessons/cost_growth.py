"""The cost by formula: FLOPs and bytes of a layer, as the tokens grow; what is counted can be switched."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import PRESETS, Case
from playground.lessons.questions import Bars, Number
from playground.ui import guess, lesson
from playground.ui.lessons.cost import ATTENTION, COUNTS, MLPS, OTHERS, QUIET
from playground.ui.lessons.units import BYTES, bytes_text, flops_text

state = st.session_state


def formulas(case: Case) -> None:
    _formulas(case)
    _compared(case)
    lesson.chart(flops_chart(case), "flops", height=340, name="FLOPs of a layer")
    small = PRESETS["224 px, patch 16"]
    lesson.exercise(
        f"A textbook says that attention costs {small.tokens / 9:.1f} times as much as a 3×3 convolution at "
        f"{small.tokens} tokens. The page says {small.attention_flops / small.convolution_flops:.2f}. Who is right?",
        "Both; they count different things. The textbook counts QKᵀ alone against a depthwise convolution: "
        "2N²D / 2k²ND = N / k². The page begins with the whole attention, its four matrices included, against a dense "
        "convolution of the same width. Turn the two switches, and each number appears.",
        hint="Two switches: what is counted, and against which convolution.",
        done=_is_textbook(case), id="cost_textbook",
    )  # fmt: skip


def guess_pairs() -> None:
    """How much of a layer grows with the square of the tokens?"""
    case = PRESETS["224 px, patch 16"]
    n, d = case.tokens, case.width
    pairs, attention, mlp = cost.pair_flops(n, d), cost.attention_flops(n, d), cost.mlp_flops(n, d)
    whole = attention + mlp
    shares = tuple(100 * part / whole for part in (mlp, attention - pairs, pairs))
    guess.number(
        "cost_share",
        f"{n} patches, width {d}: QKᵀ and × V, all that grows with the *square* of the tokens, are ▢ of a layer’s "
        f"FLOPs.",
        Number(0, 100, " %", step=0.5), shares[-1],
        f"4N²D of 24ND² + 4N²D, that is N / (6D + N): with few tokens nearly nothing. They are half of it at N = 6D = "
        f"{6 * d:,} tokens. “Attention is quadratic” is true, and for small pictures it hardly matters.",
        tempting=(((30, 100), "Everybody speaks of the square. But the matrices work on each token, D × D at a "
                   "time, and N is still much smaller than D here."),),
        prose="What a layer of a ViT-B computes for 224 × 224 pixels: its MLP, the four matrices of attention, and "
        "what "
        "is done for each *pair* of tokens.",
        picture=Bars(
            ("MLP, 16ND²", "W_Q, W_K, W_V, W_O, 8ND²", "every pair, 4N²D"), shares, 100, at=2, across=True, unit=" %",
            title="FLOPs of one layer",
        ),
    )  # fmt: skip


def guess_doubled(case: Case) -> None:
    guess.choice(
        "cost_memory", "Twice as many tokens. How much more do all weights take, and how much more queries and keys?",
        {
            "four": "the weights 4 times, queries and keys twice",
            "two": "both twice",
            "square": "both 4 times",
        },
        "four",
        "A weight belongs to a pair of tokens, a query and a key to one token. That is why the fused kernel’s line is "
        "straight and less steep, and why this playground keeps queries and keys.",
        {
            "two": "Each token has a weight *for each other one*: with twice the tokens a row is twice as long, too.",
            "square": "Only what is kept for pairs grows so. A token has one query and one key in each head.",
        },
    )  # fmt: skip


def memory(case: Case) -> None:
    lesson.chart(_bytes(case), "bytes", height=300, name="bytes of a layer")
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


def flops_chart(case: Case) -> go.Figure:
    tokens = _grid(case).tolist()
    title = f"FLOPs of a layer of width {case.width}"
    figure = growing(title)
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
        line(figure, name, tokens, [of(n) for n in tokens], colour, dash, flops_text)
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
    figure = growing(f"Bytes that a layer keeps for training, {case.heads} heads")
    lines = {
        "attention": (lambda n: cost.attention_bytes(n, case.width, case.heads), ATTENTION),
        "fused, without the weights": (lambda n: cost.fused_bytes(n, case.width), QUIET),
        f"{case.kernel}×{case.kernel} convolution": (
            lambda n: cost.convolution_bytes(n, case.width), lesson.CONVOLUTION,
        ),
    }  # fmt: skip
    for name, (of, colour) in lines.items():
        line(figure, name, tokens, [of(n) for n in tokens], colour, "solid", bytes_text)
    here = cost.attention_bytes(case.tokens, case.width, case.heads)
    _mark(figure, case.tokens, here, f"your case: {case.tokens:,} tokens, {bytes_text(here)}")
    figure.update_yaxes(tickvals=BYTES, ticktext=[bytes_text(n) for n in BYTES])
    return figure


def growing(title: str) -> go.Figure:
    figure = go.Figure()
    legend = {"x": 1, "xanchor": "right", "y": 0.02, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"}
    figure.update_layout(title={"text": title, "font": {"size": 15}}, legend=legend)
    ticks = [16, 64, 256, 1024, 4096, 16384]
    figure.update_xaxes(type="log", title="tokens", tickvals=ticks, ticktext=[f"{t:,}" for t in ticks], tickangle=0)
    figure.update_yaxes(type="log", exponentformat="SI")
    return figure


def line(figure: go.Figure, name: str, tokens: list, values: list, colour: str, dash: str, text) -> None:
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
