"""Photographs with a colour profile other than sRGB, with sixteen bits or with transparency decode in a browser as in
Python: for the network in the browser, and in the smaller copy that the browser sends to the server."""

import math

import numpy as np
import pytest
from colourful import COLOURFUL_FILES, P3_PROFILE, half_transparent
from engine_under_node import distance, rows_in_python
from made_pictures import saved
from PIL import Image

from browser import firefox
from browser.decoder import Decoder, decoding_page, resized_pixels
from browser.truth import model
from playground.pictures.images import KEPT_PIXELS, fit, open_image
from playground.samples import named
from playground.tracing import trace

SIZE = (112, 144)
MOST_LEVELS, MOST_MEAN_LEVELS = 3, 0.3  # largest and mean difference, of 255 levels, between browser and Python
JPEG_LEVELS = 2  # mean difference, of 255 levels, of a copy that was encoded a second time
MOST_VARIATION = 0.008  # largest total variation from Python's row; mainly due to model weights in eight bits
ROW_KINDS = (
    "Display P3, JPEG", "Adobe RGB", "sixteen bits, grey", "half transparent, WebP", "half transparent, Display P3",
    "half transparent, Adobe RGB, WebP",
)  # fmt: skip


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def decoder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoding")
    with decoding_page(folder) as address:
        if request.param == "chromium":
            page = request.getfixturevalue("chromium").new_page()
            page.goto(address)
            yield Decoder(folder, lambda script, *given: page.evaluate(f"(given) => ({script})(...given)", given))
            page.close()
        elif firefox.find() is None:
            pytest.skip("no Firefox is installed: apt-get install firefox-esr")
        else:
            with firefox.firefox(tmp_path_factory.mktemp("profile")) as page:
                page.open(address)
                yield Decoder(folder, page.run)


@pytest.fixture(scope="module")
def photo():
    """A photograph with strong colours and thin lines."""
    picture = open_image(named("meadow").path).resize((431, 338), Image.Resampling.BICUBIC)
    pixel_levels = np.asarray(picture).astype(float)
    strong_colours = pixel_levels.mean(-1, keepdims=True) + 1.6 * (pixel_levels - pixel_levels.mean(-1, keepdims=True))
    strong_colours += np.random.default_rng(0).normal(0, 12, strong_colours.shape)
    return Image.fromarray(strong_colours.clip(0, 255).astype(np.uint8))


def test_the_network_sees_the_pixels_that_it_sees_in_python(decoder, photo):
    differences = {}
    for kind, write in COLOURFUL_FILES.items():
        data = write(photo)
        level_differences = np.abs(
            decoder.displayed_pixels(data, SIZE).astype(int) - resized_pixels(open_image(data), SIZE)
        )
        differences[kind] = (int(level_differences.max()), round(float(level_differences.mean()), 3))
    too_far = {
        kind: difference
        for kind, difference in differences.items()
        if difference[0] > MOST_LEVELS or difference[1] > MOST_MEAN_LEVELS
    }
    assert not too_far, f"(largest, mean) difference: {differences}"


def test_the_colours_of_these_files_differ_from_their_bytes(photo):
    """If bytes and colours were equal, a decoder that ignores profiles would pass these tests."""
    plain_pixels = np.asarray(photo).astype(int)
    for kind in ("Display P3", "Adobe RGB", "grey of gamma 1.8", "half transparent"):
        assert np.abs(np.asarray(open_image(COLOURFUL_FILES[kind](photo))) - plain_pixels).max() > 30, kind


@pytest.mark.parametrize(
    "kind", [*ROW_KINDS[:2], *(pytest.param(kind, marks=pytest.mark.slow) for kind in ROW_KINDS[2:])]
)
def test_rows_of_attention_are_those_of_python(decoder, photo, kind):
    data, config = COLOURFUL_FILES[kind](photo), model().config
    picture = open_image(data)
    size = fit(picture.size, config.patch_size, config.image_size)
    browser_picture = Image.fromarray(decoder.displayed_pixels(data, size))
    difference, same_share = distance(
        *(rows_in_python(trace(model(), decoded_picture, size=size)) for decoded_picture in (browser_picture, picture))
    )
    assert difference <= MOST_VARIATION / 2, (
        f"rows differ by {difference:.4f}, the strongest patch is the same in {same_share:.1%}"
    )
    assert same_share >= 0.98, f"the strongest patch is the same in {same_share:.1%}"


@pytest.mark.parametrize(
    ("width", "height", "pixels_in_one"), [(6028, 4019, 1), pytest.param(7001, 5001, 2, marks=pytest.mark.slow)]
)
def test_a_large_photograph_is_reduced_alike_in_browser_and_python(decoder, photo, width, height, pixels_in_one):
    """Browser and Python reduce a picture with too many pixels alike: `pixels_in_one` pixels of a side become one."""
    large_photo = photo.resize((width, height), Image.Resampling.BILINEAR)
    assert math.ceil(math.sqrt(width * height / KEPT_PIXELS)) == pixels_in_one
    data = saved(large_photo, "JPEG", quality=85)
    assert open_image(data).size == (math.ceil(width / pixels_in_one), math.ceil(height / pixels_in_one))
    level_differences = np.abs(
        decoder.displayed_pixels(data, SIZE).astype(int) - resized_pixels(open_image(data), SIZE)
    )
    assert level_differences.max() <= 1, (
        f"differ by {level_differences.max()}, {level_differences.mean():.3f} on the mean"
    )


@pytest.mark.parametrize("kind", ["Display P3", pytest.param("half transparent", marks=pytest.mark.slow)])
def test_a_copy_that_is_made_smaller_before_it_is_sent_has_the_same_colours(decoder, photo, kind):
    large_pixels = np.asarray(photo.resize((2300, 1804), Image.Resampling.BICUBIC)).astype(int)
    large_pixels += np.random.default_rng(0).integers(-25, 26, large_pixels.shape)
    noisy_photo = Image.fromarray(large_pixels.clip(0, 255).astype(np.uint8))
    options = {"icc_profile": P3_PROFILE} if kind == "Display P3" else {}
    data = saved(noisy_photo if options else half_transparent(noisy_photo), "PNG", compress_level=1, **options)
    sent_bytes = decoder.sent_bytes(data)
    assert len(sent_bytes) < len(data) / 2, "it is sent as it is"
    size = (45, 58)
    level_differences = np.abs(
        resized_pixels(open_image(sent_bytes), size).astype(int) - resized_pixels(open_image(data), size)
    )
    assert level_differences.mean() <= JPEG_LEVELS, (
        f"differ by {level_differences.max()}, {level_differences.mean():.2f} on the mean"
    )
