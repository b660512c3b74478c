"""Likeness of texts and patches, against `transformers` with random weights, and with the real weights where they are
on this machine."""

import json
import warnings

import pytest
import torch
import transformers
from conftest import scramble
from tokenizers import Tokenizer, models, pre_tokenizers

import playground
from playground.analysis.explain import likeness
from playground.errors import PlaygroundError
from playground.models import borrowed, text_tower

WORDS = ["[PAD]", "[UNK]", "a", "cat", "disc", "on", "sky", "[END]"]
TOWER_SIZES = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
VISION_CONFIG = {**TOWER_SIZES, "image_size": 64, "patch_size": 8}
TEXT_CONFIG = {**TOWER_SIZES, "vocab_size": len(WORDS), "max_position_embeddings": 6, "eos_token_id": 7,
               "bos_token_id": 0, "pad_token_id": 0}  # fmt: skip


def save_towers(kind: str, folder):
    """A random model with both towers, saved with a tokenizer of eight words as `transformers` saves it."""
    config = {"vision_config": VISION_CONFIG, "text_config": TEXT_CONFIG}
    if kind == "CLIP":
        model = transformers.CLIPModel(transformers.CLIPConfig(**config, projection_dim=32))
    else:
        model = transformers.SiglipModel(transformers.SiglipConfig(**config))
    scramble(model).save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", eos_token="[END]"
    ).save_pretrained(folder)
    return model.eval()


@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_patches_and_a_text_are_as_alike_as_transformers_says(kind, tmp_path, picture):
    hf_model = save_towers(kind, tmp_path)
    vit = playground.load(tmp_path)
    trace = playground.trace(vit, picture)
    likenesses = likeness(trace, text_tower.direction(vit, " a cat "))

    tokens = [2, 3] if kind == "CLIP" else [2, 3, 0, 0, 0, 0]
    with torch.no_grad():
        # in CLIP these have not passed the last norm yet
        hidden_states = hf_model.vision_model(pixel_values=trace.input).last_hidden_state
        text_feature = hf_model.get_text_features(input_ids=torch.tensor([tokens]))
        text_feature = text_feature if isinstance(text_feature, torch.Tensor) else text_feature.pooler_output
        if kind == "CLIP":
            patches = hf_model.visual_projection(hf_model.vision_model.post_layernorm(hidden_states[0]))
        else:
            patches = torch.cat([hf_model.vision_model.head(token[None, None]) for token in hidden_states[0]])
    expected = torch.cosine_similarity(patches, text_feature, dim=-1)
    torch.testing.assert_close(likenesses, expected, atol=1e-5, rtol=1e-4)
    assert likenesses.std() > 0.01, "patches differ"
    other_likenesses = likeness(trace, text_tower.direction(vit, "sky"), layer=0)
    assert not torch.allclose(other_likenesses, likenesses, atol=1e-3)


def test_a_model_without_a_text_tower_says_what_has_one(small, tmp_path):
    with pytest.raises(PlaygroundError, match="has no text tower on this machine: take CLIP or SigLIP"):
        text_tower.direction(small, "a cat")
    save_towers("CLIP", tmp_path)
    description = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(description["vision_config"]))
    assert text_tower.tower_of(playground.load(tmp_path)) is None, "the image tower's description alone"


@pytest.mark.parametrize("text", ["", "  ", 61 * "a"])
def test_a_text_that_is_empty_or_too_long_is_refused(small, text):
    with pytest.raises(PlaygroundError, match="1 to 60 letters"):
        text_tower.direction(small, text)


def test_a_text_tower_that_is_damaged_or_of_another_model_is_refused_in_a_sentence(tmp_path, picture):
    save_towers("CLIP", tmp_path)
    vit = playground.load(tmp_path)
    with pytest.raises(PlaygroundError, match="into 32 numbers and its text tower texts into 48"):
        likeness(playground.trace(vit, picture), torch.ones(48))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text("{")
    with pytest.raises(PlaygroundError, match=r"The text tower of .* can't be read"):
        text_tower.direction(vit, "on")


def test_with_the_real_weights_a_photograph_of_a_cat_is_more_like_a_cat_than_a_rocket():
    name = next(
        (name for name in text_tower.TWIN_REPOSITORIES if text_tower.twin_folder(name) and borrowed.is_here(name)), None
    )
    if name is None:
        reason = "No weights of CLIP or SigLIP with their text tower are on this machine"
        warnings.warn(f"{reason}: texts are tested with random ones alone.", stacklevel=1)
        pytest.skip(reason)
    trace = playground.trace(playground.load(name), "chelsea")
    likenesses = {text: likeness(trace, text_tower.direction(trace.vit, text))[0] for text in ("a cat", "a rocket")}
    assert likenesses["a cat"] > likenesses["a rocket"]
