"""The cost by formula: FLOPs and bytes of a layer, as the tokens grow; what is counted can be switched."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import Case
from playground.lessons.colours import CHANGED, CONVOLUTION, WEIGHTS
from playground.lessons.words import cost as said
from playground.lessons.words.cost import TEXT
from playground.ui import guess, lesson
from playground.ui.lessons.cost import COUNTS, MLPS, OTHERS, SMALL
from playground.ui.lessons.units import BYTES, bytes_text, flops_text

state = st.session_state


def formulas(case: Case) -> None:
    _formulas(case)
    _compared(case)
    lesson.chart(flops_chart(case), "flops", height=340, name="FLOPs of a layer")
    lesson.exercises(
        TEXT.steps["formulas"], {"cost_textbook": _is_textbook(case) or _half()}, textbook=SMALL.tokens / 9,
        n=SMALL.tokens, here=SMALL.attention_flops / SMALL.convolution_flops,
    )  # fmt: skip


def guess_share() -> None:
    n, d = SMALL.tokens, SMALL.width
    pairs = cost.pair_flops(n, d)
    guess.ask(said.share(n, d, (cost.mlp_flops(n, d), cost.attention_flops(n, d) - pairs, pairs)))


def memory(case: Case) -> None:
    lesson.chart(_bytes(case), "bytes", height=300, name="bytes of a layer")
    step = TEXT.steps["memory"]
    ratio = case.matrices_bytes / case.kept_bytes
    less = step.said["less" if ratio > 1 else "more"].format(times=max(ratio, 1 / ratio))
    everything, kept = bytes_text(case.matrices_bytes), bytes_text(case.kept_bytes)
    lesson.say(step.after, layers=case.layers, all=everything, kept=kept, less=less)


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
    st.markdown("\n".join([f"| one layer, N = {n:,}, D = {d:,}, k = {k} | FLOPs | here |", "|---|---|---|", *lines]))
    shares = {"attention": attention / (attention + mlp), "pairs": pairs / attention}
    lesson.say(TEXT.steps["formulas"].after, **shares)


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
    named, words = COUNTS[state.count], TEXT.steps["formulas"].said
    first = _first(case)
    side = int(np.ceil(np.sqrt(first)))
    lesson.say(
        words["ratio"], what=f"{named[0].upper()}{named[1:]}", other=OTHERS[state.other], mlp=mlp,
        mine=mine, theirs=theirs, ratio=mine / theirs,
        textbook=words["textbook"] if _is_textbook(case) else "",
        crossing=words["always" if first == 1 else "from"].format(
            k=case.kernel, first=first, side=side, pixels=side * case.patch
        ),
    )  # fmt: skip


def _is_textbook(case: Case) -> bool:
    return (state.count, state.other, state.mlp) == (cost.SCORES, cost.DEPTHWISE, "no")


def _half() -> bool | str:
    return "one" if (state.count == cost.SCORES) != (state.other == cost.DEPTHWISE) else False


def _sides(tokens: int, case: Case) -> tuple[int, int]:
    """(attention, convolution): FLOPs of one layer, as the switches count them."""
    mlp = state.mlp == "yes"
    return (
        cost.counted(state.count, tokens, case.width, mlp),
        cost.against(state.other, tokens, case.width, case.kernel, mlp),
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
        COUNTS[state.count] + mlp: (lambda n: _sides(n, case)[0], WEIGHTS, "solid"),
        "only its pairs, N²": (lambda n: cost.pair_flops(n, case.width), WEIGHTS, "dot"),
        f"{OTHERS[state.other]} {case.kernel}×{case.kernel} convolution{mlp}": (
            lambda n: _sides(n, case)[1], CONVOLUTION, "dash",
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
        "attention": (lambda n: cost.attention_bytes(n, case.width, case.heads), WEIGHTS),
        "fused, without the weights": (lambda n: cost.fused_bytes(n, case.width), CHANGED),
        f"{case.kernel}×{case.kernel} convolution": (
            lambda n: cost.convolution_bytes(n, case.width), CONVOLUTION,
        ),
    }  # fmt: skip
    for name, (of, colour) in lines.items():
        dash = "dash" if colour == CONVOLUTION else "solid"  # near the colour of weights, for some eyes
        line(figure, name, tokens, [of(n) for n in tokens], colour, dash, bytes_text)
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
