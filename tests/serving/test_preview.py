"""The small picture of attention on a model's card."""

import numpy as np

import playground
from playground.serving import pictures
from playground.serving.routes_models import PREVIEW_WIDTH, preview
from playground.serving.traces import own_cache


def test_the_brightest_place_of_the_preview_is_the_largest_weight_of_that_row():
    picture = pictures.sample("flock")
    pixels = np.asarray(preview(picture, "bundled", own_cache()), int)
    assert pixels.shape[1] == PREVIEW_WIDTH
    trace = playground.trace(playground.load("bundled", device="cpu"), picture.image)
    start = tuple(int(share * side) for share, side in zip((0.4, 0.42), trace.grid, strict=True))
    weights = trace.on_grid(trace.row(trace.upper_layer, 0, start)).numpy()
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    places = zip((row, column), pixels.shape[:2], trace.grid, strict=True)
    y, x = (int((place + 0.5) * side / count) for place, side, count in places)
    warmth = pixels[..., 0] - pixels[..., 2]  # the heat is red, the picture grey
    brightest = warmth[y - 4 : y + 5, x - 4 : x + 5].max()  # around the middle, because the bird itself is dark
    assert brightest > np.quantile(warmth, 0.95), (row, column, brightest, np.quantile(warmth, 0.95))
