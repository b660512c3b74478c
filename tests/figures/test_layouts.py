"""Every layout, over one table: what is drawn, said and written are the numbers of the trace."""

import math
import re
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from conftest import SMALL, scramble
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image

import playground
from playground import PlaygroundError
from playground.figures import Spec, compose, files, layouts
from playground.figures.compose import subjects
from playground.figures.drawing import light, maps, prints
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.sheet import SMALLEST_FONT
from playground.figures.drawing.spec import WIDTHS
from playground.figures.layouts.layout import Layout, Matrix, Panels
from playground.vit import VisionTransformer

SPEC = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4))
OPTIONS = {  # the figures of this table: a name -> options
    **{name: {"layout": name} for name in layouts.LAYOUTS},
    "compare": {"layout": "compare", "other_image": "other.png"},
    "grid": {"layout": "grid", "rows": "layers:0,2", "columns": "heads:0,1,mean"},
    "patches": {"layout": "grid", "rows": "patches:1,2-3,4", "columns": "heads:0-3"},
    "components": {"what": "components"},
    "similarity": {"what": "similarity", "layout": "compare", "other_image": "other.png"},
    "norm": {"what": "norm"},
    "column": {"layout": "convolution", "direction": "column", "what": "value"},
    "label": {"what": "relevance", "label": "3"},
    "grey": {"layout": "heads", "colours": "grey"},
}
ASPECTS = {"slide": (64, 96), "page": (96, 64), 60: (64, 128)}
NAMES = ("cat.png", "a very long name of a photograph that was taken on a beach 2024-08-13.jpg", "кошка $x$ Ünï.jpg")


@pytest.fixture(scope="module")
def traces_by_size():
    """(height, width) -> (trace, picture)"""
    vit = scramble(VisionTransformer(SMALL))
    pictures = {size: Image.effect_noise(size[::-1], 80).convert("RGB") for size in set(ASPECTS.values())}
    return {size: (playground.trace(vit, image, size=size), image) for size, image in pictures.items()}


def arguments_of(spec: Spec, seen, picture) -> tuple[tuple, dict]:
    compares = layouts.of(spec).beside == "other"
    return (seen, picture), {"other": seen, "other_image": picture.rotate(90)} if compares else {}


def content_of(spec: Spec, seen, picture):
    first, rest = arguments_of(spec, seen, picture)
    return layouts.content(*subjects(spec, *first, **rest))


def texts_and_places(figure) -> list:
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        texts += [*axes.texts, axes.title, axes._left_title]
        texts += [axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels()] * axes.axison
    return [(text.get_window_extent(renderer), text.get_text(), text) for text in texts if text.get_text().strip()]


@pytest.mark.parametrize("width", ASPECTS)
@pytest.mark.parametrize("name", OPTIONS)
def test_no_words_overlap_leave_the_sheet_or_are_too_small_to_read(name, width, traces_by_size):
    seen, picture = traces_by_size[ASPECTS[width]]
    spec = replace(SPEC, width=width, image=NAMES[len(name) % 3], dpi=120, **OPTIONS[name])
    first, rest = arguments_of(spec, seen, picture)
    figure = compose.draw(spec, *first, **rest)
    figure.draw_without_rendering()
    assert figure.get_figwidth() == spec.paper.width
    assert figure.get_figheight() == (spec.paper.height or figure.get_figheight()) < 9.5
    sheet, places = figure.bbox.padded(2), texts_and_places(figure)
    assert min(text.get_fontsize() for *_, text in places) >= SMALLEST_FONT
    outside = [words for box, words, _ in places if not (sheet.x0 <= box.x0 and box.x1 <= sheet.x1)]
    outside += [words for box, words, _ in places if not (sheet.y0 <= box.y0 and box.y1 <= sheet.y1)]
    assert not outside, f"{outside} outside of {sheet}"
    numbers = re.compile(r"[+−]?[\d.,]+( %)?")  # those of neighbouring patches may touch
    words = [(box.padded(-1.5), text) for box, text, _ in places if not numbers.fullmatch(text)]
    overlaps = [(a, b) for i, (box, a) in enumerate(words) for other, b in words[:i] if box.overlaps(other)]
    assert not overlaps, overlaps


@pytest.mark.parametrize("name", OPTIONS)
def test_a_figure_has_a_panel_for_each_map_a_caption_of_them_and_their_numbers(name, small_trace, picture, tmp_path):
    spec = replace(SPEC, **OPTIONS[name])
    content = content_of(spec, small_trace, picture)
    body, shown = content.body, content.shown
    if isinstance(body, Panels):
        panels = [panel for row in body.rows for panel in row if panel]
        photos = [panel for panel in panels if panel.heading in ("picture", "query", "key")]
        kernels = [panel for panel in panels if panel.frames]
        assert len(panels) == len(shown) + len(photos) + len(kernels)
    else:
        assert isinstance(body, Matrix)
        assert [len(body.cells), len(body.cells[0])] == [small_trace.layers, small_trace.heads]
        assert len(shown) == small_trace.layers * small_trace.heads
    assert content.caption.endswith(".")
    assert content.caption.count("\n") == 0
    first, rest = arguments_of(spec, small_trace, picture)
    with np.load(BytesIO(files.numbers(".npz", spec, *first, **rest))) as held:
        written = [row for name in held if name.startswith("values") for row in held[name]]
    if shown[0].values is not None:
        assert len(written) == len(shown)
        for values, panel in zip(written, shown, strict=True):
            np.testing.assert_allclose(values, panel.values, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(values[len(small_trace.prefix) :], panel.grid.ravel(), rtol=1e-6, atol=1e-9)


def test_a_head_s_map_is_its_row_and_a_column_its_column(small_trace, picture):
    (row,) = content_of(SPEC, small_trace, picture).shown
    np.testing.assert_allclose(row.values, small_trace.row(1, 2, (3, 4)), rtol=1e-6)
    (column,) = content_of(replace(SPEC, direction="column"), small_trace, picture).shown
    token = small_trace.token((3, 4))
    whole = np.stack([small_trace.row(1, 2, index) for index in range(small_trace.tokens)])
    np.testing.assert_allclose(column.values, whole[:, token], rtol=1e-5)
    trained, unscaled = content_of(replace(SPEC, layout="scale"), small_trace, picture).shown
    np.testing.assert_allclose(trained.values, row.values, rtol=1e-6)
    np.testing.assert_allclose(unscaled.values, small_trace.row(1, 2, (3, 4), "off"), rtol=1e-6)


def test_maps_that_are_compared_share_their_exposure(small_trace, picture):
    content = content_of(replace(SPEC, layout="heads"), small_trace, picture)
    values = np.concatenate([panel.grid.ravel() for panel in content.shown])
    assert content.domain.high == light.exposure(values)
    held = content_of(replace(SPEC, layout="heads", ceiling=0.02), small_trace, picture)
    assert held.domain.high == 0.02


def test_a_grid_has_the_rows_of_its_layers_and_the_columns_of_its_heads(small_trace, picture):
    spec = replace(SPEC, layout="grid", rows="layers:2,0", columns="heads:mean,1")
    content = content_of(spec, small_trace, picture)
    assert content.body.beside == ["layer 2", "layer 0"]
    assert content.body.above == ["query", "mean", "head 1"]
    for panel, (layer, head) in zip(content.shown, [(2, "mean"), (2, 1), (0, "mean"), (0, 1)], strict=True):
        rows = small_trace.rows(layer, (3, 4)).numpy()
        np.testing.assert_allclose(panel.values, rows.mean(0) if head == "mean" else rows[head], rtol=1e-5)
    everything = content_of(replace(spec, rows="heads:all", columns="layers:all"), small_trace, picture)
    assert len(everything.shown) == small_trace.heads * small_trace.layers


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"layout": "grid"}, "needs rows and columns"),
        ({"layout": "grid", "rows": "layers"}, "written as"),
        ({"layout": "grid", "rows": "layers:0", "columns": "layers:1"}, "both layers"),
        ({"layout": "grid", "rows": "layers:3-1"}, "Layers are numbers from 0"),
        ({"layout": "heads", "what": "norm"}, "has no heads"),
        ({"layout": "scale", "what": "norm"}, "of one layer"),
        ({"layout": "scale", "whole": True}, "of one layer"),
        ({"layout": "compare"}, "another picture or another model"),
        ({"layout": "convolution", "query": "cls"}, "has no 'cls' token"),
        ({"layout": "wheel"}, "layout is head"),
        ({"what": "magic"}, "what is weight"),
        ({"width": "poster"}, "slide, column, page, or millimetres"),
        ({"width": 5}, "from 30 to 1000"),
        ({"colours": "sparkling"}, "no colour map 'sparkling'"),
        ({"ceiling": 2}, "ceiling goes"),
        ({"dpi": 1}, "dpi goes"),
        ({"label": "99", "what": "label"}, "no label 99"),
        ({"view": "layer=3"}, "A view has"),
    ],
)
def test_what_can_t_be_drawn_is_refused_in_a_sentence(change, sentence, small_trace, picture):
    with pytest.raises(PlaygroundError, match=re.escape(sentence)):
        compose.draw(replace(SPEC, **change), small_trace, picture)


def test_a_wide_slide_is_filled(traces_by_size):
    seen, picture = traces_by_size[64, 96]
    for layout in ("head", "heads", "wall", "scale"):
        figure = compose.draw(replace(SPEC, layout=layout), seen, picture)
        figure.draw_without_rendering()
        images = [axes.get_window_extent() for axes in figure.axes if axes.images and axes.get_ylim()[0] > 1]
        width = max(box.x1 for box in images) - min(box.x0 for box in images)
        height = max(box.y1 for box in images) - min(box.y0 for box in images)
        shares = width / figure.bbox.width, height / figure.bbox.height
        assert max(shares) > 0.6, f"{layout} fills {shares} of the slide"


def test_a_person_s_own_settings_of_matplotlib_change_nothing(small_trace, picture):
    import matplotlib

    before = compose.draw(replace(SPEC, dpi=40), small_trace, picture).pixels()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "image.interpolation": "bilinear"}):
        after = compose.draw(replace(SPEC, dpi=40), small_trace, picture).pixels()
    assert before.tobytes() == after.tobytes()


def test_one_s_own_values_are_drawn_with_their_signs(small_trace):
    values = np.linspace(-1, 3, 64).reshape(8, 8)
    figure = playground.figure(small_trace, values=values, dpi=40)
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert "values" in texts
    assert {"−3", "3"} <= set(texts), texts
    assert figure.facts["shows"] == "values"
    with pytest.raises(PlaygroundError, match="one number for each of 8 × 8 patches"):
        playground.figure(small_trace, values=values[1:])


# Colours --------------------------------------------------------------------------------------------------------------


def grey_of(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("L")).astype(float)


@pytest.mark.parametrize("colours", ["heat", "grey", "viridis"])
def test_lightness_rises_with_the_weight_and_the_bar_has_the_colours_of_the_map(colours):
    spec = replace(SPEC, colours=colours)
    domain, weights = Domain(0, 0.5, "", bare=True), np.linspace(0, 0.5, 256)[None]
    drawn = prints.photo_with_map(Image.new("RGB", (256, 1)), weights, spec, domain)
    assert (np.diff(grey_of(drawn)[0]) >= -1).all()
    bar = np.asarray(prints.bar(spec, domain)).astype(int)
    assert np.abs(bar[0] - np.asarray(drawn).astype(int)[0]).max() <= 2


def test_in_grey_the_map_is_beside_the_photograph_and_not_over_it(small_trace, picture):
    content = content_of(replace(SPEC, colours="grey", width="page"), small_trace, picture)
    photo, map_ = (np.asarray(panel.picture((64, 64)), int) for panel in content.body.rows[0])
    assert not np.ptp(photo, axis=-1).any()
    weights = small_trace.on_grid(small_trace.row(1, 2, (3, 4))).numpy()
    expected = light.shares(weights, content.domain.high) * 255
    np.testing.assert_allclose(map_[4::8, 4::8, 0], expected, atol=1.5)


def test_for_and_against_are_equally_light_and_in_grey_what_is_against_is_hatched():
    photo, domain = Image.new("RGB", (64, 64), (110, 110, 110)), Domain(-1, 1, "", signed=True)
    grid = np.array([[1.0, -1.0]])
    drawn = np.asarray(prints.photo_with_map(photo, grid, SPEC, domain), int)
    assert drawn[:, :32, 0].mean() > drawn[:, :32, 2].mean()
    assert drawn[:, 32:, 2].mean() > drawn[:, 32:, 0].mean()
    grey = grey_of(prints.photo_with_map(photo, grid, replace(SPEC, colours="grey"), domain))
    assert np.ptp(grey[:, :32]) == 0
    assert np.ptp(grey[:, 32:]) > 100


def test_colours_of_features_are_three_principal_components_of_all_pictures_together(small, small_trace, picture):
    other = playground.trace(small, picture.rotate(90))
    features = [prints.unit_features(seen, 1) for seen in (small_trace, other)]
    (first, second), share = prints.component_colours(features)
    centred = np.concatenate(features) - np.concatenate(features).mean(0)
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    assert share == pytest.approx(values[:3].sum() / values.sum())
    ones = [maps.OneMap(maps.Subject(seen, picture, ""), replace(SPEC, layer=1), None) for seen in (small_trace, other)]
    map_, other_map = prints.colour_maps(ones)
    assert (map_.colours.reshape(-1, 3) == first).all()
    assert (other_map.colours.reshape(-1, 3) == second).all()


# A layout by its record alone -----------------------------------------------------------------------------------------


def test_a_layout_made_up_here_is_drawn_and_offered_by_its_record_alone(small_trace, picture, tmp_path, monkeypatch):
    from playground.figures.layouts.heads import head

    made_up = Layout("twice", "one head once more", lambda spec, subject, other: head(spec, subject, other))
    monkeypatch.setitem(layouts.LAYOUTS, "twice", made_up)
    file = playground.save(small_trace, tmp_path / "twice.png", layout="twice", dpi=40)
    assert "layout: twice" in Image.open(file).info["Description"]
    assert math.isclose(Image.open(file).width, WIDTHS["slide"].width * 40, abs_tol=1)
