"""Gives models readable names: "DINOv2 S/14" for "vit_small_patch14_dinov2.lvd142m"."""

from __future__ import annotations

import re
from pathlib import Path

OUR_TITLES = {
    "bundled": "our small ViT",
    "bundled-taught": "our small ViT, told where to look",
    "untrained": "our small ViT (random weights)",
    "dinov2-small": "DINOv2 S/14",
}
OWN_PREFIX = "own/"  # prefix of the names of models in the server owner's folder
SIZES = {
    "tiny": "Ti", "xsmall": "XS", "little": "little", "small": "S", "dwee": "wee", "wee": "wee", "pwee": "wee",
    "mediumd": "M", "medium": "M", "betwixt": "betwixt", "base": "B", "large": "L", "huge": "H", "giant": "g",
    "giantopt": "g", "gigantic": "G", "so150m": "So150M", "so150m2": "So150M", "so400m": "So400M", "7b": "7B",
    "xlarge": "XL", "intern300m": "300M", "dlittle": "little", "dpwee": "wee", "1b": "1B", "3b": "3B", "5b": "5B",
}  # fmt: skip
FAMILIES = (  # (pattern, family): the first pattern found in a model's name counts
    ("dinov3", "DINOv3"),
    ("dinov2", "DINOv2"),
    (r"\.dino$", "DINO"),
    (r"\.mae$", "MAE"),
    (r"siglip.*v2", "SigLIP 2"),
    ("siglip", "SigLIP"),
    ("metaclip", "MetaCLIP"),
    ("clip", "CLIP"),
    ("deit3", "DeiT-3"),
    ("deit", "DeiT"),
    ("lingbot", "LingBot"),
    ("aimv2", "AIMv2"),
    ("eva02", "EVA-02"),
    ("^eva_", "EVA"),
    ("radio", "RADIO"),
    ("sapiens", "Sapiens"),
    ("_sam_", "SAM"),
    (r"pe_core|pe_lang|pe_spatial", "PE"),
    ("", "ViT"),
)
USUAL_SIDES = ("224", "256", "518")


def plain_name(name: str) -> str:
    if name in OUR_TITLES:
        return OUR_TITLES[name]
    if name.startswith(OWN_PREFIX):
        return name.removeprefix(OWN_PREFIX)
    if re.fullmatch(r"ViT-\w+/\d+", name):
        return f"{name} (random weights)"
    if name.endswith(".safetensors"):
        path = Path(name)
        return path.parent.name if path.name == "model.safetensors" and path.parent.name else path.stem
    architecture = name.split(".")[0]
    size = next((word for word in architecture.split("_") if word in SIZES), None)
    patch_match = re.search(r"patch(\d+)", architecture)
    if size is None or patch_match is None:
        return name.replace("_", " ")
    family = next(family for pattern, family in FAMILIES if re.search(pattern, name))
    plus_sign = "+" if "_plus" in architecture else ""
    side_match = re.search(r"_(\d{3})(?:_|$)", architecture)
    remarks = [f"{side_match[1]} px"] if side_match and side_match[1] not in USUAL_SIDES else []
    remarks += ["distilled"] if "distilled" in architecture else []
    words = f"{family} {SIZES[size]}{plus_sign}/{patch_match[1]}"
    words += " with registers" if re.search(r"_reg\d", architecture) else ""
    return ", ".join([words, *remarks])


def training_pictures(name: str) -> str:
    """The kinds of picture that a model was trained on."""
    return {"bundled": "drawings, and some photographs", "bundled-taught": "drawings"}.get(name, "photographs")
