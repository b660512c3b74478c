"""NaN and infinity among the numbers of many pictures."""

import math

import numpy as np
import pytest
import torch

import playground
from playground import PlaygroundError
from playground.errors import PlaygroundWarning
from playground.figures import many


def test_a_model_that_computes_nan_is_refused_before_anything_is_written(zarr, small, pictures, tmp_path):
    with torch.no_grad():
        small.blocks[1].attn.qkv.weight[5] = math.nan
    for kind in ("weights:1", "features", "entropy", "distance"):
        run = playground.trace_many(pictures, small, kind, batch=2)
        with pytest.raises(PlaygroundError, match=r"computes what is no number .* for .*0\.png: its weights"):
            next(iter(run))
        with pytest.raises(PlaygroundError, match="computes what is no number"):
            run.write(tmp_path / f"{kind[:4]}.zarr")
        assert not zarr.open_group(tmp_path / f"{kind[:4]}.zarr")["done"][:].any()


def test_one_picture_without_numbers_stops_nobody_else(zarr, small, pictures, tmp_path, monkeypatch):
    """One picture may give NaN, for example a bright one that overflows in float16."""
    run = playground.trace_many(pictures, small, "entropy", batch=5)
    real_pass = many.Many._pass

    def pass_with_nan(self, *arguments):
        numbers = real_pass(self, *arguments)
        numbers["entropy"][2, 0, 0, 5] = np.nan
        return numbers

    monkeypatch.setattr(many.Many, "_pass", pass_with_nan)
    with pytest.warns(PlaygroundWarning, match=r"lacks the numbers of 1 of 5 pictures, .*2\.png"):
        run.write(tmp_path / "out.zarr")
    assert zarr.open_group(tmp_path / "out.zarr")["done"][:].tolist() == [True, True, False, True, True]
    with pytest.raises(PlaygroundError, match=r"no number .* for .*2\.png"):
        list(run)
