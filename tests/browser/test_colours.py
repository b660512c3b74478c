"""Photographs with a colour profile other than sRGB, with sixteen bits or with transparency decode in a browser as in
Python."""

import base64
import shutil

import numpy as np
import pytest
from colourful import COLOURFUL_FILES
from PIL import Image

from browser.without_server import plain_server
from playground.figures.bundle import MICROSCOPE, bundle
from playground.pictures.images import open_image
from playground.samples import named

SIZE = (112, 144)
MOST_LEVELS, MOST_MEAN_LEVELS = 3, 0.5  # largest and mean difference, of 255 levels, between browser and Python
DISPLAYED_PIXELS = """async ([base64, height, width]) => {
  const { createTensors, resizedPicture, rowsOf, sizeOf } = await import("/decoding.js");
  const t = await createTensors(await WebAssembly.compile(await (await fetch("/kernels.wasm")).arrayBuffer()));
  const file = new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]);
  const [sourceWidth, sourceHeight] = await sizeOf(file);
  const source = { width: sourceWidth, height: sourceHeight };
  const pixels = await resizedPicture(t, source, (y, count) => rowsOf(file, y, count), height, width);
  return Array.from(pixels, (byte) => String.fromCharCode(byte)).join("");
}"""


def write_decoding(folder):
    """A page that imports what decodes pictures."""
    scripts = bundle("engine/images.js", "engine/tensors.js", "shell/readable.js")
    exports = "\nexport { createTensors, resizedPicture, rowsOf, sizeOf };\n"
    (folder / "decoding.js").write_text(scripts + exports, encoding="utf-8")
    (folder / "index.html").write_text("<!doctype html><title>Decoding</title>", encoding="utf-8")
    shutil.copy(MICROSCOPE / "engine" / "kernels.wasm", folder)


@pytest.fixture
def page(chromium, tmp_path):
    write_decoding(tmp_path)
    with plain_server(tmp_path) as url:
        page = chromium.new_page()
        page.goto(f"{url}/index.html")
        yield page
        page.close()


@pytest.fixture(scope="module")
def photo():
    picture = open_image(named("meadow").path).resize((431, 338), Image.Resampling.BICUBIC)
    pixel_levels = np.asarray(picture).astype(float)
    strong_colours = pixel_levels.mean(-1, keepdims=True) + 1.6 * (pixel_levels - pixel_levels.mean(-1, keepdims=True))
    strong_colours += np.random.default_rng(0).normal(0, 12, strong_colours.shape)
    return Image.fromarray(strong_colours.clip(0, 255).astype(np.uint8))


def test_the_network_sees_the_pixels_that_it_sees_in_python(page, photo):
    differences = {}
    for kind, write in COLOURFUL_FILES.items():
        data = write(photo)
        pixels = page.evaluate(DISPLAYED_PIXELS, [base64.b64encode(data).decode(), *SIZE])
        truth = np.asarray(open_image(data).resize(SIZE[::-1], Image.Resampling.BICUBIC)).astype(int)
        levels = np.abs(np.frombuffer(pixels.encode("latin-1"), np.uint8).reshape(*SIZE, 4)[..., :3] - truth)
        differences[kind] = (int(levels.max()), round(float(levels.mean()), 3))
    for kind, (largest, mean) in differences.items():
        assert largest <= MOST_LEVELS, (kind, differences)
        assert mean <= MOST_MEAN_LEVELS, (kind, differences)


def test_the_colours_of_these_files_differ_from_their_bytes(photo):
    """If bytes and colours were equal, a decoder that ignores profiles would pass these tests."""
    plain_pixels = np.asarray(photo).astype(int)
    for kind in ("Display P3", "Adobe RGB", "grey of gamma 1.8", "half transparent"):
        assert np.abs(np.asarray(open_image(COLOURFUL_FILES[kind](photo))) - plain_pixels).max() > 30, kind
