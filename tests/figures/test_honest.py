"""Figures that cannot mislead: each of these showed, or said, something else than it meant."""

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from unittest.mock import MagicMock

import numpy as np
import pytest
from conftest import scramble
from figure_files import read_pdf
from PIL import Image

import playground
from playground import PlaygroundError, figures
from playground.__main__ import main
from playground.analysis import heads
from playground.figures import Spec, command_line, files, layouts
from playground.figures.compose import subjects
from playground.figures.drawing import captions, maps, option_words, prints
from playground.figures.drawing.one_map import OneMap, Shown
from playground.figures.drawing.panels import map_panel
from playground.figures.drawing.sheet import (
    SMALLEST,
    Box,
    emptiest_side,
    fitting,
    fitting_words,
    house_style,
    text_width,
    wrap,
)
from playground.models.hub import Lines
from playground.samples import PHOTOGRAPHS
from playground.vit import Config, VisionTransformer

ROW = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4), purpose="page", dpi=60)


def said(spec, seen, picture, **others) -> str:
    return layouts.content(*subjects(spec, seen, picture, **others)).caption


@pytest.fixture
def here(picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture.save("disc.png")
    return tmp_path


# 1, 2: what is drawn


def test_all_in_a_grid_means_all(seen, picture):
    spec = replace(ROW, layout="grid", rows="heads:all", columns="layers:all")
    made = layouts.content(*subjects(spec, seen, picture)).body
    assert (len(made.panels), len(made.panels[0])) == (seen.heads, seen.layers)
    spec = replace(spec, rows="heads:2,all", columns=None)
    assert [row[-1] for row in layouts.content(*subjects(spec, seen, picture)).body.beside] == list("2013")


def test_a_server_counts_all_before_it_draws():
    from playground.figures.layouts.grid import axes

    spec = Spec(layout="grid", rows="layers:all", columns="heads:all")
    assert [len(axis.values) for axis in axes(spec, (12, 6))] == [12, 6]


@pytest.mark.parametrize("layout", ["head", "heads", "wall", "grid"])
def test_every_caption_tells_of_patches_that_are_brighter_than_can_be_shown(layout, seen, picture):
    sharp = replace(ROW, layout=layout, ceiling=0.02, **({"rows": "heads:all"} if layout == "grid" else {}))
    assert re.search(r"brightest from 2\.0%, \d+ patches above it, up to \d", said(sharp, seen, picture)), layout


def test_the_largest_weight_that_is_clipped_stands_beside_its_patch(seen, picture):
    """One patch of 94 % was drawn like one of 19 %, wherever a patch is too small for its number."""
    vit = scramble(
        VisionTransformer(Config(image_size=(120, 120), patch_size=4, depth=1, width=48, heads=4, classes=0))
    )
    fine = playground.trace(vit, picture)
    for query in ((3, 4), (12, 29), "cls"):
        spec = replace(ROW, layer=0, query=query)
        figure = figures.draw(spec, fine, picture)
        found = [text for axes in figure.axes for text in axes.texts if text.get_text().endswith("%")]
        largest = float(fine.row(0, 2, query)[1:].max())
        assert [text.get_text() for text in found] == [f"{captions.bare_share(largest)}%"]
        assert found[0].get_fontsize() >= SMALLEST


def test_a_number_stands_where_it_hides_least():
    grid = np.zeros((9, 9))
    grid[4, 5:] = 1  # to the right
    assert emptiest_side(grid, (4, 4), (1, 2), None) == (4.5, 3.0)
    assert emptiest_side(grid, (4, 4), (1, 2), (4, 2)) == (3.5, 4.5), "the mark is to the left: above"
    assert emptiest_side(np.zeros((1, 1)), (0, 0), (1, 2), None) is None


# 3: two pictures


def test_a_comparison_of_two_grids_names_the_patch_of_each(small, picture):
    one, two = playground.trace(small, picture), playground.trace(small, picture, size=(128, 128))
    spec, first, second = subjects(replace(ROW, layout="compare"), one, picture, other=two, other_image=picture)
    made = layouts.content(spec, first, second)
    assert "the same place in the other grid is patch 7, 9" in made.caption
    for panel, words in zip(made.body.panels, ("patch 3, 4", "patch 7, 9"), strict=True):
        assert panel.sub.startswith(words), "what stands at the end is left out where a panel is narrow"


# 4: an SVG's letters


def test_an_svg_brings_its_letters(seen, picture):
    data = files.svg(figures.draw(ROW, seen, picture))
    assert len(data) < 500_000
    style = next(e for e in ET.fromstring(data).iter("{http://www.w3.org/2000/svg}style") if "@font-face" in e.text)
    faces = re.findall(r"font-family:'([^']+)';font-weight:(\w+);src:url\(data:font/woff;base64,", style.text)
    assert ("Source Sans Pro", "normal") in faces
    assert len(style.text) < 80_000
    assert files.svg(figures.draw(ROW, seen, picture)) == data


def test_a_font_of_one_s_own_is_not_given_away():
    from playground.figures import files

    root = ET.fromstring("<svg><text style=\"font: 7px 'Secret Sans', sans-serif\">words</text></svg>")
    assert files.faces(root) == ""


# 5: where it comes from


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_command_in_a_file_makes_that_file(suffix, here, monkeypatch):
    vit = playground.load("untrained")
    file = playground.save(playground.trace(vit, playground.open_image("disc.png")), f"row{suffix}", layer=1, dpi=40)
    before, words = file.read_bytes(), command_in(file)
    assert words[-2:] == ["-o", f"row{suffix}"]
    assert "disc.png" in words
    file.unlink()
    assert main(words[words.index("figure") :]) == 0
    assert first_difference(before, file.read_bytes()) is None


@pytest.mark.parametrize("inches", [89 / 25.4, 5.5, 8.5 / 2.54, 397 / 72.27, 10 / 3])
def test_a_width_is_written_so_that_it_is_read_as_the_same(inches):
    assert option_words.read_length(option_words.write_length(inches)) == inches


TEN = {  # ten figures, each with its options
    "one.png": ("--layer", "1", "--what", "value", "--direction", "column"),
    "narrow.pdf": ("--layout", "convolution", "--for", "cvpr", "--words", "paper", "--footer"),
    "heads.svg": ("--layout", "heads", "--draw", "light", "--mass", "0.5"),
    "wall.png": ("--layout", "wall", "--theme", "dark", "--colours", "own"),
    "scale.pdf": ("--layout", "scale", "--scale", "0.3", "--whole"),
    "two.svg": ("--layout", "compare", "--with-image", "noise.png"),
    "grid.pdf": ("--layout", "grid", "--rows", "layers:0,2", "--columns", "heads:0-1,mean", "--letters"),
    "atlas.svg": ("--layout", "atlas", "--no-caption"),
    "cut.png": ("--patch", "3,4", "--cut", "3,4>5,5", "--head", "max"),
    "several.svg": ("--patch", "3,4", "--with-patch", "1,2", "--width", "89mm", "--transparent"),
}


@pytest.mark.parametrize("name", TEN)
def test_ten_figures_are_made_again_by_what_they_say(name, here):
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    dots = () if name.endswith(".svg") else ("--dpi", "40")
    assert main(["figure", "disc.png", "--model", "untrained", "-o", name, *dots, *TEN[name]]) == 0
    before, words = (here / name).read_bytes(), command_in(here / name)
    (here / name).unlink()
    assert main(words[words.index("figure") :]) == 0
    assert first_difference(before, (here / name).read_bytes()) is None


def first_difference(one: bytes, other: bytes) -> tuple | None:
    """Where two files part, and how they go on: pytest takes a quarter of an hour to compare two megabytes."""
    if one == other:
        return None
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return at, len(one), len(other), one[at - 40 : at + 40], other[at - 40 : at + 40]


def traced(name="disc.png", model="untrained", **how):
    return playground.trace(model, name, **how)


PYTHON = {  # what Python draws: its traces, and its options
    "whole": lambda: ([traced(scale="off")], {}),
    "one layer": lambda: ([traced()], {"scale": "off", "layer": -1, "head": "mean"}),
    "cut": lambda: ([traced(cut=["3,4>5,5", "1,1>2,2"])], {}),
    "size": lambda: ([traced(size=(64, 96))], {"query": 40}),
    "two pictures": lambda: ([traced(), traced("noise.png")], {"layout": "compare"}),
    "two models": lambda: ([traced(), traced(model="bundled")], {"layout": "compare"}),
    "two passes": lambda: ([traced(), traced(scale=0.3)], {"layout": "scale"}),
    "pictures": lambda: (
        [traced(), traced("noise.png")], {"layout": "grid", "rows": "pictures", "columns": "heads:0-1"}
    ),
    "models": lambda: ([traced(), traced(model="bundled")], {"layout": "grid", "rows": "models", "columns": "heads:0"}),
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON)
def test_what_python_draws_is_made_again_by_what_it_says(name, here):
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    (seen, *others), options = PYTHON[name]()
    given = {"other": others if options.get("layout") == "grid" else others[0]} if others else {}
    before = playground.save(seen, "a.png", dpi=40, **given, **options).read_bytes()
    words = command_in(here / "a.png")
    (here / "a.png").unlink()
    assert main(words[words.index("figure") :]) == 0
    assert (here / "a.png").read_bytes() == before


def test_a_figure_names_no_command_that_would_make_another(here, small):
    import timm

    own = timm.create_model("vit_tiny_patch16_224", depth=2, num_classes=7)
    in_memory = playground.trace(own, "disc.png")
    pixels = playground.trace("untrained", Image.open("disc.png").convert("RGB").rotate(90))
    seeded = playground.trace(playground.load("ViT-Ti/16", seed=1), "disc.png")
    for seen in (in_memory, pixels, seeded, playground.trace(small, "disc.png")):
        for name in ("a.png", "a.json", "a.html"):
            assert b"-o a" not in playground.save(seen, name, **({"dpi": 40} if name == "a.png" else {})).read_bytes()
        assert "Command" not in Image.open("a.png").text
    less = traced(cut="3,4>5,5")
    playground.save(traced(), "a.png", dpi=40, layout="compare", other=less)
    assert "Command" not in Image.open("a.png").text
    with pytest.raises(PlaygroundError, match="has no option cut"):
        playground.save(less, "a.png", cut="1,1>2,2")


def test_latex_sets_the_power_as_a_power():
    """It said "2\\textasciicircum{}entropy"."""
    assert files.tex("about 11 of 201 tokens (2^entropy)") == r"about 11 of 201 tokens ($2^{\mathrm{entropy}}$)"


def test_a_number_above_another_is_written_larger():
    """An atlas said "brightest from 10%, 2 places above it, up to 10%"."""
    assert captions.told_apart(0.10, 0.12, captions.percent) == ("10%", "12%")
    assert captions.told_apart(0.1004, 0.1041, captions.percent) == ("10%", "10.4%")
    assert captions.told_apart(0.10004, 0.10041, captions.percent) == ("10%", "10.04%")
    assert captions.told_apart(1.231, 1.234, captions.number) == ("1.231", "1.234")


def test_no_smaller_number_stands_on_a_map_whose_largest_has_none(seen, picture):
    """Where the patch that asks had most, a neighbour with less was the only one with a number."""
    first = subjects(ROW, seen, picture)[1]
    grid = np.zeros(seen.grid)
    grid[3, 4], grid[3, 5] = 0.6, 0.3  # the first one asks
    span = maps.Domain(0, 0.1, "share", percent=True, open_end=True)
    sheet = MagicMock()
    map_panel(Shown(OneMap(first, ROW, None), maps.Map(grid, (), None)), span).draw(sheet, None, Box(0, 0, 1, 1))
    assert [call.args[-1] for call in sheet.number.call_args_list] == ["30"]
    assert [call.args[3] for call in sheet.number_beside.call_args_list] == ["60%"]


def trained(vit, picture):
    """A step of training."""
    import torch

    vit.train().requires_grad_(True)(torch.rand(1, 3, 112, 112)).sum().backward()
    torch.optim.SGD(vit.parameters(), lr=0.1).step()
    return playground.trace(vit.eval(), picture)


def test_a_model_that_was_trained_in_memory_is_no_longer_what_its_name_loads(here):
    """The figure said the command and the name of the model as it was loaded, and the digest of its first figure."""
    vit = playground.load("ViT-Ti/16", device="cpu")
    before = playground.trace(vit, "disc.png")
    first = playground.figure(before).facts["weights"]
    assert first.startswith("random weights, sha256:")
    after = trained(vit, "disc.png")
    now = playground.figure(after).facts["weights"]
    assert now.startswith("changed in memory, sha256:"), now
    assert now[-16:] != first[-16:]
    assert "Command" not in Image.open(playground.save(after, "a.png", dpi=40)).text
    assert "ViT-Ti/16 (changed in memory)" in said(Spec(image="disc.png"), after, after.shown)
    assert playground.trace(vit.to("cpu"), "disc.png").vit_state == after.vit_state, "a move changes nothing"


def test_a_pass_that_is_older_than_its_model_s_weights_mixes_nothing(here):
    vit = playground.load("ViT-Ti/16", device="cpu")
    before = playground.trace(vit, "disc.png")
    row = before.row(0, 0, (1, 1))
    trained(vit, "disc.png")
    assert (before.row(0, 0, (1, 1)) == row).all(), "queries and keys are of the pass"
    assert playground.figure(before).facts["weights"] == "unknown, changed after this pass"
    assert "Command" not in Image.open(playground.save(before, "a.png", dpi=40)).text
    for asked in (before.features, lambda: before.value_norms(0), lambda: before.relevance((1, 1))):
        with pytest.raises(PlaygroundError, match="changed after this pass"):
            asked()


def test_weights_from_a_file_are_in_the_command(here):
    import timm
    from safetensors.torch import save_file

    save_file(timm.create_model("vit_tiny_patch16_224", num_classes=7).state_dict(), "mine.safetensors")
    vit = playground.load("vit_tiny_patch16_224", weights="mine.safetensors", device="cpu")
    before = playground.save(playground.trace(vit, "disc.png"), "a.png", dpi=40).read_bytes()
    words = command_in(here / "a.png")
    assert words[words.index("--weights") + 1] == "mine.safetensors"
    (here / "a.png").unlink()
    assert main(words[words.index("figure") :]) == 0
    assert (here / "a.png").read_bytes() == before


def test_each_picture_of_a_comparison_has_its_own_photograph_and_name(here):
    """In Python the other picture's map stood on the first one's photograph, under its name."""
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    figure = playground.figure(traced(), layout="compare", other=traced("noise.png"))
    assert figure.facts["other image"] == "noise.png"
    assert figure.facts["other pixels"] != figure.facts["pixels"]


def test_another_pass_beside_the_trained_one_is_drawn(here):
    """In Python it was left out: both maps were of the first pass."""
    seen, off = traced(), traced(scale="off")
    one = playground.figure(seen, layout="scale", other=off)
    assert "whole forward pass" in one.facts["scale"]
    with pytest.raises(PlaygroundError, match="beside one with"):
        playground.figure(off, layout="scale", other=seen)


@pytest.mark.parametrize("kind", [".png", ".svg", ".html", ".json", ".csv", ".tex"])
@pytest.mark.parametrize("anonymous", [False, True])
def test_no_folder_s_name_gets_into_a_file(kind, anonymous, here, picture):
    (here / "jane-doe").mkdir()
    for name in ("one", "two"):
        picture.save(here / "jane-doe" / f"{name}.png")
    one, two = traced("jane-doe/one.png"), traced("jane-doe/two.png")
    grid = {"layout": "grid", "rows": "pictures", "columns": "heads:0-1", "other": [two]} if kind != ".html" else {}
    said = playground.save(one, f"a{kind}", anonymous=anonymous, **grid).read_bytes()
    assert b"jane-doe" not in said
    if anonymous:
        assert b"two.png" not in said


def command_in(file):
    import shlex

    if file.suffix == ".png":
        return shlex.split(Image.open(file).text["Command"])
    if file.suffix == ".pdf":
        return shlex.split(read_pdf(file).metadata["/Keywords"])
    source = ET.parse(file).getroot().iter("{http://purl.org/dc/elements/1.1/}source")
    return shlex.split(next(source).text)


def test_savefig_says_where_it_comes_from_too(here, tmp_path):
    figure = playground.figure(playground.trace("untrained", "disc.png"), 1, 2, (3, 4), dpi=40)
    figure.savefig(tmp_path / "a.png")
    assert Image.open(tmp_path / "a.png").text["Command"].endswith("-o a.png")
    out = io.BytesIO()
    figure.savefig(out, format="pdf")
    assert b"Attention Playground" in out.getvalue()
    figure.savefig(tmp_path / "b.png", metadata={})
    assert "Command" not in Image.open(tmp_path / "b.png").text


def test_a_grid_says_the_digest_of_every_picture_and_model(small, picture):
    other = scramble(VisionTransformer(small.config), seed=1)
    other.name = "another"
    turned = picture.rotate(90)
    traces = [playground.trace(vit, image) for image in (picture, turned) for vit in (small, other)]
    for i, one in enumerate(traces):
        object.__setattr__(one, "picture_name", ["one.png", "one.png", "two.png", "two.png"][i])
    figure = playground.figure(
        traces[0], 1, 2, (3, 4), layout="grid", rows="pictures", columns="models", other=traces[1:], dpi=40
    )
    digests = {value for key, value in figure.facts.items() if "sha256:" in value}
    assert len(digests) == 4, figure.facts


# 6: nobody's name


def test_many_anonymous_figures_tell_no_name(here, picture, capsys):
    (here / "jane-doe").mkdir()
    for name in ("jane-doe/patient-1.png", "jane-doe/patient-2.png"):
        picture.save(name)
    assert main(["figure", "jane-doe", "--model", "untrained", "--anonymous", "--dpi", "20", "-o", "out/"]) == 0
    made = sorted(file.name for file in (here / "out").iterdir())
    assert made == ["manifest.json", "picture-1.png", "picture-2.png"]
    for file in (here / "out").iterdir():
        assert not re.search(rb"jane|patient", file.read_bytes()), file.name


def test_an_anonymous_figure_does_not_name_somebody_s_repository(seen, picture):
    spec = replace(ROW, model="jane-doe/leaves", anonymous=True)
    figure = figures.draw(spec, replace(seen, model="jane-doe/leaves"), picture)
    assert not re.search("jane|leaves", f"{figure.facts} {files.provenance(figure.spec, figure.facts)}")


# 7: one grid


def test_python_and_the_command_line_see_a_sample_in_one_grid(monkeypatch):
    from playground import face

    look, asked = PHOTOGRAPHS[0].look, []
    vit = VisionTransformer(Config(image_size=(28, 28), patch_size=14, depth=1, width=8, mlp_width=8, heads=1))
    vit.name = look.model

    class Enough(Exception):
        pass

    def traced(vit, picture, size=None, **more):
        asked.append(size)
        raise Enough

    monkeypatch.setattr(face, "_picture", lambda image: (Image.new("RGB", (50, 40)), image))
    monkeypatch.setattr(face.tracing, "trace", traced)
    with pytest.raises(Enough):
        playground.trace(vit, PHOTOGRAPHS[0].name)
    assert asked == [(14 * look.grid[0], 14 * look.grid[1])]


# 8: layouts


@pytest.fixture(scope="module")
def deep():
    """As deep as most, with as many heads as the small ones: 12 layers of 6 heads."""
    vit = scramble(VisionTransformer(Config(image_size=(64, 96), patch_size=8, depth=12, width=48, heads=6, classes=0)))
    return playground.trace(vit, Image.effect_noise((96, 64), 60).convert("RGB"))


def drawn_boxes(figure) -> list:
    """(width, height) of every panel, inches."""
    size = figure.get_size_inches()
    return [tuple(axes.get_position().size * size) for axes in figure.axes]


@pytest.mark.parametrize("purpose", ["slide", "page", "neurips", "beamer"])
def test_a_wall_is_its_maps_and_not_the_query(deep, purpose):
    figure = playground.figure(deep, layout="wall", query=(2, 3), purpose=purpose, dpi=30)
    photo, wall, *_ = drawn_boxes(figure)
    width = figure.get_size_inches()[0]
    assert photo[0] <= 0.21 * width
    assert wall[0] >= 1.5 * photo[0]


@pytest.mark.parametrize("purpose", ["slide", "beamer"])
@pytest.mark.parametrize("layout", ["wall", "atlas"])
def test_a_wide_slide_is_filled(deep, layout, purpose):
    figure = playground.figure(deep, layout=layout, purpose=purpose, dpi=30)
    places = [axes.get_position() for axes in figure.axes]
    assert max(p.x1 for p in places) - min(p.x0 for p in places) > 0.7
    maps = max(drawn_boxes(figure), key=lambda box: box[0] * box[1])
    assert maps[0] * maps[1] > 0.25 * figure.get_size_inches().prod(), "the maps have a quarter of the slide"


def test_a_mark_of_the_atlas_stands_beside_its_map(deep):
    figure = playground.figure(deep, layout="atlas", dpi=30)
    cells = max(figure.axes, key=lambda axes: axes.get_position().width)
    maps = [one.extent for one in cells.artists]
    marks = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in cells.lines]
    assert len(maps) == 72
    assert marks
    assert not [at for at in marks for x0, y0, x1, y1 in maps if x0 < at[0] < x1 and y0 < at[1] < y1]


def test_the_atlas_counts_what_is_brighter_than_can_be_shown(deep, picture):
    offsets = heads.look(deep).offsets
    caption = said(Spec(layout="atlas", ceiling=0.015), deep, picture)
    assert (
        f"brightest from 1.5%, {(offsets > 0.015).sum()} places above it, up to {captions.percent(offsets.max())}"
        in caption
    )
    assert "brightest" not in said(Spec(layout="atlas", ceiling=1.0), deep, picture)


def test_a_grid_says_how_its_patch_is_counted(seen, picture):
    spec = replace(ROW, layout="grid", rows="heads:0,1", columns="layers:0")
    assert "patch 3, 4 (row, column, from 0) listens to" in said(spec, seen, picture)


def test_a_line_that_just_fits_loses_no_letter():
    words = "layer 4, head 2, patch 8, 5"
    with house_style():
        for points in np.linspace(6, 9, 7):
            for part in np.linspace(0.81, 1, 40):
                assert (
                    fitting(words, part * text_width(words, points) / 0.97, points)[0] == words or points * part < 6
                ), points


def test_a_line_that_does_not_fit_keeps_its_number():
    with house_style():
        room = [text_width(words, SMALLEST) / 0.96 for words in ("about 46 tokens", "46 tokens", "46")]
        said = [fitting_words("about 46 tokens", width, SMALLEST)[0] for width in room]
    assert said == ["about 46 tokens", "46 tokens", "46"]


@pytest.mark.parametrize("purpose", ["slide", "beamer"])
@pytest.mark.parametrize("side", [(64, 64), (64, 96), (96, 64)], ids=["square", "wide", "high"])
def test_a_grid_fills_its_slide(purpose, side):
    """Its picture and its words stand below each other, and the maps have the rest."""
    vit = scramble(VisionTransformer(Config(image_size=side, patch_size=8, depth=6, width=48, heads=6, classes=0)))
    seen = playground.trace(vit, Image.effect_noise(side[::-1], 60).convert("RGB"))
    figure = playground.figure(
        seen, layout="grid", rows="layers:1,3,5", columns="heads:0-2,mean", purpose=purpose, dpi=30, query=(2, 3)
    )
    places = [axes.get_position() for axes in figure.axes]
    assert len(places) == 14  # the picture, twelve maps and the colour bar
    assert sum(place.width * place.height for place in places) > 0.4
    assert max(p.x1 for p in places) - min(p.x0 for p in places) > 0.75
    assert max(p.y1 for p in places) - min(p.y0 for p in places) > 0.7


def test_a_grid_of_layers_and_heads_shows_the_photograph(seen, picture):
    figure = playground.figure(seen, layout="grid", rows="layers:0,1", columns="heads:0-2", image=picture, dpi=30)
    assert len([axes for axes in figure.axes if axes.artists]) == 7 + 1  # and the colour bar
    assert "query" in [text.get_text() for text in figure.texts]


def test_small_maps_are_told_apart_in_grey():
    """What is drawn brightest is lighter, on the blackest place, than all that is not attended to on the whitest."""
    weights = np.array([[0.3, 0.0]])
    span = maps.Domain(0, 0.3, "")
    halves = Image.fromarray(np.array([[[0] * 3, [255] * 3]], np.uint8))
    attended, ignored = np.asarray(prints.thumbnail(halves, weights, Spec(), span).convert("L"))[0].astype(int)
    assert attended > ignored + 10


# 9: words


def test_numbers_are_written_as_people_write_them():
    assert [captions.number(x) for x in (110, 99, 0.123, 0.00002, 0, -250)] == [
        "110", "99", "0.12", "2.0e-05", "0", "-250",
    ]  # fmt: skip


def test_a_caption_says_how_tokens_and_patches_are_counted(seen, picture):
    caption = said(ROW, seen, picture)
    assert "(row, column, from 0)" in caption
    assert re.search(r"about \d+ of 67 tokens \(2\^entropy\)", caption)
    assert "attends to" in said(replace(ROW, words="paper"), seen, picture)
    assert "listens to" not in said(replace(ROW, words="paper"), seen, picture)


def test_without_a_caption_no_words_stand_under_a_figure(seen, picture):
    for spec in (replace(ROW, caption=False), replace(ROW, purpose="neurips"), replace(ROW, purpose="cvpr")):
        words = " ".join(text.get_text() for text in figures.draw(spec, seen, picture).texts)
        assert "listens" not in words
        assert "Not in the picture" not in words
    assert "listens" in " ".join(text.get_text() for text in figures.draw(ROW, seen, picture).texts)


def test_the_latex_of_a_venue_has_the_caption(here):
    assert main(["figure", "disc.png", "--model", "untrained", "--for", "neurips", "-o", "a.tex"]) == 0
    assert "listens to" in (here / "a.tex").read_text()


# 10: a notebook


def test_a_notebook_holds_a_picture_of_its_own_width_and_not_a_slide(seen, picture):
    figure = playground.figure(seen, 1, 2, (3, 4), image=picture)
    slide = io.BytesIO()
    figure.savefig(slide, format="png")
    cell = figure._repr_png_()
    assert Image.open(io.BytesIO(cell)).width == 900
    assert len(cell) < len(slide.getvalue()) / 2


# 11: nothing in silence


@pytest.mark.parametrize("suffix", ["npz", "csv", "json", "txt", "tex"])
def test_a_look_of_what_has_no_look_is_refused(suffix, here, capsys):
    line = ["figure", "disc.png", "--model", "untrained", "-o", f"a.{suffix}"]
    assert main([*line, "--theme", "dark"]) == 2
    assert "--theme would change nothing here" in capsys.readouterr().err
    assert not (here / f"a.{suffix}").exists()


@pytest.mark.parametrize("suffix", ["npz", "csv", "json"])
@pytest.mark.parametrize("more", ["--no-caption", "--for cvpr", "--colours own --layout heads", "--words paper"])
def test_numbers_have_neither_caption_nor_exposure(suffix, more, here, capsys):
    assert main(["figure", "disc.png", "--model", "untrained", *more.split(), "-o", f"a.{suffix}"]) == 2
    assert f"would change nothing here: a .{suffix} has the numbers themselves" in capsys.readouterr().err


def test_a_folder_is_made_aloud_by_the_command_and_never_by_python(here, seen, capsys):
    assert main(["figure", "disc.png", "--model", "untrained", "--dpi", "20", "-o", "out/{image}.png"]) == 0
    assert "made the folder out" in capsys.readouterr().err
    with pytest.raises(PlaygroundError, match="there is no folder"):
        playground.save(seen, "nowhere/a.png", layer=1)
    assert not (here / "nowhere").exists()


def test_a_log_has_a_line_now_and_then():
    out = io.StringIO()
    for _ in Lines(range(20_000), desc="fetching", file=out):
        pass
    assert out.getvalue().count("\n") <= 2
    assert "\r" not in out.getvalue().strip("\r\n")
    assert len(out.getvalue()) < 100


def test_ctrl_c_while_options_are_read_is_quiet(monkeypatch, capsys):
    from playground import __main__

    def pressed():
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "_parser", pressed)
    assert main([]) == 130
    assert capsys.readouterr().err == ""


def test_nothing_heavy_is_imported_before_ctrl_c_is_heard():
    code = "import sys, playground.__main__; print({'torch', 'numpy', 'matplotlib', 'PIL'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_installed_people_read_the_name_that_they_type(monkeypatch):

    monkeypatch.setattr(command_line, "PROGRAM", "attention-playground")
    assert figures.command(ROW).startswith("attention-playground figure disc.png")
    assert "playground" in sys.modules


def test_the_size_of_a_block_stays_on_one_line():
    words = "blanked in blocks of 4 × 4, 2 × 2 and 1 × 1, the smaller where more moved"
    for width in np.arange(0.5, 4, 0.1):
        with house_style():
            lines = wrap(words, width, 10)
        assert " ".join(lines) == words
        assert not any(line.endswith("×") or line.startswith("×") for line in lines), lines


def test_a_caption_says_once_that_something_goes_through_all_layers(tmp_path):
    trace = playground.trace("untrained", "meadow")
    for more in ({"what": "rollout"}, {"what": "relevance"}):
        playground.save(trace, tmp_path / "words.txt", query=(3, 3), **more)
        words = (tmp_path / "words.txt").read_text()
        assert words.count("through all layers") == 1, words
