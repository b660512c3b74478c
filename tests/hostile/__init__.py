"""Broken and hostile picture files. KINDS maps a name to a function that returns the file's bytes.

Without our checks, Pillow takes minutes or gigabytes to open some of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from hostile.gifs_and_bmps import BMPS, GIFS
from hostile.heics import HEICS
from hostile.jpegs import JPEGS
from hostile.pngs import PNGS
from hostile.sizes import LIMITS
from hostile.strangers import CUT, SIGNATURES, STRANGERS
from hostile.tiffs import TIFFS
from hostile.webps_and_avifs import WEBPS_AND_AVIFS

KINDS = {
    **STRANGERS, **SIGNATURES, **CUT, **LIMITS, **PNGS, **JPEGS, **GIFS, **BMPS, **TIFFS, **WEBPS_AND_AVIFS, **HEICS,
}  # fmt: skip


def read_apart(script: str, *options: str) -> dict[str, dict]:
    """Runs a script that prints one line of JSON per file in a new process; returns {file's name: its line}."""
    tests_folder = Path(__file__).parents[1]
    environment = os.environ | {
        "PYTHONPATH": f"{tests_folder.parent}{os.pathsep}{tests_folder}",
        "MALLOC_MMAP_THRESHOLD_": "65536",  # malloc returns freed memory at once, so each file is measured alone
    }
    command = [sys.executable, *options, "-c", script]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    reports = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0, f"after {reports[-1:]}: {process.stderr[-2000:]}"
    return {line["name"]: line for line in reports}
