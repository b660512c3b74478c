"""The page Code compares libraries before it asks about them, and names their limits after the question. The picture of
a whole attention matrix has a pixel for every weight."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.lessons.pictures import table_of

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent


def open_page(page: str, step: str = "") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params |= {"model": "bundled", "sample": "meadow"} | ({"step": step} if step else {})
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def test_the_library_comes_before_its_question():
    elements = [(element.type, str(getattr(element, "value", ""))) for element in open_page("code", "library").main]
    library_at = next(n for n, (_, text) in enumerate(elements) if "what you ask at the desk" in text)
    question_at = next(n for n, (kind, _) in enumerate(elements) if kind == "bidi_component" and n > library_at)
    limits_at = next(n for n, (_, text) in enumerate(elements) if "easy to find, with little inside" in text)
    assert library_at < question_at < limits_at


def test_the_whole_table_has_a_pixel_for_every_weight(small_trace):
    weights = small_trace.matrix(1, 2)
    picture = Image.open(io.BytesIO(table_of(weights)))
    assert picture.size == (small_trace.tokens, small_trace.tokens)
    row, column = divmod(int(weights.argmax()), small_trace.tokens)
    luma = torch.from_numpy(np.array(picture.convert("L")))
    assert luma[row, column] == luma.max()
