"""Figures do not mislead: most of these tests are about something that once did."""

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
from PIL import Image

import playground
from figures.honest import ROW, caption_text
from playground import PlaygroundError, figures
from playground.__main__ import main
from playground.figures import Spec, command_line, files, layouts
from playground.figures.compose import subjects
from playground.figures.drawing import captions, maps
from playground.figures.drawing.one_map import OneMap, ShownMap
from playground.figures.drawing.panels import map_panel
from playground.figures.drawing.sheet import (
    SMALLEST_FONT,
    Box,
    emptiest_side,
    house_style,
    wrap,
)
from playground.models.hub import ProgressLines
from playground.numbers import bare_share
from playground.samples import PHOTOGRAPHS
from playground.vit import Config, VisionTransformer

# Contents of the drawing


def test_all_in_a_grid_means_all_layers_or_heads(small_trace, picture):
    spec = replace(ROW, layout="grid", rows="heads:all", columns="layers:all")
    body = layouts.content(*subjects(spec, small_trace, picture)).body
    assert (len(body.panels), len(body.panels[0])) == (small_trace.heads, small_trace.layers)
    spec = replace(spec, rows="heads:2,all", columns=None)
    assert [row[-1] for row in layouts.content(*subjects(spec, small_trace, picture)).body.beside] == list("2013")


def test_all_layers_and_heads_are_counted_without_a_trace():
    from playground.figures.layouts.grid import axes

    spec = Spec(layout="grid", rows="layers:all", columns="heads:all")
    assert [len(axis.values) for axis in axes(spec, (12, 6))] == [12, 6]


@pytest.mark.parametrize("layout", ["head", "heads", "wall", "grid"])
def test_every_caption_tells_of_patches_that_are_brighter_than_can_be_shown(layout, small_trace, picture):
    clipped_spec = replace(ROW, layout=layout, ceiling=0.02, **({"rows": "heads:all"} if layout == "grid" else {}))
    assert re.search(
        r"brightest from 2\.0 %, \d+ patches above it, up to \d", caption_text(clipped_spec, small_trace, picture)
    ), layout


def test_the_largest_weight_that_is_clipped_stands_beside_its_patch(small_trace, picture):
    """Once, patches of 94 % and of 19 % looked equal where patches were too small for a number."""
    vit = scramble(
        VisionTransformer(Config(image_size=(120, 120), patch_size=4, depth=1, width=48, heads=4, classes=0))
    )
    fine_trace = playground.trace(vit, picture)
    for query in ((3, 4), (12, 29), "cls"):
        spec = replace(ROW, layer=0, query=query)
        figure = figures.draw(spec, fine_trace, picture)
        percents = [text for axes in figure.axes for text in axes.texts if text.get_text().endswith("%")]
        largest = float(fine_trace.row(0, 2, query)[1:].max())
        assert [text.get_text() for text in percents] == [f"{bare_share(largest)} %"]
        assert percents[0].get_fontsize() >= SMALLEST_FONT


def test_a_number_stands_where_it_hides_least():
    grid = np.zeros((9, 9))
    grid[4, 5:] = 1  # the large weights lie to the right of the query
    assert emptiest_side(grid, (4, 4), (1, 2), None) == (4.5, 3.0)
    assert emptiest_side(grid, (4, 4), (1, 2), (4, 2)) == (3.5, 4.5), "the mark is to the left: above"
    assert emptiest_side(np.zeros((1, 1)), (0, 0), (1, 2), None) is None


# Two pictures


def test_a_comparison_of_two_grids_names_the_patch_of_each(small, picture):
    coarse_trace, fine_trace = playground.trace(small, picture), playground.trace(small, picture, size=(128, 128))
    spec, first_subject, second_subject = subjects(
        replace(ROW, layout="compare"), coarse_trace, picture, other=fine_trace, other_image=picture
    )
    content = layouts.content(spec, first_subject, second_subject)
    assert "the same place in the other grid is patch 7, 9" in content.caption
    for panel, words in zip(content.body.panels, ("patch 3, 4", "patch 7, 9"), strict=True):
        assert panel.sub.startswith(words), "what stands at the end is left out where a panel is narrow"


# Letters in an SVG


def test_an_svg_embeds_the_letters_of_its_fonts(small_trace, picture):
    data = files.svg(figures.draw(ROW, small_trace, picture))
    assert len(data) < 500_000
    style = next(
        element
        for element in ET.fromstring(data).iter("{http://www.w3.org/2000/svg}style")
        if "@font-face" in element.text
    )
    faces = re.findall(r"font-family:'([^']+)';font-weight:(\w+);src:url\(data:font/woff;base64,", style.text)
    assert ("Source Sans Pro", "normal") in faces
    assert len(style.text) < 80_000
    assert files.svg(figures.draw(ROW, small_trace, picture)) == data


def test_an_svg_embeds_no_font_of_its_maker():
    from playground.figures import files

    root = ET.fromstring("<svg><text style=\"font: 7px 'Secret Sans', sans-serif\">words</text></svg>")
    assert files.font_faces(root) == ""


# The grid of a sample


def test_python_and_the_command_line_see_a_sample_in_one_grid(monkeypatch):
    from playground import face

    look, traced_sizes = PHOTOGRAPHS[0].look, []
    vit = VisionTransformer(Config(image_size=(28, 28), patch_size=14, depth=1, width=8, mlp_width=8, heads=1))
    vit.name = look.model

    class Enough(Exception):
        pass

    def stop_tracing(vit, picture, size=None, **options):
        traced_sizes.append(size)
        raise Enough

    monkeypatch.setattr(face, "_picture", lambda image: (Image.new("RGB", (50, 40)), image))
    monkeypatch.setattr(face.tracing, "trace", stop_tracing)
    with pytest.raises(Enough):
        playground.trace(vit, PHOTOGRAPHS[0].name)
    assert traced_sizes == [(14 * look.grid[0], 14 * look.grid[1])]


def test_numbers_are_written_as_people_write_them():
    assert [captions.number(x) for x in (110, 99, 0.123, 0.00002, 0, -250)] == [
        "110", "99", "0.12", "2.0e-05", "0", "-250",
    ]  # fmt: skip


def test_a_caption_says_how_tokens_and_patches_are_counted(small_trace, picture):
    caption = caption_text(ROW, small_trace, picture)
    assert "(row, column, from 0)" in caption
    assert re.search(r"about \d+ of 67 tokens \(2\^entropy\)", caption)
    assert "attends to" in caption_text(replace(ROW, words="paper"), small_trace, picture)
    assert "looks at" not in caption_text(replace(ROW, words="paper"), small_trace, picture)


def test_without_a_caption_no_words_stand_under_a_figure(small_trace, picture):
    for spec in (replace(ROW, caption=False), replace(ROW, purpose="neurips"), replace(ROW, purpose="cvpr")):
        words = " ".join(text.get_text() for text in figures.draw(spec, small_trace, picture).texts)
        assert "looks at" not in words
        assert "Not in the picture" not in words
    assert "looks at" in " ".join(text.get_text() for text in figures.draw(ROW, small_trace, picture).texts)


def test_the_latex_of_a_venue_has_the_caption(disc_folder):
    assert main(["figure", "disc.png", "--model", "untrained", "--for", "neurips", "-o", "a.tex"]) == 0
    assert "looks at" in (disc_folder / "a.tex").read_text()


def test_latex_sets_the_power_as_a_power():
    """Once, the LaTeX caption said "2\\textasciicircum{}entropy"."""
    assert files.tex("about 11 of 201 tokens (2^entropy)") == r"about 11 of 201 tokens ($2^{\mathrm{entropy}}$)"


def test_a_number_above_another_is_written_larger():
    """Once, an atlas said "brightest from 10 %, 2 places above it, up to 10 %"."""
    assert captions.distinct_numbers(0.10, 0.12, captions.percent) == ("10 %", "12 %")
    assert captions.distinct_numbers(0.1004, 0.1041, captions.percent) == ("10 %", "10.4 %")
    assert captions.distinct_numbers(0.10004, 0.10041, captions.percent) == ("10 %", "10.04 %")
    assert captions.distinct_numbers(1.231, 1.234, captions.number) == ("1.231", "1.234")


def test_no_smaller_number_stands_on_a_map_whose_largest_has_none(small_trace, picture):
    """Once, if the query had the largest weight, the only number stood on a neighbour with a smaller weight."""
    subject = subjects(ROW, small_trace, picture)[1]
    grid = np.zeros(small_trace.grid)
    grid[3, 4], grid[3, 5] = 0.6, 0.3  # patch 3, 4 is the query
    map_domain = maps.Domain(0, 0.1, "share", percent=True, open_end=True)
    sheet = MagicMock()
    map_panel(ShownMap(OneMap(subject, ROW, None), maps.Map(grid, (), None)), map_domain).draw(
        sheet, None, Box(0, 0, 1, 1)
    )
    assert [call.args[-1] for call in sheet.number.call_args_list] == ["30"]
    assert [call.args[3] for call in sheet.number_beside.call_args_list] == ["60 %"]


# A notebook


def test_a_notebook_holds_a_picture_of_its_own_width_and_not_a_slide(small_trace, picture):
    figure = playground.figure(small_trace, 1, 2, (3, 4), image=picture)
    slide_png = io.BytesIO()
    figure.savefig(slide_png, format="png")
    cell_png = figure._repr_png_()
    assert Image.open(io.BytesIO(cell_png)).width == 900
    assert len(cell_png) < len(slide_png.getvalue()) / 2


# Options without effect, new folders and interrupts


@pytest.mark.parametrize("suffix", ["npz", "csv", "json", "txt", "tex"])
def test_a_theme_is_refused_for_a_file_without_a_drawing(suffix, disc_folder, capsys):
    arguments = ["figure", "disc.png", "--model", "untrained", "-o", f"a.{suffix}"]
    assert main([*arguments, "--theme", "dark"]) == 2
    assert "--theme would change nothing here" in capsys.readouterr().err
    assert not (disc_folder / f"a.{suffix}").exists()


@pytest.mark.parametrize("suffix", ["npz", "csv", "json"])
@pytest.mark.parametrize("options", ["--no-caption", "--for cvpr", "--colours own --layout heads", "--words paper"])
def test_numbers_have_neither_caption_nor_exposure(suffix, options, disc_folder, capsys):
    assert main(["figure", "disc.png", "--model", "untrained", *options.split(), "-o", f"a.{suffix}"]) == 2
    assert f"would change nothing here: a .{suffix} has the numbers themselves" in capsys.readouterr().err


def test_the_command_makes_a_missing_folder_and_says_so_and_python_makes_none(disc_folder, small_trace, capsys):
    assert main(["figure", "disc.png", "--model", "untrained", "--dpi", "20", "-o", "out/{image}.png"]) == 0
    assert "made the folder out" in capsys.readouterr().err
    with pytest.raises(PlaygroundError, match="there is no folder"):
        playground.save(small_trace, "nowhere/a.png", layer=1)
    assert not (disc_folder / "nowhere").exists()


def test_progress_in_a_log_has_few_lines():
    stream = io.StringIO()
    for _ in ProgressLines(range(20_000), desc="fetching", file=stream):
        pass
    assert stream.getvalue().count("\n") <= 2
    assert "\r" not in stream.getvalue().strip("\r\n")
    assert len(stream.getvalue()) < 100


def test_ctrl_c_while_options_are_read_is_quiet(monkeypatch, capsys):
    from playground import __main__

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "_parser", interrupt)
    assert main([]) == 130
    assert capsys.readouterr().err == ""


def test_nothing_heavy_is_imported_before_ctrl_c_is_heard():
    code = "import sys, playground.__main__; print({'torch', 'numpy', 'matplotlib', 'PIL'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_an_installed_command_is_named_as_people_type_it(monkeypatch):

    monkeypatch.setattr(command_line, "PROGRAM", "attention-playground")
    assert figures.command(ROW).startswith("attention-playground figure disc.png")
    assert "playground" in sys.modules


def test_the_size_of_a_block_stays_on_one_line():
    phrase = "blanked in blocks of 4 × 4, 2 × 2 and 1 × 1, the smaller where more moved"
    for width in np.arange(0.5, 4, 0.1):
        with house_style():
            lines = wrap(phrase, width, 10)
        assert " ".join(lines) == phrase
        assert not any(line.endswith("×") or line.startswith("×") for line in lines), lines


def test_a_caption_says_once_that_something_goes_through_all_layers(tmp_path):
    trace = playground.trace("untrained", "meadow")
    for options in ({"what": "rollout"}, {"what": "relevance"}):
        playground.save(trace, tmp_path / "words.txt", query=(3, 3), **options)
        words = (tmp_path / "words.txt").read_text()
        assert words.count("through all layers") == 1, words
