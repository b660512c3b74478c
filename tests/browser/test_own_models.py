"""A model that the server's owner adds, from a file that holds only weights."""

import json

import pytest
import timm
from conftest import scramble
from safetensors.torch import save_file

from browser.server import serving
from browser.visitor import Visitor

ASSUMED_SETTINGS = "mean 0.5 0.5 0.5, std 0.5 0.5 0.5, 3 heads of 64, the activation gelu"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    vit = scramble(timm.create_model("vit_tiny_patch16_224", depth=2, num_classes=7))
    state_dict = {key: value.clone().contiguous() for key, value in vit.state_dict().items()}
    for name in ("leaves", "told"):
        save_file(state_dict, folder / f"{name}.safetensors", metadata={"arch": "vit_tiny_patch16_224"})
    description = {"mean": [0.4] * 3, "std": [0.2] * 3, "num_heads": 3, "act_layer": "gelu", "global_pool": "token"}
    (folder / "told.json").write_text(json.dumps(description))
    return folder


@pytest.mark.slow
def test_what_was_assumed_of_an_own_model_is_read_below_its_picture_and_in_its_card(arrive, folder):
    with serving(PLAYGROUND_MODELS_DIR=str(folder)) as server:
        visitor = arrive(Visitor, server.url).open("sample=flock&model=own/leaves")
        assumptions = visitor.part("assumed")
        assert assumptions.inner_text() == f"Assumed of the model: {ASSUMED_SETTINGS}."
        sheet = visitor.unfold("model")
        card = sheet.locator('[data-model="own/leaves"]')
        card.wait_for()
        assert (
            f"Assumed: {ASSUMED_SETTINGS}, the class token read out. leaves.json beside its file says"
            in card.inner_text()
        )
        sheet.locator('[data-model="own/told"]').click()
        visitor.shows(model="own/told")
        assumptions.wait_for(state="hidden")
