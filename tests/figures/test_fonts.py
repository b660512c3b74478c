"""Letters that Source Sans lacks come from another font of the machine; where none has them, a sentence says so."""

import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from figure_files import pdf_fonts, read_pdf, svg_texts
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager
from PIL import ImageChops

import playground
from playground import figures
from playground.__main__ import main
from playground.figures import Spec, files
from playground.figures.drawing import fonts

CAT, DOG = "猫", "犬"
SPEC = Spec(image=f"{CAT}.png", model="small", layer=1, head=2, query=(3, 4), purpose="page", dpi=60, footer=True)


def write_font(file, letter: str, cubic: bool) -> None:
    """A font of one letter, a full square, with TrueType or PostScript outlines."""
    builder = FontBuilder(1000, isTTF=not cubic)
    names = [".notdef", "letter"]
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(letter): "letter"})
    glyphs = {}
    for name in names:
        pen = T2CharStringPen(1000, None) if cubic else TTGlyphPen(None)
        pen.moveTo((50, 0))
        for x, y in ((50, 900), (950, 900), (950, 0)):
            pen.lineTo((x, y))
        pen.closePath()
        glyphs[name] = pen.getCharString() if cubic else pen.glyph()
    builder.setupCFF("Square", {}, glyphs, {}) if cubic else builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 50)))
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": f"Square {letter}", "styleName": "Regular", "psName": f"Square{ord(letter)}"})
    builder.setupOS2(sTypoAscender=900, usWeightClass=400)
    builder.setupPost()
    builder.save(file)


@pytest.fixture
def clear_font_caches(monkeypatch):
    """A machine with none but the fonts that come with us, whatever is installed on this one; a function that clears
    the caches of fonts."""

    def clear():
        for cached_function in (fonts._has, fonts._font_with, fonts._local_fonts, fonts.width):
            cached_function.cache_clear()
        fontManager._findfont_cached.cache_clear()

    fonts.families(None)  # registers Source Sans
    packages = {"matplotlib", "font_source_sans_pro"}
    ours = [entry for entry in fontManager.ttflist if packages & {*Path(entry.fname).parts}]
    with monkeypatch.context() as patched:
        patched.setattr(fontManager, "ttflist", ours)
        clear()
        yield clear
    clear()


@pytest.fixture(params=["truetype", "postscript"])
def installed_font_kind(request, tmp_path, clear_font_caches):
    file = tmp_path / "square.otf"
    write_font(file, CAT, request.param == "postscript")
    fontManager.addfont(file)
    clear_font_caches()
    return request.param


def draw_named(name: str, trace, picture):
    return figures.draw(replace(SPEC, image=name), trace, picture)


def test_another_font_of_the_machine_has_what_ours_lack(installed_font_kind, small_trace, picture):
    figure = draw_named(f"{CAT}.png", small_trace, picture)
    assert figure.lacking == ""
    missing_drawing = draw_named(f"{fonts.REPLACEMENT}.png", small_trace, picture)
    difference = ImageChops.difference(*(files.pixels(drawing).convert("RGB") for drawing in (figure, missing_drawing)))
    assert difference.getbbox(), "the letter is drawn as if there were no font"
    page = read_pdf_of(figure)
    assert f"{CAT}.png" in page.extract_text()
    if installed_font_kind == "truetype":
        assert all(pdf_fonts(page).values())
        assert any("Square" in name for name in pdf_fonts(page))
    else:  # a font that is not TrueType becomes a Type 3 font
        assert {font.get_object()["/Subtype"] for font in page["/Resources"]["/Font"].values()} == {"/Type3"}


def words_of_svg(figure) -> str:
    return " ".join(svg_texts(ET.fromstring(files.svg(figure))))


def read_pdf_of(figure):
    return read_pdf(io.BytesIO(files.pdf(figure))).pages[0]


def test_a_letter_that_no_font_has_is_said_and_an_svg_keeps_it(clear_font_caches, small_trace, picture):
    figure = draw_named(f"{CAT}{DOG}{CAT}.png", small_trace, picture)
    assert figure.lacking == CAT + DOG
    assert f"{CAT}{DOG}{CAT}.png" in words_of_svg(figure)
    assert fonts.REPLACEMENT * 3 in read_pdf_of(figure).extract_text()


def test_a_lone_surrogate_is_drawn_as_a_missing_letter(small_trace, picture):
    assert f"a{fonts.REPLACEMENT}.png" in words_of_svg(draw_named("a\udcff.png", small_trace, picture))
    assert files.png(draw_named("a\udcff.png", small_trace, picture))


@pytest.mark.slow
def test_the_command_names_missing_letters_once_and_python_warns(
    clear_font_caches, picture, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    picture.save(f"{CAT}.png")
    trace = playground.trace("untrained", f"{CAT}.png")
    arguments = ["figure", f"{CAT}.png", "--model", "untrained", "--layer", "1,2", "--footer", "-o", "out-{layer}"]
    assert main([*arguments[:-1], f"{arguments[-1]}.png"]) == 0
    assert capsys.readouterr().err.count(f"no font on this machine has {CAT}") == 1
    assert main([*arguments[:-1], f"{arguments[-1]}.svg"]) == 0
    assert "no font" not in capsys.readouterr().err
    with pytest.warns(UserWarning, match=f"no font on this machine has {CAT}"):
        playground.figure(trace, footer=True)
