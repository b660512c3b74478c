"""Trains two small models side by side: one is told where to look, the other finds it out, or not."""

import plotly.graph_objects as go
import streamlit as st

from playground import Trace
from playground.training import quick
from playground.workbench.lens import lens

NAMES = {quick.ALONE: "nobody tells it", quick.TOLD: "one head is told"}
COLOURS = {quick.ALONE: "#7A7C85", quick.TOLD: "#0072B2"}
LARGE_SHARE = 0.25  # of a patch's attention on its twin: well above chance


def curves(title: str, steps: list[int], values: dict[str, list[float]], chance: float) -> go.Figure:
    figure = go.Figure()
    for name, line in values.items():
        figure.add_scatter(x=steps, y=line, name=NAMES[name], line={"color": COLOURS[name]})
    figure.add_hline(y=chance, line={"dash": "dash", "color": "gray"}, annotation_text="chance")
    figure.update_xaxes(title="step", range=[0, quick.Pairs().steps])
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure.update_layout(title=title, height=320, legend={"x": 1, "xanchor": "right", "y": 0.1})


def show(learners: quick.Learners) -> None:
    steps = [moment.step for moment in learners[quick.ALONE].lapse.moments]
    right = {name: list(learner.right_shares) for name, learner in learners.items()}
    twin = {name: [float(moment.mass.max()) for moment in learner.lapse.moments] for name, learner in learners.items()}
    left, other = st.columns(2)
    left.plotly_chart(curves("Right answers", steps, right, quick.CHANCE))
    other.plotly_chart(curves("Attention on the twin, best head", steps, twin, quick.EVEN_SHARE))
    for name, learner in learners.items():
        share, layer, head = learner.best
        since = next((step for step, mass in zip(steps, twin[name], strict=True) if mass > LARGE_SHARE), None)
        when = f", more than {LARGE_SHARE:.0%} from step {since} on" if since is not None else ""
        st.write(f"**{NAMES[name]}**: head {head} of layer {layer} gives the twin {share:.0%} of its attention{when}.")


def look(learners: quick.Learners, seed: int) -> None:
    """The attention of one of the two models, at each step that was kept."""
    controls, picture = st.columns([1, 2])
    with controls:
        name = st.segmented_control("Model", list(NAMES), default=quick.TOLD, format_func=NAMES.get, required=True)
        learner = learners[name]
        moments = {moment.step: moment for moment in learner.lapse.moments}
        step = st.select_slider("Step", list(moments), value=list(moments)[-1])
        _, best_layer, best_head = learner.best
        layer = st.slider("Layer", 0, quick.SMALL_CONFIG.depth - 1, best_layer)
        head = st.slider("Head", 0, quick.SMALL_CONFIG.heads - 1, best_head)
        told = "".join(f" It is head {one.head} of layer {one.layer} that is told." for one in learner.told_heads)
        st.caption(f"Point at a patch: where is its twin?{told}")
    with picture:
        seen = Trace.from_bytes(moments[step].trace)
        lens(seen.of(quick.board_image(seed, 48), "board"), layer, head, "0,0", height=420)


st.title("Train two now")
st.write(
    "On this board every sign lies on two fields. Each patch has to name the colour of its twin, the other patch with "
    "the same sign. Both models see the same boards and begin alike; in one, a second loss tells one head where the "
    "twin is."
)
state = st.session_state
seed = state.get("seed", 0)
board, run = st.columns([1, 3])
board.image(quick.board_image(seed, 48), caption="one of their boards")
with run:
    start = st.button("Train again" if "learners" in state else "Train now", type="primary")
    place = st.empty()
    if start:
        state.seed = seed + 1
        st.button("Stop")  # any press ends this run of the page, and with it the training
        bar = st.progress(0.0, "Beginning …")
        for step, state.learners in enumerate(quick.train_now(quick.recipes(seed))):
            bar.progress(step / quick.Pairs().total, f"Step {step} of {quick.Pairs().total}")
            if step % quick.MEASURE_EVERY == 0:
                with place.container():
                    show(state.learners)
        st.rerun()
    elif "learners" in state:
        with place.container():
            show(state.learners)
            look(state.learners, seed - 1)
