"""The lesson on the cost: the case that the dials say, its pairs of tokens, and the questions about it."""

from __future__ import annotations

from dataclasses import asdict, replace

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.errors import PlaygroundError
from playground.lessons.questions import Number, Squares
from playground.ui import guess, lesson
from playground.ui.navigation import Setting, Steps

STEPS = {
    "pairs": "1 · Every pair",
    "formulas": "2 · FLOPs by formula",
    "memory": "3 · Memory",
    "measured": "4 · Measured here",
}
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
    "step": Steps.by(STEPS, formulas=("count", "other", "mlp")),
}
LABELS = {
    "image": ("Image", "{:,} px"), "patch": ("Patch", "{} px"), "width": ("Width", "{}"), "heads": ("Heads", "{}"),
    "layers": ("Layers", "{}"), "kernel": ("Convolution", "{0}×{0}"),
}  # fmt: skip
ATTENTION, QUIET = "#B63679", "#E8963A"  # of magma, as weights are; the fused kernel is the same with a break

IDEA = (
    "In attention every token is compared with every token: twice the image side makes four times as many tokens and "
    "*sixteen times* as many scores. A convolution reads a fixed number of neighbours: its cost grows with the number "
    "of tokens only."
)

state = st.session_state


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


# Every pair -----------------------------------------------------------------------------------------------------------


def guess_ratio() -> None:
    small, large = PRESETS["224 px, patch 16"], PRESETS["1,024 px, patch 16"]
    times = large.entries / small.entries
    guess.number(
        "cost_ratio",
        f"224 × 224 pixels are {small.tokens} patches of 16 × 16. Leave the class token aside: of 1,024 × 1,024 "
        f"pixels, a "
        "head makes ▢ as many scores.",
        Number(1, 1000, " ×"), times,
        f"{large.tokens:,} patches instead of {small.tokens}, {large.tokens / small.tokens:.1f} times as many, and the "
        f"square of that: {large.entries:,} scores instead of {small.entries:,}.",
        tempting=(
            ((4, 5), "So much longer is a side of the picture. Patches go with its square, scores with theirs."),
            ((18, 25), "So many times as many *patches* there are. Each asks each: take the square."),
        ),
        prose="The small square: a score for each pair of patches, to scale. Drag the corner of the large one.",
        picture=Squares(f"{small.entries:,} scores", f"{large.entries:,} scores", "Scores of one head"),
    )  # fmt: skip


def pairs(case: Case) -> None:
    picture, numbers = st.columns([1.1, 1.5], gap="large")
    with picture:
        lesson.chart(_square(case), "square", height=400, name="who asks whom")
    with numbers:
        _numbers(case)
    _exercises(case)


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


def _exercises(case: Case) -> None:
    small, large, coarse = (PRESETS[name] for name in ("224 px, patch 16", "384 px, patch 16", "384 px, patch 48"))
    fine = replace(large, patch=32)
    lesson.exercise(
        "From 224 to 384 pixels at patch 16: by how much do the scores grow? Which patch takes the growth back?",
        f"{small.tokens} tokens become {large.tokens}, {large.tokens / small.tokens:.2f} times as many, and "
        f"{small.entries:,} scores become {large.entries:,}: {large.entries / small.entries:.1f} times, (384 / 224)⁴. "
        f"Patches of 32 pixels make {fine.tokens} tokens and {fine.entries:,} scores of 384 pixels, fewer than at the "
        f"start; patches of 48 make {coarse.tokens} and {coarse.entries:,}. But one vector then stands for four or "
        f"nine "
        "times as many pixels.",
        hint="Set the image to 384, then try patch sizes until there are no more tokens than at 224.",
        done=case.image == 384 and case.tokens <= small.tokens, id="cost_back",
    )  # fmt: skip
    lesson.exercise(
        "More heads: what changes, and what doesn't?",
        "The number of scores changes: every head has its own N × N. The FLOPs of the formulas don't: each head is "
        "narrower by as much as there are more of them.",
    )
