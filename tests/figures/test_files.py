"""A figure's file says where it comes from, and its command makes it again."""

import shlex
from dataclasses import fields, replace

import numpy as np
import pytest
from conftest import scramble
from PIL import Image
from pypdf import PdfReader

import playground
from playground import PlaygroundError
from playground.__main__ import _parser, main
from playground.figures import Spec, batch, compose, layouts
from playground.figures.command_line import FLAGS, command, needless
from playground.figures.drawing.naming import published_spec
from playground.vit import VisionTransformer

SPEC = Spec(image="disc.png", model="untrained", layer=1, head=2, query=(3, 4), width="column", dpi=40)
FIGURES = {  # a file's name -> the options of its figure
    "one.png": ("--layer", "1", "--what", "value", "--direction", "column"),
    "narrow.pdf": ("--layout", "convolution", "--width", "82.55"),
    "heads.svg": ("--layout", "heads", "--width", "page"),
    "wall.png": ("--layout", "wall", "--theme", "dark", "--ceiling", "0.07"),
    "scale.pdf": ("--layout", "scale", "--scale", "0.3"),
    "two.svg": ("--layout", "compare", "--with-image", "noise.png", "--colours", "grey"),
    "grid.pdf": ("--layout", "grid", "--rows", "layers:0,2", "--columns", "heads:0-1,mean"),
    "cut.png": ("--patch", "3,4", "--cut", "3,4>5,5", "--head", "max", "--no-caption"),
    "numbers.csv": ("--layout", "heads"),
    "alive.html": ("--layer", "1", "--all-layers", "--head", "2", "--bare"),
}


def command_in(path) -> list[str]:
    data = path.read_bytes()
    if path.suffix == ".png":
        return shlex.split(Image.open(path).text["Command"])
    if path.suffix == ".pdf":
        return shlex.split(PdfReader(path).metadata["/Keywords"])
    text = data.decode()
    start = text.index("python -m playground figure")
    line = text[start:].split("\n")[0].split("<")[0].split('"')[0]
    return shlex.split(line.replace("&gt;", ">").replace("&#x27;", "'"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_s_own_command_makes_it_again(name, disc_folder):
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    dpi = () if name.endswith((".svg", ".csv", ".html")) else ("--dpi", "40")
    assert main(["figure", "disc.png", "--model", "untrained", "-o", name, *dpi, *FIGURES[name]]) == 0
    before, words = (disc_folder / name).read_bytes(), command_in(disc_folder / name)
    assert "disc.png" in words
    (disc_folder / name).unlink()
    assert main([*words[words.index("figure") : -1], name]) == 0
    is_same = before == (disc_folder / name).read_bytes()  # pytest would need minutes to compare megabytes
    assert is_same, words


def trace_of(name="disc.png", model="untrained", **options):
    return playground.trace(model, name, **options)


PYTHON_FIGURES = {  # a figure drawn by Python -> a function that gives its trace and its options
    "whole": lambda: (trace_of(scale="off"), {}),
    "one layer": lambda: (trace_of(), {"scale": "off", "layer": -1, "head": "mean"}),
    "cut": lambda: (trace_of(cut=["3,4>5,5", "1,1>2,2"]), {}),
    "size": lambda: (trace_of(size=(64, 96)), {"query": 40}),
    "grid": lambda: (trace_of(size=(64, 96)), {"layout": "grid", "rows": "layers:0,2", "columns": "heads:0-1"}),
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON_FIGURES)
def test_a_figure_drawn_by_python_is_made_again_by_its_command(name, disc_folder):
    seen, options = PYTHON_FIGURES[name]()
    before = playground.save(seen, "a.png", dpi=40, width="column", **options).read_bytes()
    words = command_in(disc_folder / "a.png")
    (disc_folder / "a.png").unlink()
    assert main(words[words.index("figure") :]) == 0
    assert (disc_folder / "a.png").read_bytes() == before, words


def test_a_figure_names_no_command_that_would_make_another(disc_folder, small):
    picture = Image.open("disc.png").convert("RGB")
    for seen in (trace_of(name=picture), playground.trace(small, "disc.png")):
        assert "Command" not in Image.open(playground.save(seen, "a.png", dpi=40)).text
    traces = {"layout": "compare", "other": trace_of(size=(64, 96))}
    assert "Command" not in Image.open(playground.save(trace_of(), "a.png", dpi=40, **traces)).text
    with pytest.raises(ValueError, match="names no model"):
        command(Spec(image="disc.png"))


def parsed(line: str) -> Spec:
    words = shlex.split(line)
    options = _parser().parse_args(words[3:])
    return replace(batch._spec(options), image=options.images[0])


def test_the_command_holds_every_field():
    other_values = {
        "image": "my cat.jpg", "layout": "compare", "model": "ViT-S/16", "weights": "w.safetensors", "size": (32, 64),
        "layer": 3, "head": 2, "query": (1, 2), "scale": "0.25", "cut": "1,2>3,4", "what": "relevance", "label": "3",
        "method": "chefer", "other_image": "-dog.png", "width": 89.0, "theme": "dark", "colours": "viridis",
        "ceiling": 0.05, "dpi": 99,
    }  # fmt: skip
    spec = Spec(**other_values, caption=False, whole=True)
    line = command(spec, "a.png")
    again = parsed(line)
    unused = needless(spec)
    for name in other_values.keys() - unused - {"other_image"}:
        assert getattr(again, name) == getattr(spec, name), (name, line)
    assert again.other_image == "./-dog.png"
    assert (again.caption, again.whole) == (False, True)
    shown = {field.name for field in fields(Spec)} - {"image", "repeatable"}
    assert shown == set(FLAGS)


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_what_a_layout_has_not_is_not_in_its_command(layout):
    words = shlex.split(command(replace(SPEC, layout=layout, other_image="b.png")))
    fixed = layouts.LAYOUTS[layout].fixed
    assert not [FLAGS[name] for name in fixed if FLAGS[name] in words], words


def test_a_png_has_its_size_its_dots_and_its_origin(disc_folder):
    image = Image.open(playground.save(trace_of(), "a.png", layer=1, head=2, query=(3, 4), width=80, dpi=120))
    assert image.width == int(80 / 25.4 * 120)
    assert image.info["dpi"] == pytest.approx((120, 120), abs=0.1)
    for part in ("model: untrained", "weights: random weights, sha256:", "image: disc.png", "pixels: sha256:"):
        assert part in image.text["Description"]
    for part in ("layer: 1", "head: 2", "patch: 3,4", "shows: weight, row", "scale: 1/√"):
        assert part in image.text["Description"]


def test_a_pdf_embeds_its_fonts_and_has_its_words_as_text(disc_folder):
    (page,) = PdfReader(playground.save(trace_of(), "a.pdf", layer=1, head=2, query=(3, 4))).pages
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    fonts = [font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font for font in fonts]
    assert all("/FontFile2" in font["/FontDescriptor"].get_object() for font in fonts)
    assert any("SourceSansPro" in font["/BaseFont"] for font in fonts)
    assert "attends to" in page.extract_text()


def test_a_name_in_any_script_is_drawn(small_trace, picture):
    for name in ("猫.png", "кошка.png", "a$b$c.png", "\udcff.png"):
        figure = compose.draw(replace(SPEC, image=name, what="norm", width="page"), small_trace, picture)
        assert figure.pixels().width > 100


def test_metadata_name_no_folder_of_anybody(picture, tmp_path):
    folder = tmp_path / "jane-doe"
    folder.mkdir()
    picture.save(folder / "cat.png")
    seen = playground.trace("untrained", folder / "cat.png")
    for kind in ("png", "svg", "html", "csv"):
        data = playground.save(seen, tmp_path / f"a.{kind}", layer=1).read_bytes()
        assert b"jane-doe" not in data, kind
    spec = published_spec(Spec(image="/a/b.png", model="/c/d.safetensors", rows="pictures:/e/f.png,g.png"))
    assert (spec.image, spec.model, spec.rows) == ("b.png", "d.safetensors", "pictures:f.png,g.png")
    assert published_spec(Spec(model="account/name")).model == "account/name"


def test_a_figure_goes_on_to_be_edited_and_saved_by_matplotlib(small_trace, tmp_path):
    figure = playground.figure(small_trace, layer=1, head=2, query=(3, 4))
    figure.axes[0].set_title("mine")
    figure.savefig(tmp_path / "a.png", dpi=40)
    assert "layer: 1" in Image.open(tmp_path / "a.png").text["Description"]
    figure.savefig(tmp_path / "b.png", dpi=40, metadata={}, transparent=True)
    image = Image.open(tmp_path / "b.png")
    assert "Description" not in image.text
    assert np.asarray(image)[0, 0, 3] == 0


def test_what_can_t_be_written_is_refused_in_a_sentence(small_trace, tmp_path):
    with pytest.raises(PlaygroundError, match=r"A figure is saved as \.png"):
        playground.save(small_trace, tmp_path / "a.docx")
    with pytest.raises(PlaygroundError, match="there is no folder"):
        playground.save(small_trace, tmp_path / "new" / "a.svg")
    with pytest.raises(PlaygroundError, match="no option letters"):
        playground.save(small_trace, tmp_path / "a.svg", letters=True)


def test_weights_from_a_file_are_in_the_command(disc_folder):
    from safetensors.torch import save_file

    save_file(scramble(VisionTransformer(playground.load("untrained").config)).state_dict(), "mine.safetensors")
    seen = playground.trace(playground.load("untrained", weights="mine.safetensors"), "disc.png")
    words = command_in(playground.save(seen, "a.png", dpi=40))
    assert words[words.index("--weights") + 1] == "mine.safetensors"
