"""Lists the files of the learner's page, and of the pages that people share."""

from __future__ import annotations

from playground.figures.bundle import LENS_STYLES
from playground.serving import scripts

SHELL_STYLES = (
    "see/see.css", "story/story.css", "classroom/classroom.css", "shell/stage.css",
    "shell/toolbar.css",
)  # fmt: skip
SHARED_PAGE_FILES = ("shell/shared.js", *LENS_STYLES, "see/see.css", "shell/shared.css")  # for pages that people share
scripts.offer(*SHARED_PAGE_FILES)
