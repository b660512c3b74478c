"""Patches: tokens that are no patches, counted."""

from pathlib import Path

import pytest
from conftest import SMALL, scramble
from streamlit.testing.v1 import AppTest

from playground.serving import models
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
    said = " ".join(element.value for element in app.markdown)
    assert "a **class token**, from which the answer is read and 2 **registers**" in said
    assert "8 × 8 = 64 patches, and so **67 tokens**" in said
    assert 14 * 14 + 1 == 197
    assert "make 197; with 4 registers more, 201" in said
