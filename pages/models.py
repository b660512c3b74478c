"""Fetches a model to this machine, and says what is here."""

import hashlib
import tempfile
from pathlib import Path

import pandas as pd
import streamlit as st

import playground
from playground.models import catalogue
from playground.serving import models
from playground.workbench import choose

st.title("Models")
cards = models.cards()
st.dataframe(
    pd.DataFrame(
        [(c.here, c.title, c.name, c.good_for, c.megabytes, c.licence) for c in cards],
        columns=["here", "model", "name", "good for", "MB", "licence"],
    ),
    hide_index=True,
)
name = st.selectbox(
    "Fetch", [c.name for c in cards if not c.here], accept_new_options=True, index=None,
    placeholder="one of the list, or a plain ViT of timm's by its name",
)  # fmt: skip
if name and st.button("Fetch", type="primary"):
    with st.status(f"Fetching {name} …") as status:
        choose.or_sentence(lambda: catalogue.fetch(name))
        status.update(label=f"{name} is here.", state="complete")

if file := st.file_uploader("Or open a file of weights: then it stands in the list of models", ["safetensors"]):
    path = Path(tempfile.gettempdir(), f"{hashlib.sha256(file.getvalue()).hexdigest()[:8]}-{Path(file.name).name}")
    path.write_bytes(file.getvalue())
    vit = choose.or_sentence(lambda: playground.load(path))
    st.session_state.opened = {**st.session_state.get("opened", {}), str(path): file.name}
    st.success(f"{file.name} is opened: {vit.config.depth} layers, {vit.config.heads} heads.")
    for assumed in vit.assumed:
        st.caption(assumed)
