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
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.assets import PROGRAM, SHIPPED
from playground.errors import PlaygroundError
from playground.models import borrowed, schema, timm_models, told_heads
from playground.models.bars import bar
from playground.models.checkpoints import changed, from_eva
from playground.models.hugging_face import from_hugging_face, hugging_face_config, is_hugging_face
from playground.models.timm_models import DINOV2_SMALL, WEIGHTS
from playground.models.weights_file import outline, read_weights
from playground.vit import PAPER, Config, VisionTransformer

LONGEST_NAME = 80
UNTRAINED = Config(
    image_size=(112, 112), patch_size=8, depth=6, width=192, mlp_width=768, heads=6, registers=4, classes=0
)

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
    """A ViT in evaluation mode: "bundled", "bundled-taught", "untrained", "dinov2-small", "ViT-B/16", a timm name, or
    the path of a .safetensors file.

    `pretrained=False` gives the architecture with random weights (`seed` chooses them) and `weights` takes them from
    a file with timm's parameter names; neither touches the network. A model of timm may have been changed before it
    was trained: classes, input size, pooling, prefix tokens, depth and width are told by the file. `offline=True` takes
    published weights only from this machine.
    """
    if not isinstance(name, str | os.PathLike):
        raise PlaygroundError(f"load takes a model's name, such as 'dinov2-small'; given was {type(name).__name__}.")
    name = os.fspath(name)
    if name == "untrained":
        vit = VisionTransformer(UNTRAINED, seed)
    elif name in SHIPPED:
        file = SHIPPED[name]
        vit = _from_own_file(file, missing=f"This copy has no model {name} (assets/{file.name} is not there).")
    elif weights is not None and (config := _timm_config(name)):
        return placed(_with_weights(name, config, weights), device)
    elif name == "dinov2-small":
        vit = _dinov2_small(pretrained, seed, offline)
    elif paper := re.fullmatch(r"ViT-(Ti|S|B|L|H)/(\d+)", name):
        vit = VisionTransformer(_paper_config(name, paper[1], int(paper[2])), seed)
    elif name.endswith(".safetensors"):
        vit = _from_own_file(Path(name), missing=f"There is no file {name}.")
    else:
        vit = _from_timm(name, pretrained, seed, offline)
    if weights is not None:
        fill_from(vit, weights)
    vit.name = vit.name if name.endswith(".safetensors") else name
    return placed(vit, device)


def _timm_config(name: str) -> Config | None:
    """Of a name that is no file, none of ours and none of the paper's."""
    if name in SHIPPED or name == "untrained" or name.startswith("ViT-") or name.endswith(".safetensors"):
        return None
    return timm_models.timm_config(name)


def placed(vit: VisionTransformer, device: str | torch.device | None) -> VisionTransformer:
    """In evaluation mode, on the device, by default the best there is."""
    try:
        return vit.eval().to(best_device() if device is None else device)
    except (RuntimeError, AssertionError, TypeError) as error:
        first = str(error).splitlines()[0]
        raise PlaygroundError(
            f"{vit.name} can't be put on the device {device!r} ({first}); leave it out, or say 'cpu'."
        ) from None


def _with_weights(name: str, config: Config, path: str | os.PathLike[str]) -> VisionTransformer:
    """A model of timm as the file says that it was changed."""
    metadata, held = outline(path)
    if "config" not in metadata:
        held = from_eva(from_hugging_face(held) if is_hugging_face(held) else held)
        config = _possible(path, lambda: changed(config, held))
    with torch.device("meta"):
        vit = VisionTransformer(config)
    fill_from(vit, path)
    vit.name = name
    return vit


def _possible(path: str | os.PathLike[str], describe: Callable[[], Config]) -> Config:
    """The architecture that a file and what lies beside it describe, where there can be such a one."""
    try:
        return schema.config(dataclasses.asdict(describe()))
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {error}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ZeroDivisionError, RuntimeError) as error:
        raise PlaygroundError(f"The architecture of {path} can't be told: {error}.") from None


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _dinov2_small(pretrained: bool, seed: int, offline: bool) -> VisionTransformer:
    """Weights from the borrowed file or the hub's, whichever is on this machine; if neither is, fetches the borrowed
    file."""
    if not pretrained:
        return VisionTransformer(DINOV2_SMALL, seed)
    with torch.device("meta"):
        vit = VisionTransformer(DINOV2_SMALL)
    path = borrowed.find(borrowed.DINOV2.file) or borrowed.hub_weights(f"timm/{DINOV2_ON_THE_HUB}")
    if path is None:
        borrowed.fetch([borrowed.DINOV2], offline=offline)
        path = borrowed.cache_folder() / borrowed.DINOV2.file
    fill_from(vit, path)
    return vit


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


def _from_own_file(path: Path, missing: str) -> VisionTransformer:
    if not path.is_file():
        raise PlaygroundError(f"{missing} Train it with `{PROGRAM} train`, or load another model.")
    return from_file(path, path.parent)


def from_file(path: Path, folder: Path) -> VisionTransformer:
    """The model in a file of weights. What it is stands in the file, where this playground wrote it, or in the
    config.json and preprocessor_config.json of its folder, where `transformers` or timm's save_for_hf did."""
    metadata, held = outline(path)
    if "config" in metadata:
        return _described_inside(path, metadata)
    said = _json_in(folder, "config.json")
    if is_hugging_face(held):
        return _from_hugging_face_file(path, held, said, _json_in(folder, "preprocessor_config.json"))
    name = said.get("architecture") or metadata.get("arch")
    if not isinstance(name, str):
        raise PlaygroundError(
            f"{path} does not say what it is weights of: load(NAME, weights={str(path)!r}), or --model NAME "
            f"--weights {path}, says it{_likely(held)}."
        )
    held, base = from_eva(held), timm_models.timm_config(name)
    config = _possible(path, lambda: changed(base, held, said))
    with torch.device("meta"):
        vit = VisionTransformer(config)
    fill_from(vit, path)
    vit.name = called(path, folder)
    return vit


def called(path: Path, folder: Path) -> str:
    """A model's name by its file, or by its folder where every such file is called the same."""
    return folder.resolve().name if path.name == WEIGHTS else path.stem


def _likely(held: dict[str, Tensor]) -> str:
    """A name whose shapes these are, to begin with."""
    patches = held.get("patch_embed.proj.weight")
    size = {"Ti": "tiny", "S": "small", "B": "base", "L": "large", "H": "huge"}
    if patches is None or patches.dim() != 4:
        return ""
    found = next((size[letter] for letter, shape in PAPER.items() if shape["width"] == patches.shape[0]), None)
    return f". By its shapes NAME may be vit_{found}_patch{patches.shape[2]}_224" if found else ""


def _json_in(folder: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _described_inside(path: Path, metadata: dict[str, str]) -> VisionTransformer:
    try:
        with torch.device("meta"):
            vit = VisionTransformer(schema.config(json.loads(metadata["config"])))
        vit.told = told_heads.from_metadata(metadata.get("told", "[]"))
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, RuntimeError, RecursionError) as error:
        raise PlaygroundError(f"The architecture that {path} describes can't be built: {error}.") from None
    fill_from(vit, path)
    vit.name = metadata.get("name", path.stem)[:LONGEST_NAME]
    return vit


def _from_hugging_face_file(
    path: Path, held: dict[str, Tensor], said: dict[str, Any], pixels: dict[str, Any]
) -> VisionTransformer:
    used: dict[str, Tensor] = {}

    def describe() -> Config:
        nonlocal used
        config, used = hugging_face_config(held, from_hugging_face(held), said, pixels)
        return config

    config = _possible(path, describe)
    with torch.device("meta"):
        vit = VisionTransformer(config)
    fitting(vit, used, str(path))  # before the data is read
    state = read_weights(path)
    fill(vit, hugging_face_config(state, from_hugging_face(state), said, pixels)[1], str(path))
    vit.name, vit.file = called(path, path.parent), path
    return vit


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


def fill_from(vit: VisionTransformer, path: str | os.PathLike[str]) -> None:
    """Loads a file's weights into the model, once what its header says has been found to fit."""
    fitting(vit, outline(path)[1], str(path))
    fill(vit, read_weights(path), str(path))


def fill(vit: VisionTransformer, state: dict[str, Tensor], source: str) -> None:
    """Loads a state dict into the model. The tensors are not copied."""
    vit.load_state_dict(fitting(vit, state, source), strict=True, assign=True)


def fitting(vit: VisionTransformer, state: dict[str, Tensor], source: str) -> dict[str, Tensor]:
    """The state dict under our names; PlaygroundError names the weights that don't fit the model."""
    state = from_eva(from_hugging_face(state) if is_hugging_face(state) else state)
    ours = {key: tuple(value.shape) for key, value in vit.state_dict().items()}
    theirs = {key: tuple(value.shape) for key, value in state.items()}
    misshapen = [key for key in ours.keys() & theirs.keys() if ours[key] != theirs[key]]
    for wrong, what in (
        (sorted(ours.keys() - theirs.keys()), "lacks"),
        (sorted(theirs.keys() - ours.keys()), "has, and the model has not,"),
        ([f"{key} {theirs[key]} for {ours[key]}" for key in sorted(misshapen)], "holds other shapes:"),
    ):
        if wrong:
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            raise PlaygroundError(f"{source} doesn't fit this model: it {what} {', '.join(wrong[:3])}{more}.")
    return state


# timm -----------------------------------------------------------------------------------------------------------------


def _from_timm(name: str, pretrained: bool, seed: int, offline: bool) -> VisionTransformer:
    config = timm_models.timm_config(name)
    if not pretrained:
        return VisionTransformer(config, seed)
    with torch.device("meta"):
        vit = VisionTransformer(config)
    fill(vit, timm_models.fetch(name, offline), name)
    return vit


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
