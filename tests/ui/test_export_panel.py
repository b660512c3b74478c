"""The page's figures are the command's, pixel for pixel."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.__main__ import main
from playground.figures import command
from playground.serving import kept, pictures, session
from playground.ui import export_panel

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def here():
    return session.start({"sample": "flock"}, {"layer": "3", "head": "2", "query": "4,9", "what": "value"})[0]


@pytest.mark.parametrize(
    ("layout", "look"),
    [
        ("convolution", {}),
        ("head", {"purpose": "half", "theme": "dark", "footer": True}),
        ("scale", {"caption": False}),
    ],
    ids=str,
)
def test_a_figure_of_the_page_equals_the_commands(here, tmp_path, capsys, layout, look):
    spec = export_panel.description(here, layout, dpi=40, **look)
    ours = np.asarray(Image.open(io.BytesIO(export_panel.picture(here, spec, "png"))))
    words = command(spec, tmp_path / "again.png").split()
    assert main(words[3:]) == 0
    assert np.array_equal(ours, np.asarray(Image.open(tmp_path / "again.png")))


def test_two_pictures_side_by_side_equal_the_commands(here, tmp_path):
    here.compare(pictures.sample("meadow"), "bundled")
    spec = export_panel.description(here, "compare", dpi=40)
    assert spec.colours == "own", "on the screen each of two pictures has an exposure of its own"
    ours = np.asarray(Image.open(io.BytesIO(export_panel.picture(here, spec, "png"))))
    assert main(command(spec, tmp_path / "again.png").split()[3:]) == 0
    assert np.array_equal(ours, np.asarray(Image.open(tmp_path / "again.png")))


def test_the_preview_is_the_figure_and_is_drawn_again_only_when_it_changes(monkeypatch):
    drawn, picture = [], export_panel.picture

    def draw(here, spec, kind: str) -> bytes:
        drawn.append((spec.caption, picture(here, spec, kind)))
        return drawn[-1][1]

    monkeypatch.setattr(export_panel, "picture", draw)
    kept.of_all.cache_clear()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["sample"] = "flock"
    app.session_state.exporting = True
    app.run().run()
    assert not app.exception
    assert len(drawn) == 1
    assert abs(Image.open(io.BytesIO(drawn[0][1])).width - export_panel.PREVIEW) < 10
    app.session_state.caption = False
    app.run()
    assert [caption for caption, _ in drawn] == [True, False]


def test_what_is_made_of_two_pictures_stays_with_the_person_whose_own_one_of_them_is():
    here = session.start({"sample": "flock"}, {})[0]
    own = pictures.upload((ROOT / "assets/samples/portrait.jpg").read_bytes(), "mine.jpg")
    kept.of_all.cache_clear()
    here.compare(own, "bundled")
    export_panel._kept(here, ("preview", "spec"), lambda: b"of both")
    assert kept.of_all().bytes == 0 < here.worked.bytes
    here.alone()
    assert export_panel._kept(here, ("preview", "spec"), lambda: b"of the sample") == b"of the sample"
    assert kept.of_all().bytes > 0


def test_an_interactive_figure_keeps_the_theme_and_may_be_packed_in_eight_bits():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["sample"] = "flock"
    app.session_state.exporting = True
    app.session_state.kind = "html"
    app.session_state.pack = "int8"
    app.run()
    assert not app.exception
    assert {"--pack", "int8"} <= set(app.code[0].value.split())
    said = next(caption.value for caption in app.caption if "One file of" in caption.value)
    assert "With q and k in 8 bits: a weight is off by at most" in said


def test_only_what_moves_is_offered_in_motion():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["sample"] = "flock"
    app.query_params["what"] = "similarity"
    app.session_state.exporting = True
    app.session_state.kind = "webp"
    app.session_state.sweep = "scale"
    app.run()
    assert not app.exception
    assert {"--sweep", "layers"} <= set(app.code[0].value.split())


def test_every_kind_of_file_is_what_it_says(here):
    spec = export_panel.description(here, "head", dpi=30)
    assert export_panel.picture(here, spec, "pdf").startswith(b"%PDF")
    assert b"<svg" in export_panel.picture(here, spec, "svg")[:500]
    moving = export_panel.description(here, "head", dpi=30, sweep="layers")
    assert Image.open(io.BytesIO(export_panel.picture(here, moving, "webp"))).n_frames > 1


@pytest.mark.parametrize(("page", "layout"), [("heads", "atlas"), ("scale", "curves")])
def test_a_lesson_exports_its_own_figure_and_link(page, layout, tmp_path):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["sample"] = "flock"
    app.query_params["what"] = "similarity"  # of the microscope, which has no part in this figure
    app.run()
    app.switch_page(f"pages/{page}.py").run()
    app.session_state.exporting = True
    app.run()
    assert not app.exception
    words, link = (code.value for code in app.code[:2])
    assert f"--layout {layout}" in words
    assert "sample=flock" in link
    out = tmp_path / "made.svg"
    assert main([*words.split()[3:-2], "-o", str(out)]) == 0
    assert "<svg" in out.read_text()[:500]


def test_the_page_says_the_command_that_makes_its_numbers_again(here, tmp_path):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["sample"] = "flock"
    app.session_state.exporting = True
    app.session_state.kind = "numbers"
    app.session_state.table = "csv"
    app.run()
    assert not app.exception
    words = app.code[0].value.split()
    assert words[-1].endswith(".csv")
    assert main([*words[3:-1], str(tmp_path / "made.csv")]) == 0
    here.view = {}
    spec = export_panel.description(here, "convolution")
    lines = (tmp_path / "made.csv").read_text().splitlines()
    assert "model,image,layer,head,patch,what,direction,scale,token,value" in lines
    assert lines == export_panel.numbers(here, spec, "csv").decode().splitlines()
