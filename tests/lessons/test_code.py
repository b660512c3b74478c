"""The lesson Code compares libraries before it asks about them, and names their limits after the question. The picture
of a whole attention matrix has a pixel for every weight."""

import io

import numpy as np
import torch
from PIL import Image

from lessons.playing import parts_of
from playground.lessons.parts import Ask, Wait, Words
from playground.lessons.pictures import table_of


def test_the_library_comes_before_its_question():
    first, question, *after = (part for part in parts_of("code", "library") if not isinstance(part, Wait))
    assert isinstance(question, Ask)
    assert isinstance(first, Words)
    assert "what you ask at the desk" in first.text
    assert "easy to find, with little inside" in str(after)


def test_the_whole_table_has_a_pixel_for_every_weight(small_trace):
    weights = small_trace.matrix(1, 2)
    picture = Image.open(io.BytesIO(table_of(weights)))
    assert picture.size == (small_trace.tokens, small_trace.tokens)
    row, column = divmod(int(weights.argmax()), small_trace.tokens)
    luma = torch.from_numpy(np.array(picture.convert("L")))
    assert luma[row, column] == luma.max()
