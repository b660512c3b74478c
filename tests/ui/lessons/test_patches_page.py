"""The page on patches: how many tokens are no patches, and where positions come from."""

import json
from pathlib import Path

import pytest
from conftest import SMALL, scramble
from streamlit.testing.v1 import AppTest

from playground.lessons.patches_places import cosine_with_start
from playground.serving import models
from playground.training.recipe import waves
from playground.vit import VisionTransformer

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent


def test_class_token_and_registers_are_counted(monkeypatch):
    vit = scramble(VisionTransformer(SMALL))
    monkeypatch.setattr(models, "load", lambda name: vit)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["step"] = "extra"
    app.switch_page("pages/patches.py").run()
    assert not app.exception
    page_text = " ".join(element.value for element in app.markdown)
    assert "| 1 | class token" in page_text
    assert "| 2 | registers" in page_text
    assert "| 8 × 8 = 64 | patches" in page_text
    assert "| **67** | **all** |" in page_text
    assert f"{67**2:,} cells instead of {64**2:,}" in page_text
    assert 14 * 14 + 1 == 197
    assert "197 tokens with a class token, and 201 with 4 registers more" in page_text


@pytest.mark.parametrize(
    ("model", "says"), [("bundled", "They did not begin as noise"), ("untrained", "Nothing was learned yet")]
)
def test_the_page_says_for_each_model_where_its_positions_come_from(model, says):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["step"], app.query_params["model"], app.query_params["sample"] = "positions", model, "meadow"
    app.switch_page("pages/patches.py").run()
    assert not app.exception
    assert says in " ".join(element.value for element in app.markdown)


def test_positions_that_have_not_moved_are_like_their_beginning():
    grid = (4, 6)
    assert cosine_with_start(3 * waves(*grid, 48), grid) == pytest.approx(1)


def test_the_question_is_about_as_many_patches_as_the_control_below_shows(monkeypatch):
    """Once, the question asked about the model's 28 × 28 patches, and the picture below it showed 14 × 14."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["model"], app.query_params["sample"] = "bundled", "meadow"
    app.switch_page("pages/patches.py").run()
    assert not app.exception
    (guess_component,) = [
        component for component in app.get("bidi_component") if component.proto.component_name.endswith("guess")
    ]
    data = json.loads(guess_component.proto.json)
    data = data.get("data", data)
    rows, columns = data["picture"]["grid"]
    assert app.session_state.patch == 16
    assert data["truth"] == rows * columns
    assert f"Both give {rows * columns:,} ×" in " ".join(element.value for element in app.markdown)
