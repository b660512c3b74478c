"""Every layout draws its stored picture and gives its stored texts."""

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import playground
from figures import keeping
from figures.keeping import (
    KEPT_FOLDER,
    PICTURE_SPECS,
    TEXT_SPECS,
    TEXTS_FILE,
    differing_dots,
    has_wrong_cell,
    picture_of,
    texts_of,
)
from playground import figures
from playground.figures import command_line, files, layouts
from playground.figures.command_line import command
from playground.figures.compose import subjects
from playground.figures.drawing import captions, way_words
from playground.figures.drawing.one_map import OneMap
from playground.figures.drawing.panels import Grid, Matrix
from playground.figures.drawing.spec import Spec
from playground.figures.files import pixels
from playground.figures.layouts import LAYOUTS, Layout
from playground.figures.layouts.curves import Charts
from playground.serving import routes_figures

ROOT = Path(__file__).parent.parent.parent
MOST_SHARE = 0.005  # the largest share of dots that may differ


def test_every_layout_has_a_kept_picture():
    assert {spec.layout for spec in PICTURE_SPECS.values()} == set(LAYOUTS)
    assert {file.stem for file in KEPT_FOLDER.glob("*.webp")} == set(PICTURE_SPECS)


# A layout with rows and columns goes through what its axes name; one without pictures has no maps
@pytest.mark.parametrize("name", [name for name, layout in LAYOUTS.items() if layout.offered and layout.of_pictures])
def test_a_layout_calls_those_sweeps_still_that_change_none_of_its_maps(name):
    spec = next(spec for spec in PICTURE_SPECS.values() if spec.layout == name)
    first_arguments, draw_arguments = keeping.draw_arguments_of(spec)

    def grids(spec: Spec) -> list[np.ndarray]:
        settled_spec, subject, other = subjects(spec, *first_arguments, **draw_arguments)
        maps = [panel.map for panel in LAYOUTS[name].shown(settled_spec, subject, other)]
        return [map_.grid if map_.colours is None else map_.colours for map_ in maps]

    swept_specs = {
        "layers": replace(spec, layer=2),
        "scale": replace(spec, scale="off"),
        "patches": replace(spec, query=(3, 2)),
    }
    still = {sweep for sweep, swept in swept_specs.items() if all(map(np.array_equal, grids(spec), grids(swept)))}
    assert LAYOUTS[name].still == still


@pytest.mark.parametrize("name", PICTURE_SPECS)
def test_a_layout_is_drawn_as_its_kept_picture(name, tmp_path):
    new_picture = picture_of(PICTURE_SPECS[name])
    differs = differing_dots(Image.open(KEPT_FOLDER / f"{name}.webp").convert("RGB"), new_picture)
    if differs.mean() > MOST_SHARE or has_wrong_cell(differs):
        new_picture.save(tmp_path / f"{name}.png")
        pytest.fail(f"{differs.mean():.2%} of the dots differ; the new picture: {tmp_path / name}.png")


@pytest.mark.parametrize("name", TEXT_SPECS)
def test_a_figure_has_its_kept_texts(name):
    stored_texts = json.loads(TEXTS_FILE.read_text(encoding="utf-8"))
    assert texts_of(TEXT_SPECS[name]) == stored_texts[name]


PROPER_NAMES = {"our", "small", "random", "weights", "meadow", "portrait", "landscape", "plant", "gradient", "input"}


@pytest.mark.parametrize("name", TEXT_SPECS)
def test_every_word_of_a_caption_and_a_title_is_one_of_the_table(name, monkeypatch):
    """If all words of the table are in capitals, captions and titles have no small letters except in
    PROPER_NAMES."""
    for key, text in way_words.ENGLISH.items():
        capitals = re.sub(r"{\w+}|[^{]+", lambda part: part[0] if part[0].startswith("{") else part[0].upper(), text)
        monkeypatch.setitem(way_words.ENGLISH, key, capitals)
    spec = TEXT_SPECS[name]
    first_arguments, draw_arguments = keeping.draw_arguments_of(spec)
    sentences = [files.caption_words(spec, *first_arguments, **draw_arguments), layouts.of(spec).title(spec)]
    lowercase_words = set(re.findall(r"\b[a-z]{2,}\b", " ".join(sentences)))
    assert lowercase_words <= PROPER_NAMES, sentences


@pytest.mark.parametrize("name", ["head", "heads", "grid"])
def test_one_wrong_cell_is_seen(name, monkeypatch):
    """The comparison with the stored picture notices a single changed patch."""
    from playground.figures.drawing import maps

    original_picture, original_look, spec = picture_of(PICTURE_SPECS[name]), maps.map_of, PICTURE_SPECS[name]

    def altered_look(*arguments):
        map_ = original_look(*arguments)
        grid = map_.grid.copy()
        place = np.unravel_index(grid.argsort(axis=None)[grid.size // 2], grid.shape)
        grid[place] = np.sort(grid, axis=None)[-3]  # not the largest value, so that the exposure stays
        return keeping.replace(map_, grid=grid)

    monkeypatch.setattr(maps, "map_of", altered_look)
    first_arguments, draw_arguments = keeping.draw_arguments_of(spec)
    differs = differing_dots(
        original_picture, pixels(figures.draw(spec, *first_arguments, **draw_arguments)).convert("RGB")
    )
    assert has_wrong_cell(differs), f"{differs.mean():.2%} of the dots differ, and no square of them"


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_written_in_three_formats(layout, tmp_path):
    spec = next(spec for spec in PICTURE_SPECS.values() if spec.layout == layout)
    figure = keeping.figure_of(spec)
    sizes = {
        kind: figures.write(figure, tmp_path / f"{layout}.{kind}").stat().st_size for kind in ("png", "svg", "pdf")
    }
    assert all(size > 5000 for size in sizes.values()), sizes


# A layout is defined by one record


def maps_in_file(spec: Spec) -> list[tuple[dict, np.ndarray]]:
    """A list of (the map's keys, its values), one for each map in the figure's file of numbers."""
    first_arguments, draw_arguments = keeping.draw_arguments_of(spec)
    _, tables = files.facts_and_tables(".npz", spec, *first_arguments, **draw_arguments)
    return [pair for table in tables for pair in zip(table.maps, table.values, strict=True)]


def panels_of(body) -> list:
    if isinstance(body, Grid):
        return [panel for row in body.panels for panel in row]
    return body.charts if isinstance(body, Charts) else body.panels


@pytest.mark.parametrize("name", PICTURE_SPECS)
def test_panels_caption_and_numbers_are_of_the_same_maps(name):
    spec = PICTURE_SPECS[name]
    first_arguments, draw_arguments = keeping.draw_arguments_of(spec)
    settled_spec, subject, other = subjects(spec, *first_arguments, **draw_arguments)
    layout, panels = layouts.of(spec), layouts.of(settled_spec).shown(settled_spec, subject, other)
    content, tabled_maps = layouts.content(settled_spec, subject, other), maps_in_file(spec)

    colour_keys = ("colour", "scale", "line") if not layout.of_pictures else ("colour",)
    map_keys_without_colour = {
        tuple((k, v) for k, v in map_keys.items() if k not in colour_keys) for map_keys, _ in tabled_maps
    }
    assert (
        len({id(shown_panel.subject) for shown_panel in panels}) * len(map_keys_without_colour)
        >= len(panels)
        >= len(map_keys_without_colour)
    ), (
        len(panels),
        map_keys_without_colour,
    )
    if isinstance(content.body, Matrix):
        assert content.body.layers * content.body.heads == len(panels)
    elif not spec.other_queries:
        photo_count = sum(
            panel.heading in ("query", "key", "picture") for panel in panels_of(content.body) if layout.of_pictures
        )
        kernel_count = spec.layout == "convolution"
        row_picture_count = (
            len(content.body.panels) if isinstance(content.body, Grid) and "pictures" in spec.rows else 0
        )
        assert len(panels_of(content.body)) - (photo_count or row_picture_count) - kernel_count == len(panels)
    if "up to" in content.caption:
        largest = max(
            float(values.max())
            for shown_panel, values in zip(panels, [shown_panel.map.grid for shown_panel in panels], strict=True)
        )
        assert f"up to {captions.percent(largest)}" in content.caption
    if layout.of_pictures and spec.what not in ("components", "parts") and spec.layout not in ("components", "atlas"):
        drawn_values = np.concatenate([shown_panel.map.grid.ravel() for shown_panel in panels])
        written_values = np.concatenate(
            [values[-shown_panel.map.grid.size :] for (_, values), shown_panel in zip(tabled_maps, panels, strict=True)]
        )
        np.testing.assert_array_equal(drawn_values, written_values)


def three_heads(spec, subject, other):
    return [OneMap(subject, replace(spec, head=head), spec.scale) for head in (0, "mean", "max")]


@pytest.fixture
def made_up_spec(monkeypatch):
    """The spec of a figure in a new layout, which is defined by its record alone."""
    monkeypatch.setitem(LAYOUTS, "three", Layout("three", "a head, the mean and the largest", three_heads))
    return replace(keeping.MEADOW, layout="three")


def test_a_layout_made_up_here_comes_out_right_by_its_record_alone(made_up_spec, tmp_path):
    first_arguments, draw_arguments = keeping.draw_arguments_of(made_up_spec)
    figure = figures.draw(made_up_spec, *first_arguments, **draw_arguments)
    texts_drawn = [text.get_text() for text in figure.texts]
    assert {"head 0", "the mean of all heads", "the largest of all heads"} <= set(texts_drawn), texts_drawn
    caption = files.caption_words(made_up_spec, *first_arguments, **draw_arguments)
    assert "layer 4: head 0, the mean of all heads and the largest of all heads" in caption, caption
    tabled_maps = maps_in_file(made_up_spec)
    assert [map_keys["head"] for map_keys, _ in tabled_maps] == [0, "mean", "max"]
    seen = first_arguments[0]
    rows = seen.rows(4, (7, 5)).numpy()
    for (_, values), row in zip(tabled_maps, (rows[0], rows.mean(0), rows.max(0)), strict=True):
        np.testing.assert_allclose(values, row, rtol=1e-6)
    for kind in ("png", "svg", "pdf", "csv", "json", "npz", "txt", "tex"):
        file = playground.save(seen, tmp_path / f"three.{kind}", layer=4, query=(7, 5), layout="three")
        assert file.stat().st_size > 200, file
    assert "three" in command(figure.spec)


def test_the_command_line_and_export_offer_what_the_table_has(made_up_spec):
    assert "three: a head, the mean and the largest" in command_line_help()
    address = {"sample": "meadow", "model": "bundled"}
    layout_offers = routes_figures.offers({**address, "layer": "4", "head": "0", "query": "7,5"}, None)["offers"][
        "layout"
    ]
    assert {"name": "three", "title": "a head, the mean and the largest"} in layout_offers


def command_line_help() -> str:
    parser = argparse.ArgumentParser()
    command_line.add_arguments(parser)
    return " ".join(parser.format_help().split())


def test_no_layout_is_compared_by_name_outside_of_its_record():
    """Once, 82 places compared `layout` with a name, and each was wrong for a new layout."""
    names = "|".join(LAYOUTS)
    comparison = re.compile(rf"""layouts?\b[^\n]{{0,12}}(==|!=|\bin\b)\s*[("'][^\n]*?\b({names})\b["']""")
    mistakes = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in (ROOT / "playground").rglob("*.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if comparison.search(line)
    ]
    assert not mistakes, "\n".join(mistakes)
