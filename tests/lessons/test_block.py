"""The lesson on the rest of a layer: its boxes count all parameters, and the browser draws the arrows that Python
computes."""

import base64
import math

import numpy as np
import pytest
import torch
from conftest import SMALL
from twins import in_javascript

from lessons.playing import meadow, parts_of
from playground.lessons import block
from playground.lessons.parts import After, Drawing, Table
from playground.pack import unpack
from playground.vit import Config, VisionTransformer

pytestmark = pytest.mark.usefixtures("nothing_fetched")
CONFIGS = {
    "ours": SMALL,
    "layer scale": Config(**{**SMALL.__dict__, "layer_scale": True, "classes": 0}),
    "rotary, average": Config(**{**SMALL.__dict__, "positions": "rotary", "pool": "avg", "norm_place": "pooled"}),
    "pre-norm, map pool": Config(**{**SMALL.__dict__, "pre_norm": True, "pool": "map", "cls_token": False}),
}
ARROWS = """
const { header, section } = core.openContainer(Uint8Array.from(Buffer.from(given.bytes, "base64")));
const moves = core.decodeHalves(section("moves"));
return given.asked.map(([layer, patch]) => lessons_push.pushOf(moves, header.layers, layer, patch));
"""


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_boxes_hold_every_weight_once(config):
    vit = VisionTransformer(config)
    boxes = block.boxes_of(vit, 67, (64, 64))
    assert sum(box.parameter_count for box in boxes) == sum(p.numel() for p in vit.parameters())
    assert {box.name for box in boxes} <= {*block.BOX_NAMES}


def test_the_browser_has_the_arrows_of_python():
    (hidden_parts,) = (part for part in parts_of("block", "stream") if isinstance(part, After))
    (drawing,) = (part for part in hidden_parts if isinstance(part, Drawing))
    pushes = block.pushes(meadow())
    places = [(layer, patch) for layer in range(6) for patch in (0, 77, 195)]
    given = {"bytes": base64.b64encode(drawing.data).decode(), "asked": places}
    found = in_javascript(["core", "lessons/push"], ARROWS, given)
    for (layer, patch), numbers in zip(places, found, strict=True):
        length, pushed, cosine = (
            float(table[layer, patch]) for table in (pushes.before, pushes.attention_length, pushes.attention_cosine)
        )
        push = pushed * cosine, pushed * math.sqrt(1 - cosine**2)  # along the token, and across
        assert numbers["token"] == pytest.approx((length, 0), rel=1e-3)
        assert numbers["added"] == pytest.approx(push, rel=1e-2, abs=1e-2 * max(map(abs, push)))
        assert numbers["kept"] == pytest.approx(float(pushes.layer_cosine[layer, patch]), abs=1e-3)


def test_the_drawing_begins_with_the_upper_layer_and_the_patch_of_the_sample():
    (hidden_parts,) = (part for part in parts_of("block", "stream") if isinstance(part, After))
    header, arrays = unpack(next(part for part in hidden_parts if isinstance(part, Drawing)).data)
    assert (header["layers"], header["upper"]) == (6, 4)
    assert arrays["moves"].shape == (4, 6, 14 * 14)
    assert np.isfinite(arrays["moves"]).all()


def test_the_activations_of_a_layer_are_counted_in_bars_and_shares():
    activation_counts = block.bend_facts(torch.tensor([[-7.0, -1.0], [0.05, 2.0]]))
    assert (
        activation_counts.counts.sum(),
        activation_counts.negative,
        activation_counts.small,
        activation_counts.outside,
    ) == (3, 0.5, 0.5, 0.25)


def test_of_many_labels_the_chosen_one_is_in_the_table():
    (table,) = (part for part in parts_of("block", "answer", supposed="12") if isinstance(part, Table))
    assert [row[0] for row in table.rows if row[0].startswith("**")] == ["**12: indoors**"]
