"""The set-up, as `make run` and `docker build` call it. It fetches and prepares DINOv2 and the photographs once, and
finds these files later without a network. If they cannot be fetched, it prints a sentence and goes on."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from playground.models import borrowed

ROOT = Path(__file__).parent.parent
WITHOUT_BORROWED = "without DINOv2 and the photographs"
UNREACHABLE_HUB = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_ETAG_TIMEOUT": "1"}  # no machine listens on port 9
NO_PIP = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}  # pip finds no package anywhere


def output_of(command: list[str], cache: Path, **variables: str) -> str:
    """The output of a command of the set-up, run with this Python and with these environment variables."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "PLAYGROUND_", "MAKE"))}
    env = inherited | UNREACHABLE_HUB | {"HF_HOME": str(cache)} | variables
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    output_options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    result = subprocess.run(command, cwd=ROOT, env=env, text=True, check=False, **output_options)
    assert result.returncode == 0, result.stdout
    return result.stdout


def make_borrow(cache: Path, *options: str, **variables: str) -> str:
    """Runs `make borrow`, a step of `make run` before the app starts, without a new .venv; returns the output."""
    if shutil.which("make") is None:
        pytest.skip("make is not on this machine")
    bin_folder = f"BIN='{Path(sys.executable).parent}'"  # quoted, for a path with spaces
    return output_of(["make", "-o", ".venv/.app", "borrow", bin_folder, *options], cache, **variables)


def change_times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def dockerfile_line(instruction: str, part: str) -> str:
    joined_lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = re.findall(rf"^{instruction} (.*{part}.*)$", joined_lines, re.MULTILINE)
    return line


def test_where_nothing_can_or_may_be_fetched_the_set_up_goes_on_and_says_so(tmp_path):
    for settings, reason in (
        (NO_PIP, "could not be fetched by pip"),
        ({"PLAYGROUND_OFFLINE": "yes"}, "nothing may be fetched"),
    ):
        output = make_borrow(tmp_path, **settings)
        assert reason in output
        assert WITHOUT_BORROWED in output.splitlines()[-1]
    assert "dinov2" not in make_borrow(tmp_path, "BORROW=no")
    assert not change_times(tmp_path)


def test_the_docker_image_and_make_give_the_same_commands_and_no_volume_hides_what_they_fetch(monkeypatch):
    line, command_pattern = dockerfile_line("RUN", "download dinov2-small"), r"-m playground (download [\w -]+|prepare)"
    assert re.findall(command_pattern, line) == re.findall(
        command_pattern, (ROOT / "Makefile").read_text(encoding="utf-8")
    )
    assert re.findall(command_pattern, line)[0].split()[1:] == list(borrowed.GROUPS)
    monkeypatch.setenv("HF_HUB_CACHE", re.search(r"HF_HUB_CACHE=(\S+);", line)[1])
    built_in_folder = re.search(r"PLAYGROUND_BORROWED=(\S+)", dockerfile_line("ENV", "PLAYGROUND_BORROWED"))[1]
    assert str(borrowed.cache_folder()) == built_in_folder
    assert not Path(built_in_folder).is_relative_to(re.search(r"HF_HOME=(\S+)", dockerfile_line("ENV", "HF_HOME"))[1])


def test_the_documentation_names_all_that_is_borrowed_with_author_licence_and_package():
    rows = re.findall(r"^\|(.+)\|$", (ROOT / "docs" / "pages" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    rows = [[cell.strip().strip("`") for cell in row.split("|")] for row in rows]
    for item in (borrowed.DINOV2, *borrowed.PHOTOGRAPHS):
        stem = Path(item.file).stem
        expected_cells = [item.author, item.licence, item.package.replace("==", " ")]
        assert any(row[0] == stem and row[2:] == expected_cells for row in rows), (
            f"| {stem} | … | {' | '.join(expected_cells)} |"
        )
