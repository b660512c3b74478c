"""The colours of paper and ink."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    paper: str
    ink: str
    muted: str
    line: str


QUERY, KEY, CONVOLUTION = "#0072B2", "#D55E00", "#E7298A"
THEMES = {
    "light": Theme("#ffffff", "#14141a", "#5d5f69", "#d5d6db"),
    "dark": Theme("#0e1117", "#fafafa", "#a9adb8", "#3a3d47"),
}
