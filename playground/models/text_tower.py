"""Computes the vectors of texts for CLIP and SigLIP. The text tower is computed by `transformers` (pip install
'attention-playground[text]'); its weights must be stored with those of the image tower. Only the vector of a text, a
few hundred numbers, is kept in memory."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.errors import PlaygroundError, needed
from playground.models import borrowed
from playground.models.given import json_of

if TYPE_CHECKING:  # the server checks for a tower before it imports torch
    from torch import Tensor

    from playground.vit import VisionTransformer

LONGEST_TEXT = 60  # most letters of a text
TWIN_REPOSITORIES = {  # timm's name of an image tower -> the repository with both towers
    "vit_base_patch32_clip_224.openai": "openai/clip-vit-base-patch32",
    "vit_base_patch16_clip_224.openai": "openai/clip-vit-base-patch16",
    "vit_large_patch14_clip_224.openai": "openai/clip-vit-large-patch14",
    "vit_base_patch16_siglip_224.webli": "google/siglip-base-patch16-224",
}
TOKENIZERS = ("tokenizer.json", "spiece.model", "vocab.json")


def tower_of(vit: VisionTransformer) -> Path | None:
    """The folder of the text tower trained with this image tower, if it is on this machine."""
    return (tower_folder(vit.file) if vit.file else None) or twin_folder(vit.name)


def tower_folder(file: Path) -> Path | None:
    """The folder of a weights file, if `transformers` saved both towers and a tokenizer there."""
    config = json_of(file.parent / "config.json")
    has_towers = config.get("model_type") in ("clip", "siglip") and "text_config" in config
    return file.parent if has_towers and any((file.parent / name).is_file() for name in TOKENIZERS) else None


def twin_folder(name: str) -> Path | None:
    """The folder of the twin repository in the hub's cache."""
    repository = TWIN_REPOSITORIES.get(name) or name
    weights = borrowed.hub_weights(repository) if "/" in repository else None
    return tower_folder(weights) if weights else None


def direction(vit: VisionTransformer, text: str) -> Tensor:
    """(width,): the text's vector in the space shared by pictures and captions."""
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise PlaygroundError(f"A text has 1 to {LONGEST_TEXT} letters; given were {len(text.strip())}.")
    folder = tower_of(vit)
    if folder is None:
        raise PlaygroundError(
            f"{vit.name} has no text tower on this machine: take CLIP or SigLIP, saved by `transformers` as a folder "
            "with both towers and the tokenizer."
        )
    return _text_vector(folder, (folder / "config.json").stat().st_mtime_ns, text.strip())


@lru_cache(500)
def _text_vector(folder: Path, changed_at: int, text: str) -> Tensor:
    import torch

    transformers = needed("transformers", "attention-playground[text]")
    options: Any = {"local_files_only": True, "trust_remote_code": False}
    kind: Any = transformers.CLIPModel
    padding: Any = False  # as CLIP and SigLIP were trained
    if json_of(folder / "config.json").get("model_type") == "siglip":
        kind, padding = transformers.SiglipModel, "max_length"
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        towers = kind.from_pretrained(folder, use_safetensors=True, **options).eval()
        max_length = towers.config.text_config.max_position_embeddings
        tokens = tokenizer(text, truncation=True, max_length=max_length, padding=padding, return_tensors="pt")
        with torch.no_grad():
            features = towers.get_text_features(input_ids=tokens["input_ids"])
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise PlaygroundError(f"The text tower of {folder.name} can't be read: {first_line}") from None
    return (features if isinstance(features, torch.Tensor) else features.pooler_output)[0].float()
