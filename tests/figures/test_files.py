"""Figures as files, parsed by pypdf, Pillow and an XML parser."""

import io
import re
import shlex
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from figure_files import (
    pdf_draw_count,
    pdf_fonts,
    pdf_images,
    read_pdf,
    read_svg,
    svg_images,
    svg_texts,
    svg_uses,
)  # fmt: skip
from PIL import Image

import playground
from playground import PlaygroundError, figures, samples
from playground.__main__ import _parser, main
from playground.figures import Spec, batch, files, request
from playground.figures.animation import frames, patches_on_path
from playground.figures.command_line import DEFAULTS, spec_of_html, unused_reasons
from playground.figures.drawing import naming
from playground.figures.drawing.naming import published_spec
from playground.figures.files import pixels
from playground.figures.layouts import LAYOUTS

CONVOLUTION = Spec(
    image="meadow", model="untrained", layout="convolution", layer=1, head=2, query=(3, 4), purpose="page", footer=True
)


@pytest.fixture(scope="module")
def photo():
    """A picture of many colours, as photographs are."""
    from playground.samples import SAMPLES

    return Image.open(SAMPLES[0].path).convert("RGB").resize((300, 300))


@pytest.fixture
def convolution_figure(small_trace, photo):
    return figures.draw(CONVOLUTION, small_trace, photo)


def test_a_png_has_its_size_its_dots_and_its_provenance(convolution_figure, tmp_path):
    image = Image.open(figures.write(convolution_figure, tmp_path / "a.png"))
    assert image.width == 7 * 300
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.01)
    assert image.text["Software"].startswith("Attention Playground")
    for part in (
        "model: untrained",
        "weights: random weights, sha256:",
        "image: meadow",
        "pixels: sha256:",
        "layer: 1",
        "head: 2",
    ):
        assert part in image.text["Description"]
    assert "patch: 3,4" in image.text["Description"]
    assert "scale: 1/√12" in image.text["Description"]


def test_a_pdf_holds_the_photograph_once_and_its_fonts(convolution_figure, tmp_path):
    reader = read_pdf(figures.write(convolution_figure, tmp_path / "a.pdf"))
    (page,) = reader.pages
    assert float(page.mediabox.width) == pytest.approx(7 * 72)
    assert pdf_images(page).count((300, 300)) == 1
    assert pdf_draw_count(page) == 4  # the photograph, the kernel's patches, the attention and the colour bar
    assert pdf_fonts(page)
    assert all(pdf_fonts(page).values())
    assert all("SourceSansPro" in name for name in pdf_fonts(page))
    text = page.extract_text()
    assert "3×3 convolution" in text
    assert "reads 9 of 64 patches" in text
    assert "layer: 1" in reader.metadata.subject
    assert reader.metadata["/Keywords"].startswith("python -m playground figure meadow")


def test_an_svg_holds_the_photograph_once_and_its_text_as_text(convolution_figure, tmp_path):
    root = read_svg(figures.write(convolution_figure, tmp_path / "a.svg"))
    uses = svg_uses(root)
    assert len(uses) == len(set(uses)) == len(svg_images(root)) == 4
    assert svg_images(root).count("image/jpeg") >= 2  # the photograph and the patches that the kernel reads
    texts = svg_texts(root)
    assert "3×3 convolution" in texts
    assert any("sha256:" in text for text in texts)  # the footer
    descriptions = [element.text for element in root.iter("{http://purl.org/dc/elements/1.1/}description")]
    assert "layer: 1" in descriptions[0]
    assert "sans-serif" in next(element.get("style") for element in root.iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.slow
def test_in_a_vector_file_the_heads_are_as_fine_as_print_and_no_finer(small_trace, photo, tmp_path):
    figure = figures.draw(replace(CONVOLUTION, layout="heads"), small_trace, photo)
    file = figures.write(figure, tmp_path / "a.pdf")
    (page,) = read_pdf(file).pages
    widths = [axes.get_position().width * 7 for axes in figure.axes[:4]]  # inches
    assert [size[0] for size in pdf_images(page)[:4]] == pytest.approx([220 * width for width in widths], abs=1)
    assert file.stat().st_size < 1.5e6
    assert (figures.write(figure, tmp_path / "a.svg")).stat().st_size < 0.5e6


def test_the_same_figure_is_written_as_the_same_bytes(small_trace, photo, tmp_path):
    for suffix in figures.SUFFIXES:
        for folder in "ab":
            (tmp_path / folder).mkdir(exist_ok=True)
        first_file, second_file = (
            figures.write(figures.draw(CONVOLUTION, small_trace, photo), tmp_path / n / f"row{suffix}") for n in "ab"
        )
        assert first_file.read_bytes() == second_file.read_bytes()


def test_a_file_without_a_format_or_a_folder_is_refused_in_a_sentence(convolution_figure, tmp_path):
    with pytest.raises(PlaygroundError, match=r"Figures are written as \.png"):
        figures.write(convolution_figure, tmp_path / "a.docx")
    (tmp_path / "file").touch()
    with pytest.raises(PlaygroundError, match="can't be written"):
        figures.write(convolution_figure, tmp_path / "file" / "a.png")
    with pytest.raises(PlaygroundError, match="there is no folder"):
        figures.write(convolution_figure, tmp_path / "new" / "folder" / "a.svg")


def parsed(line: str) -> Spec:
    """The spec that the command line parses from `line`; no picture is opened."""
    words = shlex.split(line)
    assert words[:4] == ["python", "-m", "playground", "figure"]
    options = _parser().parse_args(words[3:])
    image = options.images[0] if options.images else ""
    return replace(spec_of_html(batch._spec(options), options.layer, options.head), image=image)


OTHER_VALUES = {
    "image": "my cat.jpg", "layout": "compare", "model": "ViT-S/16", "weights": "w.safetensors", "size": (32, 64),
    "mean": "0.5,0.4,0.3", "std": "0.2", "num_heads": "4", "act_layer": "relu", "global_pool": "max",
    "layer": 3, "head": 2, "query": "reg0", "scale": "0.25", "whole": True, "what": "value", "direction": "column",
    "kernel": 5, "other_image": "b.png", "other_model": "untrained", "purpose": "half",
    "width": 5.5, "font": "DejaVu Sans", "letters": True, "rows": "layers:1,2", "columns": "heads:0,mean",
    "other_queries": "1,2-cls", "over": "photo", "mass": 0.4, "mask": True,
    "theme": "dark",
    "transparent": True, "colours": "own", "ceiling": 0.05, "draw": "light", "log": True, "depth": "4", "smooth": True,
    "caption": False, "anonymous": True, "cut": "7,5>3,2",
    "label": "3", "text": "a cat", "blank": "noise", "typical": True, "signed": False, "method": "chefer",
    "bar": False, "marker": False, "prefix": False, "footer": True, "words": "paper", "dpi": 111, "sweep": "layers",
    "layers": (1, 2, 3, 5), "heads": (0, 2), "view": "locked=true&grid=true", "bare": True, "pack": "int8",
}  # fmt: skip


NEEDED_OPTIONS = {  # a field -> the options without which it has no effect
    "whole": {"scale": "off"}, "kernel": {"layout": "convolution"}, "depth": {"layout": "convolution"},
    "other_image": {"layout": "compare"}, "other_model": {"layout": "compare"}, "colours": {"layout": "wall"},
    "label": {"what": "label"}, "text": {"what": "text"}, "blank": {"what": "occlusion"}, "typical": {"what": "norm"},
    "signed": {"what": "relevance"}, "method": {"what": "relevance"},
    "mask": {"mass": 0.6}, "rows": {"layout": "grid"}, "columns": {"layout": "grid"},
}  # fmt: skip


def test_the_command_holds_every_field():
    assert OTHER_VALUES.keys() | {"repeatable"} == {field.name for field in fields(Spec)}
    assert "--kernel" not in figures.command(Spec(**OTHER_VALUES))  # a comparison has no kernel
    for spec in (
        Spec(image="a.jpg", model="bundled"),
        *(
            Spec(**{"image": "a", "model": "bundled", k: v} | NEEDED_OPTIONS.get(k, {}))
            for k, v in OTHER_VALUES.items()
            if k not in ("image", "layers", "heads")
        ),
        Spec(image="a", model="bundled", layers="all"),
        Spec(image="a", model="bundled", layers="all", layer=3, heads=(1,), head=1),
    ):
        is_interactive = spec.view or spec.bare or spec.pack != "float16" or spec.layers
        assert parsed(figures.command(spec, "a.html" if is_interactive else "a.png")) == spec


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_figure_has_no_use_for_is_not_in_its_command(layout):
    spec = parsed(figures.command(Spec(**OTHER_VALUES | {"layout": layout, "what": "weight", "sweep": None})))
    assert not any(
        getattr(spec, name) != DEFAULTS[name] for name in unused_reasons(spec) if name not in ("model", "layer")
    )


def test_a_figure_made_by_its_own_command_is_the_same_pixel_for_pixel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = Spec(image="flock", model="untrained", layout="scale", query=(2, 5), purpose="column", scale="0.7", dpi=80)
    image = request.open_picture("flock")
    figure = figures.draw(spec, playground.trace(playground.load("untrained"), image), image)
    assert main(shlex.split(figures.command(figure.spec, "again.png"))[3:]) == 0
    assert Image.open("again.png").convert("RGBA").tobytes() == pixels(figure).tobytes()


def test_a_file_whose_name_looks_like_a_flag_is_said_as_a_path():
    assert "figure ./-a.jpg " in figures.command(Spec(image="-a.jpg", model="bundled"))


# Motion ---------------------------------------------------------------------------------------------------------------


def test_a_walk_goes_from_corner_to_corner_one_patch_at_a_time():
    assert patches_on_path("0,0-2,4") == [(0, 0), (0, 1), (1, 2), (2, 3), (2, 4)]
    assert patches_on_path("3,3-3,1-3,3") == [(3, 3), (3, 2), (3, 1), (3, 2), (3, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gif", ".webp", ".png"])
def test_a_sweep_through_the_layers_has_a_picture_of_each(small_trace, photo, tmp_path, suffix):
    spec = replace(CONVOLUTION, layout="head", purpose="column", sweep="layers", footer=False)
    image = Image.open(figures.animate(tmp_path / f"a{suffix}", spec, small_trace, photo))
    assert image.n_frames == 3
    sizes, frames_shown = set(), []
    for frame in range(3):
        image.seek(frame)
        sizes.add(image.size)
        frames_shown.append(image.convert("RGB").tobytes())
    assert sizes == {(int(3.35 * 96), image.height)}
    assert len(set(frames_shown)) == 3
    comment = image.info.get("comment") or image.info.get("xmp") or image.info["Command"].encode()
    assert b"--sweep layers" in comment


def test_a_sweep_turns_the_scale_off_and_back_on(small_trace):
    scales = [spec.scale for spec, _ in frames(replace(CONVOLUTION, sweep="scale"), small_trace)]
    assert (scales[0], scales[12], len(scales)) == ("on", "off", 24)
    scale_numbers = [float(s) for s in scales[1:12]]
    ratios = [b / a for a, b in pairwise(scale_numbers)]
    assert ratios == pytest.approx([ratios[0]] * 10, rel=1e-2)
    assert scale_numbers[0] / small_trace.native_scale == pytest.approx(ratios[0], rel=1e-2)


@pytest.mark.parametrize(
    ("change", "suffix", "sentence"),
    [
        ({"sweep": "heads"}, ".gif", "A sweep is layers, scale"),
        ({"sweep": "patches:0-1"}, ".gif", "A path is patches"),
        ({"sweep": "patches:0,0-9,9"}, ".gif", r"There is no patch \(8, 8\)"),
        ({"sweep": "layers"}, ".mp4", "A sweep is written as"),
        ({"sweep": "layers", "transparent": True}, ".gif", "GIF's edges"),
        ({"sweep": "layers", "layout": "wall"}, ".gif", "nothing moves"),
        ({"sweep": "scale", "what": "similarity"}, ".gif", "does not change with the scale"),
        ({"sweep": "patches:0,0-1,1", "layout": "components"}, ".gif", "does not change with the patches"),
    ],
)
def test_an_impossible_sweep_is_refused_in_a_sentence(small_trace, photo, tmp_path, change, suffix, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        figures.animate(tmp_path / f"a{suffix}", replace(CONVOLUTION, **change), small_trace, photo)
    assert not re.search("a", " ".join(p.name for p in tmp_path.iterdir()))


# Metadata -------------------------------------------------------------------------------------------------------------


def test_metadata_names_no_folder_of_anybody(photo, tmp_path):
    home = tmp_path / "jane-doe"
    home.mkdir()
    photo.save(home / "cat.png")
    photo.save(home / "dog.png")
    comparison = ["--layout", "compare", "--with-image", str(home / "dog.png")]
    comparison += ["--for", "column"]
    for suffix, options in ((".png", comparison), (".svg", comparison), (".pdf", comparison), (".html", [])):
        figure_file = tmp_path / f"a{suffix}"
        arguments = ["figure", str(home / "cat.png"), "--model", "untrained", *options, "-o", str(figure_file)]
        assert main(arguments) == 0
        data = figure_file.read_bytes()
        text_of_file = (
            " ".join(map(str, read_pdf(figure_file).metadata.values())) if suffix == ".pdf" else data.decode("latin-1")
        )
        assert "jane-doe" not in text_of_file, suffix
        assert str(tmp_path) not in text_of_file, suffix
        assert "cat.png" in text_of_file, suffix


def test_models_in_files_lose_their_folders_and_the_paper_s_names_stay():
    spec = Spec(image="/home/me/a.jpg", model="/home/me/w.safetensors", weights="/home/me/v.safetensors")
    assert published_spec(replace(spec, other_image="b/c.png", other_model="ViT-B/16")) == Spec(
        image="a.jpg", model="w.safetensors", weights="v.safetensors", other_image="c.png", other_model="ViT-B/16"
    )


@pytest.mark.parametrize(("suffix", "kinds"), [(".pdf", {"/Type0", "/TrueType"}), (".svg", None)])
def test_saved_by_matplotlib_itself_a_figure_has_real_text(convolution_figure, tmp_path, suffix, kinds):
    figure_file = tmp_path / f"a{suffix}"
    convolution_figure.savefig(figure_file)
    if kinds:
        fonts = [font.get_object() for font in read_pdf(figure_file).pages[0]["/Resources"]["/Font"].values()]
        assert {font["/Subtype"] for font in fonts} <= kinds
    else:
        assert "3×3 convolution" in svg_texts(read_svg(figure_file))


@pytest.mark.parametrize(
    ("name", "options"), [("ViT-Ti/16", {}), ("untrained", {}), ("vit_tiny_patch16_224", {"pretrained": False})]
)
def test_random_weights_are_called_random_in_the_caption_and_in_the_file(photo, tmp_path, name, options):
    trace = playground.trace(playground.load(name, **options), photo)
    figure = playground.figure(trace, purpose="column", image=photo)
    assert "(random weights)" in " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert figure.facts["weights"].startswith("random weights, sha256:")
    assert "random weights" in Image.open(figures.write(figure, tmp_path / "a.png")).text["Description"]


def test_loaded_weights_are_not_called_random(tmp_path, photo):
    from safetensors.torch import save_file

    vit = playground.load("untrained")
    save_file(vit.state_dict(), tmp_path / "w.safetensors")
    trace = playground.trace(playground.load("untrained", weights=tmp_path / "w.safetensors"), photo)
    assert not naming.is_random(trace)
    assert naming.model(trace) == "our small ViT"


def test_random_weights_are_said_on_stderr_once(photo, tmp_path, capsys):
    photo.save(tmp_path / "a.png")
    arguments = ["figure", str(tmp_path / "a.png"), "--model", "ViT-Ti/16", "--for", "column", "--layers", "0,1"]
    assert main([*arguments, "-o", str(tmp_path / "{layer}.png")]) == 0
    assert capsys.readouterr().err.count("ViT-Ti/16 (random weights)") == 1


def test_a_comparison_names_both_models_and_both_layers(small_trace, photo):
    spec = Spec(image="a.png", layout="compare", model="small", other_model="ViT-Ti/16", layer=1, purpose="page")
    other_trace = playground.trace(playground.load("ViT-Ti/16"), photo)
    figure = figures.draw(spec, small_trace, photo, other=other_trace)
    caption = " ".join(text.get_text() for text in figure.texts)
    assert "layer 1, head 0, and ViT-Ti/16 (random weights), layer 6, head 0" in caption
    assert figure.facts["other layer"] == "6"


def test_a_sample_photograph_opens_with_its_own_model_grid_layer_and_head(tmp_path, photo, monkeypatch):
    """A sample photograph opens with the model, grid, layer and head of its `look`, unless another model is named."""
    sample = samples.PHOTOGRAPHS[0]
    spec = Spec(image=sample.name, model=sample.look.model)
    assert spec.look == sample.look
    assert replace(spec, model="bundled").look is None
    first_spec = replace(spec, layer=sample.look.layer, head=sample.look.head)
    assert "--head" not in figures.command(first_spec)
    assert "--head 0" in figures.command(replace(first_spec, head=0))

    vit = playground.load("dinov2-small", pretrained=False)
    monkeypatch.setattr(request, "load", lambda *_, **__: vit)
    monkeypatch.setattr(request, "open_picture", lambda _: photo)
    request._model.cache_clear()
    seen, _, _ = request.from_files(spec)
    request._model.cache_clear()
    assert seen.grid == sample.look.grid
    assert spec.settled(seen).layer == sample.look.layer


# The caption alone ----------------------------------------------------------------------------------------------------


def test_the_caption_is_a_file_of_its_own_and_latex_reads_it(small_trace, photo, tmp_path):
    figure = figures.draw(replace(CONVOLUTION, footer=False), small_trace, photo)
    text_drawn = " ".join(text.get_text() for text in figure.texts)
    options = {"layout": "convolution", "purpose": "page", "image": photo}
    caption = playground.save(small_trace, tmp_path / "cat_1.txt", 1, 2, (3, 4), **options).read_text().strip()
    assert caption.split(".")[0].split(", layer")[1] in text_drawn
    tex = playground.save(small_trace, tmp_path / "cat_1.tex", 1, 2, (3, 4), **options).read_text()
    assert r"\includegraphics[width=7in]{cat_1.pdf}" in tex
    assert r"\label{fig:cat-1}" in tex
    assert not re.search(r"(?<!\\)%", tex.split(r"\caption")[1])
    tex = playground.save(small_trace, tmp_path / "a.tex", layout="components", image=photo).read_text()
    assert tex.splitlines()[0].endswith(", after layer 2")


def test_tex_writes_roots_and_signs():
    assert files.tex("50 % of 5%, a_b, 1/√64 & 1/√dₖ") == r"50~\% of 5\%, a\_b, $1/\sqrt{64}$ \& $1/\sqrt{d_k}$"


# Another program draws the SVG ----------------------------------------------------------------------------------------


def test_another_renderer_draws_the_svg_as_the_png(small_trace, photo, tmp_path):
    resvg = pytest.importorskip("resvg_py")
    figure = figures.draw(
        replace(CONVOLUTION, caption=False, footer=False, bar=False, marker=False, dpi=100), small_trace, photo
    )
    path = figures.write(figure, tmp_path / "a.svg")
    rendered_image = Image.open(
        io.BytesIO(bytes(resvg.svg_to_bytes(svg_path=str(path), background="white", dpi=100)))
    ).convert("RGB")
    our_pixels = pixels(figure).convert("RGB").resize(rendered_image.size)
    differences = np.abs(np.asarray(our_pixels, int) - np.asarray(rendered_image))
    assert rendered_image.width > 400
    assert np.median(differences) <= 3
    assert (differences.max(-1) > 60).mean() < 0.03, "more than edges and letters differ"
