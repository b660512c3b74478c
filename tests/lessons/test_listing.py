"""The code that a lesson shows beside a formula equals the lines of the app's source files."""

from pathlib import Path

import pytest

from playground import vit
from playground.errors import PlaygroundError
from playground.lessons import listing

ROOT = Path(__file__).parent.parent.parent
each_part = pytest.mark.parametrize("part", listing.PARTS.values(), ids=listing.PARTS)


def stands_in_file(file: str, line: listing.Line) -> bool:
    source_line = (ROOT / file).read_text(encoding="utf-8").split("\n")[line.number - 1]
    return line.text == source_line or line.text.strip() == source_line.strip()


@each_part
def test_every_line_stands_so_in_its_file(part):
    for piece in part.read():
        assert all(stands_in_file(piece.file, line) for line in piece.lines)


@each_part
def test_every_formula_stands_beside_the_line_that_it_names(part):
    noted_formulas = {(line.mark, line.formula) for piece in part.read() for line in piece.lines if line.formula}
    assert noted_formulas == set(part.formulas)
    assert all(line.mark in line.text for piece in part.read() for line in piece.lines)


def test_a_piece_that_the_source_no_longer_holds_is_an_error():
    with pytest.raises(PlaygroundError, match="0 lines"):
        listing.find(vit.attention_by_hand, "scores = k @ q")


def test_a_piece_that_two_lines_hold_is_an_error():
    with pytest.raises(PlaygroundError, match="lines"):
        listing.find(vit.Block, "x = x + ")


def test_the_parts_cover_the_whole_way_from_pixels_to_classes():
    objects = {source_object for part in listing.PARTS.values() for source_object in part.sources}
    assert {vit.Patches, vit.Attention, vit.MLP, vit.Block, vit.VisionTransformer.classify} <= objects
