"""Broken and hostile files: name -> a function that builds the bytes.

The large ones keep a Pillow without our checks busy for seconds or minutes, or make it take gigabytes.
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
    """What a script says of each file, by name: it runs in a process of its own and prints a line of JSON for each."""
    tests = Path(__file__).parents[1]
    environment = os.environ | {
        "PYTHONPATH": f"{tests.parent}{os.pathsep}{tests}",
        "MALLOC_MMAP_THRESHOLD_": "65536",  # what is freed goes back at once, and is measured again next time
    }
    command = [sys.executable, *options, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"after {lines[-1:]}: {done.stderr[-2000:]}"
    return {line["name"]: line for line in lines}
