"""The set-up, as `make run` and `docker build` call it. It fetches and prepares DINOv2 and the photographs once, and
finds these files later without a network. If they cannot be fetched, it prints a sentence and goes on."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser.server import Server
from browser.visitor import LOST, Visitor

from playground.models import borrowed
from playground.samples import PHOTOGRAPHS, start_patch

ROOT = Path(__file__).parent.parent
WITHOUT = "without DINOv2 and the photographs"
NOWHERE = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_ETAG_TIMEOUT": "1"}  # no machine listens on port 9
NO_PIP = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}  # pip finds no package anywhere


def output_of(command: list[str], cache: Path, **more: str) -> str:
    """The output of a command of the set-up, run with this Python and with `more` as environment variables."""
    own_prefixes = ("HF_", "PLAYGROUND_", "MAKE")
    env = (
        {k: v for k, v in os.environ.items() if not k.startswith(own_prefixes)}
        | NOWHERE
        | {"HF_HOME": str(cache)}
        | more
    )
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    result = subprocess.run(command, cwd=ROOT, env=env, text=True, check=False, **pipe)
    assert result.returncode == 0, result.stdout
    return result.stdout


def make_borrow(cache: Path, *options: str, **more: str) -> str:
    """Runs `make borrow`, a step of `make run` before the app starts, without a new .venv; returns the output."""
    if shutil.which("make") is None:
        pytest.skip("make is not on this machine")
    bin_folder = f"BIN={Path(sys.executable).parent}"
    return output_of(["make", "-o", ".venv/.app", "borrow", bin_folder, *options], cache, **more)


def files(folder: Path) -> dict[str, int]:
    """{name: time of change} of every file below a folder."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def dockerfile(word: str, part: str) -> str:
    joined_lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = re.findall(rf"^{word} (.*{part}.*)$", joined_lines, re.MULTILINE)
    return line


def test_where_nothing_can_or_may_be_fetched_the_set_up_goes_on_and_says_so(tmp_path):
    for settings, reason in (
        (NO_PIP, "could not be fetched by pip"),
        ({"PLAYGROUND_OFFLINE": "yes"}, "nothing may be fetched"),
    ):
        output = make_borrow(tmp_path, **settings)
        assert reason in output
        assert WITHOUT in output.splitlines()[-1]
    assert "dinov2" not in make_borrow(tmp_path, "BORROW=no")
    assert not files(tmp_path)


def test_the_image_is_built_without_what_can_not_be_had_and_the_build_says_so(tmp_path):
    line = dockerfile("RUN", "download dinov2-small").replace("/borrowed", str(tmp_path / "borrowed"))
    output = output_of(["sh", "-ec", line], tmp_path / "cache", BORROW="yes", PLAYGROUND_OFFLINE="yes")
    assert "nothing may be fetched" in output
    assert WITHOUT in output.splitlines()[-1]
    assert output_of(["sh", "-ec", line], tmp_path / "cache", BORROW="no") == ""


def test_the_image_and_make_give_the_same_commands_and_no_volume_hides_what_they_fetch(monkeypatch):
    line, commands = dockerfile("RUN", "download dinov2-small"), r"-m playground (download [\w -]+|prepare)"
    assert re.findall(commands, line) == re.findall(commands, (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert re.findall(commands, line)[0].split()[1:] == list(borrowed.GROUPS)
    monkeypatch.setenv("HF_HUB_CACHE", re.search(r"HF_HUB_CACHE=(\S+);", line)[1])
    built_in = re.search(r"PLAYGROUND_BORROWED=(\S+)", dockerfile("ENV", "PLAYGROUND_BORROWED"))[1]
    assert str(borrowed.cache_folder()) == built_in
    assert not Path(built_in).is_relative_to(re.search(r"HF_HOME=(\S+)", dockerfile("ENV", "HF_HOME"))[1])


def test_the_documentation_names_all_that_is_borrowed_with_author_licence_and_package():
    rows = re.findall(r"^\|(.+)\|$", (ROOT / "docs" / "pages" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    rows = [[cell.strip().strip("`") for cell in row.split("|")] for row in rows]
    for item in (borrowed.DINOV2, *borrowed.PHOTOGRAPHS):
        stem = Path(item.file).stem
        expected_cells = [item.author, item.licence, f"{item.package} {item.version}"]
        assert any(row[0] == stem and row[2:] == expected_cells for row in rows), (
            f"| {stem} | … | {' | '.join(expected_cells)} |"
        )


OTHER_EYE = (0.28, 0.30, 0.50, 0.46)  # top, left, bottom, right, as shares of the photograph of the cat
OWN_EYE = (0.36, 0.65, 0.56, 0.76)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    """A cache that the set-up has filled with pip's packages, without a way to the Hugging Face Hub."""
    cache = tmp_path_factory.mktemp("cache")
    output = make_borrow(cache)
    print(output)
    if "could not be fetched by pip" in output:
        pytest.skip(f"pip reaches no package from here: {output.strip()}")
    return cache


def inside(box: tuple[float, float, float, float], row: int, column: int, grid: list[int]) -> bool:
    top, left, bottom, right = box
    return top < (row + 0.5) / grid[0] < bottom and left < (column + 0.5) / grid[1] < right


@pytest.mark.slow
@pytest.mark.browser
def test_the_set_up_leads_from_an_empty_cache_to_the_eyes_of_the_cat_in_dinov2_later_without_a_network_too(
    fresh, tmp_path, arrive
):
    files_before, offline_settings = files(fresh), NO_PIP | {"PLAYGROUND_OFFLINE": "yes"}
    for settings in ({}, offline_settings):
        make_borrow(fresh, **settings)
        assert files(fresh) == files_before  # a second set-up fetches and makes nothing
    server = Server(tmp_path, HF_HOME=str(fresh), HF_HUB_OFFLINE="0", **NOWHERE, **offline_settings).start()
    try:
        visitor = arrive(Visitor, server.wait().url)
        visitor.page.goto(server.url)  # the bare address: `open` would name the meadow
        state = visitor.until()
        cat, grid = PHOTOGRAPHS[0], state["grid"]
        start = start_patch(cat.name, cat.look.grid)
        assert state["scale"] == 64**-0.5  # 1/√d_k of DINOv2; the bundled model has another d_k
        assert (*grid, state["layer"], state["head"]) == (*cat.look.grid, cat.look.layer, cat.look.head)
        assert state["query"] == f"{start[0]},{start[1]}"
        assert inside(OWN_EYE, *start, grid)
        weights = state["row"][len(state["prefix"]) :]
        weights_and_patches = [(weight, divmod(i, grid[1])) for i, weight in enumerate(weights)]
        weights_elsewhere = [
            (weight, patch) for weight, patch in weights_and_patches if not inside(OWN_EYE, *patch, grid)
        ]
        strongest = [patch for _, patch in sorted(weights_elsewhere, reverse=True)[:5]]
        print(f"from {start}, beyond its own eye, the strongest patches: {strongest}")
        assert sum(inside(OTHER_EYE, *patch, grid) for patch in strongest) >= 3
        visitor.check()
        visitor.forgiven = LOST
    finally:
        server.stop()
