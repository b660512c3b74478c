"""What the pages of the workbench ask for in the sidebar: a model and a picture. A choice stays from page to page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import streamlit as st
import torch
from PIL import Image

import playground
from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.samples import named, samples
from playground.serving import models
from playground.vit import VisionTransformer

Found = TypeVar("Found")
DEVICES = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count())), *["mps"] * torch.mps.is_available()]


@st.cache_resource(max_entries=3, show_spinner="Loading the model …")
def _load(name: str, device: str) -> VisionTransformer:
    return playground.load(name, device=device)


@st.cache_resource(max_entries=8, show_spinner="One forward pass …")
def _trace(name: str, device: str, digest: str, _image: Image.Image | str) -> playground.Trace:
    return playground.trace(_load(name, device), _image)


def model() -> VisionTransformer:
    return or_sentence(lambda: _load(*_model_words()))


def trace() -> playground.Trace:
    """One forward pass of the chosen model over the chosen picture."""
    name, device = _model_words()
    with st.sidebar:
        kinds = ["Sample", "Upload", "Camera"]
        kind = st.segmented_control(
            "Picture", kinds, default="Sample", required=True, key="kind", persist_state="session"
        )
        picture: tuple[str, str | Image.Image] | None
        if kind == "Sample":
            picture = _sample()
        elif kind == "Upload":
            picture = _opened(st.file_uploader("Image", ["jpg", "jpeg", "png", "webp", "heic"]))
        else:
            picture = _opened(st.camera_input("Camera"))
    if picture is None:
        st.info("Give a picture in the sidebar: a file of yours, or one from the camera.")
        st.stop()
    return or_sentence(lambda: _trace(name, device, *picture))


class Opening(NamedTuple):
    layer: int
    head: int
    patch: str  # "row,column"


def opening(seen: playground.Trace) -> Opening:
    """Where a picture opens: at the address's patch, else a sample at its best moment, another one in its middle."""
    rows, columns = seen.grid
    sample = named(st.session_state.sample) if st.session_state.kind == "Sample" else None
    y, x = sample.start if sample else (0.5, 0.5)
    patch = f"{int(y * rows)},{int(x * columns)}"
    asked = re.fullmatch(r"(\d{1,3}),(\d{1,3})", st.query_params.get("query", ""))
    arrived = st.session_state.setdefault("arrived", sample)  # the address's patch is one of the first picture
    if asked and sample == arrived and int(asked[1]) < rows and int(asked[2]) < columns:
        patch = asked[0]
    if sample and sample.look and sample.look.model == seen.model:
        return Opening(sample.look.layer, sample.look.head, patch)
    return Opening(seen.upper_layer, 0, patch)


def or_sentence(work: Callable[[], Found]) -> Found:
    """What `work` gives; its sentence for people, where it fails."""
    try:
        return work()
    except PlaygroundError as error:
        st.error(str(error))
        st.stop()


def _model_words() -> tuple[str, str]:
    opened = st.session_state.get("opened", {})  # files that the page Models has opened: {path: name}
    names = [card.name for card in models.cards() if card.here] + list(opened)
    with st.sidebar:
        name = st.selectbox(
            "Model", names, format_func=lambda name: opened.get(name, plain_name(name)),
             accept_new_options=True, key="model", bind="query-params",
            help="Ours, what is on this machine, or a plain ViT of timm's by its name: vit_small_patch16_224.dino",
        )  # fmt: skip
        device = st.selectbox("Device", DEVICES, key="device", persist_state="session") if DEVICES[1:] else DEVICES[0]
    return name, device


def _sample() -> tuple[str, str]:
    here = [sample.name for sample in samples() if sample.is_here]
    name = st.selectbox("Sample", here, key="sample", bind="query-params")
    return name, name


def _opened(file: Any) -> tuple[str, Image.Image] | None:
    if file is None:
        return None
    return hashlib.sha256(file.getvalue()).hexdigest(), or_sentence(lambda: playground.open_image(file))


def way_back(**view: object) -> None:
    """A link back to the learner's page, if one server answers both, with the same sample, model, patch and head."""
    if "/workbench" in (st.context.url or ""):
        sample = {"sample": st.session_state.sample} if st.session_state.kind == "Sample" else {}
        words = {"model": st.session_state.model, **sample, **view, "locked": "true"}
        st.sidebar.link_button("Back to the playground", f"../?{urlencode(words)}")
