"""What a figure shows: its numbers, its colours, its layouts."""

import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import colormaps
from PIL import Image

import playground
from playground import PlaygroundError, figures
from playground.figures import Spec, layouts
from playground.figures.files import pixels
from playground.figures.maps import DIM, DUSK, OPACITY, domain, look, neighbourhood, same_place
from playground.figures.sheet import Pixels, house_style

SMALL = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4), purpose="column", dpi=60)


def overlays(figure):
    """What is drawn over each panel: the arrays, in the order of the panels."""
    found = []
    for axes in figure.axes:
        found += [a.shared.image for a in axes.findobj(Pixels) if a.zorder == 2]
    return found


def written(figure):
    """Every text and where it stands."""
    with house_style():
        figure.draw_without_rendering()
        return [(text.get_window_extent(), text.get_text()) for text in figure.texts if text.get_text()]


def test_a_panel_has_the_row_s_own_numbers(seen, picture):
    shown = look(seen, SMALL.settled(seen), 1, 2, "on")
    row = seen.row(1, 2, (3, 4))
    np.testing.assert_array_equal(shown.grid.ravel(), row[3:].numpy())
    assert dict(shown.prefix) == pytest.approx({"cls": float(row[0]), "reg0": float(row[1]), "reg1": float(row[2])})
    bits = -sum(w * np.log2(w) for w in row.tolist())
    assert shown.breadth == pytest.approx(2**bits, rel=1e-4)


@pytest.mark.parametrize("what", ["weight", "value", "score", "similarity", "rollout"])
def test_whatever_is_asked_is_what_the_trace_answers(seen, what):
    spec = replace(SMALL, what=what)
    answers = {
        "weight": lambda: seen.row(1, 2, (3, 4), "off"),
        "value": lambda: seen.row(1, 2, (3, 4), "off") * seen.value_norms(1)[2],
        "score": lambda: seen.scores(1, 2, (3, 4), "off"),
        "similarity": lambda: seen.similarity((3, 4), 1),
        "rollout": lambda: seen.rollout((3, 4)),
    }
    np.testing.assert_allclose(look(seen, spec, 1, 2, "off").grid.ravel(), answers[what]()[3:].numpy(), rtol=1e-6)


@pytest.mark.parametrize("what", ["weight", "score"])
def test_a_column_is_that_of_the_whole_matrix(seen, what):
    spec = replace(SMALL, what=what, direction="column")
    scores = np.stack([seen.scores(1, 2, token).numpy() for token in range(seen.tokens)])
    truth = seen.matrix(1, 2).numpy() if what == "weight" else scores
    column = truth[:, seen.token((3, 4))]
    np.testing.assert_allclose(look(seen, spec, 1, 2, "on").grid.ravel(), column[3:], rtol=1e-4, atol=1e-6)


def test_a_patch_in_the_figure_has_the_colour_of_its_weight(seen, picture):
    figure = figures.draw(replace(SMALL, marker=False, bar=False, caption=False, dpi=200), seen, picture)
    image, axes = np.asarray(pixels(figure))[..., :3], figure.axes[0]
    weight = float(seen.on_grid(seen.row(1, 2, (3, 4)))[5, 6])
    t = min(1, weight / domain(SMALL, seen, []).high)
    x, y = axes.transData.transform((6.5, 5.5)) / figure.dpi * 200
    behind = np.asarray(picture.convert("RGB"))[int(5.5 / 8 * 120), int(6.5 / 8 * 120)] / 255
    dimmed = behind * (1 - DIM) + DUSK * DIM
    alpha = OPACITY * (1 - (1 - t) ** 3)
    expected = np.array(colormaps["magma"](round(t * 255))[:3]) * alpha + dimmed * (1 - alpha)
    np.testing.assert_allclose(image[image.shape[0] - int(y), int(x)] / 255, expected, atol=0.03)


def test_the_colours_end_where_the_microscope_s_do(seen):
    assert domain(SMALL, seen, []).high == 0.2  # 20 / 67 tokens = 0.299, whose nearest 1-2-5 number is 0.2
    assert domain(replace(SMALL, ceiling=0.07), seen, []).high == 0.07


def test_a_kernel_at_the_corner_reads_what_there_is():
    assert len(neighbourhood(3, 4, (8, 8), 3)) == 9
    assert neighbourhood(0, 7, (8, 8), 3) == [(0, 6), (0, 7), (1, 6), (1, 7)]
    assert len(neighbourhood(3, 4, (8, 8), 7)) == 49


def test_the_convolution_lights_its_nine_patches(seen, picture):
    dark = np.asarray(overlays(figures.draw(replace(SMALL, layout="convolution"), seen, picture))[0])[..., 3]
    lit = np.argwhere(dark == 0)
    assert lit.tolist() == [[r, c] for r in (2, 3, 4) for c in (3, 4, 5)]


def test_the_same_place_in_a_finer_grid(small, picture):
    coarse = playground.trace(small, picture)
    fine = playground.trace(small, picture, size=(128, 128))
    assert same_place((3, 4), coarse, fine) == (7, 9)
    assert same_place("cls", coarse, fine) == "cls"


@pytest.mark.parametrize("layout", ["head", "convolution", "heads", "wall", "scale", "atlas", "curves"])
@pytest.mark.parametrize("purpose", ["slide", "half", "column", "page"])
def test_every_layout_fits_every_purpose(seen, picture, layout, purpose):
    figure = figures.draw(replace(SMALL, layout=layout, purpose=purpose, footer=True), seen, picture)
    width, height = figure.get_size_inches()
    made = figures.spec.PURPOSES[purpose]
    assert width == made.width
    assert height == (made.height or height)
    edge = figure.bbox.padded(1)
    for box, text in written(figure):
        assert edge.x0 <= box.x0, text
        assert box.x1 <= edge.x1, text
        assert edge.y0 <= box.y0, text
        assert box.y1 <= edge.y1, text


def test_texts_do_not_overlap(seen, picture):
    for layout in ("head", "convolution", "heads", "wall", "scale", "atlas", "curves"):
        figure = figures.draw(replace(SMALL, layout=layout, purpose="page", footer=True), seen, picture)
        boxes = written(figure)
        for i, (a, one) in enumerate(boxes):
            for b, two in boxes[:i]:
                assert not a.padded(-2).overlaps(b.padded(-2)), (layout, one, two)


def test_two_models_stand_side_by_side_and_share_their_colours(seen, small, picture):
    fine = playground.trace(small, picture, size=(128, 128))
    figure = figures.draw(replace(SMALL, layout="compare", other_model="x"), seen, picture, other=fine)
    assert [o.size for o in overlays(figure)[:2]] == [(8, 8), (16, 16)]


def test_the_scale_off_is_drawn_from_the_row_without_it(seen, picture):
    spec = replace(SMALL, layout="scale")
    on, off = (np.asarray(o) for o in overlays(figures.draw(spec, seen, picture))[:2])
    alone = [np.asarray(overlays(figures.draw(replace(SMALL, scale=s), seen, picture))[0]) for s in ("on", "off")]
    np.testing.assert_array_equal(on, alone[0])
    np.testing.assert_array_equal(off, alone[1])
    assert not np.array_equal(on, off)


def test_what_the_prefix_takes_is_said(seen, picture):
    row = seen.row(1, 2, (3, 4))
    said = " ".join(t.get_text() for t in figures.draw(SMALL, seen, picture).texts)
    share = float(row[1] + row[2])
    assert f"registers {share:.1%}" in said or f"registers {share:.0%}" in said
    quiet = " ".join(t.get_text() for t in figures.draw(replace(SMALL, prefix=False), seen, picture).texts)
    assert "registers" not in quiet


def test_a_class_token_asks_without_a_marker_and_no_convolution_answers_it(seen, picture):
    figure = figures.draw(replace(SMALL, query="cls"), seen, picture)
    assert "the class token" in " ".join(t.get_text() for t in figure.texts)
    with pytest.raises(PlaygroundError, match="A convolution has no 'cls' token"):
        figures.draw(replace(SMALL, query="cls", layout="convolution"), seen, picture)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_transparent_figure_is_so_around_its_panels_alone(seen, picture, theme):
    image = np.asarray(pixels(figures.draw(replace(SMALL, theme=theme, transparent=True), seen, picture)))
    assert image[0, 0, 3] == 0
    assert image[image.shape[0] // 2, image.shape[1] // 2, 3] == 255
    solid = np.asarray(pixels(figures.draw(replace(SMALL, theme=theme), seen, picture)))
    assert tuple(solid[0, 0]) == ((255, 255, 255, 255) if theme == "light" else (14, 17, 23, 255))


def test_a_person_s_own_settings_change_nothing(seen, picture):
    import matplotlib

    plain = pixels(figures.draw(SMALL, seen, picture))
    with matplotlib.rc_context(
        {"font.size": 30, "figure.facecolor": "red", "savefig.bbox": "tight", "font.family": "serif"}
    ):
        assert pixels(figures.draw(SMALL, seen, picture)).tobytes() == plain.tobytes()
        assert matplotlib.rcParams["font.size"] == 30


def test_a_trace_gives_a_figure_to_go_on_editing(seen, picture):
    figure = playground.figure(
        seen, layer=1, head=2, query=(3, 4), layout="head", purpose="column", theme="dark", image=picture
    )
    figure.axes[0].plot([0, 8], [0, 8])
    assert Image.open(io.BytesIO(figure._repr_png_())).width == round(3.35 * 300)


@pytest.mark.parametrize(
    ("ran", "given", "drawn", "said"),
    [
        (None, None, "on", ""),
        (None, "off", "off", "Without 1/√dₖ in this layer alone."),
        ("off", None, "off", "Without 1/√dₖ in the whole forward pass."),
        ("off", "off", "off", "Without 1/√dₖ in the whole forward pass."),
        ("off", "on", "on", "With 1/√dₖ in this layer alone: the forward pass ran with another scale."),
        (0.5, None, 0.5, "Scale 0.5 instead of 1/√12 in the whole forward pass."),
    ],
)
def test_no_scale_given_draws_what_the_pass_ran_with_and_the_caption_says_so(small, picture, ran, given, drawn, said):
    seen = playground.trace(small, picture, scale=ran)
    spec = playground.figure(seen, 1, 2, (3, 4), given, purpose="column").spec
    caption = layouts.content(spec, layouts.Subject(seen, picture, ""), None).caption
    assert caption.endswith(said or "tokens."), caption
    shown = look(seen, spec, 1, 2, None if spec.whole else spec.scale)
    np.testing.assert_allclose(shown.grid.ravel(), seen.row(1, 2, (3, 4), drawn)[3:], rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"layout": "poster"}, "A figure's layout is head, convolution"),
        ({"dpi": 1}, "--dpi goes from 10"),
        ({"ceiling": 2.0}, "--ceiling is a share"),
        ({"what": "rollout", "layout": "wall"}, "Rollout has no heads"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(change, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        replace(SMALL, **change)
