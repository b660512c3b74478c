"""The table of a view's choices is the same for the server, the figures, the command line and the browser."""

from dataclasses import fields
from urllib.parse import parse_qsl

import pytest
from twins import in_javascript

from playground.figures.drawing.spec import CHOICES, Spec
from playground.figures.drawing.view import FIGURE_CHOICES, VIEW_CHOICES, as_in_address
from playground.serving import chosen

OPEN_VALUES = {  # values of the choices that have no list of options
    "layer": [0, 5, 23], "head": [0, 11], "query": ["7,5", "cls", "dist", "reg3"],
    "scale": ["on", "off", 0, 0.25, 3e-7, 0.0123456789],
    "ceiling": ["auto", 0.05, 1],
    "curtain": [0, 0.25, 1], "label": ["", "3", "999"], "cut": ["7,5>3,2", "*>cls+reg0@4+5.0;*>3x3"],
    "text": ["", "a cat's eye"],
}  # fmt: skip


def run_js(value: str, given=None):
    """The value of this expression in JavaScript, which may use the view's functions and `given`."""
    names = "const { CHOICES, DEFAULT_VIEW, tidyView, viewToQuery } = view, { asks } = ways;"
    return in_javascript(["view", "ways"], f"{names} return {value};", given)


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
        view_read = chosen.view.allowed_words(dict(parse_qsl(text)))
        assert set(view_read) == (set() if value == default else {key}), (view, text)
        if value != default and not isinstance(value, float):
            assert view_read[key] == as_in_address(value)


@pytest.mark.parametrize(
    "choice", [c for c in VIEW_CHOICES if c.options or isinstance(c.default, bool)], ids=lambda c: c.key
)
def test_neither_the_browser_nor_the_server_takes_another_value(choice):
    assert run_js(f"tidyView(given).{choice.key}", {choice.key: "another"}) == choice.default
    assert chosen.view.allowed_words({choice.key: "another"}) == {}


def test_a_figure_has_the_same_defaults_and_choices():
    defaults = {field.name: field.default for field in fields(Spec)}
    for choice in FIGURE_CHOICES:
        if choice.key not in ("pass", "ceiling"):  # figures have these in another form, or lack them
            assert defaults[choice.field] == choice.default
        if choice.options and choice.key != "pass":
            assert CHOICES[choice.field] == choice.options
