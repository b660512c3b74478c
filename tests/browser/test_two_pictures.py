"""Two pictures under one cursor: their numbers are drawn on one scale."""

import numpy as np
import pytest
import torch

from browser.truth import python_trace
from playground.figures.drawing import light, maps

PAIR = "model=bundled&sample=twins&with=sample:portrait&beside=compare"


def test_what_is_compared_shares_one_exposure_and_one_scale(go):
    first_trace, second_trace = python_trace("twins"), python_trace("portrait")
    visitor = go(PAIR)
    visitor.hover((4, 5))
    state = visitor.until("r => r.query === '4,5' && r.waits === ''")
    layer, head = state["layer"], state["head"]
    place = maps.same_place((4, 5), first_trace, second_trace)
    rows = [
        trace.on_grid(trace.row(layer, head, q)).numpy() for trace, q in ((first_trace, (4, 5)), (second_trace, place))
    ]
    exposure = light.exposure(np.concatenate([row.ravel() for row in rows]))
    assert state["domain"]["high"] == pytest.approx(exposure, rel=0.03)
    visitor.choice("what", "similarity").click()
    visitor.part("otherFoot").get_by_text("Most alike here").wait_for()
    state = visitor.until("r => r.what === 'similarity' && r.map")
    feature = first_trace.features(layer)[first_trace.token((4, 5))]
    similarities = [
        torch.cosine_similarity(trace.features(layer), feature[None], dim=-1) for trace in (first_trace, second_trace)
    ]
    smallest = min(
        float(trace.on_grid(similarity).min())
        for trace, similarity in zip((first_trace, second_trace), similarities, strict=True)
    )
    assert state["domain"]["high"] == pytest.approx(1, abs=1e-2)
    assert state["domain"]["low"] == pytest.approx(smallest, abs=1e-2)
