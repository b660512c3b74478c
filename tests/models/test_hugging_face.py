"""Parity: our VisionTransformer, filled with files that `transformers` wrote, gives the numbers of `transformers`."""

import json

import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.errors import PlaygroundError
from playground.models import model_file
from playground.vit import VisionTransformer


def hugging_face_model(kind: str, **changes):
    import transformers

    config = {
        "hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 64, "patch_size": 16,
        "intermediate_size": 256, "attn_implementation": "eager", "num_labels": 5,
    } | changes  # fmt: skip
    families = ("Dinov2WithRegisters", "Dinov2", "DINOv3ViT", "DeiT", "ViT", "CLIP", "Siglip")
    family = next(name for name in families if kind.startswith(name))
    if family in ("CLIP", "Siglip") and "Vision" not in kind:
        small_sizes = dict.fromkeys(("hidden_size", "intermediate_size", "vocab_size"), 64)
        text_config = {
            **small_sizes,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "bos_token_id": 1,
            "eos_token_id": 2,
        }
        labels = config.pop("num_labels")
        config_object = getattr(transformers, f"{family}Config")(
            vision_config=config, text_config=text_config, num_labels=labels, attn_implementation="eager"
        )
    else:
        infix = "Vision" if family in ("CLIP", "Siglip") else ""
        config_object = getattr(transformers, f"{family}{infix}Config")(**config)
    return scramble(getattr(transformers, kind)(config_object))


def outputs_of(reference, image):
    """(the logits, or the pooled features of a model without classes; the attention weights of every layer)"""
    has_text_tower = hasattr(reference, "text_model")
    options = {"output_attentions": True, "interpolate_pos_encoding": image.shape[2:] != (64, 64)}
    output = (reference.vision_model if has_text_tower else reference)(image, **options)
    if has_text_tower and hasattr(reference, "visual_projection"):
        return reference.visual_projection(output.pooler_output), output.attentions
    for name in ("logits", "image_embeds", "pooler_output"):
        if getattr(output, name, None) is not None:
            return getattr(output, name), output.attentions
    raise AssertionError(f"nothing is read out of {type(reference).__name__}")


MODELS = [
    ("ViTForImageClassification", {}),
    ("ViTForImageClassification", {"num_labels": 1}),
    ("ViTModel", {"qkv_bias": False, "add_pooling_layer": False}),
    ("ViTModel", {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}),
    ("DeiTForImageClassificationWithTeacher", {}),
    ("DeiTForImageClassification", {}),
    ("Dinov2Model", {}),
    ("Dinov2Model", {"use_swiglu_ffn": True}),
    ("Dinov2ForImageClassification", {}),
    ("Dinov2WithRegistersModel", {}),
    ("Dinov2WithRegistersForImageClassification", {"num_labels": 7}),
    ("DINOv3ViTModel", {"num_register_tokens": 4}),
    ("DINOv3ViTModel", {}),
    ("DINOv3ViTModel", {"use_gated_mlp": True, "hidden_act": "silu", "num_register_tokens": 4, "key_bias": True}),
    ("DINOv3ViTModel", {"mlp_bias": False, "proj_bias": False, "query_bias": False, "value_bias": False}),
    ("CLIPVisionModel", {}),
    ("CLIPVisionModelWithProjection", {"projection_dim": 32}),
    ("CLIPForImageClassification", {"num_labels": 7}),
    ("CLIPModel", {}),
    ("SiglipVisionModel", {}),
    ("SiglipForImageClassification", {"num_labels": 7}),
    ("SiglipModel", {}),
]


SIZES = [(64, 64), (48, 48), (32, 112), (96, 128)]  # the model's own 4 × 4 patches, then fewer, others, more


def assert_same_outputs(our_vit: VisionTransformer, reference, kind: str, size: tuple[int, int] = (64, 64)) -> None:
    image = torch.randn(1, 3, *size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected, attentions = outputs_of(reference, image)
        logits, record = our_vit.record(image)
    assert len(record) == len(attentions) == 3
    for (q, k, _), weights in zip(record, attentions, strict=True):
        torch.testing.assert_close((q @ k.mT * our_vit.config.scale).softmax(-1), weights, atol=1e-5, rtol=0)
    if kind not in ("ViTModel",):  # its pooled output goes through one more layer, which we don't read
        torch.testing.assert_close(logits, expected, atol=2e-5, rtol=1e-5)
    if "Classification" in kind:
        assert our_vit.config.labels == tuple(reference.config.id2label.values())
        assert our_vit.config.classes == len(our_vit.config.labels)


@pytest.mark.parametrize(
    ("kind", "changes"), MODELS,
    ids=lambda value: value if isinstance(value, str) else ", ".join(value) or "as it is",
)  # fmt: skip
def test_a_model_that_transformers_saved_gives_its_logits_and_attention(kind, changes, tmp_path):
    reference = hugging_face_model(kind, **changes)
    reference.save_pretrained(tmp_path / "mine")
    for folder in (tmp_path / "mine", f"local-dir:{tmp_path / 'mine'}", str(tmp_path / "mine" / "model.safetensors")):
        our_vit = playground.load(folder, device="cpu")
        assert our_vit.name == "mine"
    its_own_vit = playground.load(reference)  # loads the model itself, not a file
    for size in SIZES:
        assert_same_outputs(our_vit, reference, kind, size)
        assert_same_outputs(its_own_vit, reference, kind, size)


def test_labels_follow_their_numbers_whatever_their_order_in_the_file(tmp_path):
    """Many a config.json of the hub sorts label numbers as text: "0", "1", "10", "2"."""
    hugging_face_model("ViTForImageClassification", num_labels=12).save_pretrained(tmp_path)
    description = json.loads((tmp_path / "config.json").read_text())
    description["id2label"] = {str(number): f"kind {number}" for number in sorted(range(12), key=str)}
    (tmp_path / "config.json").write_text(json.dumps(description))
    assert playground.load(tmp_path, device="cpu").config.labels == tuple(f"kind {number}" for number in range(12))


@pytest.mark.parametrize(
    ("kind", "changes", "sentence"),
    [
        (
            "Swin",
            {"embed_dim": 8, "depths": [1], "num_heads": [1], "window_size": 2},
            r"its layers are others.*\(swin\)",
        ),
        (
            "Beit",
            {"hidden_size": 48, "num_attention_heads": 3, "num_hidden_layers": 1, "use_relative_position_bias": True},
            r"distance between two patches.*\(beit\)",
        ),
    ],
)
def test_a_model_of_transformers_that_is_no_plain_vit_says_what_it_is(kind, changes, sentence, tmp_path):
    transformers = pytest.importorskip("transformers")
    model = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(image_size=64, **changes))
    model.save_pretrained(tmp_path)
    for source in (model, tmp_path):
        with pytest.raises(PlaygroundError, match=sentence):
            playground.load(source)


def test_without_its_config_a_file_has_heads_of_64_or_is_refused(tmp_path):
    for width, heads in ((128, 2), (96, 3)):
        hugging_face_model("ViTModel", hidden_size=width, num_attention_heads=heads).save_pretrained(tmp_path / "a")
        (tmp_path / "a" / "config.json").unlink()
        file = str(tmp_path / "a" / "model.safetensors")
        if width % 64 == 0:
            assert playground.load(file, device="cpu").config.heads == 2
        else:
            with pytest.raises(PlaygroundError, match=r"config\.json"):
                playground.load(file)


@pytest.mark.parametrize(
    "config", ["{", "[]", '{"num_attention_heads": 0}', '{"num_attention_heads": "x"}', '{"hidden_act": "swish"}',
               '{"num_attention_heads": 5}', '{"id2label": 3}', '{"layer_norm_eps": []}'],
)  # fmt: skip
def test_a_config_that_makes_no_sense_is_ignored_or_refused_in_a_sentence(config, tmp_path):
    hugging_face_model("ViTModel").save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(config)
    try:
        assert playground.load(str(tmp_path / "model.safetensors"), device="cpu").config.heads == 2
        assert config in ("{", "[]", '{"num_attention_heads": 0}')
    except PlaygroundError as error:
        print(error)


def test_hugging_face_s_weights_fill_a_named_model(tmp_path):
    reference = hugging_face_model(
        "ViTForImageClassification", hidden_size=192, num_attention_heads=3, intermediate_size=768,
        num_hidden_layers=12, image_size=224, num_labels=1000,
    )  # fmt: skip
    reference.save_pretrained(tmp_path)
    vit = playground.load("vit_tiny_patch16_224", weights=tmp_path / "model.safetensors", device="cpu")
    assert torch.equal(vit.head.weight, reference.classifier.weight)
    assert vit.config.stretching == "plain"


def test_a_folder_s_own_models_are_listed_by_name(tmp_path):
    hugging_face_model("ViTModel").save_pretrained(tmp_path / "fine-tuned")
    model_file.save(VisionTransformer(SMALL), tmp_path / "small.safetensors")
    (tmp_path / "notes.txt").touch()
    assert list(model_file.in_folder(tmp_path)) == ["fine-tuned", "small"]
    for name, file in model_file.in_folder(tmp_path).items():
        assert playground.load(str(file), device="cpu").config.depth == 3, name
    with pytest.raises(PlaygroundError, match="no folder"):
        model_file.in_folder(tmp_path / "none")
