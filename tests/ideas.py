"""Reads docs/ideas.md: where each idea is taught, and what proves it."""

import re
from pathlib import Path
from typing import NamedTuple

from playground.lessons.registry import LESSONS

ROOT = Path(__file__).parent.parent


class Idea(NamedTuple):
    number: int
    words: str
    page: str
    kind: str  # of what is touched or seen, as the player of lessons calls it
    test: str  # "" without one that is named

    @property
    def place(self) -> tuple[str, str, str]:
        """(lesson, step, beginning of a fold's title); ("story", scene, "") and ("see", "", "") are no lessons'."""
        name, number, fold = re.fullmatch(r"(\D+?)(?: (\d+))?(?:, \*(.+)\*)?", self.page).groups(default="")
        name = name.lower().replace(" ", "_")
        if name not in LESSONS:
            return name, number, ""
        return name, [*LESSONS[name].steps][int(number or 1) - 1], fold


def ideas() -> list[Idea]:
    lines = (ROOT / "docs" / "ideas.md").read_text(encoding="utf-8").splitlines()
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| \d", line))
    return [Idea(int(number), *cells) for number, *cells in rows]
