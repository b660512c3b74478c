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


def opened(page: str, step: str = "") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params |= {"model": "bundled", "sample": "meadow"} | ({"step": step} if step else {})
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def test_the_library_comes_before_its_question():
    main = [(element.type, str(getattr(element, "value", ""))) for element in opened("code", "library").main]
    first = next(n for n, (_, text) in enumerate(main) if "what you ask at the desk" in text)
    asked = next(n for n, (kind, _) in enumerate(main) if kind == "bidi_component" and n > first)
    breaks = next(n for n, (_, text) in enumerate(main) if "easy to find, with little inside" in text)
    assert first < asked < breaks


def test_the_whole_table_has_a_pixel_for_every_weight(seen):
    weights = seen.matrix(1, 2)
    drawn = Image.open(io.BytesIO(table_of(weights)))
    assert drawn.size == (seen.tokens, seen.tokens)
    row, column = divmod(int(weights.argmax()), seen.tokens)
    bright = torch.from_numpy(np.array(drawn.convert("L")))
    assert bright[row, column] == bright.max()
