"""Files and models in the layouts of other libraries. Meta's files are compared with timm's model, which timm's filter
fills from the same file; models of torchvision and transformers are compared with their own passes."""

import math
from functools import partial

import pytest
import timm
import torch
from conftest import scramble
from safetensors.torch import save_file
from torch import nn

import playground
from models.parity import assert_equal, attentions
from playground import PlaygroundError
from playground.errors import PlaygroundWarning

TOLERANCE = {"atol": 1e-4, "rtol": 1e-4}


def pixels(side, count=2):
    return torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(2))


def state_of_meta(model, registers=0, gated=False):
    """The weights of a timm DINOv2 in the layout of Meta's file, which timm's filter reads."""
    state = dict(model.state_dict())
    state["mask_token"] = torch.randn(1, model.embed_dim)
    if registers:
        state["register_tokens"] = state.pop("reg_token")
        class_position = torch.randn(1, 1, model.embed_dim)
        state["cls_token"], state["pos_embed"] = (
            state["cls_token"] - class_position,
            torch.cat([class_position, state["pos_embed"]], 1),
        )
    if gated:
        state = {key.replace("mlp.fc1", "mlp.w12").replace("mlp.fc2", "mlp.w3"): x for key, x in state.items()}
    return {key: value.contiguous() for key, value in state.items()}


SMALL = {"img_size": 70, "depth": 3, "embed_dim": 128, "num_heads": 2, "num_classes": 0}


def stretched_by_meta(positions, grid):
    """Positions (side², width) on another grid, as Meta's DINOv2 without registers has it: Keys' cubic (a = −3/4)
    through the four nearest rows and columns, whose places are off by a tenth of a patch at the far end."""
    side = round(len(positions) ** 0.5)
    mixtures = []
    for count in grid:
        mixture = torch.zeros(count, side)
        for place in range(count):
            centre = (place + 0.5) * side / (count + 0.1) - 0.5
            for nearby in range(math.floor(centre) - 1, math.floor(centre) + 3):
                x = abs(centre - nearby)
                weight = 1.25 * x**3 - 2.25 * x**2 + 1 if x <= 1 else -0.75 * x**3 + 3.75 * x**2 - 6 * x + 3
                mixture[place, min(max(nearby, 0), side - 1)] += weight
        mixtures.append(mixture)
    return torch.einsum("ri,cj,ijd->rcd", *mixtures, positions.unflatten(0, (side, side))).flatten(0, 1)


@pytest.mark.parametrize("grid", [(5, 5), (3, 3), (2, 9), (5, 8)])
@pytest.mark.parametrize("registers", [0, 4])
def test_meta_s_dinov2_has_meta_s_positions_on_every_grid(tmp_path, registers, grid):
    name = "vit_small_patch14_reg4_dinov2" if registers else "vit_small_patch14_dinov2"
    timm_model = scramble(timm.create_model(name, **SMALL))
    file = tmp_path / "dinov2_vits14_pretrain.safetensors"
    save_file(state_of_meta(timm_model, registers), file)
    size = 14 * grid[0], 14 * grid[1]
    reference = timm.create_model(name, **SMALL | {"img_size": size})
    state = timm_model.state_dict()
    patches = state["pos_embed"][0, -25:]
    if registers:  # Meta stretches these as timm does
        positions = timm.layers.resample_abs_pos_embed(patches[None], grid, (5, 5), num_prefix_tokens=0)[0]
    else:
        positions = patches if grid == (5, 5) else stretched_by_meta(patches, grid)
    reference.load_state_dict(state | {"pos_embed": torch.cat([state["pos_embed"][0, :-25], positions])[None]})
    reference.eval()
    assert_equal(reference, playground.load(file, device="cpu"), size)
    assert_equal(reference, playground.load(name, weights=file, device="cpu", num_heads=2), size)


def test_meta_s_gated_mlp_has_its_gate_first(tmp_path):
    timm_model = scramble(timm.create_model("vit_giant_patch14_dinov2", **SMALL | {"mlp_ratio": 2}))
    file = tmp_path / "dinov2_vitg14_pretrain.safetensors"
    save_file(state_of_meta(timm_model, gated=True), file)
    vit = playground.load(file, device="cpu")
    assert vit.config.gated_mlp
    with torch.no_grad():
        torch.testing.assert_close(vit(pixels(70)), timm_model(pixels(70)), **TOLERANCE)


def test_meta_s_dinov3_has_rotary_positions_and_no_key_bias(tmp_path):
    timm_model = timm.create_model(
        "vit_small_patch16_dinov3_qkvb", img_size=64, depth=3, embed_dim=128, num_heads=2, num_classes=0
    )
    scramble(timm_model)
    state = {}
    for key, value in timm_model.state_dict().items():
        key = key.replace("reg_token", "storage_tokens")
        key = key.replace("gamma_1", "ls1.gamma").replace("gamma_2", "ls2.gamma")
        if key.endswith("q_bias"):
            hidden_bias = torch.randn_like(value)  # bias_mask hides these numbers
            state[key.replace("q_bias", "qkv.bias")] = torch.cat(
                [value, hidden_bias, timm_model.state_dict()[key.replace("q_bias", "v_bias")]]
            )
            state[key.replace("q_bias", "qkv.bias_mask")] = torch.cat([value * 0 + 1, value * 0, value * 0 + 1])
        elif not key.endswith(("v_bias", "k_bias")):
            state[key] = value
    state |= {"mask_token": torch.zeros(1, 128), "rope_embed.periods": torch.ones(16)}
    file = tmp_path / "dinov3_vits16_pretrain.safetensors"
    save_file({key: value.contiguous().clone() for key, value in state.items()}, file)
    vit = playground.load(file, device="cpu")
    with torch.no_grad():
        x, _ = vit.embed(pixels(64))
        for x, _ in vit.layers(*vit.embed(pixels(64))):  # noqa: B007
            pass
        torch.testing.assert_close(vit.norm(x), timm_model.forward_features(pixels(64)), **TOLERANCE)


@pytest.fixture(scope="module")
def torchvision_model():
    from torchvision.models.vision_transformer import VisionTransformer

    torchvision_vit = VisionTransformer(
        64, 16, 3, 4, 128, 192, num_classes=7, norm_layer=partial(nn.LayerNorm, eps=1e-6)
    )
    with torch.no_grad():
        torchvision_vit.encoder.pos_embedding.normal_(std=0.02)
    return scramble(torchvision_vit)


def test_a_vit_of_torchvision_gives_its_own_logits(torchvision_model, picture):
    vit = playground.load(torchvision_model)
    with torch.no_grad():
        torch.testing.assert_close(vit(pixels(64)), torchvision_model(pixels(64)), **TOLERANCE)
    assert str(playground.check(vit, torchvision_model, pixels(64))).startswith("logits equal")
    assert playground.trace(torchvision_model, picture).grid == (4, 4)


def test_a_file_of_torchvision_s_weights_gives_its_logits(torchvision_model, tmp_path):
    save_file(
        {key: x.contiguous() for key, x in torchvision_model.state_dict().items()}, tmp_path / "vit_b_16.safetensors"
    )
    vit = playground.load(tmp_path / "vit_b_16.safetensors", device="cpu", num_heads=4)
    with torch.no_grad():
        torch.testing.assert_close(vit(pixels(64)), torchvision_model(pixels(64)), **TOLERANCE)


@pytest.fixture
def timm_vit():
    return scramble(
        timm.create_model("vit_tiny_patch16_224", img_size=64, depth=3, embed_dim=48, num_heads=4, num_classes=7)
    )


def test_a_head_with_a_dropout_gives_timm_s_logits(timm_vit, tmp_path):
    timm_vit.head = nn.Sequential(nn.Dropout(0.4), nn.Linear(48, 5))
    scramble(timm_vit)
    vit = playground.load(timm_vit, mean=(0.5,) * 3, std=(0.5,) * 3)
    with torch.no_grad():
        torch.testing.assert_close(vit(pixels(64)), timm_vit(pixels(64)), **TOLERANCE)
    assert vit.classes == 5
    save_file(timm_vit.state_dict(), tmp_path / "mine.safetensors")
    loaded = playground.load("vit_tiny_patch16_224", weights=tmp_path / "mine.safetensors", device="cpu", num_heads=4)
    with torch.no_grad():
        torch.testing.assert_close(loaded(pixels(64)), timm_vit(pixels(64)), **TOLERANCE)


class Holder(nn.Module):
    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.decoder(self.backbone.forward_features(x)[:, 0])


def test_a_module_that_holds_one_vit_loads_as_that_vit(timm_vit):
    holder = Holder(backbone=timm_vit, decoder=nn.Linear(48, 2))
    vit = playground.load(holder, mean=(0.5,) * 3, std=(0.5,) * 3)
    with torch.no_grad():
        torch.testing.assert_close(
            vit.norm(vit.features(pixels(64), 2)), timm_vit.forward_features(pixels(64)), **TOLERANCE
        )
    with pytest.raises(PlaygroundError, match="This Holder holds 2 Vision Transformers: give one of them"):
        playground.load(Holder(backbone=timm_vit, teacher=scramble(timm.create_model("vit_tiny_patch16_224", depth=1))))
    with pytest.raises(PlaygroundError, match=r"or a module that holds one; given was Holder"):
        playground.load(Holder(backbone=nn.Linear(3, 3)))


def test_a_model_with_adapters_is_refused_with_advice_to_merge_them(timm_vit, tmp_path):
    timm_vit.blocks[1].attn.qkv.lora_A = nn.Linear(48, 2, bias=False)
    with pytest.raises(PlaygroundError, match=r"Adapters lie beside the weights here .*merge_and_unload\(\)"):
        playground.load(timm_vit)
    save_file(timm_vit.state_dict(), tmp_path / "adapted.safetensors")
    with pytest.raises(PlaygroundError, match=r"merge_and_unload\(\)"):
        playground.load(tmp_path / "adapted.safetensors")


# Models whose rows can be computed, but whose answer can't


class TwoHeads(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kinds, self.ages = nn.Linear(width, 3), nn.Linear(width, 1)

    def forward(self, x):
        return {"kinds": self.kinds(x), "ages": self.ages(x)}


HEADS = {
    "an MLP": lambda: nn.Sequential(nn.LayerNorm(192), nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 7)),
    "two matrices": lambda: TwoHeads(192),
}


@pytest.mark.parametrize("head", HEADS)
def test_a_model_with_its_own_head_shows_exact_rows_and_no_label(tmp_path, head):
    timm_model = timm.create_model("vit_tiny_patch16_224", img_size=64, depth=3)
    timm_model.head = HEADS[head]()
    scramble(timm_model)
    with pytest.warns(PlaygroundWarning, match="its head is one of its own"):
        our_vit = playground.load(timm_model)
    trace = playground.trace(our_vit, pixel_values=pixels(64, 1))
    _, weights = attentions(timm_model, pixels(64, 1))
    for layer in range(3):
        torch.testing.assert_close(trace.weights(layer), weights[layer][0], atol=1e-5, rtol=0)
    assert (trace.logits, trace.predictions) == (None, ())
    with pytest.raises(PlaygroundError, match="its head is one of its own"):
        trace.relevance(label=0)
    save_file(timm_model.state_dict(), tmp_path / "own.safetensors")
    with pytest.warns(PlaygroundWarning, match="its head is one of its own"):
        loaded = playground.load("vit_tiny_patch16_224", weights=tmp_path / "own.safetensors", device="cpu")
    assert torch.equal(playground.trace(loaded, pixel_values=pixels(64, 1)).weights(2), trace.weights(2))


# Models of timm that run by themselves


SHALLOW = {"depth": 3}
NARROW = {"depth": 3, "embed_dim": 192, "num_heads": 3}
OWN_PASSES = {  # a name -> what makes the model small
    "vit_relpos_small_patch16_224": SHALLOW,
    "vit_srelpos_small_patch16_224": SHALLOW,
    "vit_relpos_base_patch16_clsgap_224": NARROW,
    "vit_relpos_medium_patch16_rpn_224": SHALLOW,
    "beit_base_patch16_224": NARROW,
    "beitv2_base_patch16_224": NARROW,
    "eva02_tiny_patch14_224": SHALLOW,
    "eva02_base_patch14_224": NARROW,
    "vit_pe_core_tiny_patch16_384": SHALLOW,
    "vit_pe_spatial_tiny_patch16_512": SHALLOW,
    "vit_small_patch16_rope_224": SHALLOW,
    "vit_small_r26_s32_224": SHALLOW,
    "eva02_base_patch16_clip_224": NARROW,
}
WITHOUT_VALUE_NORMS = ("vit_relpos_medium_patch16_rpn_224", "eva02_base_patch16_clip_224")


@pytest.mark.parametrize("name", OWN_PASSES)
def test_a_model_that_runs_by_itself_gives_exact_rows_and_logits(name, picture):
    timm_model = scramble(timm.create_model(name, num_classes=7, **OWN_PASSES[name]))
    with torch.no_grad():
        for key, p in timm_model.named_parameters():
            if "bias_table" in key:
                p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(3)))
    size = timm_model.patch_embed.img_size
    trace = playground.trace(timm_model, pixel_values=pixels(size[0], 1))
    assert trace.grid == timm_model.patch_embed.grid_size
    with torch.no_grad():
        logits, weights = attentions(timm_model, pixels(size[0], 1))
    torch.testing.assert_close(trace.logits, logits[0], atol=1e-4, rtol=1e-4)
    for layer in range(3):
        torch.testing.assert_close(trace.weights(layer), weights[layer][0], atol=1e-5, rtol=0)
    expected = weights[1][0, 2]
    torch.testing.assert_close(trace.row(1, 2, (3, 5)), expected[trace.token((3, 5))], atol=1e-5, rtol=0)
    torch.testing.assert_close(trace.column(1, 2, (3, 5)), expected[:, trace.token((3, 5))], atol=1e-5, rtol=0)
    if name in WITHOUT_VALUE_NORMS:
        with pytest.raises(PlaygroundError, match="no length of a value is known"):
            trace.value_norms(1)
    else:
        assert trace.value_norms(1).shape == (trace.heads, trace.tokens)


def test_of_a_model_that_runs_by_itself_interventions_are_missing_in_a_sentence(picture):
    timm_model = scramble(timm.create_model("beit_base_patch16_224", **NARROW)).train()
    trace = playground.trace(timm_model, picture)
    assert timm_model.training
    assert trace.shown.size == (224, 224)
    playground.figure(trace, 1, 2, (7, 5), dpi=20)
    for call, reason in (
        (lambda: trace.to_bytes(), "which bytes can't say"),
        (lambda: trace.relevance((7, 5)), "a model's own pass, can't run its network"),
        (lambda: playground.trace(timm_model, picture, size=(112, 112)), "takes pictures of 224 × 224 alone"),
        (lambda: playground.trace(timm_model, picture, cut="7,5>3,2"), "runs by itself: leave scale=, cut="),
        (lambda: playground.load(timm_model), "can't be shown: it is a Beit, not a plain"),
    ):
        with pytest.raises(PlaygroundError, match=reason):
            call()
