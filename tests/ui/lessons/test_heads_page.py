"""The page on heads with models that have no class token or no registers."""

from pathlib import Path

import pytest
from conftest import SMALL, scramble
from streamlit.testing.v1 import AppTest

from playground.lessons import heads
from playground.lessons.registry import QUESTIONS
from playground.serving import models, traces, worked
from playground.vit import Config, VisionTransformer

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent
WIDE = {"image_size": (32, 64), "patch_size": 8, "depth": 2, "width": 32, "mlp_width": 64, "heads": 4}
BARE = Config(**WIDE, classes=0, cls_token=False, pool="avg", positions="rotary")
ONLY_CLASS = Config(**WIDE, classes=3, labels=("cat", "dog", "eel"))


@pytest.fixture
def open_page(monkeypatch):
    def open_(config: Config, **words: str) -> AppTest:
        vit = scramble(VisionTransformer(config))
        monkeypatch.setattr(models, "load", lambda name: vit)
        monkeypatch.setattr(traces, "_made_ahead", lambda *which: None)
        traces.sample_traces.cache_clear()
        worked.shared_results.cache_clear()
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.session_state["guessed"] = set(QUESTIONS)
        for key, value in words.items():
            app.query_params[key] = value
        app.switch_page("pages/heads.py").run()
        assert not app.exception
        return app

    yield open_
    traces.sample_traces.cache_clear()
    worked.shared_results.cache_clear()


def offered(app) -> list[str]:
    return list(app.button_group(key="measure").options)


def captions(app) -> str:
    return " ".join(caption.value for caption in app.caption)


def test_all_columns_are_there_where_the_model_has_all(open_page):
    app = open_page(SMALL, step="atlas")
    assert len(offered(app)) == len(heads.MEASURE_NAMES)
    assert "has no" not in captions(app)


def test_columns_that_do_not_apply_are_absent_and_said_in_a_word(open_page):
    app = open_page(BARE, measure="class", off="0.1 1.3 9.9")
    assert len(offered(app)) == 3
    assert app.session_state.measure == "entropy"
    assert "This model has no class token and no registers." in captions(app)
    app = open_page(ONLY_CLASS, step="atlas")
    assert len(offered(app)) == 4
    assert "This model has no registers." in captions(app)


def test_heads_that_the_model_does_not_have_are_passed_over(open_page):
    app = open_page(ONLY_CLASS, off="0.1 9.9", over="samples", measure="distance")
    assert app.session_state.off == "0.1 9.9"  # the address keeps what the person wrote
    assert not app.exception
