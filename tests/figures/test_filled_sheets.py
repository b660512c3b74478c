"""Layouts fill their sheets: maps are as large as the sheet allows, and words that do not fit are cut."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import scramble
from PIL import Image

import playground
from figures.honest import ROW, caption_text
from playground.analysis import heads
from playground.figures import Spec
from playground.figures.drawing import captions, maps, prints
from playground.figures.drawing.sheet import (
    SMALLEST_FONT,
    fit_facts,
    fit_heading,
    house_style,
    text_width,
)
from playground.vit import Config, VisionTransformer


@pytest.fixture(scope="module")
def deep_trace():
    """The trace of a picture of noise in a model of usual depth: 12 layers of 6 heads."""
    vit = scramble(VisionTransformer(Config(image_size=(64, 96), patch_size=8, depth=12, width=48, heads=6, classes=0)))
    noise = np.random.default_rng(0).normal(128, 60, (64, 96)).clip(0, 255).astype(np.uint8)
    return playground.trace(vit, Image.fromarray(noise).convert("RGB"))


def drawn_boxes(figure) -> list:
    """(width, height) of every panel, inches."""
    size = figure.get_size_inches()
    return [tuple(axes.get_position().size * size) for axes in figure.axes]


@pytest.mark.parametrize("purpose", ["slide", "page", "neurips", "beamer"])
def test_a_wall_gives_its_maps_more_room_than_the_query(deep_trace, purpose):
    figure = playground.figure(deep_trace, layout="wall", query=(2, 3), purpose=purpose, dpi=30)
    photo_box, wall_box, *_ = drawn_boxes(figure)
    width = figure.get_size_inches()[0]
    assert photo_box[0] <= 0.21 * width
    assert wall_box[0] >= 1.5 * photo_box[0]


@pytest.mark.parametrize("purpose", ["slide", "beamer"])
@pytest.mark.parametrize("layout", ["wall", "atlas"])
def test_a_wide_slide_is_filled(deep_trace, layout, purpose):
    figure = playground.figure(deep_trace, layout=layout, purpose=purpose, dpi=30)
    positions = [axes.get_position() for axes in figure.axes]
    assert max(p.x1 for p in positions) - min(p.x0 for p in positions) > 0.7
    map_box = max(drawn_boxes(figure), key=lambda box: box[0] * box[1])
    assert map_box[0] * map_box[1] > 0.25 * figure.get_size_inches().prod(), "the maps have a quarter of the slide"


def test_a_mark_of_the_atlas_stands_beside_its_map(deep_trace):
    figure = playground.figure(deep_trace, layout="atlas", dpi=30)
    cells = max(figure.axes, key=lambda axes: axes.get_position().width)
    extents = [artist.extent for artist in cells.artists]
    marks = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in cells.lines]
    assert len(extents) == 72
    assert marks
    assert not [mark for mark in marks for x0, y0, x1, y1 in extents if x0 < mark[0] < x1 and y0 < mark[1] < y1]


def test_the_atlas_counts_what_is_brighter_than_can_be_shown(deep_trace, picture):
    offsets = heads.measure_heads(deep_trace).offsets
    assert offsets.max() > 0.015
    caption = caption_text(Spec(layout="atlas", ceiling=0.015), deep_trace, picture)
    assert (
        f"brightest from 1.5 %, {(offsets > 0.015).sum()} places above it, up to {captions.percent(offsets.max())}"
        in caption
    )
    assert "brightest" not in caption_text(Spec(layout="atlas", ceiling=1.0), deep_trace, picture)


def test_a_grid_says_how_its_patch_is_counted(small_trace, picture):
    spec = replace(ROW, layout="grid", rows="heads:0,1", columns="layers:0")
    assert "what patch 3, 4 (row, column, from 0) looks at" in caption_text(spec, small_trace, picture)


def test_a_line_that_just_fits_loses_no_letter():
    words = "layer 4, head 2, patch 8, 5"
    with house_style():
        for font_size in np.linspace(6, 9, 7):
            for fraction in np.linspace(0.81, 1, 40):
                assert (
                    fit_heading(words, fraction * text_width(words, font_size) / 0.97, font_size)[0] == words
                    or font_size * fraction < 6
                ), font_size


def test_a_line_that_does_not_fit_keeps_its_number():
    with house_style():
        widths = [text_width(words, SMALLEST_FONT) / 0.96 for words in ("about 46 tokens", "46 tokens", "46")]
        fitted = [fit_facts("about 46 tokens", width, SMALLEST_FONT)[0] for width in widths]
    assert fitted == ["about 46 tokens", "46 tokens", "46"]


@pytest.mark.parametrize("purpose", ["slide", "beamer"])
@pytest.mark.parametrize("image_size", [(64, 64), (64, 96), (96, 64)], ids=["square", "wide", "high"])
def test_a_grid_fills_its_slide(purpose, image_size):
    """Picture and words stand in one column, and the maps fill the remaining room."""
    vit = scramble(
        VisionTransformer(Config(image_size=image_size, patch_size=8, depth=6, width=48, heads=6, classes=0))
    )
    trace = playground.trace(vit, Image.effect_noise(image_size[::-1], 60).convert("RGB"))
    figure = playground.figure(
        trace, layout="grid", rows="layers:1,3,5", columns="heads:0-2,mean", purpose=purpose, dpi=30, query=(2, 3)
    )
    positions = [axes.get_position() for axes in figure.axes]
    assert len(positions) == 14  # the picture, twelve maps and the colour bar
    assert sum(place.width * place.height for place in positions) > 0.4
    assert max(p.x1 for p in positions) - min(p.x0 for p in positions) > 0.75
    assert max(p.y1 for p in positions) - min(p.y0 for p in positions) > 0.7


def test_a_grid_of_layers_and_heads_shows_the_photograph(small_trace, picture):
    figure = playground.figure(
        small_trace, layout="grid", rows="layers:0,1", columns="heads:0-2", image=picture, dpi=30
    )
    assert len([axes for axes in figure.axes if axes.artists]) == 7 + 1  # the picture, six maps and the colour bar
    assert "query" in [text.get_text() for text in figure.texts]


def test_small_maps_are_told_apart_in_grey():
    """The brightest weight over black is lighter than zero weight over white."""
    weights = np.array([[0.3, 0.0]])
    map_domain = maps.Domain(0, 0.3, "")
    black_and_white = Image.fromarray(np.array([[[0] * 3, [255] * 3]], np.uint8))
    attended_grey, ignored_grey = np.asarray(
        prints.thumbnail(black_and_white, weights, Spec(), map_domain).convert("L")
    )[0].astype(int)
    assert attended_grey > ignored_grey + 10
