"""Decoding pictures takes a limited amount of memory, which is freed afterwards."""

import json
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SPARE_MB = 25  # MB of the spare decoder's process
MEASURE_CODE = """
import io, json, resource, sys, threading
from PIL import Image
from playground.serving import pictures
from playground.serving import pictures
from playground.serving import cache

def megabytes(which):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024

kind, side, people = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
assert cache.keep_few_arenas()
out = io.BytesIO()
Image.linear_gradient("L").resize((side, side)).convert("RGB").save(out, kind, quality=5, method=0)
open("/proc/self/clear_refs", "w").write("5")
before, shown = megabytes("VmRSS"), []
drops = [threading.Thread(target=lambda: shown.append(pictures.upload(out.getvalue(), "x"))) for _ in range(people)]
for drop in drops:
    drop.start()
for drop in drops:
    drop.join()
grew = megabytes("VmHWM") - before
for worker in pictures.workers().ready:
    worker.end()
took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(json.dumps({"grew": grew, "held": pictures.own_pictures().bytes / 2**20, "shown": len(shown), "took": took}))
"""


pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is another one")


def memory_of_uploads(kind: str, side: int, people: int) -> dict[str, float]:
    """Runs MEASURE_CODE in a new process. Returns, in MB, the largest growth of that process, the size of the kept
    pictures, and the size of the decoder's process."""
    command = [sys.executable, "-c", MEASURE_CODE, kind, f"{side}", f"{people}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


def table_megabytes(word: str) -> int:
    table = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8").replace(",", "")
    return int(re.search(rf"^\| {word}.* \| (\d+) MB \|", table, re.MULTILINE)[1])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "side"), [("WEBP", 6000), ("PNG", 8000)])
def test_the_largest_allowed_picture_takes_at_most_the_memory_in_the_readme(kind, side):
    memory = memory_of_uploads(kind, side, people=1)
    assert memory["shown"] == 1
    assert memory["grew"] - memory["held"] + memory["took"] + SPARE_MB < table_megabytes("the process that decodes"), (
        memory
    )


ARENAS_CODE = """
import ctypes, os, sys, threading
import playground.ui.server
everybody = threading.Barrier(17)
def work():
    block = bytes(10**5)
    everybody.wait()
for _ in range(16):
    threading.Thread(target=work).start()
everybody.wait()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
os._exit(0)
"""


def test_threads_share_two_memory_arenas(tmp_path):
    """glibc fixes the number of arenas when the first thread starts, so the app has to set it earlier."""
    file = tmp_path / "arenas.xml"
    subprocess.run([sys.executable, "-c", ARENAS_CODE, str(file)], cwd=ROOT, check=True, capture_output=True, text=True)
    assert file.read_text().count("<heap nr=") <= 1 + 2  # the main arena and two for threads
