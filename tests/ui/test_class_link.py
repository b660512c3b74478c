"""A class link, which opens one scene in the same state for everybody."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def open_page():
    def open_in_app(page: str, **words: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for key, value in words.items():
            app.query_params[key] = value
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception
        return app

    return open_in_app


def component_names(app) -> set[str]:
    return {component.proto.component_name for component in app.get("bidi_component")}


def test_a_class_link_shows_the_scene_alone_and_stays_in_the_address(open_page):
    app = open_page("cost", image="1024", **{"class": "yes"})
    assert app.session_state.image == 1024
    assert "attention_overview" not in component_names(app)
    assert app.session_state.address["class"] == "yes"
    assert "attention_overview" in component_names(open_page("cost"))


@pytest.mark.parametrize("text", ["", "no", "1", "YES", "<b>"])
def test_any_other_value_makes_no_class_link(open_page, text):
    assert "attention_overview" in component_names(open_page("cost", **{"class": text}))
