"""The browser's engine under Node, compared with Python on the same weights and pixels."""

import json
from hashlib import sha256

import numpy as np
import pytest
import torch
from conftest import SMALL, scramble
from engine_under_node import (
    distance,
    look_inside,
    resized_by_engine,
    rows_in_engine,
    rows_in_python,
    run_job,
    run_pass,
)
from PIL import Image

from playground.analysis.inside import inside, largest_number, query_bias
from playground.errors import PlaygroundError
from playground.models import borrowed, engine_file, loading
from playground.models.engine_file import eight_bit_blocks, to_engine
from playground.pack import unpack
from playground.pictures import images
from playground.samples import named
from playground.tracing import trace
from playground.vit import Config, VisionTransformer
from workshop import kernels


def has_dinov2() -> bool:
    return bool(borrowed.find(borrowed.DINOV2.file))


ORIGIN = {"licence": "MIT", "author": "a test", "source": "nowhere"}
NEEDS_DINOV2 = pytest.mark.skipif(not has_dinov2(), reason="DINOv2's weights are not on this machine")


@pytest.fixture
def scaled_vit(monkeypatch) -> VisionTransformer:
    """A small scrambled ViT with LayerScale, prefix tokens and a classifier."""
    monkeypatch.setattr(engine_file, "origin", lambda name: ORIGIN)
    return scramble(VisionTransformer(Config(**{**SMALL.__dict__, "layer_scale": True})))


# The kernels


def test_the_kernels_are_those_that_their_digests_name():
    record = json.loads(kernels.DIGESTS.read_text())
    assert record["sha256"] == kernels.digests(), "run python -m workshop.kernels"


def test_the_compiler_makes_the_same_kernels_again():
    version, record = kernels.compiler(), json.loads(kernels.DIGESTS.read_text())
    if version is None:
        pytest.skip("there is no compiler here: pip install ziglang")
    if version != record["compiler"]:
        pytest.skip(f"{version} is here, and {record['compiler']} made the kernels")
    assert sha256(kernels.compiled_module()).hexdigest() == record["sha256"]["kernels.wasm"]


# A forward pass


@pytest.mark.parametrize(
    "trace_options",
    [
        {},
        {"scale": 1.0},
        {"cut": ["2,3>cls", "*>3x3+reg0@1", "1,1>2,2+2,3@2.0+3"]},
        {"cut": ["zero@1.0+3", "mean@0.2", "2,3>cls"]},
    ],
    ids=["plain", "off", "cut", "ablated"],
)
def test_every_layer_of_a_pass_equals_python_s(scaled_vit, picture, tmp_path, trace_options):
    # 6 × 9 patches, so positions are interpolated
    model_trace = trace(scaled_vit, picture, size=(48, 72), **trace_options)
    options = {"cuts": trace_options["cut"]} if "cut" in trace_options else trace_options
    engine_pass = run_pass(model_trace, tmp_path, **options)
    for layer in range(model_trace.layers):
        for name in ("q", "k"):
            np.testing.assert_allclose(
                getattr(engine_pass, name)[layer], getattr(model_trace.record[layer], name), atol=2e-4
            )
        np.testing.assert_allclose(engine_pass.norms[layer], model_trace.value_norms(layer), rtol=1e-4)
        np.testing.assert_allclose(engine_pass.features[layer], model_trace.features(layer), atol=5e-4)
    np.testing.assert_allclose(engine_pass.logits, model_trace.logits, atol=5e-4)
    np.testing.assert_allclose(
        rows_in_engine(engine_pass.q, engine_pass.k, model_trace), rows_in_python(model_trace), atol=1e-4
    )


@pytest.mark.parametrize(("layer", "cut"), [(0, []), (2, ["2,3>1,1@2"])])
def test_one_token_s_way_through_a_head_is_the_same_in_the_browser(scaled_vit, picture, tmp_path, layer, cut):
    model_trace = trace(scaled_vit, picture, size=(48, 72), cut=cut)
    place = {"layer": layer, "head": 1, "token": model_trace.token((2, 3))}
    run = look_inside(model_trace, tmp_path, place, cuts=cut)
    expected = inside(model_trace, layer, 1, (2, 3))
    assert run.keys() == {"bias", "number", *expected}
    assert run["bias"] == pytest.approx(query_bias(model_trace, layer, 1, (2, 3)), abs=1e-6)
    assert run["number"] == largest_number(model_trace, layer, 1, (2, 3))
    for name, x in expected.items():
        np.testing.assert_allclose(run[name], x.flatten(), atol=5e-4, err_msg=name)


ZEROS = {  # point of the pass -> (first column to set to zero, number of columns); each head has 8 columns
    "layers.1.attention.heads": (8, 16), "layers.0.attention.values": (0, 8), "layers.2.attention.queries": (4, 3),
    "layers.2.attention.keys": (0, 24), "layers.0.attention": (1, 5), "layers.1.mlp": (0, 2),
    "layers.0.residual": (2, 2), "embedding": (9, 4), "layers.1.residual.middle": (3, 4),
    "layers.0.mlp.hidden": (5, 40),
}  # fmt: skip


@pytest.mark.parametrize("point", ZEROS)
def test_zeros_at_any_point_change_the_engine_s_pass_as_they_change_python_s(scaled_vit, picture, tmp_path, point):
    column, columns = ZEROS[point]

    def at(here, x):
        if here != point:
            return x
        flat = x.transpose(1, 2).flatten(2).clone() if x.dim() == 4 else x.clone()  # (batch, tokens, width)
        flat[..., column : column + columns] = 0
        return flat.unflatten(-1, (x.shape[1], -1)).transpose(1, 2) if x.dim() == 4 else flat

    model_trace = trace(scaled_vit, picture, at=at)
    engine_pass = run_pass(model_trace, tmp_path, zero=[[point, column, columns]])
    assert engine_pass.points == scaled_vit.points()
    np.testing.assert_allclose(engine_pass.features[-1], model_trace.features(), atol=5e-4)
    np.testing.assert_allclose(engine_pass.logits, model_trace.logits, atol=5e-4)
    assert np.abs(engine_pass.logits - trace(scaled_vit, picture).logits.numpy()).max() > 2e-3


@pytest.mark.parametrize("name", ["bundled", pytest.param("dinov2-small", marks=NEEDS_DINOV2)])
def test_rows_of_the_same_weights_equal_python_s_and_eight_bits_stay_close(name, tmp_path):
    model_trace = trace(loading.load(name), Image.open(named("meadow").path), size=_input_size(name))
    float_pass = run_pass(model_trace, tmp_path)
    python_rows = rows_in_python(model_trace)
    assert np.abs(rows_in_engine(float_pass.q, float_pass.k, model_trace) - python_rows).max() <= 1e-4
    rounded_pass = run_pass(model_trace, tmp_path, "int8")
    difference, same_share = distance(rows_in_engine(rounded_pass.q, rounded_pass.k, model_trace), python_rows)
    assert difference <= 0.008
    assert same_share >= 0.97
    assert (tmp_path / "weights.bin").stat().st_size <= 24.5e6


def _input_size(name: str) -> tuple[int, int]:
    return (112, 112) if name == "bundled" else (168, 224)


# Pixels


@pytest.mark.parametrize("size", [(112, 112), (70, 301), (31, 45), (200, 45), (64, 97)])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])  # a canvas gives four channels
def test_pictures_are_resized_as_pillow_does_to_the_bit(size, mode, tmp_path):
    noise = np.random.default_rng(1).integers(0, 256, (64, 97, len(mode)), dtype=np.uint8)
    picture = Image.fromarray(noise, mode)
    expected = picture.convert("RGB").resize(size[::-1], Image.Resampling.BICUBIC)
    assert np.array_equal(resized_by_engine(picture, size, tmp_path), np.asarray(expected))


def test_a_photograph_that_comes_in_bands_is_resized_as_pillow_does(tmp_path):
    picture = Image.open(named("meadow").path).convert("RGB")
    expected = picture.resize((224, 168), Image.Resampling.BICUBIC)
    for band in (1, 64, picture.height):
        assert np.array_equal(resized_by_engine(picture, (168, 224), tmp_path, band), np.asarray(expected))


def test_pictures_of_every_aspect_get_the_grid_that_python_gives_them(tmp_path):
    random = np.random.default_rng(0)
    sizes = [(1, 1), (1, 5000), (5000, 1), (640, 480), *random.integers(1, 4000, (200, 2)).tolist()]
    native_grids = [(14, 14), (28, 28), (37, 37), (2, 9)]
    questions = [[size, native] for size in sizes for native in native_grids]
    assert run_job({"fits": questions}, tmp_path) == [list(images.fit(size, 1, native)) for size, native in questions]


# The weights


def test_each_block_of_32_has_a_gain_and_no_number_is_off_by_more_than_half_of_it():
    matrix = torch.randn(5, 70, generator=torch.Generator().manual_seed(0)).numpy()
    matrix[2, 32:64] = 0
    codes, gains = eight_bit_blocks(matrix)
    assert codes.dtype == np.int8
    assert codes.shape == (5, 70)
    assert gains.dtype == np.float16
    assert gains.shape == (5, 3)
    gains_per_number = np.repeat(gains.astype(np.float32), 32, axis=1)[:, :70]
    assert (np.abs(codes * gains_per_number - matrix) <= gains_per_number / 2 * 1.0001).all()
    assert (codes[2, 32:64] == 0).all()


def test_the_file_says_whose_the_weights_are_and_what_was_changed(scaled_vit):
    header, arrays = unpack(to_engine(scaled_vit))
    assert {key: header[key] for key in ORIGIN} == ORIGIN
    assert "LayerScale" in header["changes"]
    assert "8 bits" in header["changes"]
    assert arrays["blocks.0.attn.qkv.weight"].dtype == np.int8
    assert header["config"]["prefix"] == ["cls", "reg0", "reg1"]


def test_dinov2_s_weights_say_whose_they_are():
    origin = engine_file.origin("dinov2-small")
    assert origin["licence"] == "Apache-2.0"
    assert "Meta" in origin["author"]


def test_weights_of_unknown_origin_are_not_written():
    with pytest.raises(PlaygroundError, match="not known here"):
        to_engine(VisionTransformer(SMALL))
