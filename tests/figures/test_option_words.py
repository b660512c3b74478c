"""Sentences name options as their reader writes them."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

import playground
from playground import PlaygroundError
from playground.__main__ import main
from playground.figures import Spec
from playground.figures.command_line import FLAGS, TYPED_WORDS
from playground.figures.drawing.option_words import PYTHON_WORDS, OptionError, option_field, sentence_of
from playground.serving.figure_words import ADDRESS_NAMES

PACKAGE = Path(__file__).parent.parent.parent / "playground"
CASES = {  # case -> (options in Python, the same as flags, the sentence for both)
    "nothing to compare": (
        {"layout": "compare"}, "--layout compare",
        "What is it to be compared with? Add {other_image} or {other_model}.",
    ),
    "a mask of nothing": (
        {"mask": True}, "--mask", "{mask:True} would change nothing here: it shows what {mass} outlines: add {mass}.",
    ),
    "too few dots": ({"dpi": 1}, "--dpi 1", "{dpi} goes from 10 to 2400; given was 1."),
    "a kernel of one map": (
        {"kernel": 5}, "--kernel 5", "{kernel} would change nothing here: it belongs to {layout:convolution}.",
    ),
    "a convolution of no patch": (
        {"layout": "convolution", "query": "cls"}, "--layout convolution --patch cls",
        "A convolution has no 'cls' token: choose a patch, such as {query:7,5}.",
    ),
    "a grid of nothing": (
        {"layout": "grid"}, "--layout grid",
        "A grid needs {rows} and {columns}: two of layers:2,5,8, heads:0-3, pictures:meadow,flock, "
        "models:bundled,dinov2-small, patches:9,7-3,4, scales:on,off.",
    ),
    "a figure of nobody that says who made it": (
        {"anonymous": True, "footer": True}, "--anonymous --footer",
        "{footer:True} would change nothing here: {anonymous:True} says nothing of where it comes from.",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def untrained_trace():
    return playground.trace("untrained", "meadow")


@pytest.mark.parametrize("case", CASES)
def test_python_names_its_words_and_the_command_line_its_flags(case, untrained_trace, tmp_path, capsys):
    options, flags, sentence = CASES[case]
    with pytest.raises(PlaygroundError) as error:
        playground.figure(untrained_trace, **options)
    assert str(error.value) == PYTHON_WORDS.put_into(sentence)
    assert not re.search(r"--[a-z]", str(error.value))
    output = ["-o", str(tmp_path / "a.png")]
    assert main(["figure", "meadow", "--model", "untrained", *flags.split(), *output]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"playground: {TYPED_WORDS.put_into(sentence)}"


def test_an_option_is_called_as_it_is_typed():
    sentence = "{other_image}, {layout:compare}, {caption:False}, {query:7,5}"
    assert PYTHON_WORDS.put_into(sentence) == 'other_image=, layout="compare", caption=False, query=(7, 5)'
    assert TYPED_WORDS.put_into(sentence) == "--with-image, --layout compare, --no-caption, --patch 7,5"
    assert ADDRESS_NAMES.put_into(sentence) == "with=sample:NAME, layout=compare, caption=false, query=7,5"
    assert option_field("mask", True) == "{mask:True}"
    assert option_field("dpi", 20) == "{dpi}"


def test_a_given_value_may_hold_braces():
    error = OptionError("{view} takes no {!r}.", "{dpi}")
    assert [str(error), sentence_of(error, TYPED_WORDS)] == ["view= takes no '{dpi}'.", "--view takes no '{dpi}'."]


def sentences() -> list[tuple[str, str]]:
    """(file, string) of all strings in the package, which include the sentences about options."""
    strings = []
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.Module(tree.body[1:], [])):  # skips the module's docstring
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings += [(file.name, node.value)]
    return strings


def test_no_sentence_of_a_figure_holds_a_flag_but_where_flags_are_read():
    files_that_read_flags = {"__main__.py", "command_line.py", "batch.py", "view.py", "option_words.py"}
    files = {path.name for path in (PACKAGE / "figures").rglob("*.py")} - files_that_read_flags
    flag = re.compile(rf"(?<![\w-])({'|'.join(FLAGS.values())})\b")
    sentences_with_flags = [(file, text) for file, text in sentences() if file in files and flag.search(text)]
    assert not sentences_with_flags


def test_every_option_that_a_sentence_names_exists():
    field_names = {field.name for field in fields(Spec)}
    for file, text in sentences():
        if file in ("command_line.py", "spec.py", "view.py", "grid.py", "layout.py", "compare.py"):
            names_used = re.findall(r"\{([a-z_]+)(?::[\w,]+)?\}", text)
            assert set(names_used) <= field_names, f"{file}: {text}"
