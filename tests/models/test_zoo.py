"""Parity: our VisionTransformer, filled with timm's weights, gives timm's numbers. Also: which names load."""

import pytest
import timm
import torch
from conftest import scramble

import playground
from models.parity import assert_equal
from playground.errors import PlaygroundError
from playground.models import timm_models
from playground.models.layouts import our_weights
from playground.models.source import fill
from playground.vit import VisionTransformer

SHALLOW = {"depth": 3}
NARROW = {"depth": 3, "embed_dim": 192, "num_heads": 3}
FAMILIES = {  # family -> (a name, changes that make the model small)
    "AugReg": ("vit_tiny_patch16_224", {}),
    "DeiT": ("deit_small_patch16_224", SHALLOW),
    "distilled DeiT": ("deit_tiny_distilled_patch16_224", SHALLOW),
    "DeiT-3": ("deit3_small_patch16_224", SHALLOW),
    "DINO": ("vit_small_patch8_224.dino", SHALLOW),
    "DINOv2": ("vit_small_patch14_dinov2", {**SHALLOW, "img_size": 224}),
    "DINOv2 with registers": ("vit_small_patch14_reg4_dinov2", {**SHALLOW, "img_size": 224}),
    "DINOv2 giant (SwiGLU)": ("vit_giant_patch14_reg4_dinov2", {**NARROW, "img_size": 224}),
    "MAE": ("vit_base_patch16_224.mae", NARROW),
    "CLIP": ("vit_base_patch32_clip_224.laion2b", SHALLOW),
    "OpenAI's CLIP (quick GELU)": ("vit_base_patch32_clip_quickgelu_224", SHALLOW),
    "SigLIP": ("vit_base_patch16_siglip_224", NARROW),
    "SigLIP 2": ("vit_base_patch16_siglip_256.v2_webli", NARROW),
    "SigLIP, average pool": ("vit_base_patch16_siglip_gap_224", NARROW),
    "average pool, pooled norm": ("vit_medium_patch16_reg4_gap_256", SHALLOW),
    "registers and a map pool": ("vit_so150m_patch16_reg4_map_256", {**SHALLOW}),
    "no bias in qkv": ("vit_base_patch16_224_miil", NARROW),
    "no final norm": ("vit_base_patch16_radio_v3", {**NARROW, "img_size": 224}),
    "q/k norm": ("vit_tiny_patch16_224", {**SHALLOW, "qk_norm": True}),
    "DINOv3": ("vit_small_patch16_dinov3", SHALLOW),
    "DINOv3 with biases": ("vit_small_patch16_dinov3_qkvb", SHALLOW),
    "DINOv3 plus (SwiGLU)": ("vit_small_plus_patch16_dinov3", SHALLOW),
    "DINOv3 7B": ("vit_7b_patch16_dinov3", NARROW),
    "LingBot": ("vit_small_patch16_lingbot", SHALLOW),
}


def timm_and_ours(name: str, **changes) -> tuple[torch.nn.Module, VisionTransformer]:
    """A scrambled timm model on its unfused path, and ours with the same weights."""
    reference = scramble(timm.create_model(name, **changes))
    our_vit = VisionTransformer(timm_models.read_config(reference, name)).eval()
    fill(our_vit, our_weights({key: value.clone() for key, value in reference.state_dict().items()}), name)
    return reference, our_vit


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_every_layer_s_attention_are_timm_s(family):
    name, changes = FAMILIES[family]
    reference, our_vit = timm_and_ours(name, **changes)
    assert_equal(reference, our_vit, our_vit.config.image_size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(64, 64), (160, 96), (224, 336)])
@pytest.mark.parametrize(
    "name",
    ["vit_tiny_patch16_224", "deit3_small_patch16_224", "vit_base_patch16_siglip_224", "vit_small_patch16_dinov3"],
)
def test_at_another_size_positions_are_resampled_as_timm_does(name, size):
    reference, our_vit = timm_and_ours(name, **SHALLOW, dynamic_img_size=True)
    assert_equal(reference, our_vit, size)


@pytest.mark.slow
def test_most_of_timm_s_names_load():
    names = timm.list_models(["vit_*", "deit*"])
    for name in names[::9]:
        if timm_models.loads(name):
            with torch.device("meta"):
                reference, our_vit = timm.create_model(name), VisionTransformer(timm_models.timm_config(name))
            our_vit.load_state_dict(our_weights(reference.state_dict()), strict=True, assign=True)
    assert sum(map(timm_models.loads, names[::9])) / len(names[::9]) > 0.6


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("vit_relpos_small_patch16_224", "it is a VisionTransformerRelPos.*playground.trace"),
        ("vit_base_r50_s16_224", "its patches are cut by HybridEmbed"),
        ("vit_base_patch16_xp_224", "its layers are ParallelScalingBlock"),
        ("vit_small_patch16_rope_224", "its positions are RotaryEmbedding"),
        ("vit_dwee_patch16_reg1_gap_256", "its attention is DiffAttention"),
        ("resnet18", "it is a ResNet"),
    ],
)
def test_a_name_that_can_t_load_says_why_and_names_the_nearest_that_can(name, reason):
    with pytest.raises(PlaygroundError, match=reason) as error:
        playground.load(name, pretrained=False)
    nearest = str(error.value).split("The nearest that can is ")[1].rstrip(".")
    assert timm_models.loads(nearest)


@pytest.mark.parametrize(
    "name", ["vit_smol_patch16_224", "", "../../etc/passwd", "hf_hub:someone/model", "http://x/y", "a\nb"]
)
def test_an_unknown_name_is_refused_with_the_nearest_that_loads(name):
    with pytest.raises(PlaygroundError, match="nearest"):
        playground.load(name)


def test_unknown_weights_are_refused_with_those_that_are_published():
    with pytest.raises(PlaygroundError, match=r"published are .*vit_small_patch16_224\.dino"):
        playground.load("vit_small_patch16_224.dini")


def test_an_architecture_without_published_weights_says_what_to_do():
    with pytest.raises(PlaygroundError, match=r"not on the hub .*pretrained=False"):
        playground.load("vit_base_patch16_plus_240")


def test_files_that_are_no_weights_are_refused(tmp_path):
    for content in (b"", b"\xff" * 100):
        (tmp_path / "a.safetensors").write_bytes(content)
        for name, weights in (("untrained", tmp_path / "a.safetensors"), (tmp_path / "a.safetensors", None)):
            with pytest.raises(PlaygroundError, match="not a readable safetensors"):
                playground.load(name, weights=weights)
    with pytest.raises(PlaygroundError, match="There is no file"):
        playground.load("untrained", weights=tmp_path / "missing.safetensors")


def test_models_with_random_weights_load_without_a_network():
    assert playground.load("untrained", seed=3).name == "untrained"
    assert playground.load("ViT-Ti/16").config.heads == 3
    assert playground.load("deit_tiny_patch16_224", pretrained=False).name == "deit_tiny_patch16_224"


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "xpu"])
def test_a_device_that_is_not_there_is_explained(device):
    with pytest.raises(PlaygroundError, match="can't be put on the device"):
        playground.load("untrained", device=device)
