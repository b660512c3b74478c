"""Trains two small models side by side: one is told where to look, the other finds it out, or not."""

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from playground import Trace, training
from playground.workbench.lens import lens

NAMES = {training.ALONE: "nobody tells it", training.TOLD: "one head is told"}
COLOURS = {training.ALONE: "#7A7C85", training.TOLD: "#0072B2"}
Value = Callable[[training.Moment], float]  # what a curve shows
LARGE_SHARE = 0.25  # of a patch's attention on its twin: well above chance


def curves(title: str, moments: training.Moments, value: Value, chance: float) -> go.Figure:
    figure = go.Figure()
    for name, line in moments.items():
        x, y = [moment.step for moment in line], [value(moment) for moment in line]
        figure.add_scatter(x=x, y=y, name=NAMES[name], line={"color": COLOURS[name]})
    figure.add_hline(y=chance, line={"dash": "dash", "color": "gray"}, annotation_text="chance")
    figure.update_xaxes(title="step", range=[0, training.STEPS])
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure.update_layout(title=title, height=320, legend={"x": 1, "xanchor": "right", "y": 0.1})


def show(moments: training.Moments) -> None:
    left, right = st.columns(2)
    left.plotly_chart(curves("Right answers", moments, lambda moment: moment.right, training.CHANCE))
    title = "Attention on the twin, best head"
    right.plotly_chart(curves(title, moments, lambda moment: moment.best[0], training.EVEN_SHARE))
    for name, line in moments.items():
        share, layer, head = line[-1].best
        since = next((moment.step for moment in line if moment.best[0] > LARGE_SHARE), None)
        when = f", more than {LARGE_SHARE:.0%} from step {since} on" if since is not None else ""
        st.write(f"**{NAMES[name]}**: head {head} of layer {layer} gives the twin {share:.0%} of its attention{when}.")


def look(moments: training.Moments, seed: int) -> None:
    """The attention of one of the two models, at each step that was kept."""
    controls, picture = st.columns([1, 2])
    with controls:
        name = st.segmented_control("Model", list(NAMES), default=training.TOLD, format_func=NAMES.get, required=True)
        by_step = {moment.step: moment for moment in moments[name]}
        step = st.select_slider("Step", list(by_step), value=list(by_step)[-1])
        _, best_layer, best_head = moments[name][-1].best
        layer = st.slider("Layer", 0, training.CONFIG.depth - 1, best_layer)
        head = st.slider("Head", 0, training.CONFIG.heads - 1, best_head)
        told_layer, told_head = training.TOLD_HEAD
        told = f" It is head {told_head} of layer {told_layer} that is told." if name == training.TOLD else ""
        st.caption(f"Point at a patch: where is its twin?{told}")
    with picture:
        seen = Trace.from_bytes(by_step[step].trace)
        lens(seen.of(training.board_image(seed, 48), "board"), layer, head, "0,0", height=420)


st.title("Train two now")
st.write(
    "On this board every sign lies on two fields. Each patch has to name the colour of its twin, the other patch with "
    "the same sign. Both models see the same boards and begin alike; in one, a second loss tells one head where the "
    "twin is."
)
state = st.session_state
seed = state.get("seed", 0)
board, run = st.columns([1, 3])
board.image(training.board_image(seed, 48), caption="one of their boards")
with run:
    start = st.button("Train again" if "moments" in state else "Train now", type="primary")
    place = st.empty()
    if start:
        state.seed = seed + 1
        st.button("Stop")  # any press ends this run of the page, and with it the training
        bar = st.progress(0.0, "Beginning …")
        for step, state.moments in training.train(seed):
            bar.progress(step / training.STEPS, f"Step {step} of {training.STEPS}")
            if step % training.MEASURE_EVERY == 0:
                with place.container():
                    show(state.moments)
        st.rerun()
    elif "moments" in state:
        with place.container():
            show(state.moments)
            look(state.moments, seed - 1)
