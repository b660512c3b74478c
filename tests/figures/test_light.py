"""The colours laid over the photograph: the browser and the figures compute the same numbers."""

import itertools
import json

import numpy as np
import pytest
from matplotlib.path import Path
from twins import in_javascript

from playground.figures.drawing import light, maps, prints
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.spec import Spec

RANDOM = np.random.default_rng(0)


def run_javascript(body: str):
    return in_javascript(["light", "drawing/light"], body)


def random_rows(count: int = 40):
    for i in range(count):
        scores = RANDOM.normal(size=(12, 17)) * (0, 0.2, 1, 3, 8)[i % 5]
        yield np.exp(scores) / np.exp(scores).sum()


def test_the_browser_has_the_colours_of_figures():
    for against, hues in (("false", light.HUES), ("true", light.HUES_AGAINST)):
        colours = run_javascript(f"return [...light.heatTable({against})]")
        browser_table = np.array(colours, np.uint32).view(np.uint8).reshape(256, 64, 4)
        assert (browser_table[..., 3] == 255).all()
        differences = np.abs(browser_table[..., :3].astype(int).swapaxes(0, 1) - light.table(hues))
        assert differences.max() <= 1, np.argwhere(differences > 1)
    opacities = np.array(run_javascript("return [...light.OPACITIES]")) / 256
    np.testing.assert_allclose(opacities, light.opacities(), atol=0.51 / 256)
    bare_colours = np.array(run_javascript("return [...light.bareHeat()]")).reshape(256, 3)
    assert np.abs(bare_colours - light.bare_heat().astype(int)).max() <= 1
    constants = run_javascript("return [...light.BENEATH_TONES, light.BENEATH_SATURATION]")
    assert constants == [*light.TONES_BENEATH, light.COLOUR_KEPT]


def test_the_colour_bar_on_the_screen_is_a_figure_s():
    browser_bar = run_javascript(
        "const ramp = drawing_light.barColours(), domain = { low: 0, high: 0.3 };"
        "return Array.from({ length: 256 }, (_, i) => ramp[light.stepOf((0.3 * i) / 255, domain)]"
        ".match(/\\d+/g).map(Number));"
    )
    our_bar = np.asarray(prints.bar(Spec(image="x"), Domain(0, 0.3, "")), int)[0]
    differences = np.abs(np.array(browser_bar) - our_bar)
    assert differences.max() <= 6, (differences.max(), differences.argmax())  # neighbouring steps differ by 6 at most


def test_negative_values_have_the_browser_s_steps_and_hatching():
    values = RANDOM.normal(size=(12, 17)).astype(np.float32)
    high = float(np.abs(values).max())
    domain, steps, lines = run_javascript(
        f"const values = Float32Array.from({values.ravel().tolist()});"
        "const domain = light.domainAround(values, 0, values.length);"
        "const inLine = light.hatching(21);"
        "const lines = Array.from({ length: 40 * 40 }, (_, i) => inLine(i % 40, Math.floor(i / 40)));"
        "return [domain, [...values].map((x) => light.stepOf(x, domain)), lines];"
    )
    assert (domain["low"], domain["high"]) == pytest.approx((-high, high))
    our_shares = maps.shares(values, Domain(-high, high, "", signed=True)).ravel()
    assert np.abs(np.array(steps) - np.round(255 * our_shares)).max() <= 1
    hatched = light.hatched_share(np.full((40, 40), -1.0), 21) != -1
    assert np.array_equal(np.array(lines).reshape(40, 40), hatched)


def test_exposure_and_steps_are_the_browser_s():
    for grid in random_rows():
        values = grid.astype(np.float32)
        ceiling, steps = run_javascript(
            f"const row = Float32Array.from({values.ravel().tolist()});"
            "const top = light.exposure(row, 0, row.length), domain = { low: 0, high: top };"
            "return [top, [...row].map((x) => light.stepOf(x, domain))];"
        )
        assert ceiling == pytest.approx(light.exposure(values))
        expected = (light.shares(values, ceiling).ravel() * 255 + 0.5).astype(int)
        assert np.abs(np.array(steps) - expected).max() <= 1


COLOURS = np.stack(np.meshgrid(*[np.linspace(0, 255, 9)] * 3), -1).reshape(-1, 1, 3)  # 9³ colours all over the RGB cube


def heated_colours(weights: int = 33) -> np.ndarray:
    """(colours, weights, 3): each of COLOURS with the heat of each weight laid over it."""
    share = np.tile(np.linspace(0, 1, weights), (len(COLOURS), 1))
    return light.heat(np.repeat(COLOURS, weights, axis=1), share).astype(float)


def test_lightness_rises_with_the_weight_whatever_lies_beneath_and_in_grey_too():
    """In a grey print, lightness rises over every colour. Luminance rises over greys only, because saturated blue and
    green are darker in luminance than in print."""
    heated = heated_colours()
    greys = np.ptp(COLOURS[:, 0], axis=1) == 0
    luminance = light._linear(heated[greys] / 255) @ [0.2126, 0.7152, 0.0722]
    for brightness, rounding in ((heated @ light.LUMA_WEIGHTS, 2), (luminance, 0.01)):
        steps = np.diff(brightness, axis=1)
        assert steps.min() > -rounding, np.argwhere(steps <= -rounding)
        assert (np.diff(brightness[:, ::4], axis=1) > 0).all(), "a clearly larger weight is brighter"


def test_without_weight_the_photograph_keeps_most_of_its_contrast_and_colour():
    colours_without_weight = heated_colours()[:, 0]
    heated_luma, photo_luma = colours_without_weight @ light.LUMA_WEIGHTS, COLOURS[:, 0] @ light.LUMA_WEIGHTS
    assert heated_luma.std() / photo_luma.std() >= 0.55
    assert (
        np.abs(colours_without_weight - heated_luma[:, None]).mean()
        / np.abs(COLOURS[:, 0] - photo_luma[:, None]).mean()
        >= 0.5
    )


def test_what_has_the_largest_weight_can_still_be_recognised():
    greys = np.repeat(np.linspace(40, 215, 8)[:, None, None], 3, axis=-1)
    heated = light.heat(greys, np.ones((8, 1))).astype(float)

    def lightness(x):
        return np.cbrt(light._linear(x / 255) @ [0.2126, 0.7152, 0.0722])[:, 0]

    assert (np.diff(lightness(heated)) / np.diff(lightness(greys))).min() > 0.3
    assert np.ptp(lightness(heated)) / np.ptp(lightness(greys)) >= 0.4


def test_at_most_one_cell_in_a_hundred_is_brighter_than_the_picture_can_show():
    for grid in random_rows():
        assert (grid > light.exposure(grid)).mean() <= 0.01


def test_an_even_row_is_not_stretched_into_a_pattern():
    even_row = np.full((12, 17), 1 / 204) * RANDOM.uniform(0.97, 1.03, size=(12, 17))
    brightness = light.shares(even_row, light.exposure(even_row))
    assert np.ptp(brightness) < 0.05
    bits = -(even_row * np.log2(even_row)).sum()
    assert light.is_even(bits, 204)
    assert not light.is_even(np.log2(100), 204)


# The outline, which the browser draws alone ---------------------------------------------------------------------------


# All sets of 3 × 3 cells, and random sets of 9 × 12 cells at several densities
CELL_SETS = [
    *(np.array(bits, bool).reshape(3, 3) for bits in itertools.product((0, 1), repeat=9)),
    *(RANDOM.random((9, 12)) < density for density in (0.05, 0.3, 0.5, 0.7, 0.95) for _ in range(40)),
]


def lines_around(masks: list[np.ndarray]) -> list[list[np.ndarray]]:
    sets_json = json.dumps([[*mask.shape, mask.ravel().astype(int).tolist()] for mask in masks])
    answers = run_javascript(
        f"return {sets_json}.map(([rows, columns, chosen]) => {{"
        "return light.contours(Uint8Array.from(chosen), rows, columns).map((line) => [...line]); });"
    )
    return [[np.array(line).reshape(-1, 2) for line in lines] for lines in answers]


def flattened(points: np.ndarray, pieces: int = 8) -> np.ndarray:
    """(points, 2) -> (corners, 2): the polygon of a closed curve of quadratic Béziers. Each point is the control point
    of one Bézier, whose ends lie halfway to the neighbouring points."""
    starts, ends = ((points + np.roll(points, shift, 0)) / 2 for shift in (1, -1))
    t = np.linspace(0, 1, pieces, endpoint=False)[:, None, None]
    return ((1 - t) ** 2 * starts + 2 * t * (1 - t) * points + t**2 * ends).swapaxes(0, 1).reshape(-1, 2)


def test_smooth_lines_have_just_the_chosen_cells_within_them():
    for mask, lines in zip(CELL_SETS, lines_around(CELL_SETS), strict=True):
        middles, inside = np.argwhere(np.ones_like(mask)) + 0.5, np.zeros(mask.size, bool)
        for polygon in map(flattened, lines):
            inside ^= Path(np.vstack([polygon, polygon[:1]]), closed=True).contains_points(middles)
        np.testing.assert_array_equal(inside.reshape(mask.shape), mask)
