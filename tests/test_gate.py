"""tests/gate.py runs a failed test once more, alone, and so tells chance from a defect."""

import os
import subprocess
import sys
from pathlib import Path

import more

GATE = Path(__file__).parent / "gate.py"
TWO_PROCESSES = ["-p", "xdist.plugin", "-n", "2"]
WITHOUT_PLUGINS = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "yes"}  # plugins would take seconds to load
FAILS_ONCE = """
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
FLAKY = FAILS_ONCE.format(what="falls", fails='raise ValueError("only once")')
CRASH = FAILS_ONCE.format(what="ends_its_process", fails="os._exit(3)")


def run_gate(folder: Path, *arguments: str, **files: str) -> tuple[int, str]:
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, GATE, *arguments]
    output_options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    result = subprocess.run(command, cwd=folder, env=WITHOUT_PLUGINS, text=True, check=False, **output_options)
    print(result.stdout)
    return result.returncode, result.stdout


def test_a_test_that_passes_alone_is_named_with_both_outputs_and_the_gate_passes(tmp_path):
    status, output = run_gate(tmp_path, *TWO_PROCESSES, flaky=FLAKY, crash=CRASH)
    assert status == 0
    assert set(output.splitlines()[-2:]) == {
        "FLAKED test_flaky.py::test_falls_the_first_time",
        "FLAKED test_crash.py::test_ends_its_process_the_first_time",
    }
    first_output, second_output = output.partition("FLAKED test_flaky.py")[2].split("=== alone")[:2]
    assert "ValueError: only once" in first_output
    assert "printed by the first" in first_output
    assert "1 passed" in second_output


def test_a_test_that_fails_twice_fails_the_gate_even_beside_a_flaky_one(tmp_path):
    status, output = run_gate(tmp_path, flaky=FLAKY, broken="def test_falls():\n    assert 1 == 2\n")
    assert status == 1
    assert output.splitlines()[-2:] == [
        "FELL TWICE test_broken.py::test_falls",
        "FLAKED test_flaky.py::test_falls_the_first_time",
    ]


def test_a_file_that_can_not_be_imported_fails_the_gate_at_once(tmp_path):
    status, output = run_gate(tmp_path, only="import nothing_of_this_name\n")
    assert status not in (0, 1)
    assert "FLAKED" not in output


def test_every_script_of_the_benchmarks_has_a_smallest_run():
    assert sorted(more.SMALLEST_RUNS) == more.script_names()
