"""Switches every head off in turn, and measures how far the answer moves: what a head does, not where it looks."""

import pandas as pd
import plotly.express as px
import streamlit as st

import playground
from playground.workbench import choose

st.title("Heads switched off")
st.write(
    "Each head gives its mean over the tokens, in turn. How far does the answer move, on average over your images?"
)
vit = choose.model()
files = st.file_uploader("Images", ["jpg", "jpeg", "png", "webp"], accept_multiple_files=True)
if not files:
    st.stop()

state = st.session_state
if st.button(f"Measure on {len(files)} images", type="primary"):
    st.button("Stop")
    bar, effects = st.progress(0.0), []
    for number, file in enumerate(files):
        bar.progress(number / len(files), file.name)
        found = choose.or_sentence(
            lambda file=file: playground.sweep([file], vit, metric="moved", over="heads", progress=False)
        )
        effects.append(found["value"].isel(image=0).values)  # (layers, heads)
    state.moved = pd.DataFrame(sum(effects) / len(effects)).rename_axis("layer").rename_axis("head", axis=1)
    st.rerun()
if "moved" in state:
    st.plotly_chart(px.imshow(state.moved, color_continuous_scale="Viridis", labels={"color": "moved by"}))
    st.caption("How far the last tokens move, against their length.")
    st.download_button("Numbers as .csv", state.moved.to_csv(), "heads_off.csv", on_click="ignore")
