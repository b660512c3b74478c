"""Which pictures a command means, and what their figures are called: each by a name of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from playground.errors import PlaygroundError

PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic"}


def found(names: list[str]) -> list[str]:
    """Folders opened, and patterns that the shell has left as they are; each picture once."""
    pictures: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            inside = sorted(str(file) for file in path.iterdir() if file.suffix.lower() in PICTURES)
            if not inside:
                raise PlaygroundError(f"The folder {name} holds no picture.")
            pictures += inside
        elif "*" in path.name and not path.exists():
            pictures += sorted(str(file) for file in path.parent.glob(path.name)) or [name]
        else:
            pictures.append(name)
    if not pictures:
        raise PlaygroundError("Which picture? Give a file, a folder, or the name of a sample such as meadow.")
    return list({_place(name): name for name in reversed(pictures)}.values())[::-1]


def _place(name: str) -> str:
    return str(Path(name).resolve()) if Path(name).exists() else name


def distinct(names: list[str]) -> dict[str, str]:
    """Each picture -> a short name that no other has, also where "A" and "a" are one file: its stem; else with its
    kind, then with its folder, then with a number."""
    short = {name: Path(name).stem for name in names}
    for longer in (_with_kind, _with_folder, None):
        used = Counter(one.casefold() for one in short.values())
        twice = [name for name, one in short.items() if used[one.casefold()] > 1]
        for number, name in enumerate(twice, start=1):
            short[name] = longer(name) if longer else f"{short[name]}-{number}"
    return short


def _with_kind(name: str) -> str:
    path = Path(name)
    return f"{path.stem}-{path.suffix.lstrip('.')}" if path.suffix else path.stem


def _with_folder(name: str) -> str:
    path = Path(name).resolve()
    return f"{path.parent.name}-{_with_kind(name)}"
