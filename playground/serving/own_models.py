"""Model files of whoever runs the server: *.safetensors in the folder that PLAYGROUND_MODELS_DIR names.

They are called own/NAME in an address, so that none can be taken for a model of timm. A path is no name: only what lies
in that folder can be asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playground.errors import PlaygroundError
from playground.models.names import OWN
from playground.serving import settings
from playground.serving.cache import MB

READABLE = re.compile(r"[A-Za-z0-9_.-]{1,70}")  # what an address may hold


def files() -> dict[str, Path]:
    """own/NAME -> file; read again each time, so that a file can be put there while the server runs."""
    folder = settings.now().models_dir
    if folder is None:
        return {}
    from playground.models import model_file

    try:
        in_folder = model_file.in_folder(folder)
    except PlaygroundError:  # the folder is not there yet
        return {}
    return {OWN + name: file for name, file in in_folder.items() if READABLE.fullmatch(name)}


def is_own(name: str) -> bool:
    return name.startswith(OWN)


def called(name: str) -> str | None:
    """The name in an address of a model file named without the prefix; None where there is no such file."""
    return OWN + name if OWN + name in files() else None


def check(name: str) -> None:
    if name not in files():
        raise PlaygroundError(f"This server has no model file called {name.removeprefix(OWN)}; choose one in the list.")


def in_folder(name: str | None) -> str | None:
    """A model's name in a command typed in the owner's folder: own models are files there, others keep their name."""
    file = files().get(name or "")
    if file is None:
        return name
    from playground.models.timm_models import WEIGHTS

    return file.parent.name if file.name == WEIGHTS else file.name


def megabytes(file: Path) -> float:
    """Empty if the file was deleted since the folder was read."""
    try:
        return file.stat().st_size / MB
    except FileNotFoundError:
        return 0


def text_tower(name: str) -> Path | None:
    """The folder of the text tower that belongs to a model, of theirs or of the catalogue, if it is on this machine."""
    from playground.models import text_tower

    if not is_own(name):
        return text_tower.twin(name)
    file = files().get(name)
    return file and text_tower.beside(file)


def weights(name: str) -> Path:
    """Checks a file's size before reading it: it must fit what this server keeps."""
    check(name)
    here = files()[name]
    needed, most = megabytes(here), settings.now().model_mb
    if needed > most:
        raise PlaygroundError(
            f"{name.removeprefix(OWN)} takes {needed:,.0f} MB, and this server keeps {most:,} MB for models: choose a "
            "smaller one."
        )
    return here


@contextmanager
def without_its_path(name: str) -> Iterator[None]:
    """Loads a model of the owner. Errors name the model, never its path."""
    here = files().get(name) if is_own(name) else None
    try:
        yield
    except PlaygroundError as error:
        if here is None:
            raise
        message = str(error).replace(str(here), name.removeprefix(OWN)).replace(str(beside(here)), beside(here).name)
        raise PlaygroundError(message) from None


def beside(file: Path) -> Path:
    """The JSON file in which the owner may say how the model was built and trained."""
    return file.with_suffix(".json")


def known(name: str) -> tuple[tuple[Path, int], ...]:
    """The files that a model is made of, each with when it was changed: its weights, and what stands beside them."""
    if (file := files().get(name)) is None:
        return ()
    folder = file.parent
    here = (file, beside(file), folder / "config.json", folder / "preprocessor_config.json")
    return tuple((path, path.stat().st_mtime_ns) for path in here if path.is_file())


def assumed(name: str, vit) -> str:
    """One line about what was assumed of a model, for people who look through it."""
    if not vit.assumed:
        return ""
    note = f"Assumed: {', '.join(assumption.value for assumption in vit.assumed)}."
    if file := files().get(name):
        note += f" {beside(file).name} beside its file says otherwise."
    return f"{note} Labels are not shown: {vit.no_answer}." if vit.no_answer else note
