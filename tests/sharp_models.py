"""Makes models of every family with random weights, saved by timm and `transformers`. Tests
compare their attention in the browser and in Python. The models' rows are made as sharp as a trained model's, because
nearly even rows would agree even if one side were wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import timm
import torch
from conftest import scramble
from engine_under_node import distance, open_models, rows_in_engine, rows_in_python, run_pass
from models.test_hugging_face import hugging_face_model
from PIL import Image
from timm.models import save_for_hf

import playground
from playground.pictures.images import fit
from playground.tracing import Trace, trace
from playground.vit import VisionTransformer

TIMES_EVEN = 20  # least median of the rows' largest weights, as a multiple of an even row's weight
GROWTH = 1.12  # factor by which queries and keys grow in each of at most MOST_TURNS turns
MOST_TURNS = 60
NO_CLASSES = {"num_classes": 0}
NARROW = {"embed_dim": 384, "num_heads": 6}
LIKE_SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "intermediate_size": 1536,
              "image_size": 224}  # fmt: skip
FAMILIES = {  # family -> (library that saves the model, the model's name, changed options)
    "AugReg": ("timm", "vit_small_patch16_224", NO_CLASSES),
    "DeiT": ("transformers", "DeiTForImageClassificationWithTeacher", LIKE_SMALL),
    "DeiT-3 (layer scale)": ("timm", "deit3_small_patch16_224", NO_CLASSES),
    "DINO": ("timm", "vit_small_patch16_224.dino", NO_CLASSES),
    "DINOv2": ("transformers", "Dinov2Model", LIKE_SMALL | {"patch_size": 14}),
    "DINOv2 with registers": ("timm", "vit_small_patch14_reg4_dinov2", NO_CLASSES | {"img_size": 224}),
    "DINOv2 giant's SwiGLU": ("transformers", "Dinov2Model", LIKE_SMALL | {"use_swiglu_ffn": True, "patch_size": 14}),
    "DINOv3 (rotary)": ("timm", "vit_small_patch16_dinov3", NO_CLASSES),
    "DINOv3 plus (SwiGLU)": ("timm", "vit_small_plus_patch16_dinov3", NO_CLASSES),
    "MAE": ("timm", "vit_base_patch16_224.mae", NO_CLASSES | NARROW),
    "CLIP": ("transformers", "CLIPVisionModelWithProjection", LIKE_SMALL),
    "SigLIP (no class token)": ("transformers", "SiglipVisionModel", LIKE_SMALL),
    "registers, no class token": ("timm", "vit_medium_patch16_reg4_gap_256", NO_CLASSES | NARROW),
    "q/k norm": ("timm", "vit_small_patch16_224", NO_CLASSES | {"qk_norm": True}),
}  # fmt: skip
QUERIES_AND_KEYS = r"(?:blocks|layers?)\.\d+\..*(?:query|key|q_proj|k_proj|q_bias)"  # parameters of queries and keys
QK_NORMS = r"blocks\.\d+\.attn\.[qk]_norm\.(?:weight|bias)"
JOINT_QKV = r"blocks\.\d+\.attn\.qkv\.(?:weight|bias)"


@dataclass
class SharpModel:
    """A model with sharp rows, saved to a disk."""

    files: list[Path]
    vit: VisionTransformer  # the model as Python loads it
    times_even: float  # median of its rows' largest weights on one photograph, as a multiple of an even row's weight


def make_sharp(family: str, folder: Path, photograph: Image.Image, **smaller) -> SharpModel:
    library, name, changes = FAMILIES[family]
    changes = changes | smaller
    model = scramble(timm.create_model(name, **changes)) if library == "timm" else hugging_face_model(name, **changes)
    for _ in range(MOST_TURNS):
        if library == "timm":
            save_for_hf(model, folder, model_args=changes, safe_serialization=True)
        else:
            model.save_pretrained(folder)
        vit = playground.load(folder, device="cpu")
        times_even = _times_even(rows_in_python(_traced(vit, photograph)))
        if times_even >= TIMES_EVEN:
            return SharpModel(sorted(folder.iterdir()), vit, times_even)
        _sharpen(model)
    raise AssertionError(f"the heads of {family} do not choose: {times_even:.1f} × even")


def _times_even(weights: np.ndarray) -> float:
    return float(np.median(weights.max(-1)) * weights.shape[-1])


@torch.no_grad()
def _sharpen(model: torch.nn.Module) -> None:
    """Scales the weights of queries and keys by GROWTH, or the gains of their norms."""
    parameters = dict(model.named_parameters())
    if norm_names := [name for name in parameters if re.search(QK_NORMS, name)]:
        for name in norm_names:
            parameters[name].mul_(GROWTH)
        return
    for name, parameter in parameters.items():
        if re.search(JOINT_QKV, name):
            parameter[: 2 * len(parameter) // 3].mul_(GROWTH)
        elif re.search(QUERIES_AND_KEYS, name):
            parameter.mul_(GROWTH)


def _traced(vit: VisionTransformer, photograph: Image.Image) -> Trace:
    return trace(vit, photograph, size=fit(photograph.size, vit.config.patch_size, vit.config.image_size))


@dataclass
class Comparison:
    difference: float  # mean total variation of the rows
    same_share: float  # share of the rows whose largest weight is at the same token


def compare(sharp_model: SharpModel, photographs: list[Image.Image], folder: Path, numbers: str) -> list[Comparison]:
    """For each photograph, compares Python's rows with the engine's rows from the files that a page opens."""
    (model,) = open_models([{"files": sharp_model.files, "numbers": numbers}], folder)
    assert not model.error, model.error
    comparisons = []
    for photograph in photographs:
        trace_of_photograph = _traced(sharp_model.vit, photograph)
        engine_pass = run_pass(trace_of_photograph, folder, weights=model.weights)
        comparisons.append(
            Comparison(
                *distance(
                    rows_in_engine(engine_pass.q, engine_pass.k, trace_of_photograph),
                    rows_in_python(trace_of_photograph),
                )
            )
        )
    return comparisons
