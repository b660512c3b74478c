"""Slow checks that seldom fail, to run before a release: python tests/more.py [part …]; PARTS lists the parts.

At the end it prints for each part whether it passed, failed or was skipped, and why. The status is 1 if a part failed.
The parts write into build/more, and do not change the environment that runs this script.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "more"
PATIENCE = 3600  # seconds, for one part
RESOLUTION_OF_AGE = {"oldest": "lowest-direct", "newest": "highest"}  # age of the packages -> uv's --resolution
CORE_TESTS = ["tests/test_vit.py", "tests/test_tracing.py", "tests/figures", "tests/serving", "tests/ui"]
IN_PARALLEL = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]  # several processes, as in the Makefile
FIREFOX_TESTS = [f"tests/browser/test_{name}.py" for name in ("microscope", "scenes", "colours")]
SMALLEST_RUNS = {  # script -> arguments of its smallest run; {} stands for a temporary folder
    "bundled": ["--scenes", "5"],
    "calls": ["--few"],
    "class": ["--phones", "20", "--rounds", "1"],
    "engine": [],
    "fairness": ["--minutes", "0.1"],
    "figure_files": ["--times", "1"],
    "gallery": ["--folder", "{}", "drawing.png"],
    "hold": ["--quick"],
    "hover": ["--help"],
    "installation": [],
    "microscope": ["--few"],
    "screenshots": ["--folder", "{}", "compare"],
    "site": ["--times", "1"],
    "site_visits": ["--times", "1", "--photographs", "2"],
    "striking": ["tally"],
    "upload": [],
    "visit": ["--few"],
    "zoo": [],
}


@dataclass
class Outcome:
    name: str
    verdict: str  # passed, FELL or SKIPPED
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verdict:8}{self.name}{': ' * bool(self.why)}{self.why}"


def run(name: str, command: list[str], **environment: str) -> Outcome:
    print(f"--- {name}", flush=True)
    start_time = time.monotonic()
    try:
        whole_environment = {**os.environ, **environment}
        status = subprocess.run(command, cwd=ROOT, env=whole_environment, timeout=PATIENCE, check=False).returncode
    except subprocess.TimeoutExpired:
        return Outcome(name, "FELL", f"it did not end within {PATIENCE // 60} minutes")
    time_words = f"{time.monotonic() - start_time:.0f} s"
    return Outcome(name, "FELL", f"status {status}, {time_words}") if status else Outcome(name, "passed", time_words)


# Slow tests -----------------------------------------------------------------------------------------------------------


def slow_tests() -> Iterator[Outcome]:
    yield run("slow tests", [sys.executable, "tests/gate.py", *IN_PARALLEL, "-m", "slow"])


# The range of dependencies --------------------------------------------------------------------------------------------


def dependencies() -> Iterator[Outcome]:
    """Installs the wheel into two new environments, with the oldest and with the newest packages that the wheel allows.
    In each environment, the command writes a figure and the core's tests run. Each environment downloads several GB."""
    tools, wheels = BUILD / "tools", BUILD / "wheels"
    outcome = run("uv, which installs the oldest", [sys.executable, "-m", "venv", "--clear", str(tools)])
    if outcome.verdict == "passed":
        outcome = run(outcome.name, [str(tools / "bin" / "pip"), "install", "-q", "uv"])
    if outcome.verdict != "passed":
        yield Outcome("the wheel with its oldest and newest packages", "SKIPPED", f"uv is not there: {outcome.why}")
        return
    shutil.rmtree(wheels, ignore_errors=True)
    yield run("the wheel", [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(wheels)])
    for age, resolution in RESOLUTION_OF_AGE.items():
        yield from check_wheel(age, resolution, str(tools / "bin" / "uv"), wheels)


def check_wheel(age: str, resolution: str, uv: str, wheels: Path) -> Iterator[Outcome]:
    folder = BUILD / age
    python, name = folder / "bin" / "python", f"the wheel with its {age} packages"
    install_command = [uv, "pip", "install", "-q", "--python", str(python)]
    for command in (
        [uv, "venv", "-q", "--clear", "--python", sys.executable, str(folder)],
        [*install_command, "--resolution", resolution, *map(str, wheels.glob("*.whl"))],
        [*install_command, "pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "httpx", "pypdf", "resvg-py"],
    ):
        outcome = run(f"{name}: its environment", command)
        if outcome.verdict != "passed":
            yield outcome
            return
    figure = [str(folder / "bin" / "attention-playground"), "figure", "meadow", "-o", str(folder / "meadow.png")]
    yield run(f"{name}: a figure", figure)
    yield run(
        f"{name}: tests", [str(python), "tests/gate.py", *IN_PARALLEL, "-m", "not browser and not slow", *CORE_TESTS]
    )


# Firefox --------------------------------------------------------------------------------------------------------------


def firefox() -> Iterator[Outcome]:
    """Runs tests in Playwright's own Firefox, because Playwright cannot drive the system's Firefox."""
    name = f"{' and '.join(FIREFOX_TESTS)} in Firefox"
    if reason := why_no_firefox():
        yield Outcome(name, "SKIPPED", reason)
    else:
        yield run(name, [sys.executable, "tests/gate.py", *FIREFOX_TESTS], TEST_BROWSER="firefox")


def why_no_firefox() -> str:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            playwright.firefox.launch().close()
        except Error as error:
            return f"none can be driven here ({str(error).strip().splitlines()[0]}): playwright install firefox"
    return ""


# Benchmarks -----------------------------------------------------------------------------------------------------------


def script_names() -> list[str]:
    """The names of the scripts in benchmarks/ that can be run; the other files there are modules for these scripts."""
    files = sorted((ROOT / "benchmarks").glob("*.py"))
    return [file.stem for file in files if '\nif __name__ == "__main__":' in file.read_text(encoding="utf-8")]


def benchmarks() -> Iterator[Outcome]:
    for name in script_names():
        with tempfile.TemporaryDirectory() as temporary_folder:
            arguments = [word.replace("{}", temporary_folder) for word in SMALLEST_RUNS[name]]
            yield run(f"benchmarks/{name}.py", [sys.executable, f"benchmarks/{name}.py", *arguments])


PARTS: dict[str, Callable[[], Iterator[Outcome]]] = {
    "slow": slow_tests,
    "dependencies": dependencies,
    "firefox": firefox,
    "benchmarks": benchmarks,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", help=f"some of {', '.join(PARTS)}; by default all")
    options = parser.parse_args()
    if unknown_parts := set(options.what) - set(PARTS):
        parser.error(f"there is no {', '.join(unknown_parts)}: {', '.join(PARTS)}")
    outcomes = [outcome for part in options.what or PARTS for outcome in PARTS[part]()]
    print("\n", *outcomes, sep="\n")
    return int(any(outcome.verdict == "FELL" for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
