"""The table of a view's choices is the same for the server, the figures, the command line and the browser."""

import json
import subprocess
from dataclasses import fields
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from test_javascript import node

from playground.figures.drawing.spec import CHOICES, Spec
from playground.figures.drawing.view import FIGURE_CHOICES, VIEW_CHOICES, as_in_address
from playground.serving import chosen

VIEW_JS = Path(__file__).parent.parent.parent / "playground" / "microscope" / "core" / "view.js"
OPEN_VALUES = {  # values of the choices that have no list of options
    "layer": [0, 5, 23], "head": [0, 11], "query": ["7,5", "cls", "dist", "reg3"],
    "scale": ["on", "off", 0, 0.25, 3e-7, 0.0123456789],
    "ceiling": ["auto", 0.05, 1],
    "curtain": [0, 0.25, 1], "label": ["", "3", "999"], "cut": ["7,5>3,2", "*>cls+reg0@4+5.0;*>3x3"],
    "text": ["", "a cat's eye"],
}  # fmt: skip


def run_js(lines: str, values=None):
    """The result of these lines of JavaScript, which may use the view's functions and `given`."""
    program = (
        f"import {{ CHOICES, DEFAULT_VIEW, tidyView, viewToQuery }} from {json.dumps(VIEW_JS.as_uri())};\n"
        f"import {{ asks }} from {json.dumps(VIEW_JS.with_name('ways.js').as_uri())};\n"
        f"const given = {json.dumps(values)};\nconsole.log(JSON.stringify({lines}));"
    )
    process = subprocess.run(
        [node(), "--input-type=module", "-e", program], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def values_of(choice) -> list:
    return [True, False] if isinstance(choice.default, bool) else list(choice.options) or OPEN_VALUES[choice.key]


def test_the_browser_has_the_same_choices_and_defaults():
    assert run_js("DEFAULT_VIEW") == {choice.key: choice.default for choice in VIEW_CHOICES}
    assert run_js("CHOICES") == {choice.key: list(choice.options) for choice in VIEW_CHOICES if choice.options}


def test_the_browser_and_the_figures_agree_on_where_a_token_asks():
    pairs = [{"what": way, "label": label} for way in CHOICES["what"] for label in ("", "3")]
    assert run_js("given.map(asks)", pairs) == [Spec(**pair).asks for pair in pairs]


def test_what_the_browser_writes_into_an_address_is_read_again():
    views = [{choice.key: value} for choice in VIEW_CHOICES for value in values_of(choice)]
    texts = run_js("given.map((view) => viewToQuery(tidyView(view)))", views)
    for view, text in zip(views, texts, strict=True):
        ((key, value),) = view.items()
        default = next(choice.default for choice in VIEW_CHOICES if choice.key == key)
        view_read = chosen.view_of(dict(parse_qsl(text)))
        assert set(view_read) == (set() if value == default else {key}), (view, text)
        if value != default and not isinstance(value, float):
            assert view_read[key] == as_in_address(value)


@pytest.mark.parametrize(
    "choice", [c for c in VIEW_CHOICES if c.options or isinstance(c.default, bool)], ids=lambda c: c.key
)
def test_neither_the_browser_nor_the_server_takes_another_value(choice):
    assert run_js(f"tidyView(given).{choice.key}", {choice.key: "another"}) == choice.default
    assert chosen.view_of({choice.key: "another"}) == {}


def test_a_figure_has_the_same_defaults_and_choices():
    defaults = {field.name: field.default for field in fields(Spec)}
    for choice in FIGURE_CHOICES:
        if choice.key not in ("pass", "ceiling"):  # figures have these in another form, or lack them
            assert defaults[choice.field] == choice.default
        if choice.options and choice.key != "pass":
            assert CHOICES[choice.field] == choice.options
