"""Renames state dicts of other layouts to timm's names: Meta's DINOv2 and DINOv3, torchvision's ViT, and heads with a
dropout. Drops tensors that take no part in a pass. Also reads ONNX files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.vit import Config

StateDict = dict[str, Tensor]

UNUSED_NAMES = re.compile(
    r"mask_token|rope_embed\.periods|.*\.attn\.qkv\.bias_mask|local_cls_norm\..*|dino_head\..*|ibot_head\..*"
)
IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
TORCHVISION = (  # (torchvision's name, ours)
    (r"conv_proj\.", "patch_embed.proj."),
    (r"class_token", "cls_token"),
    (r"encoder\.pos_embedding", "pos_embed"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.ln_1\.", r"blocks.\1.norm1."),
    (r"encoder\.layers\.encoder_layer_(\d+)\.ln_2\.", r"blocks.\1.norm2."),
    (r"encoder\.layers\.encoder_layer_(\d+)\.self_attention\.in_proj_", r"blocks.\1.attn.qkv."),
    (r"encoder\.layers\.encoder_layer_(\d+)\.self_attention\.out_proj\.", r"blocks.\1.attn.proj."),
    (r"encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:0|linear_1)\.", r"blocks.\1.mlp.fc1."),
    (r"encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:3|linear_2)\.", r"blocks.\1.mlp.fc2."),
    (r"encoder\.ln\.", "norm."),
    (r"heads\.head\.", "head."),
)


def is_torchvision(names: Mapping[str, Tensor]) -> bool:
    return {"conv_proj.weight", "encoder.pos_embedding"} <= names.keys()


def is_meta(names: Mapping[str, Tensor]) -> bool:
    """Whether the file is Meta's DINOv2 or DINOv3: both hold a mask token."""
    return {"mask_token", "patch_embed.proj.weight", "blocks.0.ls1.gamma"} <= names.keys()


def refuse_adapters(names: Iterable[str]) -> None:
    if name := next((name for name in names if ".lora_" in name or ".modules_to_save." in name), None):
        raise PlaygroundError(
            f"Adapters lie beside the weights here ({name:.60}): give playground.load what model.merge_and_unload() "
            "returns, or save that."
        )


def from_others(state: Mapping[str, Tensor]) -> StateDict:
    """Renames Meta's and torchvision's tensors; timm's names pass unchanged."""
    refuse_adapters(state)
    if is_torchvision(state):
        return {_our_name(name): value for name, value in state.items()}
    renamed_state = {name: value for name, value in state.items() if not UNUSED_NAMES.fullmatch(name)}
    for register_name in ("register_tokens", "storage_tokens"):
        if register_name in renamed_state:
            renamed_state["reg_token"] = renamed_state.pop(register_name)
            if "pos_embed" in renamed_state and is_meta(
                state
            ):  # Meta's model adds positions before it inserts registers
                renamed_state["cls_token"] = renamed_state["cls_token"] + renamed_state["pos_embed"][:, :1]
                renamed_state["pos_embed"] = renamed_state["pos_embed"][:, 1:]
    for name in [name for name in renamed_state if name.endswith(".attn.qkv.bias") and f"{name}_mask" in state]:
        q, k, v = renamed_state[name].chunk(3)
        renamed_state[name] = torch.cat(
            [q, torch.zeros_like(k), v]
        )  # the tensor qkv.bias_mask sets the bias of keys to 0
    return _plain_head(_gate_first(renamed_state))


def _our_name(name: str) -> str:
    for pattern, our_name in TORCHVISION:
        if match := re.match(pattern, name):
            return match.expand(our_name) + name[match.end() :]
    return name


def _gate_first(state: StateDict) -> StateDict:
    """The state dict with Meta's SwiGLU in the order of our model: the gate comes first."""
    reordered_state: StateDict = {}
    for name, value in state.items():
        if match := re.fullmatch(r"(blocks\.\d+\.mlp\.)(w12|w1|w2|w3)\.(weight|bias)", name):
            prefix, part, kind = match.groups()
            if part == "w12":
                reordered_state[f"{prefix}fc1.{kind}"] = value
            elif part == "w3":
                reordered_state[f"{prefix}fc2.{kind}"] = value
            elif part == "w1":
                reordered_state[f"{prefix}fc1.{kind}"] = torch.cat([value, state[f"{prefix}w2.{kind}"]])
        else:
            reordered_state[name] = value
    return reordered_state


OWN_HEAD_REASON = "its head is one of its own, which the playground's ViT does not compute"


def has_own_head(state: Mapping[str, Tensor]) -> bool:
    """Whether the head has several matrices. Such a head can't be computed; the layers before it can."""
    head_names = [name for name in state if name.startswith("head.")]
    return bool(head_names) and "head.weight" not in _plain_head({name: state[name] for name in head_names})


def _plain_head(state: StateDict) -> StateDict:
    """Renames head = Sequential(Dropout, Linear) to one matrix. Any other head is left out."""
    head_names = [name for name in state if name.startswith("head.")]
    if not head_names or "head.weight" in state:
        return state
    prefix = head_names[0].rpartition(".")[0] + "."
    body = {name: x for name, x in state.items() if name not in head_names}
    if set(head_names) <= {f"{prefix}weight", f"{prefix}bias"} and state[f"{prefix}weight"].dim() == 2:
        return body | {f"head.{name.removeprefix(prefix)}": state[name] for name in head_names}
    return body


def config_of(state: Mapping[str, Tensor], heads: int | None = None) -> Config | None:
    """For Meta's and torchvision's files, a Config with the fields that only the model's family determines. The other
    fields are read from the weights (checkpoints.changed)."""
    if is_torchvision(state):
        width = state["conv_proj.weight"].shape[0]
        heads = max(1, width // 64) if heads is None else heads
        return Config(width=width, heads=heads, interpolation="bilinear", **IMAGENET)  # type: ignore[arg-type]
    if not is_meta(state):
        return None
    width, patch = state["patch_embed.proj.weight"].shape[:3:2]
    base = Config(
        width=width, patch_size=patch, heads=width // 64, classes=0, layer_scale=True, image_size=(518, 518), **IMAGENET
    )  # type: ignore[arg-type]
    is_gated = any(".mlp.w3." in name for name in state)
    base = replace(base, activation="silu") if is_gated else base
    if "pos_embed" not in state:
        return replace(base, positions="rotary", eps=1e-5, image_size=(256, 256))
    return base if "register_tokens" in state else replace(base, stretching="offset")  # with them as timm does


# `read_onnx` reads the weights of an ONNX file with numpy alone, by parsing the few protobuf fields that hold weights.
# Nothing in the file is run; a damaged file raises ValueError.

# Numbers of protobuf fields, from onnx.proto
GRAPH = 7  # field of a ModelProto
NODE, WEIGHT = 1, 5  # fields of a GraphProto
INPUT, OUTPUT, KIND = 1, 2, 4  # fields of a NodeProto
SHAPE, TYPE, NAME, DATA = 1, 2, 8, 9  # fields of a TensorProto
FLOAT32 = 1  # the only value of TYPE that is read


def read_onnx(path: Path) -> dict[str, np.ndarray]:
    """{name: float32 array}. Exporters store the matrices of linear layers transposed and without names. Such a matrix
    gets the name of the bias that is added to its product."""
    try:
        return _named_weights(memoryview(path.read_bytes()))
    except (IndexError, StopIteration, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path.name} is not a readable ONNX file ({error or type(error).__name__})") from None


def _named_weights(data: memoryview) -> dict[str, np.ndarray]:
    graph = next(value for field, value in _fields(data) if field == GRAPH)
    weights = dict(_weight(value) for field, value in _fields(graph) if field == WEIGHT)
    nodes = [_node(value) for field, value in _fields(graph) if field == NODE]
    matrices = {outputs[0]: inputs[1] for kind, inputs, outputs in nodes if kind == "MatMul"}  # product -> matrix
    for bias, product in ((a, b) for kind, inputs, _ in nodes if kind == "Add" for a, b in (inputs, inputs[::-1])):
        if bias in weights and matrices.get(product) in weights:
            weights[bias.removesuffix("bias") + "weight"] = weights.pop(matrices[product]).T
    return weights


def _weight(data: memoryview) -> tuple[str, np.ndarray]:
    fields = list(_fields(data))
    shape = [value for field, value in fields if field == SHAPE]
    field_values = dict(fields)
    numbers = (
        np.frombuffer(field_values[DATA], "<f4").reshape(shape)
        if field_values[TYPE] == FLOAT32
        else np.empty(0, np.float32)
    )
    return bytes(field_values[NAME]).decode(), numbers


def _node(data: memoryview) -> tuple[str, list[str], list[str]]:
    texts = {INPUT: [], OUTPUT: [], KIND: []}
    for field, value in _fields(data):
        if field in texts:
            texts[field].append(bytes(value).decode())
    return texts[KIND][0], texts[INPUT], texts[OUTPUT]


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yields (number, value) of each field of a protobuf message."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire_type = key & 7
        if wire_type == 0:
            value, position = _varint(data, position)
        else:
            length, position = _varint(data, position) if wire_type == 2 else ({1: 8, 5: 4}[wire_type], position)
            value, position = data[position : position + length], position + length
        if position > len(data):
            raise ValueError("it ends in the middle of a field")
        yield key >> 3, value


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """Decodes a protobuf varint (groups of seven bits, lowest first): (number, the position after it)."""
    number = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        number, position = number | (byte & 127) << shift, position + 1
        if byte < 128:
            return number, position
    raise ValueError("it holds a number without an end")
