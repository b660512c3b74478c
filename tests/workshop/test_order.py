"""Reordering heads changes no answer of a model. Afterwards, the first head of a layer has the largest share of
attention on the query's own object."""

import pytest
import torch
from tiny_runs import TINY

from playground.models import loading, model_file
from playground.scenes import generate
from playground.vit import VisionTransformer
from workshop import order


@pytest.fixture(scope="module")
def scenes():
    return [generate.scene(i) for i in range(3)]


def test_a_model_with_reordered_heads_gives_the_same_logits():
    vit, image = VisionTransformer(TINY, 1).eval(), torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for block in vit.blocks:
            block.attn.qkv.bias.normal_()
        logits = vit(image)
        new_order = torch.tensor([[1, 0]] * TINY.depth)
        order.reorder_heads(vit, new_order)
        assert torch.allclose(vit(image), logits, atol=1e-5)
        order.reorder_heads(vit, new_order)
        assert torch.equal(vit(image), logits)


def test_what_a_head_attends_to_moves_with_it(scenes):
    vit = VisionTransformer(TINY, 2).eval()
    mass = order.evaluate.own_mass(
        vit, [s.image for s in scenes], [order.patch_targets(s, TINY.patch_size).objects for s in scenes]
    )
    order.reorder_heads(vit, order.head_order(vit, scenes))
    new_mass = order.evaluate.own_mass(
        vit, [s.image for s in scenes], [order.patch_targets(s, TINY.patch_size).objects for s in scenes]
    )
    assert torch.allclose(new_mass, mass.sort(dim=1, descending=True).values, atol=1e-5)


def test_model_and_snapshots_of_a_run_get_the_same_order(tmp_path, monkeypatch):
    monkeypatch.setattr(order, "SCENE_COUNT", 2)
    final_model, early_model = VisionTransformer(TINY, 3), VisionTransformer(TINY, 4)
    model_file.save(final_model, tmp_path / "model.safetensors", torch.float32)
    model_file.save(early_model, tmp_path / "snapshot-000010.safetensors", torch.float32)
    scenes = [generate.scene(generate.FIRST_HELD_OUT - 1 - i) for i in range(2)]
    new_order = order.head_order(final_model.eval(), scenes)
    order.reorder_run(tmp_path)
    for file, vit in (("model.safetensors", final_model), ("snapshot-000010.safetensors", early_model)):
        order.reorder_heads(vit, new_order)
        state = loading.load(str(tmp_path / file), device="cpu").state_dict()
        assert all(torch.allclose(state[name], value, atol=1e-3) for name, value in vit.state_dict().items())
