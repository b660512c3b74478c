"""Does the map explain: of many tokens somebody asks for the measurement, and gets it, for as long as they look."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.serving import effort
from playground.ui.lessons import weight_explain

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent


def drawn(app) -> set[str]:
    assert not app.exception
    return {component.proto.component_name.rpartition("attention_")[2] for component in app.get("bidi_component")}


def test_many_tokens_are_blanked_when_asked(monkeypatch):
    from playground.analysis import occlusion

    monkeypatch.setattr(weight_explain, "AT_ONCE", 100)  # 196 patches are many then, and passes over them short
    monkeypatch.setattr(occlusion, "sides_of", lambda grid: [7])  # few blocks
    monkeypatch.setattr(occlusion, "FEW", 3)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params |= {"model": "bundled", "sample": "meadow", "step": "explain"}
    app.switch_page("pages/weight.py").run()
    assert "guess" not in drawn(app)
    assert app.button(key="blank").label == "Blank the picture, block by block: 10 passes"
    app.button(key="blank").click().run()
    assert "guess" in drawn(app)
    said = " ".join(element.value for element in app.markdown)
    assert "4 blocks of 7 × 7 patches were blanked" in said
    assert "hardly more than chance" in said
    assert "**The cut edge.** The far patch that is most like patch" in said
    assert "the measurement is coarser" not in said
    app.run()  # and once more, when something else on the page is touched
    assert "guess" in drawn(app)


def of_a_slow_server(monkeypatch, passes: int) -> str:
    """What the step says where so many passes are quick enough."""
    monkeypatch.setattr(effort, "passes_in_time", lambda *_: passes)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
    app.query_params |= {"model": "bundled", "sample": "meadow", "step": "explain"}
    app.switch_page("pages/weight.py").run()
    assert "guess" in drawn(app)
    return " ".join(element.value for element in app.markdown)


def test_on_a_slow_server_fewer_and_larger_blocks_are_blanked_and_the_page_says_so(monkeypatch):
    said = of_a_slow_server(monkeypatch, 30)  # six are for the edge
    assert "Blocks of 2 × 2 patches would need 49 passes" in said
    assert "16 blocks of 4 × 4 patches were blanked" in said
    assert "**The cut edge.**" in said


def test_on_a_slower_one_no_edge_is_cut_and_the_page_says_so(monkeypatch):
    said = of_a_slow_server(monkeypatch, 20)
    assert "16 blocks of 4 × 4 patches were blanked" in said
    assert "**The cut edge.**" not in said
    assert "This step also cuts an edge" in said
