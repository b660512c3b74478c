"""The layout `grid`, whose rows and columns share one exposure, and the colours of features."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import playground
from playground import PlaygroundError, figures
from playground.__main__ import main
from playground.figures import Spec, files, layouts
from playground.figures.compose import subjects
from playground.figures.drawing import prints
from playground.figures.drawing.maps import domain
from playground.figures.drawing.one_map import Subject
from playground.figures.drawing.sheet import Pixels
from playground.numbers import percent
from playground.pictures.images import fit

GRID_SPEC = Spec(image="disc.png", model="small", layout="grid", layer=1, head=2, query=(3, 4), purpose="page", dpi=60)


def shown_maps(spec, trace, picture, **draw_arguments):
    spec, first_subject, other_subjects = subjects(spec, trace, picture, **draw_arguments)
    return [panel.one for panel in layouts.of(spec).shown(spec, first_subject, other_subjects)]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        ("layers:0,2", "heads:1-3", lambda seen: [seen.row(i, h, (3, 4)) for i in (0, 2) for h in (1, 2, 3)]),
        ("heads:0-1,mean", "scales:on,off", lambda seen: [
            *(seen.row(1, head, (3, 4), scale) for head in (0, 1) for scale in ("on", "off")),
            *(seen.rows(1, (3, 4), scale).mean(0) for scale in ("on", "off")),
        ]),
        ("patches:0,0-cls", None, lambda seen: [seen.row(1, 2, (0, 0)), seen.row(1, 2, "cls")]),
    ],
)  # fmt: skip
def test_each_cell_has_the_numbers_of_its_row_and_its_column(small_trace, picture, tmp_path, rows, columns, expected):
    spec = replace(GRID_SPEC, rows=rows, columns=columns)
    _, (table,) = files.facts_and_tables(".npz", spec, small_trace, picture)
    np.testing.assert_allclose(table.values, [row.numpy() for row in expected(small_trace)], rtol=1e-6)


def test_all_cells_share_one_exposure_and_rows_and_columns_have_titles(small_trace, picture):
    spec = replace(GRID_SPEC, rows="layers:0,2", columns="heads:1,3")
    figure = figures.draw(spec, small_trace, picture)
    grid_maps = [map_.map() for map_ in shown_maps(spec, small_trace, picture)]
    drawn_maps = [a.picture.at((80, 80)) for axes in figure.axes for a in axes.findobj(Pixels) if a.zorder == 2][:4]
    photo = prints.pale(picture).resize((80, 80), Image.Resampling.LANCZOS)
    for map_, panel in zip(grid_maps, drawn_maps, strict=True):
        np.testing.assert_array_equal(
            panel, prints.photo_with_map(photo, map_.grid, layouts.of(spec).settled(spec), domain(spec, grid_maps))
        )
    texts_drawn = [text.get_text() for text in figure.texts]
    assert {"layer 0", "layer 2", "head 1", "head 3"} <= set(texts_drawn)
    assert "rows: layers, columns: heads; brightest from" in " ".join(texts_drawn)


def test_pictures_and_models_are_traced_once_each_and_keep_their_shapes(picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture.save("disc.png")
    picture.crop((0, 0, 120, 60)).save("wide.png")
    arguments = ["figure", "disc.png", "wide.png", "--layout", "grid", "--rows", "pictures"]
    arguments += ["--columns", "models:untrained,ViT-Ti/16"]
    assert main([*arguments, "--for", "page", "--dpi", "60", "-o", "a.png"]) == 0
    metadata = Image.open("a.png").text
    assert "rows: pictures:disc.png,wide.png; columns: models:untrained,ViT-Ti/16" in metadata["Description"]
    assert main([*arguments, "-o", "a.npz"]) == 0
    with np.load("a.npz") as arrays:
        grids = [arrays[f"grid{end}"].tolist() for end in ("", "_2", "_3", "_4")]
    configs = [playground.load(name).config for name in ("untrained", "ViT-Ti/16")]
    assert grids == [
        [side // c.patch_size for side in fit(size, c.patch_size, c.image_size)]
        for size in ((120, 120), (120, 60))
        for c in configs
    ]


def test_a_comma_in_a_picture_s_name_is_refused_in_a_sentence(picture, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    picture.save("a,b.png")
    assert (
        main(["figure", "a,b.png", "--model", "untrained", "--layout", "grid", "--rows", "pictures", "-o", "g.png"])
        == 2
    )
    assert "rename a,b.png" in capsys.readouterr().err


def test_python_sets_several_traces_side_by_side(small, picture, tmp_path):
    traces = [playground.tracing.trace(small, picture).of(picture, name) for name in ("disc", "again", "third")]
    figure_options = {"layout": "grid", "rows": "pictures", "purpose": "page", "dpi": 60}
    figure = playground.figure(traces[0], 1, columns="heads:0,2", other=traces[1:], **figure_options)
    assert {"disc", "again", "third", "head 0", "head 2"} <= {text.get_text() for text in figure.texts}
    assert figure.spec.rows == "pictures:disc,again,third"
    file = playground.save(traces[0], tmp_path / "a.npz", 1, columns="heads:0,2", other=traces[1:], **figure_options)
    with np.load(file) as arrays:
        np.testing.assert_allclose(arrays["values_3"][1], traces[2].row(1, 2, (4, 4)).numpy(), rtol=1e-6)
    for options, sentence in (
        ({"other": traces[:1]}, "Two of these traces are of disc"),
        ({"other": traces[1:], "rows": "layers:0,1"}, "shows nothing of again"),
        ({"rows": "pictures:disc,flock"}, "flock in .*, of which there is no trace"),
        ({"other": traces[1:], "layout": "compare", "rows": None}, "several need layout='grid'"),
    ):
        with pytest.raises(PlaygroundError, match=sentence):
            playground.figure(traces[0], 1, **({**figure_options, "columns": None} | options))


@pytest.mark.parametrize(
    ("rows", "columns", "sentence"),
    [
        (None, None, "A grid needs rows= and columns="),
        ("layers:0", "layers:1", "Rows and columns are both layers"),
        ("colours:red", None, "Rows and columns are written as layers:2,5,8"),
        ("layers", None, "given was 'layers'"),
        ("layers:0,9", None, "There is no layer 9"),
        ("patches:0,0-9,9", None, r"There is no patch \(9, 9\)"),
    ],
)
def test_an_impossible_grid_is_refused_in_a_sentence(small_trace, picture, rows, columns, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        figures.draw(replace(GRID_SPEC, rows=rows, columns=columns), small_trace, picture)


def test_the_colours_of_features_are_three_principal_components(small_trace, picture):
    features = prints.unit_features(small_trace, 1)
    (colours,), share = prints.component_colours([features])
    centred = features - features.mean(0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    assert share == pytest.approx(values[-3:].sum() / values.sum())
    for n in range(3):
        projections = centred @ vectors[:, -1 - n]
        assert abs(np.corrcoef(colours[:, n], projections)[0, 1]) > 0.97  # not 1, because a few values are clipped
    figure = figures.draw(replace(GRID_SPEC, layout="components", query=None), small_trace, picture)
    picture_shown = next(a.picture.at((8, 8)) for axes in figure.axes for a in axes.findobj(Pixels) if a.zorder == 2)
    np.testing.assert_array_equal(np.asarray(picture_shown).reshape(-1, 3), colours)
    assert f"they hold {percent(share)} of what differs" in " ".join(text.get_text() for text in figure.texts)


def test_colours_of_features_are_made_together_of_all_pictures_of_a_layer(small, tmp_path, picture):
    traces = [playground.trace(small, picture.rotate(angle)).of(picture, name) for angle, name in ((0, "a"), (90, "b"))]
    options = {"layout": "grid", "rows": "pictures", "columns": "layers:0,2", "what": "components", "purpose": "page"}
    figure = playground.figure(traces[0], other=traces[1:], dpi=60, **options)
    pictures_shown = [a.picture.at((8, 8)) for axes in figure.axes for a in axes.findobj(Pixels) if a.zorder == 2]
    expected = {
        layer: prints.component_colours([prints.unit_features(seen, layer) for seen in traces])[0] for layer in (0, 2)
    }
    for index, (row, layer) in enumerate(((0, 0), (0, 2), (1, 0), (1, 2))):
        np.testing.assert_array_equal(np.asarray(pictures_shown[index]).reshape(-1, 3), expected[layer][row])
    text_drawn = " ".join(text.get_text() for text in figure.texts)
    assert "what is alike has one colour" in text_drawn
    assert "patch" not in text_drawn.replace("patches", "")
    with np.load(playground.save(traces[0], tmp_path / "a.npz", other=traces[1:], **options)) as arrays:
        np.testing.assert_array_equal(arrays["values_2"][3:], expected[2][1].T)
        assert arrays["colour"].tolist() == ["red", "green", "blue"] * 2


def test_lengths_of_features_are_drawn_as_on_the_screen(small_trace, picture, tmp_path):
    spec = replace(GRID_SPEC, layout="head", what="norm", query=None)
    lengths = small_trace.features(1).norm(dim=-1)
    _, (table,) = files.facts_and_tables(".npz", spec, small_trace, picture)
    np.testing.assert_allclose(table.values[0], lengths, rtol=1e-6)
    assert not {"patch", "head"} & table.maps[0].keys()
    map_ = layouts.of(spec).shown(spec.settled(small_trace), Subject(small_trace, picture, ""))[0].map
    map_domain = domain(spec, [map_])
    assert (map_domain.low, map_domain.high) == (float(lengths[3:].min()), float(lengths[3:].max()))
    texts_drawn = [text.get_text() for text in figures.draw(spec, small_trace, picture).texts]
    assert {"picture", "length of features", "after layer 1"} <= set(texts_drawn)
    assert "how long each patch’s features are." in " ".join(texts_drawn)


@pytest.mark.parametrize(
    ("what", "rows", "sentence"),
    [
        ("similarity", "heads:0,1", 'what="similarity" has no heads'),
        ("components", "patches:0,0-1,1", "the same whoever asks"),
        ("rollout", "layers:0,1", "goes through all layers"),
        ("norm", "scales:on,off", "comes out of the whole pass"),
    ],
)
def test_an_axis_that_would_change_nothing_is_refused(small_trace, picture, what, rows, sentence):
    with pytest.raises(PlaygroundError, match=f"would change nothing in this grid: .*{sentence}"):
        figures.draw(replace(GRID_SPEC, what=what, rows=rows), small_trace, picture)


def test_from_python_one_trace_is_enough_for_a_grid(small_trace, picture):
    figure = playground.figure(
        small_trace, 1, query=(3, 4), layout="grid", rows="heads:0-3", columns="scales:on,off", image=picture
    )
    assert figure.facts["rows"] == "heads:0-3"
