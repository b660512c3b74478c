"""A researcher's own model, loaded from a file, a folder or the module itself, computes the same as in timm, or is
refused in a sentence."""

import json
import shutil
import warnings

import numpy as np
import pytest
import timm
import torch
from conftest import scramble
from safetensors.torch import save_file
from timm.models import save_for_hf

import playground
from models.parity import assert_equal
from playground import PlaygroundError
from playground.assets import SHIPPED_MODELS
from playground.errors import PlaygroundWarning
from playground.models import borrowed, given, loading
from playground.vit_parts import ACTIVATIONS

NAME = "vit_tiny_patch16_224"
SHALLOW = {"depth": 2}
CHANGES = {  # what a researcher changed before the training
    "7 classes": {"num_classes": 7},
    "no classes": {"num_classes": 0},
    "384 pixels": {"img_size": 384},
    "an average pool": {"global_pool": "avg", "num_classes": 7},
    "an average pool without classes": {"global_pool": "avg", "num_classes": 0},
    "an average pool behind the norm": {"global_pool": "avg", "fc_norm": False, "class_token": False},
    "any size": {"dynamic_img_size": True, "img_size": 96},
    "registers": {"reg_tokens": 4, "num_classes": 7},
    "registers without positions": {"reg_tokens": 4, "no_embed_class": True},
    "no class token": {"class_token": False, "global_pool": "avg"},
    "registers, no class token": {"class_token": False, "global_pool": "avg", "reg_tokens": 3},
    "another depth and width": {"depth": 3, "embed_dim": 256, "num_heads": 4},
    "another patch": {"patch_size": 8, "img_size": 64},
    "layer scale": {"init_values": 1e-5},
    "q/k norm, no bias": {"qk_norm": True, "qkv_bias": False},
    "a norm before": {"pre_norm": True},
    "a wider MLP": {"mlp_ratio": 2.5},
    "a map pool": {"global_pool": "map", "class_token": False, "num_classes": 7},
}


def changed_model(changes: dict) -> torch.nn.Module:
    return scramble(timm.create_model(NAME, **SHALLOW | changes))


def state_copy(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {key: value.clone().contiguous() for key, value in model.state_dict().items()}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_model_of_timm_loads_from_its_weights_its_folder_and_itself(change, tmp_path):
    reference = changed_model(CHANGES[change])
    size = tuple(reference.patch_embed.img_size)
    save_file(state_copy(reference), tmp_path / "mine.safetensors")
    loaded_models = [playground.load(NAME, weights=tmp_path / "mine.safetensors", device="cpu")]
    save_for_hf(reference, tmp_path / "folder", model_args=SHALLOW | CHANGES[change], safe_serialization=True)
    loaded_models.append(playground.load(tmp_path / "folder", device="cpu"))
    assert loaded_models[-1].name == "folder"
    loaded_models.append(playground.load(reference))
    for our_vit in loaded_models:
        assert our_vit.config.image_size == size
        assert_equal(reference, our_vit, size)


def test_the_labels_and_colours_of_a_folder_are_read(tmp_path):
    reference = changed_model({"num_classes": 3})
    names = ["sane", "rust", "mildew"]
    save_for_hf(reference, tmp_path, model_config={"label_names": names}, safe_serialization=True)
    description = json.loads((tmp_path / "config.json").read_text())
    description["pretrained_cfg"] |= {"mean": [0.1, 0.2, 0.3], "interpolation": "bilinear"}
    (tmp_path / "config.json").write_text(json.dumps(description))
    c = playground.load(f"local-dir:{tmp_path}", device="cpu").config
    assert c.labels == tuple(names)
    assert c.mean == (0.1, 0.2, 0.3)
    assert c.interpolation == "bilinear"


def test_a_folder_with_an_unknown_setting_is_refused_with_the_setting_s_name(tmp_path):
    reference = changed_model({})
    save_for_hf(reference, tmp_path, model_args={"act_layer": "elu"}, safe_serialization=True)
    with pytest.raises(PlaygroundError, match=r"act_layer is one of .*given was 'elu'"):
        playground.load(tmp_path)
    save_for_hf(reference, tmp_path, model_args={"scale_attn_norm": True}, safe_serialization=True)
    with pytest.raises(PlaygroundError, match="asks for scale_attn_norm"):
        playground.load(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").unlink(missing_ok=True)
    with pytest.raises(PlaygroundError, match=r"holds no model\.safetensors"):
        playground.load(tmp_path)


def test_weights_without_a_model_s_name_are_refused_with_the_way_to_name_it(tmp_path):
    save_file(state_copy(changed_model({})), tmp_path / "mine.safetensors")
    with pytest.raises(PlaygroundError, match=r"does not say what it is weights of: .*--model NAME --weights "):
        playground.load(tmp_path / "mine.safetensors")


def test_an_assumed_number_of_heads_is_reported(tmp_path):
    """The same file fits models of 3 or 6 heads, which differ in their rows only."""
    reference = changed_model({"embed_dim": 384, "num_heads": 6})
    save_file(state_copy(reference), tmp_path / "mine.safetensors")
    with pytest.warns(PlaygroundWarning, match="Assumed of .* 6 heads of 64"):
        assert playground.load(NAME, weights=tmp_path / "mine.safetensors", device="cpu").config.heads == 6
    save_for_hf(reference, tmp_path / "folder", model_args=SHALLOW | {"embed_dim": 384, "num_heads": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlaygroundWarning)
        assert playground.load(tmp_path / "folder", device="cpu").config.heads == 2


def test_positions_that_make_no_square_need_an_input_size(tmp_path):
    reference = changed_model({"img_size": (64, 160)})
    save_file(state_copy(reference), tmp_path / "mine.safetensors")
    with pytest.raises(PlaygroundError, match="make no square of patches"):
        playground.load(NAME, weights=tmp_path / "mine.safetensors")
    save_for_hf(reference, tmp_path / "folder", model_args={"img_size": [64, 160]})
    assert_equal(reference, playground.load(tmp_path / "folder", device="cpu"), (64, 160))


def test_dinov3_and_a_distilled_model_may_be_changed_too(tmp_path):
    for name, changes in {
        "vit_small_patch16_dinov3": {"num_classes": 7, "depth": 2},
        "vit_small_plus_patch16_dinov3": {"num_classes": 0, "depth": 2},
        "deit_tiny_distilled_patch16_224": {"num_classes": 7, "depth": 2},
        "vit_small_patch14_reg4_dinov2": {"num_classes": 7, "depth": 2, "img_size": 224},
    }.items():
        reference = scramble(timm.create_model(name, **changes))
        save_file(state_copy(reference), tmp_path / "mine.safetensors")
        our_vit = playground.load(name, weights=tmp_path / "mine.safetensors", device="cpu")
        assert our_vit.config.classes == changes["num_classes"]
        assert_equal(reference, our_vit, our_vit.config.image_size)


# The model itself -----------------------------------------------------------------------------------------------------


def test_a_model_object_is_traced_and_keeps_its_weights(picture):
    reference = changed_model({"num_classes": 7}).train()
    trace = playground.trace(reference, picture)
    assert trace.model == NAME  # without timm's tag, which names published weights
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, reference.eval()(trace.input)[0], atol=1e-5, rtol=1e-5)
    assert playground.load(torch.nn.DataParallel(reference)).config.classes == 7
    assert playground.load(torch.compile(reference)).config.classes == 7
    assert trace.vit.patch_embed.proj.weight.data_ptr() == reference.patch_embed.proj.weight.data_ptr()


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (lambda: torch.nn.Linear(2, 2), "given was Linear"),
        (lambda: timm.create_model("resnet18"), "it is a ResNet, not a plain Vision Transformer"),
        (lambda: timm.create_model(NAME, act_layer="elu", depth=1), "activation"),
        (lambda: timm.create_model(NAME, global_pool="avgmax", class_token=False, depth=1), "pools its tokens by"),
        (lambda: __import__("transformers").BertModel(__import__("transformers").BertConfig(
            hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=9
        )), "given was BertModel"),
    ],
)  # fmt: skip
def test_a_model_that_is_no_plain_vit_is_refused_in_a_sentence(model, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        playground.load(model())


# Files that torch pickled ---------------------------------------------------------------------------------------------


def test_a_pickled_folder_of_timm_loads(tmp_path):
    reference = changed_model({"num_classes": 7, "img_size": 64})
    save_for_hf(reference, tmp_path / "folder")
    assert [file.name for file in (tmp_path / "folder").iterdir() if file.suffix == ".bin"] == ["pytorch_model.bin"]
    our_vit = playground.load(tmp_path / "folder", device="cpu")
    assert our_vit.name == "folder"
    assert_equal(reference, our_vit, (64, 64))


@pytest.mark.parametrize(
    "kind", ["in a checkpoint", "beside numpy's numbers", "of timm's training", "wrapped twice, an old file"]
)
def test_pickled_weights_load(kind, tmp_path):
    import argparse

    reference = changed_model({"num_classes": 7})
    state, path = reference.state_dict(), tmp_path / "mine.pth"
    checkpoint = {
        "in a checkpoint": {"epoch": 3, "model": state, "optimizer": {"lr": 1.0}},
        "beside numpy's numbers": {"state_dict": state, "best": np.float64(0.9), "epoch": np.int64(3)},
        "of timm's training": {"arch": NAME, "state_dict": state, "args": argparse.Namespace(lr=1e-3), "metric": 0.5},
        "wrapped twice, an old file": {f"module._orig_mod.{key}": value for key, value in state.items()},
    }[kind]
    torch.save(checkpoint, path, _use_new_zipfile_serialization="old" not in kind)
    if kind == "of timm's training":
        our_vit = playground.load(path, device="cpu")
        assert our_vit.name == "mine"
    else:
        our_vit = playground.load(NAME, weights=path, device="cpu")
    assert_equal(reference, our_vit, (224, 224))


@pytest.mark.parametrize(("wrapper", "kind"), [("net.", ".safetensors"), ("module._orig_mod.model.", ".pth")])
def test_a_vit_inside_a_wrapper_class_is_found(wrapper, kind, tmp_path):
    reference, path = changed_model({"num_classes": 0}), tmp_path / f"mine{kind}"
    state = {f"{wrapper}{name}": value for name, value in state_copy(reference).items()}
    state |= {"criterion.weight": torch.ones(7), "classifier.weight": torch.zeros(7, 192)}
    torch.save({"state_dict": state}, path) if kind == ".pth" else save_file(state, path)
    assert_equal(reference, playground.load(NAME, weights=path, device="cpu"), (224, 224))


def test_a_file_that_holds_two_models_is_refused(tmp_path):
    state = state_copy(changed_model({}))
    two_states = {f"{name}.{key}": value.clone() for name in ("student", "teacher") for key, value in state.items()}
    save_file(two_states, tmp_path / "mine.safetensors")
    with pytest.raises(PlaygroundError, match="holds several models, student, teacher: save one of them"):
        playground.load(NAME, weights=tmp_path / "mine.safetensors")


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused_in_a_sentence(name):
    with pytest.raises(PlaygroundError, match="There is no model called"):
        playground.load(name)


# The hub --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A function that makes a repository's folder in an otherwise empty cache of the hub, without a network."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("PLAYGROUND_BORROWED", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))

    def snapshot(repository: str):
        folder = tmp_path / "hub" / f"models--{repository.replace('/', '--')}" / "snapshots" / "a1b2"
        folder.mkdir(parents=True)
        (folder.parent.parent / "refs").mkdir()
        (folder.parent.parent / "refs" / "main").write_text(folder.name)
        return folder

    return snapshot


def test_a_repository_in_the_hub_s_cache_is_found_by_its_name(hub):
    from models.test_hugging_face import hugging_face_model

    reference = hugging_face_model("Dinov2ForImageClassification", num_labels=4)
    reference.save_pretrained(hub("somebody/leaves"))
    for name in ("somebody/leaves", "hf-hub:somebody/leaves"):
        vit = playground.load(name, device="cpu", offline=True)
        assert (vit.name, vit.config.classes, vit.config.heads) == ("somebody/leaves", 4, 4)


def test_a_repository_of_timm_loads_by_timm_s_name(hub):
    reference = timm.create_model("vit_tiny_patch16_224.augreg_in21k_ft_in1k")
    save_file(reference.state_dict(), hub("timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k") / "model.safetensors")
    vit = playground.load("hf-hub:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k", device="cpu", offline=True)
    assert torch.equal(vit.head.weight, reference.head.weight)


def test_facebook_s_dinov2_is_the_one_on_the_disk(really_here):
    really_here("dinov2-small")
    vit = playground.load("facebook/dinov2-small", device="cpu", offline=True)
    assert vit.name == "facebook/dinov2-small"
    as_timm_s = playground.load("dinov2-small", device="cpu")
    assert torch.equal(vit.blocks[3].attn.qkv.weight, as_timm_s.blocks[3].attn.qkv.weight)
    assert (vit.config.stretching, as_timm_s.config.stretching) == ("plain", "antialiased")


def test_the_download_command_fetches_a_repository(really_here, capsys):
    from playground.__main__ import main

    really_here("dinov2-small")
    assert main(["download", "facebook/dinov2-small"]) == 0
    assert "on this machine: facebook/dinov2-small" in capsys.readouterr().out


def test_a_repository_that_can_not_be_fetched_gives_an_error_of_one_sentence(hub):
    for name in ("somebody/leaves", "facebook/dinov2-small", "hf-hub:somebody/leaves"):
        with pytest.raises(PlaygroundError, match="could not be fetched") as refusal:
            playground.load(name, offline=True)
        assert "not on this machine" in str(refusal.value)
        assert "\n" not in str(refusal.value)
    assert borrowed.hub_weights("somebody/leaves") is None


@pytest.mark.parametrize("name", ["somebody/leaves", "hf-hub:somebody/leaves", "vit_base_patch16_clip_224.openai"])
def test_without_a_network_a_name_of_the_hub_is_refused_at_once_in_a_sentence(name, hub, monkeypatch):
    """The hub's own library would ask six times, write eleven lines and take half a minute for each file."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(
        "huggingface_hub.hf_hub_download", lambda *arguments, **options: pytest.fail("the hub is asked")
    )
    monkeypatch.setattr("playground.models.hub._silent_since", -1e9)
    monkeypatch.setattr("playground.models.hub._hub_answers", lambda address: False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(PlaygroundError, match=r"could not be fetched: the hub.* can't be reached from here\. Check"):
        playground.load(name)


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("dinov2-smal", "dinov2-small"), ("dinov2_small", "dinov2-small"), ("bundeld", "bundled"),
        ("resnet50", "vit_small_patch16_224"), ("vit_smal_patch16_224", "vit_small_patch16_224"),
        ("deit_smal_patch16_224", "deit_small_patch16_224"), ("untraind", "untrained"),
        ("clip", "vit_base_patch16_clip_224"), ("DINOv2", "dinov2-small"), ("dinov3", "vit_small_patch16_dinov3"),
        ("deit_small", "deit_small_patch16_224"), ("vit-b-16", "ViT-B/16"),
        ("vit_base_patch16", "vit_base_patch16_224"),
    ],
)  # fmt: skip
def test_a_wrong_name_names_the_nearest_right_one(wrong, right):
    with pytest.raises(PlaygroundError, match=f"{right}\\.$"):
        playground.load(wrong)


def test_a_path_in_a_subfolder_is_no_repository_of_the_hub(tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    shutil.copy(SHIPPED_MODELS["bundled"], tmp_path / "runs" / "mine.safetensors")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "_from_hub", lambda *_: pytest.fail("the hub was asked"))
    assert playground.load("runs/mine.safetensors", device="cpu").config.depth == 6
    with pytest.raises(PlaygroundError, match=r"There is no file runs/none\.safetensors"):
        playground.load("runs/none.safetensors")


def test_the_activations_that_load_accepts_are_those_of_vit_parts():
    assert tuple(ACTIVATIONS) == given.ACTIVATIONS
