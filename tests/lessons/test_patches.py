"""The lesson on patches: how many tokens are no patches, and where positions come from."""

import json

import numpy as np
import pytest
from conftest import SMALL, scramble
from serving.visits import played, texts_in

from lessons.playing import meadow
from playground.lessons.patches import packed_positions
from playground.pack import unpack
from playground.serving import models
from playground.vit import VisionTransformer

pytestmark = pytest.mark.usefixtures("nothing_fetched")


def test_class_token_and_registers_are_counted(monkeypatch):
    vit = scramble(VisionTransformer(SMALL))
    monkeypatch.setattr(models, "load", lambda name: vit)
    parts = played("patches", "extra", sample="meadow")
    (table,) = (part for part in parts if part["kind"] == "table")
    assert [row[:2] for row in table["rows"]] == [
        ["1", table["rows"][0][1]], ["2", table["rows"][1][1]], ["8 × 8 = 64", "patches"], ["**67**", "**all**"],
    ]  # fmt: skip
    assert table["rows"][0][1].startswith("class token")
    assert table["rows"][1][1].startswith("registers")
    assert f"{67**2:,} cells instead of {64**2:,}" in texts_in(parts)
    assert "197 tokens with a class token, and 201 with 4 registers more" in texts_in(parts)
    assert 14 * 14 + 1 == 197


@pytest.mark.parametrize(
    ("model", "says"), [("bundled", "They did not begin as noise"), ("untrained", "Nothing was learned yet")]
)
def test_the_lesson_says_for_each_model_where_its_positions_come_from(model, says):
    assert says in texts_in(played("patches", "positions", model=model, sample="meadow"))


def test_the_table_of_positions_begins_with_the_class_token_s_row():
    header, arrays = unpack(packed_positions(meadow(), "learned"))
    table = meadow().vit.pos_embed[0].detach().half().numpy()
    assert header["own"] == ["CLS", "R0", "R1", "R2", "R3"]
    assert len(table) == 5 + header["grid"][0] * header["grid"][1]
    np.testing.assert_array_equal(arrays["places"], table)
    assert unpack(packed_positions(meadow(), "rotary"))[0]["own"] == []


def test_the_question_is_about_as_many_patches_as_the_control_below_shows():
    """Once, the question asked about the model's 28 × 28 patches, and the picture below it showed 14 × 14."""
    parts = played("patches", "cut", model="bundled", sample="meadow")
    (question,) = (part["question"] for part in parts if part["kind"] == "ask")
    rows, columns = question["picture"]["grid"]
    assert question["truth"] == rows * columns
    assert f"Both give {rows * columns:,} ×" in json.dumps(parts, ensure_ascii=False)
