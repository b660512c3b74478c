"""NaN and infinity in weights or results lead to an error with a sentence, never to a picture."""

import math

import numpy as np
import pytest
import torch

import playground
from playground import PlaygroundError
from playground.__main__ import main

ERROR_WORDS = {  # the weights that are spoiled -> words of the error
    "queries": "from layer 1 on",
    "values of the last layer": "from layer 2 on",
    "logits": "as its answer",
    "keys that are far too large": "from layer 1 on",
}


@pytest.fixture
def broken_model(small):
    def spoil(where: str):
        qkv, width = [block.attn.qkv for block in small.blocks], small.config.width
        with torch.no_grad():
            if where == "queries":
                qkv[1].weight[3] = math.nan
            elif where == "values of the last layer":
                qkv[2].weight[2 * width + 3] = math.nan
            elif where == "logits":
                small.head.weight[2] = math.nan
            else:
                qkv[0].bias[:] = 1e30
        return small

    return spoil


@pytest.mark.parametrize("where", ERROR_WORDS)
def test_a_pass_that_gives_no_numbers_is_refused_in_a_sentence(broken_model, picture, where):
    sentence = rf"computes what is no number \(NaN or infinite\) {ERROR_WORDS[where]}: its weights hold such numbers"
    with pytest.raises(PlaygroundError, match=sentence):
        playground.trace(broken_model(where), picture)


def test_the_error_of_a_model_in_16_bits_advises_float32(broken_model, picture):
    with pytest.raises(PlaygroundError, match="Load it in float32, or other weights"):
        playground.trace(broken_model("queries").bfloat16(), picture)


SPOILED_WEIGHTS = {  # a parameter -> (its spoiled value, words of the error)
    "blocks.0.attn.qkv.weight": (math.nan, "holds numbers that are none (NaN or infinite) in blocks.0.attn.qkv.weight"),
    "blocks.0.attn.qkv.bias": (1e30, "computes what is no number (NaN or infinite) from layer 1 on"),
    "head.weight": (3e38, "computes what is no number (NaN or infinite) as its answer"),
}


@pytest.mark.parametrize("name", SPOILED_WEIGHTS)
def test_the_command_line_refuses_spoiled_weights_in_a_line_and_writes_nothing(
    name, picture, tmp_path, monkeypatch, capsys
):
    import timm
    from safetensors.torch import save_file

    monkeypatch.chdir(tmp_path)
    picture.save("disc.png")
    value, sentence = SPOILED_WEIGHTS[name]
    weights = timm.create_model("vit_tiny_patch16_224", num_classes=7, depth=2).state_dict()
    weights["norm.weight"][:], weights["norm.bias"][:] = 0, 1  # the head's input is all ones, so large weights add up
    weights[name][:] = value
    save_file(weights, tmp_path / "mine.safetensors")
    line = ["figure", "disc.png", "--model", "vit_tiny_patch16_224", "--weights", str(tmp_path / "mine.safetensors")]
    for output in ("a.png", "a.npz", "a.html", "a.txt"):
        assert main([*line, "-o", output]) == 2
        assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["disc.png", "mine.safetensors"]


def test_a_picture_that_holds_nan_is_refused_in_a_sentence(small):
    pixels = np.full((32, 32, 3), 0.5, np.float32)
    pixels[3, 4] = np.nan
    for picture_value in (pixels, torch.from_numpy(pixels), torch.from_numpy(pixels).permute(2, 0, 1)):
        with pytest.raises(PlaygroundError, match="holds NaN"):
            playground.trace(small, picture_value)


def test_a_scale_that_makes_scores_infinite_is_refused_in_a_sentence(small_trace):
    for scale in (1e38, -1e38, math.inf, math.nan):
        with pytest.raises(PlaygroundError, match="A scale is"):
            small_trace.row(1, 2, (3, 4), scale=scale)
    assert small_trace.row(1, 2, (3, 4), scale=1e8).isfinite().all()


def test_a_logit_of_minus_infinity_gives_a_share_of_zero(small, picture):
    """A bias of minus infinity is a usual way to disable a label."""
    with torch.no_grad():
        small.head.bias[2] = -math.inf
    trace = playground.trace(small, picture)
    assert trace.answers()[0, 2] == 0
    assert trace.answers().isfinite().all()
