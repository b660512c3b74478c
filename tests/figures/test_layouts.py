"""What a figure shows: its numbers, its colours, its layouts."""

import io
from dataclasses import replace

import numpy as np
import pytest
from conftest import SMALL as SMALL_VIT
from conftest import scramble
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

import playground
from playground import PlaygroundError, figures
from playground.figures import Spec, layouts
from playground.figures.drawing import light, prints
from playground.figures.drawing.maps import Map, domain, map_of, neighbourhood, same_place, shares
from playground.figures.drawing.one_map import Subject
from playground.figures.drawing.sheet import SMALLEST_FONT, Pixels, house_style
from playground.figures.files import pixels
from playground.numbers import percent
from playground.vit import VisionTransformer

SPEC = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4), purpose="column", dpi=60)


def prints_of(figure, size=(80, 80)):
    """The pixels of each panel's image at this size, in the order of the panels."""
    return [np.asarray(a.picture.at(size)) for axes in figure.axes for a in axes.findobj(Pixels) if a.zorder == 2]


def texts_and_places(figure):
    """A list of (extent, text) of all texts on the figure."""
    with house_style():
        figure.draw_without_rendering()
        return [(text.get_window_extent(), text.get_text()) for text in figure.texts if text.get_text()]


def test_a_panel_has_the_row_s_own_numbers(small_trace, picture):
    map_ = map_of(small_trace, SPEC.settled(small_trace), 1, 2, "on")
    row = small_trace.row(1, 2, (3, 4))
    np.testing.assert_array_equal(map_.grid.ravel(), row[3:].numpy())
    assert dict(map_.prefix) == pytest.approx({"cls": float(row[0]), "reg0": float(row[1]), "reg1": float(row[2])})
    bits = -sum(w * np.log2(w) for w in row.tolist())
    assert map_.breadth == pytest.approx(2**bits, rel=1e-4)


@pytest.mark.parametrize("what", ["weight", "value", "score", "similarity", "rollout"])
def test_every_way_draws_the_numbers_of_the_trace(small_trace, what):
    spec = replace(SPEC, what=what)
    answers = {
        "weight": lambda: small_trace.row(1, 2, (3, 4), "off"),
        "value": lambda: small_trace.row(1, 2, (3, 4), "off") * small_trace.value_norms(1)[2],
        "score": lambda: small_trace.scores(1, 2, (3, 4), "off"),
        "similarity": lambda: small_trace.similarity((3, 4), 1),
        "rollout": lambda: small_trace.rollout((3, 4)),
    }
    np.testing.assert_allclose(
        map_of(small_trace, spec, 1, 2, "off").grid.ravel(), answers[what]()[3:].numpy(), rtol=1e-6
    )


@pytest.mark.parametrize("what", ["weight", "score"])
def test_a_drawn_column_is_the_column_of_the_whole_matrix(small_trace, what):
    spec = replace(SPEC, what=what, direction="column")
    scores = np.stack([small_trace.scores(1, 2, token).numpy() for token in range(small_trace.tokens)])
    matrix = small_trace.matrix(1, 2).numpy() if what == "weight" else scores
    column = matrix[:, small_trace.token((3, 4))]
    np.testing.assert_allclose(map_of(small_trace, spec, 1, 2, "on").grid.ravel(), column[3:], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("change", [{}, {"draw": "light"}, {"smooth": True}, {"log": True}, {"ceiling": 0.07}], ids=str)
def test_a_figure_has_the_colours_of_the_screen(small_trace, picture, change):
    """The panel equals light.py's colours at the panel's size; test_light.py compares those with the browser's."""
    spec = replace(SPEC, **change)
    drawn_print = prints_of(figures.draw(spec, small_trace, picture))[0]
    grid = small_trace.on_grid(small_trace.row(1, 2, (3, 4))).numpy()
    ceiling = change.get("ceiling", light.exposure(grid))
    photo = np.asarray(picture.convert("RGB").resize((80, 80), Image.Resampling.LANCZOS))
    values = np.kron(grid, np.ones((10, 10)))
    if spec.smooth:
        values = np.asarray(Image.fromarray(grid).resize((80, 80), Image.Resampling.BILINEAR))
    share = light.shares(values, ceiling)
    if spec.log:
        share = np.clip(np.log(values / ceiling * 1000) / np.log(1000), 0, 1)
    expected = light.heat(photo, share)
    if spec.draw == "light":
        brightness = light.lit(light.shares(grid, ceiling), light.densest(grid)).astype(np.float32)
        expected = light.light(
            photo, np.asarray(Image.fromarray(brightness).resize((80, 80), Image.Resampling.BILINEAR))
        )
    assert np.abs(drawn_print.astype(int) - expected).max() <= 1


def grey_levels(image) -> np.ndarray:
    return np.asarray(Image.fromarray(np.asarray(image)).convert("L")).astype(float)


@pytest.mark.parametrize("draw", ["heat", "light"])
@pytest.mark.parametrize("log", [False, True])
def test_printed_in_grey_the_order_of_the_weights_can_still_be_read(small_trace, draw, log):
    """On a picture of one colour, patches with more weight are lighter, in the figure and in its colour bar."""
    spec = replace(SPEC, draw=draw, log=log)
    panel, bar = prints_of(figures.draw(spec, small_trace, Image.new("RGB", (120, 120), (150, 120, 90))))[:2]
    map_ = map_of(small_trace, spec.settled(small_trace), 1, 2, "on")
    share = shares(map_.grid, domain(spec, [map_])).ravel()
    # only the middle of each patch, because `light` fades at the edges
    lightness = grey_levels(panel).reshape(8, 10, 8, 10)[:, 4:6, :, 4:6].mean((1, 3)).ravel()
    lit_patches = light.densest(map_.grid).ravel()
    for group in (
        (lit_patches, ~lit_patches) if draw == "light" else (lit_patches | ~lit_patches,)
    ):  # `light` brightens all lit patches, so lit and unlit ones are ordered separately
        order = np.argsort(share[group])
        assert (np.diff(lightness[group][order]) >= -2).all(), lightness[group][order]
        assert np.ptp(lightness[group]) > 2
    steps = np.diff(grey_levels(prints.bar(spec, domain(spec, [map_])))[0])
    assert (steps >= -1).all()
    assert steps.sum() > 30
    assert bar.any()


def test_the_bar_shows_at_each_number_the_colour_that_a_patch_of_that_weight_has(small_trace):
    for change in ({}, {"log": True}):
        spec = replace(SPEC, **change)
        map_domain = domain(spec, [map_of(small_trace, spec, 1, 2, "on")])
        fractions = np.linspace(0, 1, 256)
        values = (
            map_domain.low * (map_domain.high / map_domain.low) ** fractions
            if spec.log
            else fractions * map_domain.high
        )
        patches = light.heat(np.full((1, 256, 3), 127, np.uint8), shares(values[None], map_domain))
        assert np.abs(np.asarray(prints.bar(spec, map_domain)).astype(int) - patches).max() <= 2


def test_maps_that_are_compared_share_their_exposure_and_each_may_have_its_own(small_trace, picture):
    head_maps = [map_of(small_trace, SPEC, 1, head, "on") for head in range(4)]
    all_maps = [map_of(small_trace, SPEC, layer, head, "on") for layer in range(3) for head in range(4)]
    for layout, compared_maps in (("heads", head_maps), ("wall", all_maps)):
        spec = replace(SPEC, layout=layout)
        content = layouts.content(spec, Subject(small_trace, picture, ""), None)
        shared_exposure = light.exposure(np.concatenate([map_.grid for map_ in compared_maps]))
        assert content.domain.high == pytest.approx(shared_exposure)
        fixed_content = layouts.content(replace(spec, ceiling=0.07), Subject(small_trace, picture, ""), None)
        assert fixed_content.domain.high == 0.07
    shared_prints, own_prints = (
        prints_of(figures.draw(replace(SPEC, layout="heads", colours=c), small_trace, picture))
        for c in ("shared", "own")
    )
    photo = picture.convert("RGB").resize((80, 80), Image.Resampling.LANCZOS)
    spec = layouts.of(SPEC).settled(SPEC)
    for head, map_ in enumerate(head_maps):
        for drawn_prints, exposed_maps in ((shared_prints, head_maps), (own_prints, [map_])):
            expected = prints.photo_with_map(photo, map_.grid, spec, domain(SPEC, exposed_maps))
            np.testing.assert_array_equal(drawn_prints[head], np.asarray(expected))


def test_an_even_row_is_called_even_and_looks_even(small_trace, picture):
    spec = replace(SPEC, scale="0.0001")
    figure = figures.draw(spec, small_trace, picture)
    assert "evenly: all 67 tokens alike" in " ".join(t.get_text() for t in figure.texts).replace("\n", " ")
    even_map = Map(np.full((8, 8), 1 / 67), (), 67.0)
    drawn_print = prints.photo_with_map(
        Image.new("RGB", (80, 80), "gray"), even_map.grid, spec, domain(spec, [even_map])
    )
    assert np.ptp(np.asarray(drawn_print), axis=(0, 1)).max() == 0
    heads = figures.draw(replace(spec, layout="heads"), small_trace, picture)
    assert [t.get_text() for t in heads.texts].count("even") == 4


def test_a_kernel_at_a_corner_reads_only_patches_of_the_grid():
    assert len(neighbourhood(3, 4, (8, 8), 3)) == 9
    assert neighbourhood(0, 7, (8, 8), 3) == [(0, 6), (0, 7), (1, 6), (1, 7)]
    assert len(neighbourhood(3, 4, (8, 8), 7)) == 49


def test_the_convolution_shows_its_nine_patches_in_full_colour_and_what_a_stack_reaches_faintly(small_trace, picture):
    photo = np.asarray(picture.convert("RGB").resize((80, 80), Image.Resampling.LANCZOS)).astype(int)
    faded = light.heat(photo, np.zeros((80, 80))).astype(int)
    for depth, reach in (("1", 1), ("follow", 2), ("3", 3)):  # "follow" stacks the layers 0 and 1
        figure = figures.draw(replace(SPEC, layout="convolution", depth=depth), small_trace, picture)
        kernel_print = prints_of(figure)[1].astype(int)
        patches = kernel_print.reshape(8, 10, 8, 10, 3), photo.reshape(8, 10, 8, 10, 3), faded.reshape(8, 10, 8, 10, 3)
        for r in range(8):
            for c in range(8):
                shown_column, photo_column, faded_column = (p[r, :, c] for p in patches)
                distance = max(abs(r - 3), abs(c - 4))
                share = 1 if distance <= 1 else prints.FIELD_CLARITY if distance <= reach else 0
                assert np.abs(shown_column - (photo_column * share + faded_column * (1 - share))).max() <= 1, (
                    depth,
                    r,
                    c,
                )


def test_the_same_place_is_found_in_a_finer_grid(small, picture):
    coarse_trace = playground.trace(small, picture)
    fine_trace = playground.trace(small, picture, size=(128, 128))
    assert same_place((3, 4), coarse_trace, fine_trace) == (7, 9)
    assert same_place("cls", coarse_trace, fine_trace) == "cls"


ASPECTS = {"1:1": (64, 64), "3:2": (64, 96), "16:9": (72, 128), "2:3": (96, 64)}
FILE_NAMES = (
    "cat.png",
    "a very long name of a photograph that was taken on a beach 2024-08-13.jpg",
    "кошка Ünïcödé.jpg",
    "猫.png",
)
SIZE_NAMES = ("slide", "half", "beamer", "column", "page", "nature", "neurips", "narrow")
FIGURE_OPTIONS = {layout: {"layout": layout} for layout in layouts.LAYOUTS} | {
    "grid": {"layout": "grid", "rows": "layers:2,4", "columns": "heads:0,1,mean"},
    "coloured grid": {"layout": "grid", "rows": "layers:1,2,4,5", "what": "components"},
    "several patches": {"other_queries": "0,0-5,5-cls", "mass": 0.6},
    "lengths": {"what": "norm"},
    "by column": {"layout": "convolution", "direction": "column", "what": "value"},
}
CASES = [  # every layout in every size; aspects and names take turns
    pytest.param(
        figure_name,
        size,
        list(ASPECTS)[(i + j) % 4],
        FILE_NAMES[(i + j // 2) % 4],
        marks=[pytest.mark.slow] * ((i + j) % 3 > 0),
    )
    for i, figure_name in enumerate(FIGURE_OPTIONS)
    for j, size in enumerate(SIZE_NAMES)
    if figure_name in layouts.LAYOUTS or size in ("half", "beamer", "column")
]


@pytest.fixture(scope="module")
def traces_by_aspect():
    """aspect -> (trace, picture)"""
    vit = scramble(VisionTransformer(replace(SMALL_VIT, depth=6)))
    pictures = {aspect: Image.new("RGB", (4 * w, 4 * h), "teal") for aspect, (h, w) in ASPECTS.items()}
    return {aspect: (playground.trace(vit, image, size=ASPECTS[aspect]), image) for aspect, image in pictures.items()}


@pytest.mark.parametrize(("figure_name", "size", "aspect", "name"), CASES)
def test_no_text_overlaps_leaves_the_sheet_or_is_too_small_to_read(traces_by_aspect, figure_name, size, aspect, name):
    seen, image = traces_by_aspect[aspect]
    size_options = {"width": 2.4} if size == "narrow" else {"purpose": size}
    spec = Spec(image=name, model="small", layer=5, head=2, query=(3, 4), footer=True, colours="own", **size_options)
    spec = replace(spec, letters=True, other_image=name[::-1], **FIGURE_OPTIONS[figure_name])
    # a change is drawn patch by patch, so both pictures have one shape
    pairs_by_layout = {
        "compare": traces_by_aspect["2:3"],
        "change": (seen, image),
    }
    other_pair = pairs_by_layout.get(figure_name, (None, None))
    figure = figures.draw(spec, seen, image, other=other_pair[0], other_image=other_pair[1])
    for pixels_ in figure.findobj(Pixels):
        pixels_.set_visible(False)  # only the words matter here
    width, height = figure.get_size_inches()
    assert width == spec.made_for.width
    assert height == (spec.made_for.height or height) <= 9.5
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= SMALLEST_FONT
    sheet_box, boxes_and_words = figure.bbox.padded(1), texts_and_places(figure)
    for i, (text_box, words) in enumerate(boxes_and_words):
        assert sheet_box.x0 <= text_box.x0, words
        assert text_box.x1 <= sheet_box.x1, words
        assert sheet_box.y0 <= text_box.y0, words
        assert text_box.y1 <= sheet_box.y1, words
        for other_box, other_text in boxes_and_words[:i]:
            assert not text_box.padded(-1).overlaps(other_box.padded(-1)), (words, other_text)
    drawn_extent = Bbox.union([box for box, _ in boxes_and_words] + [axes.bbox for axes in figure.axes])
    filled_shares = [drawn_extent.width / figure.bbox.width, drawn_extent.height / figure.bbox.height]
    assert max(filled_shares) > 0.8, f"it could be larger: it fills {filled_shares} of the sheet"


def test_two_models_stand_side_by_side_and_share_their_exposure(small_trace, small, picture):
    fine_trace = playground.trace(small, picture, size=(128, 128))
    spec = replace(SPEC, layout="compare", other_model="x")
    maps = [map_of(small_trace, spec, 1, 2, "on"), map_of(fine_trace, replace(spec, query=(7, 9)), 1, 2, "on")]
    photo = picture.convert("RGB").resize((80, 80), Image.Resampling.LANCZOS)
    drawn_print = prints_of(figures.draw(spec, small_trace, picture, other=fine_trace))
    for map_, panel in zip(maps, drawn_print, strict=False):
        np.testing.assert_array_equal(
            panel, prints.photo_with_map(photo, map_.grid, layouts.of(spec).settled(spec), domain(spec, maps))
        )


def test_the_scale_layout_draws_the_rows_with_and_without_the_scale(small_trace, picture):
    spec = replace(SPEC, layout="scale", ceiling=0.1)
    scaled_print, unscaled_print = prints_of(figures.draw(spec, small_trace, picture))[:2]
    prints_alone = [
        prints_of(figures.draw(replace(spec, layout="head", scale=s), small_trace, picture))[0] for s in ("on", "off")
    ]
    np.testing.assert_array_equal(scaled_print, prints_alone[0])
    np.testing.assert_array_equal(unscaled_print, prints_alone[1])
    assert not np.array_equal(scaled_print, unscaled_print)


def test_the_caption_says_what_the_prefix_takes(small_trace, picture):
    row = small_trace.row(1, 2, (3, 4))
    text_drawn = " ".join(t.get_text() for t in figures.draw(SPEC, small_trace, picture).texts)
    share = float(row[1] + row[2])
    assert f"registers {percent(share)}" in text_drawn
    text_without_prefix = " ".join(
        t.get_text() for t in figures.draw(replace(SPEC, prefix=False), small_trace, picture).texts
    )
    assert "registers" not in text_without_prefix


def test_a_class_token_asks_without_a_marker_and_no_convolution_answers_it(small_trace, picture):
    figure = figures.draw(replace(SPEC, query="cls"), small_trace, picture)
    assert "the class token" in " ".join(t.get_text() for t in figure.texts)
    with pytest.raises(PlaygroundError, match="A convolution has no 'cls' token"):
        figures.draw(replace(SPEC, query="cls", layout="convolution"), small_trace, picture)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_transparent_figure_is_transparent_around_its_panels_alone(small_trace, picture, theme):
    image = np.asarray(pixels(figures.draw(replace(SPEC, theme=theme, transparent=True), small_trace, picture)))
    assert image[0, 0, 3] == 0
    assert image[image.shape[0] // 2, image.shape[1] // 2, 3] == 255
    solid_pixels = np.asarray(pixels(figures.draw(replace(SPEC, theme=theme), small_trace, picture)))
    assert tuple(solid_pixels[0, 0]) == ((255, 255, 255, 255) if theme == "light" else (14, 17, 23, 255))


def test_a_person_s_own_settings_of_matplotlib_change_nothing(small_trace, picture):
    import matplotlib

    plain_pixels = pixels(figures.draw(SPEC, small_trace, picture))
    with matplotlib.rc_context(
        {"font.size": 30, "figure.facecolor": "red", "savefig.bbox": "tight", "font.family": "serif"}
    ):
        assert pixels(figures.draw(SPEC, small_trace, picture)).tobytes() == plain_pixels.tobytes()
        assert matplotlib.rcParams["font.size"] == 30


def test_a_trace_gives_a_figure_to_go_on_editing(small_trace, picture):
    figure = playground.figure(
        small_trace, layer=1, head=2, query=(3, 4), layout="head", purpose="column", theme="dark", image=picture
    )
    figure.axes[0].plot([0, 8], [0, 8])
    assert Image.open(io.BytesIO(figure._repr_png_())).width == 900  # the width for a notebook, not for a slide


@pytest.mark.parametrize(
    ("pass_scale", "given_scale", "drawn_scale", "sentence"),
    [
        (None, None, "on", ""),
        (None, "off", "off", "Without 1/√dₖ in this layer alone."),
        ("off", None, "off", "Without 1/√dₖ in the whole forward pass."),
        ("off", "off", "off", "Without 1/√dₖ in the whole forward pass."),
        ("off", "on", "on", "With 1/√dₖ in this layer alone: the forward pass ran with another scale."),
        (0.5, None, 0.5, "Scale 0.5 instead of 1/√12 in the whole forward pass."),
    ],
)
def test_no_scale_given_draws_what_the_pass_ran_with_and_the_caption_says_so(
    small, picture, pass_scale, given_scale, drawn_scale, sentence
):
    trace = playground.trace(small, picture, scale=pass_scale)
    spec = playground.figure(trace, 1, 2, (3, 4), given_scale, purpose="column").spec
    caption = layouts.content(spec, Subject(trace, picture, ""), None).caption
    assert caption.endswith(sentence), caption
    assert ("√" in caption) == bool(sentence), caption
    map_ = map_of(trace, spec, 1, 2, None if spec.whole else spec.scale)
    np.testing.assert_allclose(map_.grid.ravel(), trace.row(1, 2, (3, 4), drawn_scale)[3:], rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"layout": "poster"}, "A figure's layout is head, "),
        ({"dpi": 1}, "dpi= goes from 10"),
        ({"ceiling": 2.0}, "ceiling= is a share"),
        ({"what": "rollout", "layout": "wall"}, "Rollout has no heads"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(small_trace, picture, change, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        figures.draw(replace(SPEC, **change), small_trace, picture)
