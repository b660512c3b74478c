"""A figure as PDF, as a conference's reader sees it: real text in embedded fonts, and no author's name."""

import shutil
import subprocess
from dataclasses import replace

import pytest
from figure_files import pdf_fonts, read_pdf
from PIL import Image

import playground
from playground import figures
from playground.figures import Spec
from playground.samples import SAMPLES

SPEC = Spec(image="кошка.jpg", model="untrained", layer=1, head=2, query=(3, 4), purpose="cvpr", footer=True)
WORDS = {  # a layout -> words that its figure contains
    "convolution": "3×3 convolution",
    "heads": "head 3",
    "grid": "mean",
    "wall": "layer",
    "atlas": "share of a patch’s attention",
    "curves": "largest weight",
}


@pytest.fixture(scope="module")
def photo():
    return Image.open(SAMPLES[0].path).convert("RGB").resize((120, 120))


@pytest.fixture(scope="module")
def photo_trace(photo):
    return playground.trace(playground.load("untrained"), photo)


def draw_layout(layout, trace, photo):
    grid_options = {"rows": "layers:1,2", "columns": "heads:0,mean"} if layout == "grid" else {}
    spec = replace(SPEC, layout=layout, **grid_options)
    return figures.draw(spec) if layout == "curves" else figures.draw(spec, trace, photo)


@pytest.mark.slow
@pytest.mark.parametrize("layout", WORDS)
@pytest.mark.parametrize("saver", ["by us", "by matplotlib"])
def test_every_font_is_embedded_and_none_is_of_type_3(photo_trace, photo, tmp_path, layout, saver):
    figure, file = draw_layout(layout, photo_trace, photo), tmp_path / "a.pdf"
    figures.write(figure, file) if saver == "by us" else figure.savefig(file)
    (page,) = read_pdf(file).pages
    font_types = {font.get_object()["/Subtype"] for font in page["/Resources"]["/Font"].values()}
    assert font_types <= {"/TrueType", "/Type0"}
    assert all(pdf_fonts(page).values()), pdf_fonts(page)
    assert WORDS[layout] in " ".join(page.extract_text().split())


def test_an_anonymous_pdf_has_no_name_no_digest_no_command_and_no_author(photo_trace, photo, tmp_path):
    spec = replace(SPEC, image="/home/jane/jane.jpg", anonymous=True, footer=False)
    reader = read_pdf(figures.write(figures.draw(spec, photo_trace, photo), tmp_path / "a.pdf"))
    text_of_file = f"{dict(reader.metadata)} {reader.pages[0].extract_text()} {reader.xmp_metadata}"
    assert not any(word in text_of_file for word in ("jane", "sha256", "python -m", "/Author", "CreationDate")), (
        text_of_file
    )


@pytest.mark.parametrize("layout", ["convolution", "grid"])
def test_poppler_reads_the_same_fonts_and_words(photo_trace, photo, tmp_path, layout):
    if not (shutil.which("pdffonts") and shutil.which("pdftotext")):
        pytest.skip("pdffonts and pdftotext are not on this machine (poppler-utils has them): pypdf alone looked")
    file = figures.write(draw_layout(layout, photo_trace, photo), tmp_path / "a.pdf")
    table = subprocess.check_output(["pdffonts", file], text=True).splitlines()[2:]
    assert table
    for line in table:
        assert "TrueType" in line, line
        assert line.split()[-5] == "yes", line  # the font is embedded
    text_of_file = " ".join(subprocess.check_output(["pdftotext", file, "-"], text=True).split())
    assert WORDS[layout] in text_of_file
