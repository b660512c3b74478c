"""The worker in a browser, behind a plain file server and a strict policy: rows equal Python's, and nothing is sent."""

import numpy as np
import pytest
from PIL import Image

from browser.policy import WATCH_VIOLATIONS
from browser.truth import assert_close, model
from browser.without_server import REQUEST_LOG, PlainPageVisitor, plain_server, write
from playground.figures.bundle import bundle
from playground.pictures.images import fit, open_image
from playground.samples import named
from playground.tracing import trace

EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("site") / "out", "bundled")
    decoding = bundle("engine/images.js", "engine/tensors.js") + "\nexport { createTensors, resizedPicture };\n"
    (folder / "decoding.js").write_text(decoding, encoding="utf-8")
    with plain_server(folder) as url:
        yield url


@pytest.fixture
def somebody(arrive, site):
    visitor = arrive(PlainPageVisitor, site)
    visitor.context.add_init_script(WATCH_VIOLATIONS)
    return visitor.arrive()


def _python_trace(file):
    picture = open_image(file)
    c = model().config
    return trace(model(), picture, size=fit(picture.size, c.patch_size, c.image_size))


def test_a_photograph_is_computed_in_the_browser_and_then_nothing_is_requested(somebody):
    file = named("meadow").path
    somebody.give(file)
    request_count = len(REQUEST_LOG)
    truth = _python_trace(file)
    state = somebody.until("r => r.layersHeld.length === 6")
    assert state["grid"] == list(truth.grid)
    assert_close(state["row"], truth.row(state["layer"], state["head"], _query_of(state)), EIGHT_BITS)
    somebody.give(named("flock").path)
    somebody.until()
    assert REQUEST_LOG[request_count:] == [], "after the weights are here nobody is asked for anything"
    assert somebody.page.evaluate("violations") == []


def test_rows_the_whole_pass_and_feature_maps_come_from_the_worker(somebody):
    file = named("meadow").path
    somebody.give(file)
    truth = _python_trace(file)
    state = somebody.hover((7, 5))
    assert_close(state["row"], truth.row(state["layer"], state["head"], (7, 5)), EIGHT_BITS)
    view = dict(layer=5, head=1, query="7,5", locked=True, scale="off", **{"pass": "whole"})
    somebody.page.evaluate("view => theLens().update({ view })", view)
    whole_state = somebody.until("r => r.pass === 'whole'")
    assert whole_state["scale"] == 1
    for map_name in ("similarity", "rollout"):
        view = {"layer": 5, "locked": True, "query": "7,5", "what": map_name}
        somebody.page.evaluate("view => theLens().update({ view })", view)
        somebody.until(f"r => r.what === '{map_name}' && r.map")
    rollout_map = np.asarray(somebody.read()["map"])
    assert np.abs(rollout_map - truth.rollout((7, 5)).numpy()).max() < 0.01


def test_a_rotated_and_a_transparent_photograph_are_decoded_as_in_python(somebody, tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (12, 18, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((360, 240), Image.Resampling.BICUBIC)
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turned by a quarter
    turned_file, gaps_file = tmp_path / "turned.png", tmp_path / "gaps.png"
    picture.save(turned_file, exif=exif)
    alpha = Image.fromarray((np.indices((240, 360)).sum(0) % 256).astype(np.uint8))
    picture.putalpha(alpha.point(lambda x: 255 * (x > 100)))
    picture.save(gaps_file)
    for file in (turned_file, gaps_file):
        somebody.give(file)
        truth = _python_trace(file)
        state = somebody.until("r => r.layersHeld.length === 6")
        assert state["grid"] == list(truth.grid), file.name
        assert_close(state["row"], truth.row(state["layer"], state["head"], _query_of(state)), EIGHT_BITS)


@pytest.mark.slow
def test_the_browser_s_pixels_are_those_of_pillow(somebody, tmp_path):
    """PNG decodes to the same pixels everywhere; a JPEG to within two levels."""
    picture = open_image(named("meadow").path)
    script = """async ([bytes, height, width]) => {
      const { createTensors, resizedPicture } = await import("./decoding.js");
      const kernels = await (await fetch("kernels.wasm")).arrayBuffer();
      const t = await createTensors(await WebAssembly.compile(kernels));
      const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
      return [...(await resizedPicture(t, bitmap, height, width))];
    }"""
    orientations = [Image.Exif(), Image.Exif()]
    for exif, orientation in zip(orientations, (6, 2), strict=True):  # orientations: turned by a quarter, and mirrored
        exif[0x0112] = orientation
    cases = [("a.png", {}, 0), ("a.jpg", {"quality": 90}, 2), *(("a.png", {"exif": exif}, 0) for exif in orientations)]
    for name, options, most_levels in cases:
        file = tmp_path / name
        picture.save(file, **options)
        expected_picture = open_image(file).resize((112, 84), Image.Resampling.BICUBIC)
        pixels_here = somebody.page.evaluate(script, [list(file.read_bytes()), 84, 112])
        differences = np.abs(
            np.asarray(pixels_here).reshape(84, 112, 4)[..., :3] - np.asarray(expected_picture).astype(int)
        )
        assert differences.max() <= most_levels, name


def test_a_broken_file_is_refused_and_the_next_photograph_is_shown(somebody, tmp_path):
    broken_file = tmp_path / "broken.png"
    broken_file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"no" * 500)
    script = """async (bytes) => openPicture(new Blob([new Uint8Array(bytes)]), "bundled").then(
      () => "shown", (error) => error.name)"""
    assert somebody.page.evaluate(script, list(broken_file.read_bytes())) == "InvalidStateError"
    somebody.give(named("meadow").path)
    somebody.until()


def _query_of(state: dict) -> tuple[int, int] | str:
    return tuple(map(int, state["query"].split(","))) if "," in state["query"] else state["query"]
