"""Whatever the page exports, the command that it prints makes the same file again, byte for byte, or says why not."""

import shlex
from functools import cache
from itertools import product

import pytest

from playground import PlaygroundError
from playground.__main__ import main
from playground.figures import command, html
from playground.figures.spec import CHOICES, LAYOUTS
from playground.serving import pictures, session, traces
from playground.ui import export_panel

VIEW = {"layer": "3", "head": "2", "query": "4,9"}
TINY = {"purpose": "column", "dpi": 20}
OTHER = {"picture": ("landscape", "bundled"), "model": ("flock", "untrained")}  # landscape has another shape


@cache
def seen_at(detail: int, beside: str | None = None) -> session.Session:
    """A person's session: the flock, so many times finer than native, beside another picture or model."""
    here = session.start({"sample": "flock", "detail": str(detail)}, dict(VIEW))[0]
    if beside:
        sample, model = OTHER[beside]
        here.compare(pictures.sample(sample), model)
    return here


def on_the_page(here, view: dict, kind: str, layout: str, look: dict):
    """(the description, the file or the sentence instead of it); (None, a sentence) where nothing is offered."""
    here.view = VIEW | view
    spec = None
    try:
        if kind == "html":
            html.check(export_panel.description(here, layout))
            spec = export_panel.interactive(here, **look)
            return spec, html.page(spec, export_panel._traces(here, spec)[0], here.picture.image).encode()
        spec = export_panel.description(here, layout, **look)
        if kind in export_panel.NUMBERS:
            return spec, export_panel.numbers(here, spec, kind)
        return spec, export_panel.picture(here, spec, kind)
    except PlaygroundError as error:
        return spec, str(error)


def by_command(spec, kind: str, folder, capsys):
    out = folder / f"again.{kind}"
    capsys.readouterr()
    if main(shlex.split(command(spec, out))[3:]) == 0:
        return out.read_bytes()
    return capsys.readouterr().err.strip().removeprefix("playground: ")


def assert_the_same(here, view, kind, layout, look, folder, capsys) -> bool:
    """Gives whether there was a file to compare."""
    spec, ours = on_the_page(here, view, kind, layout, look)
    if spec is None:
        return False  # refused before there was anything to download, and so no command was printed
    theirs = by_command(spec, kind, folder, capsys)
    assert ours == theirs, f"{command(spec)} makes another file"
    return isinstance(ours, bytes)


OFFERED = [layout for layout in LAYOUTS if layout != "grid"]  # on the page nobody says which rows and columns


@pytest.mark.parametrize("layout", OFFERED)
@pytest.mark.parametrize("what", CHOICES["what"])
def test_every_layout_of_everything(what, layout, tmp_path, capsys):
    here = seen_at(1, "picture" if layout == "compare" else None)
    made = assert_the_same(here, {"what": what}, "png", layout, TINY, tmp_path, capsys)
    has_no_heads = what in ("similarity", "rollout", "components", "norm")
    assert made == (not has_no_heads or layout in ("head", "convolution", "compare", "components"))


@pytest.mark.parametrize("layout", ["head", "heads", "scale"])
@pytest.mark.parametrize("what", ["weight", "similarity"])
def test_a_finer_grid(what, layout, tmp_path, capsys):
    made = assert_the_same(seen_at(2), {"what": what}, "png", layout, TINY, tmp_path, capsys)
    assert made == (what == "weight" or layout == "head")


@pytest.mark.parametrize(
    ("layout", "kind"),
    [*((layout, "svg") for layout in OFFERED), ("head", "pdf"), ("compare", "pdf"), ("curves", "pdf")],
)
def test_every_layout_as_a_drawing(layout, kind, tmp_path, capsys):
    here = seen_at(1, "model" if layout == "compare" else None)
    assert assert_the_same(here, {"scale": "off"}, kind, layout, TINY, tmp_path, capsys)


@pytest.mark.parametrize(
    ("layout", "kind"),
    [*((layout, "csv") for layout in OFFERED), ("head", "npz"), ("compare", "npz"), ("head", "json")],
)
def test_the_numbers_of_every_layout(layout, kind, tmp_path, capsys):
    here = seen_at(1, "picture" if layout == "compare" else None)
    assert assert_the_same(here, {"what": "value"}, kind, layout, {}, tmp_path, capsys)


@pytest.mark.parametrize(("layout", "sweep"), [("head", "scale"), ("convolution", "layers"), ("compare", "layers")])
def test_what_moves(layout, sweep, tmp_path, capsys):
    here = seen_at(1, "picture")
    assert assert_the_same(here, {}, "webp", layout, TINY | {"sweep": sweep}, tmp_path, capsys)


@pytest.mark.parametrize("beside", OTHER)
@pytest.mark.parametrize("detail", [1, 2])
def test_what_is_compared_is_as_fine_as_on_the_page(beside, detail, tmp_path, capsys):
    here = seen_at(detail, beside)
    assert assert_the_same(here, {}, "png", "compare", TINY, tmp_path, capsys)
    other, wish = here.other
    shown = traces.trace(other, wish, here.own)
    drawn = export_panel._traces(here, export_panel.description(here, "compare"))[1]["other"]
    assert drawn.grid == shown.grid


@pytest.mark.parametrize("layout", ["head", "scale", "wall", "compare"])
@pytest.mark.parametrize("scale", ["off", "0.3"])
def test_the_whole_pass_with_another_scale(layout, scale, tmp_path, capsys):
    view = {"scale": scale, "pass": "whole"}
    assert assert_the_same(seen_at(1, "picture"), view, "png", layout, TINY, tmp_path, capsys)


LOOKS = (
    {"smooth": "true"}, {"direction": "column", "what": "value"}, {"colours": "own"}, {"ceiling": "0.05"}, {"k": "7"},
    {"query": "cls"}, {"scale": "0.25", "smooth": "true", "what": "score"},
    {"draw": "light", "log": "true"}, {"depth": "3"},
)  # fmt: skip


@pytest.mark.parametrize("view", LOOKS, ids=str)
@pytest.mark.parametrize("kind", ["png", "html"])
def test_every_look(view, kind, tmp_path, capsys):
    layout, look = ("head", {"all_layers": False}) if kind == "html" else ("head", TINY)
    assert assert_the_same(seen_at(1), view, kind, layout, look, tmp_path, capsys)


REST = {"log": "true", "grid": "true", "draw": "light", "locked": "true"}
ALIVE = [
    *({"what": what, "layer": layer} for what, layer in product(("weight", "value", "score"), ("0", "4"))),
    {"scale": "off"}, {"scale": "on", "pass": "whole"}, REST, {"what": "score"} | REST, {"layer": "5", "head": "0"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("view", "all_layers", "detail"),
    [*((view, False, 1) for view in ALIVE), ({}, True, 1), (REST, True, 1), ({"what": "score"}, False, 2)],
    ids=str,
)
def test_what_is_interactive(view, all_layers, detail, tmp_path, capsys):
    look = {"all_layers": all_layers}
    assert assert_the_same(seen_at(detail), view, "html", "head", look, tmp_path, capsys)


@pytest.mark.parametrize(
    "view", [{"what": "similarity"}, {"what": "rollout"}, {"scale": "off", "pass": "whole"}], ids=str
)
def test_what_cannot_be_interactive_is_not_offered_and_the_command_says_why(view, tmp_path, capsys):
    here = seen_at(1)
    spec, sentence = on_the_page(here, view, "html", "head", {"all_layers": True})
    assert spec is None
    assert "html" not in export_panel._kinds(here, None)
    picture = export_panel.description(here, "head")
    assert by_command(picture, "html", tmp_path, capsys) == sentence
    here.view = dict(VIEW)
    assert "html" in export_panel._kinds(here, None)
