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
from hostile.sizes import WRONG_SIZES
from hostile.strangers import CUT_FILES, SIGNATURES, STRANGERS
from hostile.tiffs import TIFFS
from hostile.webps_and_avifs import WEBPS_AND_AVIFS

KINDS = {
    **STRANGERS, **SIGNATURES, **CUT_FILES, **WRONG_SIZES,
    **PNGS, **JPEGS, **GIFS, **BMPS, **TIFFS, **WEBPS_AND_AVIFS, **HEICS,
}  # fmt: skip


def reports_of_process(script: str, *options: str) -> dict[str, dict]:
    """Runs a script that prints a line of JSON for each file, in a new process; returns {name: what its line says}."""
    tests_folder = Path(__file__).parents[1]
    environment = os.environ | {
        "PYTHONPATH": f"{tests_folder.parent}{os.pathsep}{tests_folder}",
        "MALLOC_MMAP_THRESHOLD_": "65536",  # malloc returns freed memory at once, so each file is measured alone
    }
    command = [sys.executable, *options, "-c", script]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    reports = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0, f"after {reports[-1:]}: {process.stderr[-2000:]}"
    return {report["name"]: report for report in reports}
