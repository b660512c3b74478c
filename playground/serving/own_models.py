"""The operator's model files: *.safetensors in the folder that PLAYGROUND_MODELS_DIR names.

In an address a model file is called own/NAME, which cannot be a name of timm. NAME is never a path, so only files in
that folder can be requested.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.models.names import OWN_PREFIX
from playground.serving import settings
from playground.serving.cache import MB

if TYPE_CHECKING:
    from playground.vit import VisionTransformer

NAME_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,70}")  # the part of a name after own/


def files() -> dict[str, Path]:
    """{own/NAME: file}. The folder is read at each call, so that files can be added while the server runs."""
    folder = settings.now().models_dir
    if folder is None:
        return {}
    from playground.models import model_file

    try:
        file_of_name = model_file.in_folder(folder)
    except PlaygroundError:  # the folder was removed while the server runs
        return {}
    return {OWN_PREFIX + name: file for name, file in file_of_name.items() if NAME_PATTERN.fullmatch(name)}


def is_own(name: str) -> bool:
    return name.startswith(OWN_PREFIX)


def check(name: str) -> None:
    if name not in files():
        raise PlaygroundError(
            f"This server has no model file called {name.removeprefix(OWN_PREFIX)}; choose one in the list."
        )


def name_in_folder(name: str | None) -> str | None:
    """The name by which a command typed in the owner's folder finds a model: a file's name for an own model."""
    file = files().get(name or "")
    if file is None:
        return name
    from playground.models.timm_models import WEIGHTS_FILE

    return file.parent.name if file.name == WEIGHTS_FILE else file.name


def megabytes(file: Path) -> float:
    """The size of a file; 0 if it was deleted since the folder was read."""
    try:
        return file.stat().st_size / MB
    except FileNotFoundError:
        return 0


def text_tower_folder(name: str) -> Path | None:
    """The folder of the text tower of an own model or of a catalogue's model; None if the tower is not on this
    machine."""
    from playground.models import text_tower

    if not is_own(name):
        return text_tower.twin_folder(name)
    file = files().get(name)
    return file and text_tower.tower_folder(file)


def without_folder(sentence: str) -> str:
    """An error's text without the folder of the models, which visitors must not see."""
    folder = settings.now().models_dir
    return sentence.replace(f"{Path(folder).expanduser()}{os.sep}", "") if folder else sentence


def description_of(file: Path) -> Path:
    """The JSON file in which the owner may describe how the model was built and trained."""
    return file.with_suffix(".json")


def files_of(name: str) -> tuple[tuple[Path, int], ...]:
    """(file, time of its last change) for the weights of a model and the files that describe it."""
    if (file := files().get(name)) is None:
        return ()
    folder = file.parent
    paths = (file, description_of(file), folder / "config.json", folder / "preprocessor_config.json")
    return tuple((path, path.stat().st_mtime_ns) for path in paths if path.is_file())


def assumption_line(name: str, vit: VisionTransformer) -> str:
    """A line for a model's users about what was assumed to load the model."""
    if not vit.assumed:
        return ""
    note = f"Assumed: {', '.join(assumption.value for assumption in vit.assumed)}."
    if file := files().get(name):
        note += f" {description_of(file).name} beside its file says otherwise."
    return f"{note} Labels are not shown: {vit.no_answer}." if vit.no_answer else note
