"""tests/gate.py runs a failed test once more, alone, and so tells chance from a defect."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GATE = Path(__file__).parent / "gate.py"
TWO = ["-p", "xdist.plugin", "-n", "2"]
PLAIN = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "yes"}  # the plugins take seconds to start
ONCE = """
import os
from pathlib import Path

def test_{what}_the_first_time():
    before = Path("before {what}")
    if not before.exists():
        before.touch()
        print("printed by the first")
        {fails}
    print("nothing")
"""
FLAKY = ONCE.format(what="falls", fails='raise ValueError("only once")')
CRASH = ONCE.format(what="ends_its_process", fails="os._exit(3)")
BROKEN = "def test_falls():\n    assert 1 == 2\n"


@pytest.fixture
def gate(tmp_path):
    """gate(*arguments, file=text, …) runs the gate over tests with these texts; gives its status and its output."""

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


def test_what_passes_alone_is_named_with_both_outputs_and_the_gate_goes_on(gate):
    status, output = gate(*TWO, flaky=FLAKY, crash=CRASH)
    assert status == 0
    assert set(output.splitlines()[-2:]) == {
        "FLAKED test_flaky.py::test_falls_the_first_time",
        "FLAKED test_crash.py::test_ends_its_process_the_first_time",
    }
    first, second = output.partition("FLAKED test_flaky.py")[2].split("=== alone")[:2]
    assert "ValueError: only once" in first
    assert "printed by the first" in first
    assert "1 passed" in second


def test_what_falls_again_is_red_even_beside_one_that_flaked(gate):
    status, output = gate(flaky=FLAKY, broken=BROKEN)
    assert status == 1
    assert output.splitlines()[-2:] == [
        "FELL TWICE test_broken.py::test_falls",
        "FLAKED test_flaky.py::test_falls_the_first_time",
    ]


@pytest.mark.parametrize("text", ["import nothing_of_this_name\n", ""], ids=["can't be read", "no test at all"])
def test_what_is_no_fallen_test_is_red_at_once(gate, text):
    status, output = gate(only=text)
    assert status not in (0, 1)
    assert "FLAKED" not in output


def test_many_that_fall_are_not_run_one_by_one(gate):
    many = "import pytest\n@pytest.mark.parametrize('n', range(21))\ndef test_falls(n):\n    assert n < 0\n"
    status, output = gate(many=many)
    assert status == 1
    assert "21 tests fell" in output
    assert "=== alone" not in output
