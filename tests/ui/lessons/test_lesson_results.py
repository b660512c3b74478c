"""The results of lessons lie in the server's caches, and almost nothing lies in the sessions' state."""

from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.lessons.registry import QUESTIONS
from playground.serving import worked
from playground.serving.cache import Cache
from playground.serving.pictures import Picture

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent
PAGES = (
    ("by_hand", {"step": "colours"}),
    ("patches", {"step": "cut"}),
    ("patches", {"step": "filters"}),
    ("patches", {"step": "positions"}),
    ("patches", {"step": "shuffle"}),
    ("shapes", {}),
    ("shapes", {"example": "one-head"}),
    ("block", {"step": "stream"}),
    ("block", {"step": "mlp"}),
    ("block", {"step": "answer"}),
    ("scale", {"step": "model"}),
    ("heads", {"step": "row"}),
    ("heads", {"step": "atlas"}),
    ("heads", {"step": "off", "off": "3.0"}),
    ("weight", {"step": "carries"}),
    ("two_ways", {"step": "shift"}),
    ("training", {}),
    ("code", {"step": "twice"}),
)
PAGES_WITHOUT_RESULTS = (("training", {}),)  # pages that put no result into a cache


def open_page(page: str, words: dict[str, str], **state: object) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state["guessed"] = set(QUESTIONS)
    for name, value in state.items():
        app.session_state[name] = value
    for name, word in ({"sample": "flock"} | words).items():
        app.query_params[name] = word
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def sent_contents(app: AppTest) -> list[str | bytes]:
    """The texts, charts and drawings that a lesson sends to the browser. Left out are the strip of samples, which every
    page has, and the settings, whose messages hold a counter."""
    components = [component.proto for component in app.get("bidi_component")]
    drawings = [
        component.bytes or component.json
        for component in components
        if not component.component_name.endswith(("strip", "settings"))
    ]
    return (
        [text.value for text in app.markdown]
        + [component.proto.spec for component in app.get("plotly_chart")]
        + drawings
    )


def mb_of(value: object, seen_ids: set[int]) -> float:
    """The MB that `value` keeps in memory, without caches' contents and without samples, which all people share."""
    if id(value) in seen_ids or isinstance(value, Cache) or (isinstance(value, Picture) and value.is_sample):
        return 0
    seen_ids.add(id(value))
    if isinstance(value, str | bytes):
        return len(value) / 2**20
    if isinstance(value, torch.Tensor | np.ndarray | Image.Image):
        return worked.bytes_of(value) / 2**20
    if isinstance(value, dict):
        return sum(mb_of(part, seen_ids) for part in [*value.keys(), *value.values()]) + 1e-4 * len(value)
    if isinstance(value, list | tuple | set | frozenset):
        return sum(mb_of(part, seen_ids) for part in value) + 8e-6 * len(value)
    if is_dataclass(value) and not isinstance(value, type):
        return sum(mb_of(getattr(value, field.name), seen_ids) for field in fields(value))
    return (
        mb_of(vars(value), seen_ids)
        if type(value).__module__.startswith("playground") and hasattr(value, "__dict__")
        else 0
    )


def session_mb(app: AppTest) -> dict[str, float]:
    """{entry of the session's state: the MB that it holds}"""
    seen_ids: set[int] = set()
    return {name: mb_of(entry, seen_ids) for name, entry in app.session_state._state.filtered_state.items()}


@pytest.fixture(autouse=True)
def nothing_kept():
    worked.shared_results.cache_clear()
    yield
    worked.shared_results.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(("page", "words"), PAGES, ids=str)
def test_a_page_s_session_keeps_next_to_nothing_beside_the_cache(page, words):
    state_mb = session_mb(open_page(page, words))
    assert "here" in state_mb
    assert sum(state_mb.values()) < 0.3, sorted(state_mb.items(), key=lambda pair: -pair[1])[:5]


def test_an_array_in_a_session_s_state_is_measured():
    """Shows that `mb_of` finds an array in a session's state, however deeply it is nested."""
    app = open_page("block", {"step": "stream"}, found=(("key",), {"all": [torch.zeros(2**20)]}))
    assert session_mb(app)["found"] == pytest.approx(4, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "words"), [one for one in PAGES if one not in PAGES_WITHOUT_RESULTS], ids=str)
def test_a_dropped_result_is_made_again_with_the_same_numbers(page, words):
    app = open_page(page, words)
    contents_before, here = sent_contents(app), app.session_state.here
    assert worked.shared_results().bytes + here.results.bytes > 0
    worked.shared_results().drop_where(lambda key: True)
    here.results.drop_where(lambda key: True)
    app.run()
    assert not app.exception
    assert sent_contents(app) == contents_before


def test_a_page_about_a_sample_reuses_the_results_of_another(monkeypatch):
    from playground.analysis import block

    open_page("block", {"step": "stream"})
    monkeypatch.setattr(block, "stream", lambda seen: pytest.fail("it is kept"))
    open_page("block", {"step": "stream"})
