"""Hostile files of weights and packs are refused before they take much memory."""

import re
import sys

import pytest
from hostile import reports_of_process
from hostile.files import FILES

MOST_MEGABYTES = 300  # MB that a process may take to refuse a file
REPORT = """
import json, sys, tempfile
from pathlib import Path
from hostile.files import FILES

def megabytes(which):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024

for name, make in FILES.items():
    with tempfile.TemporaryDirectory() as folder:
        read = make(Path(folder))
        open("/proc/self/clear_refs", "w").write("5")
        before = megabytes("VmRSS")
        try:
            outcome, sentence = "read", repr(read())[:100]
        except Exception as error:
            outcome, sentence = type(error).__name__, str(error)
        grew = megabytes("VmHWM") - before
        print(json.dumps({"name": name, "outcome": outcome, "sentence": sentence, "MB": grew}), flush=True)
"""


@pytest.fixture(scope="module")
def reports() -> dict[str, dict]:
    """{name: report}, made by one process that reads all these files."""
    return reports_of_process(REPORT)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused_in_a_sentence_and_takes_little_memory(name, reports):
    outcome = reports[name]
    assert outcome["outcome"] == "PlaygroundError", outcome["sentence"]
    assert re.fullmatch(r".{25,700}\.", outcome["sentence"])
    assert outcome["MB"] < MOST_MEGABYTES, outcome
