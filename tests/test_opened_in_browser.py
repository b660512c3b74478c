"""A visitor's own model files, opened by a page and by `playground.load`: both find the same architecture, and every
array of the engine's weights is equal bit by bit."""

import dataclasses
import json
import re
import shutil

import numpy as np
import pytest
import torch
from conftest import scramble
from engine_under_node import OpenedModel, engine_bytes, open_models
from models.test_hugging_face import MODELS, hugging_face_model
from models.test_others_files import SMALL as SMALL_META
from models.test_others_files import state_of_meta
from models.test_own_models import CHANGES, NAME, SHALLOW, changed_model, state_copy
from PIL import Image
from safetensors.torch import save_file
from sharp_models import FAMILIES, compare, make_sharp
from timm.models import save_for_hf

import playground
from playground.errors import PlaygroundError
from playground.models import engine_file, model_file, timm_models
from playground.pack import unpack
from playground.samples import named
from workshop import timm_table

PICKLED_REFUSAL = (
    "is a file that torch has pickled, not safetensors. On your own machine playground.load and the command line read "
    "it; a page does not."
)
INDEX = "model.safetensors.index.json"


@pytest.fixture(autouse=True)
def without_origin(monkeypatch):
    monkeypatch.setattr(engine_file, "origin", lambda name: {"licence": "", "author": "", "source": ""})


def files_in(folder) -> list:
    return sorted(file for file in folder.iterdir() if file.is_file())


def assert_same(opened_model: OpenedModel, vit, numbers: str = "int8") -> None:
    assert not opened_model.error, opened_model.stack
    header, arrays = unpack(engine_bytes(vit, numbers))
    expected = json.loads(json.dumps(header["config"]))
    if not opened_model.config["labels"]:  # a page does not know what ImageNet's classes are called
        expected["labels"] = []
    assert opened_model.config == expected
    browser_arrays = unpack(opened_model.weights.read_bytes())[1]
    assert [name for name in browser_arrays if ".fine" not in name] == list(arrays)
    for name in [name for name in browser_arrays if name.endswith(".fine")]:
        assert_finer(
            browser_arrays,
            name.removesuffix(".fine"),
            vit.config.layer_scale or vit.state_dict()[name.removesuffix(".fine")],
        )
    for name, array in arrays.items():
        assert browser_arrays[name].dtype == array.dtype
        assert np.array_equal(browser_arrays[name], array), name
    assert [assumption.value for assumption in vit.assumed] == list(opened_model.assumed.values())


def assert_finer(arrays: dict[str, np.ndarray], name: str, exact_weights) -> None:
    """Asserts that the array `NAME.fine` holds, in 8 more bits, what the first 8 bits round off."""
    decoded = [
        arrays[codes] * np.repeat(arrays[f"{codes}.gain"].astype(np.float32), 32, 1)[:, : arrays[codes].shape[1]]
        for codes in (name, f"{name}.fine")
    ]
    fine_rows = len(decoded[1])
    assert fine_rows == len(decoded[0]) or (name.endswith("qkv.weight") and 3 * fine_rows == 2 * len(decoded[0]))
    assert np.abs(decoded[1]).max() < 2 * np.abs(decoded[0]).max() / 127
    if isinstance(exact_weights, torch.Tensor):
        exact_weights = exact_weights.flatten(1).numpy()[:fine_rows]
        largest_rest = np.abs(decoded[0][:fine_rows] + decoded[1] - exact_weights).max()
        assert largest_rest < 0.02 * np.abs(decoded[0][:fine_rows] - exact_weights).max()


@pytest.mark.slow
def test_every_changed_model_of_timm_opens_as_python_loads_it(tmp_path):
    for number, changes in enumerate(CHANGES.values()):
        save_for_hf(
            changed_model(changes), tmp_path / str(number), model_args=SHALLOW | changes, safe_serialization=True
        )
    folders = [tmp_path / str(number) for number in range(len(CHANGES))]
    models = open_models([{"files": files_in(folder), "folder": folder.name} for folder in folders], tmp_path)
    for folder, opened_model in zip(folders, models, strict=True):
        assert_same(opened_model, playground.load(folder, device="cpu"))
        assert opened_model.name == folder.name


@pytest.mark.parametrize(("numbers", "step"), [("int8", 1), ("float32", 5)])
def test_what_transformers_saves_opens_as_python_loads_it(tmp_path, numbers, step):
    families = MODELS[::step]
    folders = [tmp_path / str(number) for number in range(len(families))]
    for folder, (kind, changes) in zip(folders, families, strict=True):
        hugging_face_model(kind, **changes).save_pretrained(folder)
    models = open_models([{"files": files_in(folder), "numbers": numbers} for folder in folders], tmp_path)
    for folder, opened_model in zip(folders, models, strict=True):
        assert_same(opened_model, playground.load(folder, device="cpu"), numbers)


@pytest.mark.parametrize("registers", [0, 4])
@pytest.mark.parametrize("gated", [False, True])
def test_meta_s_files_need_nothing_beside_them(tmp_path, registers, gated):
    import timm

    name = "vit_small_patch14_reg4_dinov2" if registers else "vit_small_patch14_dinov2"
    name = name.replace("small", "giant") if gated else name
    options = {"mlp_ratio": 2} if gated else {}
    file = tmp_path / "dinov2_pretrain.safetensors"
    save_file(state_of_meta(scramble(timm.create_model(name, **SMALL_META | options)), registers, gated), file)
    (model,) = open_models([{"files": [file]}], tmp_path)
    assert_same(model, playground.load(file, device="cpu"))
    assert model.name == "dinov2_pretrain"


FEW_MODELS = ("vit_tiny_patch16_224", "vit_base_patch32_clip_quickgelu_224", "vit_so400m_patch14_siglip_gap_224",
       "vit_small_patch16_dinov3", "deit3_small_patch16_224")  # fmt: skip


def test_the_table_of_timm_s_models_is_as_timm_has_them():
    rows = re.findall(r"\{\s+is:\s+(\{[^}]*\}),\s+names:\s+`([^`]*)`", timm_table.TABLE.read_text())
    record = {name: json.loads(record_text) for record_text, names in rows for name in names.split()}
    assert len(record) > 150
    for name in FEW_MODELS:
        assert record[name] == json.loads(json.dumps(timm_table.unusual_fields(timm_models.timm_config(name)))), name
    assert timm_table.javascript_table({"a": timm_models.DINOV2_SMALL}).count("518") == 2


def test_a_file_that_the_playground_saved_opens_by_itself(tmp_path, small):
    file = tmp_path / "mine.safetensors"
    model_file.save(small, file, torch.float32)
    (model,) = open_models([{"files": [file]}], tmp_path)
    assert_same(model, playground.load(str(file), device="cpu"))
    assert not model.notice


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_numbers_of_16_and_64_bits_are_read(tmp_path, small, dtype):
    file = tmp_path / "mine.safetensors"
    model_file.save(small, file, dtype)
    (model,) = open_models([{"files": [file]}], tmp_path)
    assert_same(model, playground.load(str(file), device="cpu"))


def test_a_field_of_an_older_version_is_left_out_where_it_is_off(tmp_path, small):
    for name, older in (("off", {"mlp_norm": False, "rotation": []}), ("on", {"mlp_norm": True})):
        config = json.dumps(dataclasses.asdict(small.config) | older)
        save_file(state_copy(small), tmp_path / f"{name}.safetensors", metadata={"config": config})
    on, off = open_models([{"files": [tmp_path / f"{name}.safetensors"]} for name in ("on", "off")], tmp_path)
    assert_same(off, playground.load(tmp_path / "off.safetensors", device="cpu"))
    assert "there is no 'mlp_norm'" in on.error
    with pytest.raises(PlaygroundError, match="there is no 'mlp_norm'"):
        playground.load(tmp_path / "on.safetensors")


def test_a_model_in_several_files_opens_where_all_of_them_are_there(tmp_path):
    hugging_face_model("ViTModel").save_pretrained(tmp_path, max_shard_size="100KB")
    files = files_in(tmp_path)
    shards = [file for file in files if file.suffix == ".safetensors"]
    assert len(shards) > 1
    complete_model, without_index, without_shard = open_models(
        [
            {"files": files, "folder": "mine"},
            {"files": [file for file in files if file.name != INDEX]},
            {"files": [file for file in files if file != shards[0]]},
        ],
        tmp_path,
    )
    whole_model = playground.load(tmp_path, device="cpu")
    assert_same(complete_model, whole_model)
    assert_same(without_index, whole_model)
    assert without_shard.error == (
        f"model.safetensors lies in {len(shards)} files, and {len(shards) - 1} were dropped: drop all of them together."
    )


def test_settings_that_are_not_given_are_assumed_in_python_s_words(tmp_path):
    file = tmp_path / "mine.safetensors"
    save_file(state_copy(changed_model({"num_classes": 7, "num_heads": 6})), file)
    given_options = {"mean": [0.1, 0.2, 0.3], "num_heads": 6, "act_layer": "quick_gelu"}
    plain_model, model = open_models([{"files": [file]}, {"files": [file], "given": given_options}], tmp_path)
    assert_same(plain_model, playground.load(NAME, weights=file, device="cpu"))
    assert plain_model.notice == (
        "Assumed of mine: mean 0.5 0.5 0.5, std 0.5 0.5 0.5, 3 heads of 64, the activation gelu, the class token read "
        "out. mean=, std=, num_heads=, act_layer=, global_pool= say otherwise. Its rows are shown, its labels are not: "
        "they depend on act_layer= and global_pool=, which no weight tells; say it, such as act_layer='gelu', "
        "global_pool='token'."
    )
    assert_same(model, playground.load(NAME, weights=file, device="cpu", **given_options))
    (tmp_path / "mine.json").write_text(json.dumps(given_options))
    (described_model,) = open_models([{"files": [file, tmp_path / "mine.json"]}], tmp_path)
    assert described_model.config == model.config


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"mean": [1, 2]}, "mean is a number for red, green and blue, such as 0.485,0.456,0.406"),
        ({"std": "0,1,1"}, "std is a number for red, green and blue, such as 0.229,0.224,0.225, all greater than 0"),
        ({"num_heads": 0}, "num_heads goes from 1 to 256; given was 0."),
        ({"num_heads": 5}, "A width of 192 can't be shared out evenly among 5 heads"),
        ({"act_layer": "elu"}, "act_layer is one of relu, gelu, gelu_tanh, quick_gelu, silu"),
        ({"global_pool": "max"}, ""),
    ],
)
def test_impossible_settings_are_refused_in_python_s_sentences(tmp_path, settings, sentence):
    file = tmp_path / "mine.safetensors"
    save_file(state_copy(changed_model({"num_classes": 7})), file)
    (model,) = open_models([{"files": [file], "given": settings}], tmp_path)
    if sentence:
        assert sentence in model.error
        with pytest.raises(PlaygroundError, match=sentence):
            playground.load(NAME, weights=file, device="cpu", **settings)
    else:
        assert "they are read out by" in model.notice


CONFIGS = [
    "{", "[]", '{"num_attention_heads": "x"}', '{"hidden_act": "swish"}', '{"num_attention_heads": 5}',
    '{"id2label": 3}', '{"layer_norm_eps": []}', '{"image_size": 1e9}', '{"image_size": {}}', '{"vision_config": []}',
]  # fmt: skip


def test_a_config_that_makes_no_sense_is_ignored_or_refused_as_in_python(tmp_path):
    hugging_face_model("ViTModel").save_pretrained(tmp_path / "whole")
    jobs = []
    for number, config in enumerate(CONFIGS):
        folder = tmp_path / str(number)
        shutil.copytree(tmp_path / "whole", folder)
        (folder / "config.json").write_text(config)
        jobs.append({"files": files_in(folder)})
    for config, job, opened_model in zip(CONFIGS, jobs, open_models(jobs, tmp_path), strict=True):
        try:
            vit = playground.load(job["files"][0].parent, device="cpu")
        except PlaygroundError:
            assert opened_model.error, f"Python refuses {config}"
            assert "model.safetensors" in opened_model.error
        else:
            assert_same(opened_model, vit)


def test_a_file_that_holds_no_plain_vit_is_refused_by_what_it_holds(tmp_path):
    import transformers

    swin_config = transformers.SwinConfig(image_size=64, embed_dim=8, depths=[1], num_heads=[1], window_size=2)
    transformers.SwinModel(swin_config).save_pretrained(tmp_path / "swin")
    for name, state in {
        "relative": state_copy(changed_model({})) | {"blocks.0.attn.rel_pos": torch.zeros(3)},
        "two": {f"{prefix}.{key}": x.clone() for prefix in "ab" for key, x in state_copy(changed_model({})).items()},
        "other": {"a": torch.zeros(2)},
        "adapted": state_copy(changed_model({})) | {"blocks.0.attn.qkv.lora_A": torch.zeros(3)},
        "nan": state_copy(changed_model({})) | {"cls_token": torch.full((1, 1, 192), float("nan"))},
    }.items():
        save_file(state, tmp_path / f"{name}.safetensors")
    (tmp_path / "mine.pth").write_bytes(b"PK\x03\x04" + bytes(100))
    shutil.copy(tmp_path / "mine.pth", tmp_path / "zip.safetensors")
    names = ["relative", "two", "other", "adapted", "nan", "zip"]
    jobs = [[tmp_path / f"{name}.safetensors"] for name in names]
    jobs += [
        files_in(tmp_path / "swin"),
        [tmp_path / "mine.pth"],
        [tmp_path / "two.safetensors", tmp_path / "nan.safetensors"],
    ]
    errors = [opened_model.error for opened_model in open_models([{"files": files} for files in jobs], tmp_path)]
    assert errors == [
        "relative.safetensors doesn't fit this model: it has, and the model has not, blocks.0.attn.rel_pos.",
        "two.safetensors can't be loaded: it holds several models, a, b: save one of them.",
        "other.safetensors can't be loaded: its layers are others: it is no plain Vision Transformer.",
        "Adapters lie beside the weights here (blocks.0.attn.qkv.lora_A): save what model.merge_and_unload() returns.",
        "nan.safetensors holds numbers that are none (NaN or infinite) in cls_token.",
        f"zip.safetensors {PICKLED_REFUSAL}",
        "model.safetensors can't be loaded: its layers are others: it is no plain Vision Transformer (swin).",
        f"mine.pth {PICKLED_REFUSAL}",
        "2 models were dropped, two.safetensors, nan.safetensors: drop one at a time.",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["DINOv3 (rotary)", "SigLIP (no class token)", "q/k norm"])
def test_sharp_rows_equal_python_s(family, tmp_path):
    layers = {"depth": 4} if FAMILIES[family][0] == "timm" else {"num_hidden_layers": 4}
    picture = Image.open(named("meadow").path).convert("RGB")
    sharp_model = make_sharp(family, tmp_path / "model", picture, **layers)
    for numbers, largest_difference in (("float32", 1e-4), ("int8", 0.008)):
        (comparison,) = compare(sharp_model, [picture], tmp_path, numbers)
        assert comparison.difference <= largest_difference
        assert comparison.same_share >= 0.97
