"""What every head does on many images: how far it looks, and how many patches it spreads over."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import playground
from playground.workbench import choose

st.title("A folder of images")
st.write(
    "Give some images: for each head, how far its attention goes on average, and over how many patches it spreads."
)
vit = choose.model()
files = st.file_uploader("Images", ["jpg", "jpeg", "png", "webp"], accept_multiple_files=True)
if not files:
    st.stop()

start = st.button(f"Look at {len(files)} images", type="primary")
state = st.session_state
if start:
    st.button("Stop")
    bar, found = st.progress(0.0), []
    many = choose.or_sentence(lambda: playground.trace_many(files, vit, what=("distance", "entropy"), batch=1))
    for file, one in zip(files, many, strict=True):
        distance, entropy = (one.arrays[name].mean(-1) for name in ("distance", "entropy"))  # (layers, heads)
        for layer, head in np.ndindex(distance.shape):
            found.append((file.name, layer, head, distance[layer, head], 2 ** entropy[layer, head]))
        bar.progress(len(found) / distance.size / len(files), file.name)
    state.heads = pd.DataFrame(found, columns=["image", "layer", "head", "distance", "patches"])
    st.rerun()
if "heads" in state:
    means = state.heads.groupby(["layer", "head"])[["distance", "patches"]].mean().reset_index()
    chart = go.Figure(
        go.Scatter(
            x=means["distance"], y=means["patches"], mode="markers",
            marker={"color": means["layer"], "colorscale": "Viridis", "colorbar": {"title": "layer"}, "size": 11},
            text=[f"layer {layer}, head {head}" for layer, head in zip(means["layer"], means["head"], strict=True)],
        )
    )  # fmt: skip
    chart.update_xaxes(title="mean distance, in patches")
    chart.update_yaxes(title="patches that it spreads over (2 to the entropy)")
    st.plotly_chart(chart)
    st.dataframe(means, hide_index=True)
    st.download_button("Every image as .csv", state.heads.to_csv(index=False), "heads.csv", on_click="ignore")
