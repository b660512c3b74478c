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
WIDE_SHAPE = {"image_size": (32, 64), "patch_size": 8, "depth": 2, "width": 32, "mlp_width": 64, "heads": 4}
BARE_CONFIG = Config(**WIDE_SHAPE, classes=0, cls_token=False, pool="avg", positions="rotary")
CLASS_TOKEN_CONFIG = Config(**WIDE_SHAPE, classes=3, labels=("cat", "dog", "eel"))


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


def offered_measures(app) -> list[str]:
    return list(app.button_group(key="measure").options)


def caption_text(app) -> str:
    return " ".join(caption.value for caption in app.caption)


def test_a_model_with_class_token_and_registers_offers_all_measures(open_page):
    app = open_page(SMALL, step="atlas")
    assert len(offered_measures(app)) == len(heads.MEASURE_NAMES)
    assert "has no" not in caption_text(app)


def test_measures_that_do_not_apply_are_absent_and_a_sentence_says_why(open_page):
    app = open_page(BARE_CONFIG, measure="class", off="0.1 1.3 9.9")
    assert len(offered_measures(app)) == 3
    assert app.session_state.measure == "entropy"
    assert "This model has no class token and no registers." in caption_text(app)
    app = open_page(CLASS_TOKEN_CONFIG, step="atlas")
    assert len(offered_measures(app)) == 4
    assert "This model has no registers." in caption_text(app)


def test_heads_that_the_model_does_not_have_are_passed_over(open_page):
    app = open_page(CLASS_TOKEN_CONFIG, off="0.1 9.9", over="samples", measure="distance")
    assert app.session_state.off == "0.1 9.9"  # the address keeps what the person wrote
    assert not app.exception
