"""Runs pytest, and failed tests a second time: python tests/gate.py [pytest's arguments]

Each failed test is run once more, alone in a process. If it passes then, it depends on chance: the gate prints FLAKED,
the test's name and the output of both runs, and goes on. Such a test should be repaired before anything else. If the
test fails again, the gate fails, as it does for every other error of pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MOST_FAILURES = 20  # if more tests failed, none is run again: so many do not fail by chance, and would take hours


class Failures:
    """A pytest plugin. `outputs` maps the name of each failed test, of all processes, to its output."""

    def __init__(self) -> None:
        self.outputs: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            output = [report.longreprtext, *(f"--- {title}\n{text}" for title, text in report.sections)]
            self.outputs[report.nodeid] = "\n".join([self.outputs.get(report.nodeid, ""), *output]).strip()


def run_alone(name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", name]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def run_again(name: str, first_output: str) -> bool:
    """Runs a failed test again and prints both outputs; returns whether it passes now."""
    second_run = run_alone(name)
    verdict = "FELL TWICE" if second_run.returncode else "FLAKED"
    print(
        f"{verdict} {name}",
        f"=== the first time\n{first_output}",
        f"=== alone\n{second_run.stdout}",
        sep="\n",
        flush=True,
    )
    return second_run.returncode == 0


def main(arguments: list[str]) -> int:
    sys.path[0] = os.getcwd()  # as `python -m pytest` does, so that tests import the package from there
    plugin = Failures()
    status = pytest.main(arguments, plugins=[plugin])
    if status != pytest.ExitCode.TESTS_FAILED or not plugin.outputs:
        return int(status)
    if len(plugin.outputs) > MOST_FAILURES:
        print(f"{len(plugin.outputs)} tests fell: too many for chance, none is run again.")
        return int(status)
    results = {name: run_again(name, output) for name, output in plugin.outputs.items()}
    print(*(f"{'FLAKED' if has_passed else 'FELL TWICE'} {name}" for name, has_passed in results.items()), sep="\n")
    return 0 if all(results.values()) else int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
