"""What was made ahead says the same as what would be made now."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from playground.assets import OFFERS
from playground.pack import unpack
from playground.samples import SAMPLES
from playground.serving import models
from playground.serving.prepared import fresh_pack, prepared_pack

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("sample", [s.name for s in SAMPLES])
def test_a_prepared_pack_is_a_fresh_trace(sample):
    header, arrays = unpack(prepared_pack(sample))
    fresh, expected = unpack(fresh_pack(sample, models.load("bundled")))
    ours, theirs = header.pop("predictions"), fresh.pop("predictions")
    assert header == fresh
    assert dict(ours) == pytest.approx(dict(theirs), abs=1e-3)
    for name in expected:
        assert np.allclose(arrays[name], expected[name], rtol=2e-3, atol=2e-3), name


def test_the_facts_about_the_offered_models_are_up_to_date():
    spec = importlib.util.spec_from_file_location("benchmarks_zoo", ROOT / "benchmarks" / "zoo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert json.loads(OFFERS.read_text(encoding="utf-8")) == module.offers()
