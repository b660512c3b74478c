"""`playground.widget` at Python's end; tests/browser/test_widget.py has it in a browser."""

import sys

import pytest

import playground
from playground import PlaygroundError
from playground.figures import html


@pytest.fixture(scope="module")
def seen():
    return playground.trace("bundled", "meadow")


@pytest.fixture
def lens(seen):
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    return playground.widget(seen, layer=4, head=0, query="cls")


def test_a_message_of_the_browser_is_heard_by_who_observes(lens):
    heard = []
    lens.observe(lambda change: heard.append((change["name"], change["new"])), ["layer", "head", "query"])
    lens.set_state({"query": [7, 5], "head": 2})
    assert sorted(heard) == [("head", 2), ("query", (7, 5))]


def test_layer_head_and_query_are_checked_in_a_sentence(lens):
    lens.layer = -1
    assert lens.layer == 5
    for name, value in (("query", (99, 1)), ("query", "reg9"), ("layer", 40), ("head", "mean")):
        with pytest.raises(PlaygroundError, match=r"There is no|has no token"):
            setattr(lens, name, value)


def test_a_heavy_trace_is_packed_in_half_the_bytes(lens, seen, monkeypatch):
    monkeypatch.setattr(html, "LIGHT_BYTES", 1000)
    heavy = playground.widget(seen)
    assert len(heavy.numbers) < 0.6 * len(lens.numbers)
    assert playground.Trace.from_bytes(heavy.numbers).layers == len(playground.Trace.from_bytes(heavy.numbers).record)


def test_without_anywidget_it_says_what_to_install(seen, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    from playground.figures import notebook

    notebook._lens_class.cache_clear()
    with pytest.raises(PlaygroundError, match=r"pip install 'attention-playground\[widget\]'"):
        playground.widget(seen)
