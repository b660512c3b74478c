"""Every command that the app, its files or its documentation print can be typed, and makes the figure beside it."""

import ast
import importlib.util
import re
import shlex
import shutil
from pathlib import Path

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

import playground
from playground.__main__ import _parser, main
from playground.assets import BUNDLED_MODEL, PROGRAM
from playground.serving import settings
from playground.serving.routes import ROUTES

ROOT = Path(__file__).parent.parent
KEY_HEADER = {"X-Playground-Key": "a-key-of-a-browser-in-a-test"}
QUICK_OPTIONS = {"width": "column", "dpi": 20}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_words(line: str) -> list[str]:
    assert line.split()[: len(PROGRAM.split())] == PROGRAM.split(), f"nobody here can type {line!r}"
    return shlex.split(line)[len(PROGRAM.split()) :]


def replay(line: str) -> Path:
    words = command_words(line)
    assert main(words) == 0, f"this fails: {line}"
    return Path(words[words.index("-o") + 1])


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
    return Image.open(file).text.get("Command")


def test_the_command_finds_a_photograph_with_a_strange_name(picture, folder):
    for name in ("-a b's.png", "$HOME.png"):
        picture.save(folder / name)
        trace = playground.trace("untrained", folder / name)
        assert replay(command_in(playground.save(trace, folder / "a.png", **QUICK_OPTIONS))).stat().st_size > 1000


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
