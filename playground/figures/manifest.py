"""What a run of many figures wrote: manifest.json beside them, brought up to date after each file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from playground.figures.disk import keep
from playground.figures.spec import Spec

NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    path: Path | None  # None: a single figure has none
    entries: dict[str, dict]  # a file's name, from the manifest's folder -> what it shows

    @staticmethod
    def of(files: list[Path]) -> Manifest:
        """Of the run that will write these files. Files of an earlier run that are still there stay in it."""
        if len(files) < 2:
            return Manifest(None, {})
        path = Path(os.path.commonpath([file.parent.resolve() for file in files])) / NAME
        return Manifest(path, {name: one for name, one in _read(path).items() if (path.parent / name).exists()})

    def add(self, file: Path, spec: Spec, seen, image, others: dict) -> None:
        if self.path is None:
            return
        from playground.figures import layouts
        from playground.figures.command_line import again
        from playground.figures.compose import described

        said = again(layouts.settled(spec, seen), file.name)
        name = file.resolve().relative_to(self.path.parent).as_posix()
        self.entries[name] = described(spec, seen, image, **others) | ({"command": said} if said else {})
        keep(self.path, (json.dumps(self.entries, indent=1, ensure_ascii=False) + "\n").encode())


def _read(path: Path) -> dict[str, dict]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
