"""Every command that the app, its files or its documentation print can be typed, and makes the figure beside it."""

import ast
import importlib.util
import json
import re
import shlex
import shutil
from html import unescape
from pathlib import Path

import pytest
from figure_files import read_pdf, read_svg
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

import playground
from playground.__main__ import _parser, main
from playground.assets import BUNDLED_MODEL, PROGRAM
from playground.figures import html
from playground.serving import settings
from playground.serving.routes import ROUTES

ROOT = Path(__file__).parent.parent
KEY_HEADER = {"X-Playground-Key": "a-key-of-a-browser-in-a-test"}
QUICK_OPTIONS = {"width": "column", "dpi": 20}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The empty working directory of the commands."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_words(line: str) -> list[str]:
    assert line.split()[: len(PROGRAM.split())] == PROGRAM.split(), f"nobody here can type {line!r}"
    return shlex.split(line)[len(PROGRAM.split()) :]


def replay(line: str) -> Path:
    """Runs a printed command and returns the file that it makes."""
    words = command_words(line)
    assert main(words) == 0, f"this fails: {line}"
    return Path(words[words.index("-o") + 1])


def meta_content(page: str, key: str) -> str:
    return unescape(re.search(rf'<meta name="playground:{key}" content="([^"]*)"', page)[1])


# The sheet of Export --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def http():
    return TestClient(Starlette(routes=ROUTES))


def export_answer(http, **parameters: str) -> dict:
    answer = http.get("/api/exports", params=parameters, headers=KEY_HEADER)
    assert answer.status_code == 200, answer.text
    return answer.json()


def upload(http, data: bytes, name: str) -> str:
    return http.post("/api/pictures", content=data, headers=KEY_HEADER | {"x-playground-name": name}).json()["id"]


def test_the_command_of_an_own_photograph_is_printed_only_where_it_finds_the_file(http, picture):
    picture.save("my disc.png")
    data = Path("my disc.png").read_bytes()
    line = export_answer(http, mine=upload(http, data, "my%20disc.png"), model="untrained")["command"]
    assert replay(line).stat().st_size > 1000
    for name in ("", f"{80 * 'a'}.png"):  # no name, and one that is too long to be kept
        assert export_answer(http, mine=upload(http, data, name), model="untrained")["command"] == ""
    drawing = http.post("/api/labelled", params={"number": "3"}, headers=KEY_HEADER).json()["id"]
    assert export_answer(http, mine=drawing, model="untrained")["command"] == "", "a picture of a data set is no file"


def test_the_command_of_a_model_in_the_operator_s_folder_is_typed_in_that_folder(http, monkeypatch, folder):
    shutil.copy(BUNDLED_MODEL, folder / "my-cats.safetensors")
    monkeypatch.setattr(settings, "now", lambda: settings.Settings(models_dir=str(folder), open=False))
    parameters = {"sample": "flock", "model": "own/my-cats", "kind": "png"}
    assert replay(export_answer(http, **parameters)["command"]).stat().st_size > 1000
    Path("asked.png").write_bytes(http.get("/figure.png", params=figure_parameters(parameters)).content)
    assert replay(Image.open("asked.png").text["Command"]).stat().st_size > 1000


def figure_parameters(export_parameters: dict) -> dict:
    return {name: value for name, value in export_parameters.items() if name != "kind"} | {"dpi": "20"}


# Files that Python writes ---------------------------------------------------------------------------------------------


def command_in(file: Path) -> str | None:
    """The command in a figure file's own metadata."""
    if file.suffix == ".png":
        return Image.open(file).text.get("Command")
    if file.suffix == ".svg":
        sources = [e.text for e in read_svg(file).iter("{http://purl.org/dc/elements/1.1/}source")]
        return sources[0] if sources else None
    if file.suffix == ".pdf":
        return read_pdf(file).metadata.get("/Keywords")
    if file.suffix == ".html":
        return meta_content(file.read_text(encoding="utf-8"), "command")
    return json.loads(re.search(r'"command": (".*?[^\\]")', file.read_text(encoding="utf-8"))[1])


OPTIONS_OF_FILE = {
    "a row.png": QUICK_OPTIONS | {"layer": 4, "query": (7, 5)},
    "a row of the class token.svg": QUICK_OPTIONS | {"query": "cls", "head": "mean"},
    "the value.pdf": QUICK_OPTIONS | {"what": "value", "direction": "column"},
    "without the scale.png": QUICK_OPTIONS | {"scale": "off", "layout": "heads"},
    "side by side.png": QUICK_OPTIONS | {"layout": "convolution"},
    "a grid.png": QUICK_OPTIONS | {"layout": "grid", "rows": "layers:1,4", "columns": "heads:0-2"},
    "relevance.png": QUICK_OPTIONS | {"what": "relevance"},
    "numbers.json": {"layout": "wall"},
    "alive.html": {"layer": 4},
}


@pytest.fixture(scope="module")
def usual_trace():
    return playground.trace("bundled", "meadow")


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS_OF_FILE)
def test_a_file_that_python_wrote_is_made_again_by_the_command_in_it(usual_trace, name, folder):
    first_file = playground.save(usual_trace, folder / name, **OPTIONS_OF_FILE[name]).read_bytes()
    line = command_in(folder / name)
    second_file = replay(line)
    assert second_file.read_bytes() == first_file, f"{line} makes another file"


def test_the_command_finds_a_photograph_with_a_strange_name(picture, folder):
    for name in ("-a b's.png", "$HOME.png"):
        picture.save(folder / name)
        trace = playground.trace("untrained", folder / name)
        assert replay(command_in(playground.save(trace, folder / "a.png", **QUICK_OPTIONS))).stat().st_size > 1000


def test_the_command_repeats_the_scale_and_the_cut_of_the_pass(folder):
    for options in ({"scale": "off"}, {"cut": "7,5>3,2"}):
        trace = playground.trace("bundled", "meadow", **options)
        first_bytes = playground.save(trace, folder / "a.png", **QUICK_OPTIONS, layer=4).read_bytes()
        assert replay(command_in(folder / "a.png")).read_bytes() == first_bytes


def test_a_file_that_no_command_makes_prints_none(small, picture, folder):
    trace = playground.trace(small, picture)
    assert command_in(playground.save(trace, folder / "a.png", **QUICK_OPTIONS)) is None
    with pytest.raises(ValueError, match="names no model"):
        html.page(playground.figures.Spec(image="meadow"), playground.trace("bundled", "meadow"))


# Sentences of the source, and the documentation -----------------------------------------------------------------------


def text_of(node: ast.expr) -> str:
    """The text of a string or f-string in the source, with NAME in place of each inserted value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.FormattedValue):
        return PROGRAM if getattr(node.value, "id", "") == "PROGRAM" else "NAME"
    return "".join(text_of(part) for part in node.values) if isinstance(node, ast.JoinedStr) else ""


def commands_in_strings() -> dict[str, str]:
    """{command: place} of each command in backticks in the source's strings. {program} there stands for PROGRAM."""
    places = {}
    for file in sorted((ROOT / "playground").rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if not re.search(r"`(attention-playground|python -m playground|\{program\}|\{PROGRAM\})", source):
            continue
        tree = ast.parse(source)
        docstring_ids = {
            id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body and isinstance(node.body[0], ast.Expr)
        }  # fmt: skip
        inner_ids = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docstring_ids | inner_ids:
                sentence = text_of(node).replace("{program}", PROGRAM)
                for command in re.findall(r"`((?:attention-playground|python -m playground)[^`…]*)`", sentence):
                    places[re.sub(r"\{\w+\}", "NAME", command)] = f"{file.relative_to(ROOT)}:{node.lineno}"
    return places


COMMANDS_IN_STRINGS = commands_in_strings()


@pytest.mark.parametrize("line", COMMANDS_IN_STRINGS)
def test_a_sentence_prints_a_command_that_can_be_typed(line):
    if module := re.match(r"python -m (playground\.[\w.]+)", line):
        assert importlib.util.find_spec(module[1]), COMMANDS_IN_STRINGS[line]
        return
    assert _parser().parse_args(command_words(line)).run, COMMANDS_IN_STRINGS[line]


DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "deploy").glob("*.md")),
           *sorted((ROOT / "assets").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.md")),
           *sorted((ROOT / "workshop").glob("*.md"))]  # fmt: skip


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_written_command_can_be_typed(file):
    text = file.read_text(encoding="utf-8")
    block_commands = re.findall(r"^ *(?:\S*/)?(?:attention-playground|python -m playground)(?= |$)(.*)$", text, re.M)
    inline_commands = re.findall(r"`(?:attention-playground|python -m playground)(?= )([^`…]*)`", text)
    for line in [*block_commands, *inline_commands]:
        assert _parser().parse_args(shlex.split(line, comments=True)).run, line
