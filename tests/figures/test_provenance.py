"""A figure's metadata reproduce it; an anonymous figure has no names."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from conftest import scramble
from figure_files import read_pdf
from PIL import Image

import playground
from figures.honest import ROW, caption_text
from playground import PlaygroundError, figures
from playground.__main__ import main
from playground.figures import Spec, files
from playground.figures.drawing import option_words
from playground.vit import VisionTransformer

# Metadata


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_command_in_a_file_makes_that_file(suffix, disc_folder, monkeypatch):
    vit = playground.load("untrained")
    file = playground.save(playground.trace(vit, playground.open_image("disc.png")), f"row{suffix}", layer=1, dpi=40)
    bytes_before, command_words = file.read_bytes(), command_in(file)
    assert command_words[-2:] == ["-o", f"row{suffix}"]
    assert "disc.png" in command_words
    file.unlink()
    assert main(command_words[command_words.index("figure") :]) == 0
    assert first_difference(bytes_before, file.read_bytes()) is None


@pytest.mark.parametrize("inches", [89 / 25.4, 5.5, 8.5 / 2.54, 397 / 72.27, 10 / 3])
def test_a_width_is_written_so_that_it_is_read_as_the_same(inches):
    assert option_words.read_length(option_words.write_length(inches)) == inches


FIGURE_OPTIONS = {  # a file's name -> the options of its figure
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


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURE_OPTIONS)
def test_ten_figures_are_made_again_by_their_commands(name, disc_folder):
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    dpi_options = () if name.endswith(".svg") else ("--dpi", "40")
    assert main(["figure", "disc.png", "--model", "untrained", "-o", name, *dpi_options, *FIGURE_OPTIONS[name]]) == 0
    bytes_before, command_words = (disc_folder / name).read_bytes(), command_in(disc_folder / name)
    (disc_folder / name).unlink()
    assert main(command_words[command_words.index("figure") :]) == 0
    assert first_difference(bytes_before, (disc_folder / name).read_bytes()) is None


def first_difference(first_bytes: bytes, second_bytes: bytes) -> tuple | None:
    """The first difference of two files with its surroundings, because pytest needs minutes to compare megabytes."""
    if first_bytes == second_bytes:
        return None
    offset = next(
        (offset for offset, (a, b) in enumerate(zip(first_bytes, second_bytes, strict=False)) if a != b),
        min(len(first_bytes), len(second_bytes)),
    )
    return (
        offset,
        len(first_bytes),
        len(second_bytes),
        first_bytes[offset - 40 : offset + 40],
        second_bytes[offset - 40 : offset + 40],
    )


def trace_of(name="disc.png", model="untrained", **options):
    return playground.trace(model, name, **options)


PYTHON_FIGURES = {  # a figure drawn by Python -> a function that gives its traces and its options
    "whole": lambda: ([trace_of(scale="off")], {}),
    "one layer": lambda: ([trace_of()], {"scale": "off", "layer": -1, "head": "mean"}),
    "cut": lambda: ([trace_of(cut=["3,4>5,5", "1,1>2,2"])], {}),
    "size": lambda: ([trace_of(size=(64, 96))], {"query": 40}),
    "two pictures": lambda: ([trace_of(), trace_of("noise.png")], {"layout": "compare"}),
    "two models": lambda: ([trace_of(), trace_of(model="bundled")], {"layout": "compare"}),
    "two passes": lambda: ([trace_of(), trace_of(scale=0.3)], {"layout": "scale"}),
    "pictures": lambda: (
        [trace_of(), trace_of("noise.png")], {"layout": "grid", "rows": "pictures", "columns": "heads:0-1"}
    ),
    "models": lambda: (
        [trace_of(), trace_of(model="bundled")], {"layout": "grid", "rows": "models", "columns": "heads:0"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON_FIGURES)
def test_a_figure_drawn_by_python_is_made_again_by_its_command(name, disc_folder):
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    (seen, *other_traces), options = PYTHON_FIGURES[name]()
    draw_arguments = (
        {"other": other_traces if options.get("layout") == "grid" else other_traces[0]} if other_traces else {}
    )
    bytes_before = playground.save(seen, "a.png", dpi=40, **draw_arguments, **options).read_bytes()
    command_words = command_in(disc_folder / "a.png")
    (disc_folder / "a.png").unlink()
    assert main(command_words[command_words.index("figure") :]) == 0
    assert (disc_folder / "a.png").read_bytes() == bytes_before


def test_a_figure_names_no_command_that_would_make_another(disc_folder, small):
    import timm

    timm_model = timm.create_model("vit_tiny_patch16_224", depth=2, num_classes=7)
    memory_trace = playground.trace(timm_model, "disc.png")
    pixel_trace = playground.trace("untrained", Image.open("disc.png").convert("RGB").rotate(90))
    seeded_trace = playground.trace(playground.load("ViT-Ti/16", seed=1), "disc.png")
    for seen in (memory_trace, pixel_trace, seeded_trace, playground.trace(small, "disc.png")):
        for name in ("a.png", "a.json", "a.html"):
            assert b"-o a" not in playground.save(seen, name, **({"dpi": 40} if name == "a.png" else {})).read_bytes()
        assert "Command" not in Image.open("a.png").text
    cut_trace = trace_of(cut="3,4>5,5")
    playground.save(trace_of(), "a.png", dpi=40, layout="compare", other=cut_trace)
    assert "Command" not in Image.open("a.png").text
    with pytest.raises(PlaygroundError, match="has no option cut"):
        playground.save(cut_trace, "a.png", cut="1,1>2,2")


def train_one_step(vit, picture):
    """Trains the model for one step and returns its trace of the picture."""
    import torch

    vit.train().requires_grad_(True)(torch.rand(1, 3, 112, 112)).sum().backward()
    torch.optim.SGD(vit.parameters(), lr=0.1).step()
    return playground.trace(vit.eval(), picture)


def test_a_model_that_was_trained_in_memory_is_no_longer_what_its_name_loads(disc_folder):
    """Once, a changed model's figure named the original model, command and digest."""
    vit = playground.load("ViT-Ti/16", device="cpu")
    trace_before = playground.trace(vit, "disc.png")
    weights_before = playground.figure(trace_before).facts["weights"]
    assert weights_before.startswith("random weights, sha256:")
    trace_after = train_one_step(vit, "disc.png")
    weights_after = playground.figure(trace_after).facts["weights"]
    assert weights_after.startswith("changed in memory, sha256:"), weights_after
    assert weights_after[-16:] != weights_before[-16:]
    assert "Command" not in Image.open(playground.save(trace_after, "a.png", dpi=40)).text
    assert "ViT-Ti/16 (changed in memory)" in caption_text(Spec(image="disc.png"), trace_after, trace_after.shown)
    moved_trace = playground.trace(vit.to("cpu"), "disc.png")
    assert moved_trace.weight_versions == trace_after.weight_versions, "a move changes nothing"


def test_a_pass_that_is_older_than_its_model_s_weights_is_not_mixed_with_them(disc_folder):
    vit = playground.load("ViT-Ti/16", device="cpu")
    trace_before = playground.trace(vit, "disc.png")
    row = trace_before.row(0, 0, (1, 1))
    train_one_step(vit, "disc.png")
    assert (trace_before.row(0, 0, (1, 1)) == row).all(), "queries and keys are of the pass"
    assert playground.figure(trace_before).facts["weights"] == "unknown, changed after this pass"
    assert "Command" not in Image.open(playground.save(trace_before, "a.png", dpi=40)).text
    for measure in (trace_before.features, lambda: trace_before.value_norms(0), lambda: trace_before.relevance((1, 1))):
        with pytest.raises(PlaygroundError, match="changed after this pass"):
            measure()


def test_weights_from_a_file_are_in_the_command(disc_folder):
    import timm
    from safetensors.torch import save_file

    save_file(timm.create_model("vit_tiny_patch16_224", num_classes=7).state_dict(), "mine.safetensors")
    vit = playground.load("vit_tiny_patch16_224", weights="mine.safetensors", device="cpu")
    bytes_before = playground.save(playground.trace(vit, "disc.png"), "a.png", dpi=40).read_bytes()
    command_words = command_in(disc_folder / "a.png")
    assert command_words[command_words.index("--weights") + 1] == "mine.safetensors"
    (disc_folder / "a.png").unlink()
    assert main(command_words[command_words.index("figure") :]) == 0
    assert (disc_folder / "a.png").read_bytes() == bytes_before


def test_each_picture_of_a_comparison_has_its_own_photograph_and_name(disc_folder):
    """Once, the second picture's map was drawn on the first photograph."""
    Image.effect_noise((80, 120), 60).convert("RGB").save("noise.png")
    figure = playground.figure(trace_of(), layout="compare", other=trace_of("noise.png"))
    assert figure.facts["other image"] == "noise.png"
    assert figure.facts["other pixels"] != figure.facts["pixels"]


def test_another_pass_beside_the_trained_one_is_drawn(disc_folder):
    """Once, both maps were of the first pass."""
    seen, unscaled_trace = trace_of(), trace_of(scale="off")
    figure = playground.figure(seen, layout="scale", other=unscaled_trace)
    assert "whole forward pass" in figure.facts["scale"]
    with pytest.raises(PlaygroundError, match="beside one with"):
        playground.figure(unscaled_trace, layout="scale", other=seen)


@pytest.mark.parametrize("kind", [".png", ".svg", ".html", ".json", ".csv", ".tex"])
@pytest.mark.parametrize("anonymous", [False, True])
def test_no_folder_s_name_gets_into_a_file(kind, anonymous, disc_folder, picture):
    (disc_folder / "jane-doe").mkdir()
    for name in ("one", "two"):
        picture.save(disc_folder / "jane-doe" / f"{name}.png")
    first_trace, second_trace = trace_of("jane-doe/one.png"), trace_of("jane-doe/two.png")
    grid_options = (
        {"layout": "grid", "rows": "pictures", "columns": "heads:0-1", "other": [second_trace]}
        if kind != ".html"
        else {}
    )
    file_bytes = playground.save(first_trace, f"a{kind}", anonymous=anonymous, **grid_options).read_bytes()
    assert b"jane-doe" not in file_bytes
    if anonymous:
        assert b"two.png" not in file_bytes


def command_in(file):
    import shlex

    if file.suffix == ".png":
        return shlex.split(Image.open(file).text["Command"])
    if file.suffix == ".pdf":
        return shlex.split(read_pdf(file).metadata["/Keywords"])
    sources = ET.parse(file).getroot().iter("{http://purl.org/dc/elements/1.1/}source")
    return shlex.split(next(sources).text)


def test_a_figure_saved_by_savefig_names_its_origin_too(disc_folder, tmp_path):
    figure = playground.figure(playground.trace("untrained", "disc.png"), 1, 2, (3, 4), dpi=40)
    figure.savefig(tmp_path / "a.png")
    assert Image.open(tmp_path / "a.png").text["Command"].endswith("-o a.png")
    out = io.BytesIO()
    figure.savefig(out, format="pdf")
    assert b"Attention Playground" in out.getvalue()
    figure.savefig(tmp_path / "b.png", metadata={})
    assert "Command" not in Image.open(tmp_path / "b.png").text


def test_a_grid_says_the_digest_of_every_picture_and_model(small, picture):
    other_vit = scramble(VisionTransformer(small.config), seed=1)
    other_vit.name = "another"
    rotated_picture = picture.rotate(90)
    traces = [playground.trace(vit, image) for image in (picture, rotated_picture) for vit in (small, other_vit)]
    for i, seen in enumerate(traces):
        object.__setattr__(seen, "picture_name", ["one.png", "one.png", "two.png", "two.png"][i])
    figure = playground.figure(
        traces[0], 1, 2, (3, 4), layout="grid", rows="pictures", columns="models", other=traces[1:], dpi=40
    )
    digests = {value for key, value in figure.facts.items() if "sha256:" in value}
    assert len(digests) == 4, figure.facts


# Anonymous figures


def test_many_anonymous_figures_tell_no_name(disc_folder, picture, capsys):
    (disc_folder / "jane-doe").mkdir()
    for name in ("jane-doe/patient-1.png", "jane-doe/patient-2.png"):
        picture.save(name)
    assert main(["figure", "jane-doe", "--model", "untrained", "--anonymous", "--dpi", "20", "-o", "out/"]) == 0
    file_names = sorted(file.name for file in (disc_folder / "out").iterdir())
    assert file_names == ["manifest.json", "picture-1.png", "picture-2.png"]
    for file in (disc_folder / "out").iterdir():
        assert not re.search(rb"jane|patient", file.read_bytes()), file.name


def test_an_anonymous_figure_does_not_name_somebody_s_repository(small_trace, picture):
    spec = replace(ROW, model="jane-doe/leaves", anonymous=True)
    figure = figures.draw(spec, replace(small_trace, model="jane-doe/leaves"), picture)
    assert not re.search("jane|leaves", f"{figure.facts} {files.provenance(figure.spec, figure.facts)}")
