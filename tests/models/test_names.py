"""The names of models in texts for readers."""

import json

import pytest

from playground.assets import OFFERS
from playground.models.names import plain_name, training_pictures

PLAIN_NAMES = {
    "bundled": "our small ViT",
    "untrained": "our small ViT (random weights)",
    "dinov2-small": "DINOv2 S/14",
    "ViT-B/16": "ViT-B/16 (random weights)",
    "ViT-H/14": "ViT-H/14 (random weights)",
    "vit_small_patch14_dinov2.lvd142m": "DINOv2 S/14",
    "vit_small_patch14_reg4_dinov2.lvd142m": "DINOv2 S/14 with registers",
    "vit_small_patch16_dinov3.lvd1689m": "DINOv3 S/16",
    "vit_small_plus_patch16_dinov3.lvd1689m": "DINOv3 S+/16",
    "vit_7b_patch16_dinov3.lvd1689m": "DINOv3 7B/16",
    "vit_small_patch8_224.dino": "DINO S/8",
    "deit_small_patch16_224.fb_in1k": "DeiT S/16",
    "deit_small_patch16_224": "DeiT S/16",
    "deit_base_distilled_patch16_384.fb_in1k": "DeiT B/16, 384 px, distilled",
    "deit3_small_patch16_224.fb_in1k": "DeiT-3 S/16",
    "vit_tiny_patch16_224.augreg_in21k_ft_in1k": "ViT Ti/16",
    "vit_base_patch16_384.augreg_in21k_ft_in1k": "ViT B/16, 384 px",
    "vit_base_patch16_224.mae": "MAE B/16",
    "vit_base_patch16_clip_224.openai": "CLIP B/16",
    "vit_base_patch16_clip_224.metaclip_400m": "MetaCLIP B/16",
    "vit_base_patch16_siglip_224.webli": "SigLIP B/16",
    "vit_base_patch16_siglip_256.v2_webli": "SigLIP 2 B/16",
    "vit_so400m_patch14_siglip_384.webli": "SigLIP So400M/14, 384 px",
    "runs/mine/cats.safetensors": "cats",
    "models/fine-tuned/model.safetensors": "fine-tuned",
}


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_every_form_of_model_name_has_a_plain_name(name):
    assert plain_name(name) == PLAIN_NAMES[name]


def test_no_plain_name_of_a_timm_model_has_an_underscore():
    import timm

    from playground.models.timm_models import PLAIN_MODULES

    names = [name for module in PLAIN_MODULES for name in timm.list_models(module=module)]
    plain_names = {name: plain_name(name) for name in names}
    assert not [name for name, plain_text in plain_names.items() if "_" in plain_text]
    assert sum("patch" in plain_text for plain_text in plain_names.values()) < 0.02 * len(plain_names)


def test_the_offered_models_have_different_names_and_say_what_they_are_good_for():
    offers = json.loads(OFFERS.read_text(encoding="utf-8"))
    assert len({fact["title"] for fact in offers.values()}) == len(offers)
    assert next(iter(offers)) == "dinov2-small"
    for name, fact in offers.items():
        assert fact["title"] == plain_name(name)
        assert fact["suits"] == training_pictures(name)
