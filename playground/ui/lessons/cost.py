"""The lesson on the cost: the case that the dials say, its pairs of tokens, and the questions about it."""

from __future__ import annotations

from dataclasses import asdict, replace

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.errors import PlaygroundError
from playground.lessons.colours import CONVOLUTION, WEIGHTS
from playground.lessons.settings import Setting, Steps
from playground.lessons.words import cost as said
from playground.lessons.words.cost import TEXT
from playground.ui import guess, lesson

STEPS = TEXT.titles
SMALL, MIDDLE, LARGE = (PRESETS[name] for name in ("224 px, patch 16", "384 px, patch 16", "1,024 px, patch 16"))
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
    "step": Steps.by(STEPS, **TEXT.settings),
}
LABELS = {
    "image": ("Image", "{:,} px"), "patch": ("Patch", "{} px"), "width": ("Width", "{}"), "heads": ("Heads", "{}"),
    "layers": ("Layers", "{}"), "kernel": ("Convolution", "{0}×{0}"),
}  # fmt: skip
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
    guess.ask(said.ratio(SMALL.tokens, LARGE.tokens))


def pairs(case: Case) -> None:
    picture, numbers = st.columns([1.1, 1.5], gap="large")
    with picture:
        lesson.chart(_square(case), "square", height=400, name="who asks whom")
    with numbers:
        _numbers(case)
    large = case.image == MIDDLE.image
    done = large and case.tokens <= SMALL.tokens
    if not done:
        fewer = case.image == SMALL.image and case.tokens < SMALL.tokens
        done = "finer" if large and case.patch < MIDDLE.patch else "small" if fewer else False
    lesson.exercises(
        TEXT.steps["pairs"], {"cost_back": done}, small=SMALL, middle=MIDDLE, fine=replace(MIDDLE, patch=32),
        coarse=replace(MIDDLE, patch=48), more=MIDDLE.tokens / SMALL.tokens, scores=MIDDLE.entries / SMALL.entries,
    )  # fmt: skip


def _square(case: Case) -> go.Figure:
    """To scale: every token as a column, and what it reads stacked upon it."""
    n, reads = case.tokens, min(case.kernel**2, case.tokens)
    figure = go.Figure()
    corners = {"fill": "toself", "mode": "lines", "hoveron": "fills", "showlegend": False}
    figure.add_scatter(
        x=[0, n, n, 0, 0], y=[0, 0, n, n, 0], fillcolor="rgba(182,54,121,0.28)", line={"color": WEIGHTS, "width": 2},
        name=f"attention: {n:,} tokens × {n:,} tokens<br>= {case.entries:,} scores in every head", **corners,
    )  # fmt: skip
    for name, other in PRESETS.items():
        if other.tokens < n:
            m = other.tokens
            line = {"color": WEIGHTS, "width": 1.5, "dash": "dot"}
            figure.add_scatter(
                x=[0, m, m, 0], y=[m, m, 0, 0], mode="lines", line=line, showlegend=False, hoverinfo="text",
                text=f"{name}: {m:,} tokens, {m**2:,} scores",
            )  # fmt: skip
            if m > 0.04 * n:
                figure.add_annotation(x=m, y=m, text=f"{m:,}", showarrow=False, xanchor="left", yanchor="bottom")
    figure.add_scatter(
        x=[0, n, n, 0, 0], y=[0, 0, reads, reads, 0], fillcolor=CONVOLUTION,
        line={"color": CONVOLUTION, "width": 1.5}, name=f"{case.kernel}×{case.kernel} convolution: "
        f"{n:,} tokens × {reads}<br>= {n * reads:,} neighbours read", **corners,
    )  # fmt: skip
    ends = {"showgrid": False, "zeroline": False, "tickvals": [0, n], "ticktext": ["0", f"{n:,}"]}
    figure.update_layout(title={"text": f"One head: {case.entries:,} scores, to scale", "font": {"size": 15}})
    figure.update_xaxes(title="who asks (token)", range=[-0.02 * n, 1.08 * n], constrain="domain", **ends)
    figure.update_yaxes(title="whom", range=[-0.02 * n, 1.08 * n], scaleanchor="x", constrain="domain", **ends)
    return figure


def _numbers(case: Case) -> None:
    words = TEXT.steps["pairs"].said
    cut = words["sides"] + (words["rest"] if case.rest else "")
    lesson.say(cut, image=case.image, patch=case.patch, side=case.side, rest=case.rest)
    with st.container(horizontal=True, gap="medium"):
        for label, value in (
            (f"tokens, {case.side}²", f"{case.tokens:,}"),
            ("scores in a head", f"{case.entries:,}"),
            (f"in {case.heads} heads × {case.layers} layers", f"{case.all_entries:,}"),
        ):
            st.metric(label, value, width="content")
