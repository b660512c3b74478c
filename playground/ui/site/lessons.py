"""The lessons of the folder without a server: Python works each one out ahead for one sample, and the browser shows the
result from files."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from plotly.offline import get_plotlyjs

from playground.figures.bundle import bundle, stylesheet
from playground.lessons.registry import LESSONS
from playground.lessons.scripts import SCRIPTS
from playground.serving import lesson_files
from playground.serving.here import Here
from playground.serving.site_files import Folder

PICTURE = {"sample": "meadow", "model": "bundled"}  # which the lessons look at


def write(folder: Folder, taught: Collection[str] | None = None) -> dict[str, str]:
    """{page: a file of JSON}: what shell/sitelessons.js shows."""
    here = Here(PICTURE)
    scripts = {
        name: {
            "script": folder.put(f"lessons/{name}.js", bundle(f"lessons/{name}.js").encode()),
            "styles": folder.put(f"lessons/{name}.css", stylesheet(*script.styles).encode()),
            "box": script.box,
        }
        for name, script in SCRIPTS.items()
    }
    script = get_plotlyjs()
    styles = ["plotly.js-style-global", *re.findall(r'getElementById\("([0-9a-f]{64})"\)', script)]
    plotly = {"file": folder.put("lessons/plotly.js", script.encode()), "styles": styles}
    host = folder.put("lessons/host.js", bundle("lessons/host.js").encode())
    written = {}
    for name, lesson in LESSONS.items():
        if taught is not None and name not in taught:
            continue
        told = lesson_files.write(folder, lesson, here) | {"scripts": scripts, "plotly": plotly, "host": host}
        written[name] = folder.put(f"lessons/{name}.json", json.dumps(told, ensure_ascii=False).encode())
    return written
