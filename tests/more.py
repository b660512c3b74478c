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
PYTHONS = ("3.11", "3.14")  # the oldest and the newest that the library is tried with
LIBRARY_TESTS = [  # of the library without the app's packages; those of files and objects know newer releases too
    "tests/test_vit.py", "tests/test_tracing.py", "tests/test_cuts.py", "tests/test_relevance.py",
    "tests/test_from_attention.py", "tests/models/test_what_is_assumed.py", "tests/models/test_names.py",
    "tests/models/test_devices.py", "tests/figures/test_captions.py", "tests/figures/test_layouts.py",
    "tests/figures/test_sweeping.py", "tests/analysis/test_interventions.py", "tests/analysis/test_occlusion.py",
    "tests/analysis/test_ablation.py",
]  # fmt: skip
APP_TESTS = ["tests/test_vit.py", "tests/test_tracing.py", "tests/figures", "tests/serving", "tests/ui"]
NEIGHBOURS = ["nnsight", "captum", "transformer-lens", "lightning"]  # what researchers have beside it
IN_PARALLEL = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]  # several processes, as in the Makefile
SMALLEST_RUNS = {  # script -> arguments of its smallest run; {} stands for a temporary folder
    "axe": ["--help"],
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
    "phone": ["--help"],
    "photograph": ["--help"],
    "place": ["--help"],
    "screenshots": ["--folder", "{}", "see"],
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
    """The wheel in new environments, with the oldest and with the newest packages that it allows, with and without the
    app, on the oldest and the newest Python. Each environment downloads several GB."""
    tools, wheels = BUILD / "tools", BUILD / "wheels"
    outcome = run("uv, which installs the oldest", [sys.executable, "-m", "venv", "--clear", str(tools)])
    if outcome.verdict == "passed":
        outcome = run(outcome.name, [str(tools / "bin" / "pip"), "install", "-q", "uv"])
    if outcome.verdict != "passed":
        yield Outcome("the wheel with its oldest and newest packages", "SKIPPED", f"uv is not there: {outcome.why}")
        return
    uv = str(tools / "bin" / "uv")
    shutil.rmtree(wheels, ignore_errors=True)
    yield run("the wheel", [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(wheels)])
    for python in PYTHONS:
        if subprocess.run([uv, "python", "find", "-q", python], capture_output=True, check=False).returncode:
            yield Outcome(f"the wheel on Python {python}", "SKIPPED", f"Python {python} is not there")
            continue
        for age in RESOLUTION_OF_AGE if python == PYTHONS[0] else ["newest"]:  # the oldest have no build for the newest
            yield from check_wheel(age, python, uv, wheels, LIBRARY_TESTS)
    yield from check_wheel("newest", PYTHONS[0], uv, wheels, APP_TESTS, "app")
    resolve = [uv, "pip", "install", "-q", "--dry-run", "--python", str(tools / "bin" / "python")]
    yield run(f"beside {', '.join(NEIGHBOURS)}", [*resolve, "-r", "pyproject.toml", *NEIGHBOURS])


def check_wheel(age: str, version: str, uv: str, wheels: Path, tests: list[str], *extras: str) -> Iterator[Outcome]:
    folder = BUILD / "-".join((age, version, *extras))
    name = " ".join(("the wheel with its", age, "packages on Python", version, *extras))
    python = folder / "bin" / "python"
    install_command = [uv, "pip", "install", "-q", "--python", str(python)]
    extra_flags = [word for extra in ("many", "text", *extras) for word in ("--extra", extra)]
    tools = ["pandas", "pytest", "pytest-timeout", "pytest-xdist", "httpx", "pypdf", "resvg-py", "pyyaml"]
    for command in (
        [uv, "venv", "-q", "--clear", "--python", version, str(folder)],
        [*install_command, "--resolution", RESOLUTION_OF_AGE[age], "-r", "pyproject.toml", *extra_flags],
        [*install_command, "--no-deps", *map(str, wheels.glob("*.whl"))],
        [*install_command, *tools],
    ):
        outcome = run(f"{name}: its environment", command)
        if outcome.verdict != "passed":
            yield outcome
            return
    figure = [str(folder / "bin" / "attention-playground"), "figure", "meadow", "-o", str(folder / "meadow.png")]
    yield run(f"{name}: a figure", figure)
    yield run(f"{name}: tests", [str(python), "tests/gate.py", *IN_PARALLEL, "-m", "not browser and not slow", *tests])


# Other browsers -------------------------------------------------------------------------------------------------------


def browsers() -> Iterator[Outcome]:
    """Debian's WebKit and Firefox; a test whose browser is not there says so."""
    yield run("other browsers", [sys.executable, "tests/gate.py", "-rs", "tests/browser/test_other_browsers.py"])


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
    "browsers": browsers,
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
