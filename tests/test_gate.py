"""The gate is strict, and tells chance from defects."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GATE = Path(__file__).parent / "gate.py"
TWO = ["-p", "xdist.plugin", "-n", "2"]
PLAIN = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "yes"}  # all of them together take seconds to start
FLAKY = """
from pathlib import Path

def test_falls_the_first_time():
    before = Path("before")
    if not before.exists():
        before.touch()
        print("printed by the first")
        raise ValueError("only once")
    print("nothing")
"""
BROKEN = "def test_falls():\n    assert 1 == 2\n"
SOUND = "def test_passes():\n    pass\n"
TEARDOWN = """
import pytest
from pathlib import Path

@pytest.fixture
def thing():
    yield
    before = Path("before")
    if not before.exists():
        before.touch()
        raise ValueError("in the end")

def test_passes(thing):
    pass
"""
CRASH = """
import os
from pathlib import Path

def test_ends_its_process_the_first_time():
    before = Path("before")
    if not before.exists():
        before.touch()
        os._exit(3)
"""


@pytest.fixture
def gate(tmp_path):
    """gate(*arguments, file=text, …) runs the gate over tests with these texts; gives its status and what it said."""

    def run(*arguments: str, **files: str) -> tuple[int, str]:
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, GATE, *arguments]
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, cwd=tmp_path, env=PLAIN, text=True, check=False, **pipe)
        print(done.stdout)
        return done.returncode, done.stdout

    return run


@pytest.mark.parametrize("processes", [[], TWO], ids=["in one process", "in two"])
def test_what_passes_alone_is_named_with_both_outputs_and_the_gate_goes_on(gate, processes):
    status, said = gate(*processes, flaky=FLAKY, sound=SOUND)
    assert status == 0
    assert said.splitlines()[-1] == "FLAKED test_flaky.py::test_falls_the_first_time"
    first, second = said.split("\nFLAKED ", 1)[1].split("=== alone")
    assert "ValueError: only once" in first
    assert "printed by the first" in first
    assert "1 passed" in second


def test_what_falls_again_is_red_even_beside_one_that_flaked(gate):
    status, said = gate(flaky=FLAKY, broken=BROKEN)
    assert status == 1
    assert said.splitlines()[-2:] == [
        "FELL TWICE test_broken.py::test_falls",
        "FLAKED test_flaky.py::test_falls_the_first_time",
    ]


def test_an_error_after_a_test_counts_as_one_in_it(gate):
    status, said = gate(teardown=TEARDOWN)
    assert status == 0
    assert "in the end" in said.split("\nFLAKED ", 1)[1].split("=== alone")[0]


def test_a_test_that_ends_its_process_is_run_again(gate):
    status, said = gate(*TWO, crash=CRASH, sound=SOUND)
    assert status == 0
    assert "\nFLAKED test_crash.py::test_ends_its_process_the_first_time\n" in said


@pytest.mark.parametrize(
    ("arguments", "text"),
    [([], "import nothing_of_this_name\n"), ([], ""), (["--no-such-flag"], SOUND)],
    ids=["a file that can't be read", "no test at all", "a wrong argument"],
)
def test_what_is_no_fallen_test_is_red_at_once(gate, arguments, text):
    status, said = gate(*arguments, only=text)
    assert status not in (0, 1)
    assert "FLAKED" not in said


def test_many_that_fall_are_not_run_one_by_one(gate):
    many = "import pytest\n@pytest.mark.parametrize('n', range(21))\ndef test_falls(n):\n    assert n < 0\n"
    status, said = gate(many=many)
    assert status == 1
    assert "21 tests fell" in said
    assert "=== alone" not in said
