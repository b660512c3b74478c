"""`playground.check` says how near our pass is to a user's model, or where both differ; and users' own transforms."""

import copy

import numpy as np
import pytest
import timm
import torch
from conftest import scramble
from torch import nn
from torchvision import transforms

import playground
from playground import PlaygroundError
from playground.errors import PlaygroundWarning
from playground.models import checking

HALVES = {"mean": (0.5,) * 3, "std": (0.5,) * 3}


@pytest.fixture(scope="module")
def model():
    model = timm.create_model("vit_tiny_patch16_224", img_size=64, depth=4, embed_dim=48, num_heads=4, num_classes=7)
    return scramble(model)


@pytest.fixture(scope="module")
def vit(model):
    return playground.load(model, **HALVES)


def batch(side=64):
    return torch.randn(2, 3, side, side, generator=torch.Generator().manual_seed(3))


def test_the_same_model_is_equal_and_the_report_says_within_what(vit, model):
    report = playground.check(vit, model, batch())
    assert report
    assert str(report).startswith("logits equal within ")
    assert report.answer == pytest.approx(float((vit(batch()) - model(batch())).abs().max().detach()), abs=1e-7)
    assert len(report.layers) == 4


def test_the_report_names_the_layer_after_which_tokens_differ(vit, model):
    changed_model = copy.deepcopy(model)
    with torch.no_grad():
        changed_model.blocks[2].mlp.fc1.weight[0] += 1
    report = playground.check(vit, changed_model, batch())
    assert not report
    assert report.parts == 2
    assert "part after layer 2" in str(report)
    assert "equal up to layer 1" in str(report)


def test_a_changed_head_is_reported_as_equal_tokens_with_other_logits(vit, model):
    changed_model = copy.deepcopy(model)
    with torch.no_grad():
        changed_model.head.bias[0] += 1
    report = playground.check(vit, changed_model, batch())
    assert not report
    assert str(report) == "logits differ by 1; the tokens of all layers are equal, so what reads them differs"


def test_a_model_of_transformers_is_equal_even_with_dropout_on():
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=96, image_size=64, num_labels=5,
        hidden_dropout_prob=0.5,
    )  # fmt: skip
    hf_model = scramble(transformers.ViTForImageClassification(config)).train()
    report = playground.check(playground.load(hf_model, **HALVES), hf_model, {"pixel_values": batch()})
    assert report, str(report)
    assert str(report).startswith("logits equal")
    assert hf_model.training, "it goes on learning"
    assert all(module.training for module in hf_model.modules())


def test_load_compares_a_model_s_pass_with_ours_before_anything_is_shown(model):
    """A changed block may have weights that we can read, and yet compute something else."""
    changed_model = copy.deepcopy(model)
    norm = changed_model.blocks[1].norm2
    changed_model.blocks[1].norm2 = nn.Sequential()  # the norm is left out
    changed_model.blocks[1].norm2.weight, changed_model.blocks[1].norm2.bias = norm.weight, norm.bias
    sentence = "can't be shown, for our pass is another one at 4 × 4 patches: .*part after layer 1"
    with pytest.raises(PlaygroundError, match=sentence):
        playground.load(changed_model, **HALVES)


def test_logits_that_differ_from_ours_are_not_shown(model, picture):
    changed_model = copy.deepcopy(model)
    changed_model.forward_head = lambda x, pre_logits=False: (
        timm.models.VisionTransformer.forward_head(changed_model, x) * 2
    )
    vit = playground.load(changed_model, **HALVES)
    assert vit.classes == 0
    assert "logits differ" in vit.no_answer
    assert playground.trace(vit, picture).logits is None


def hugging_face_vit():
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=96, image_size=64, num_labels=5
    )
    return scramble(transformers.ViTForImageClassification(config))


def test_a_model_is_compared_at_another_grid_than_its_own_too():
    hf_model = hugging_face_vit()
    vit = playground.load(hf_model, **HALVES)
    assert playground.check(vit, hf_model, batch(96))
    embeddings = hf_model.vit.embeddings
    stretch = embeddings.interpolate_pos_encoding
    embeddings.interpolate_pos_encoding = lambda *arguments: 1.1 * stretch(*arguments)
    with torch.no_grad():
        hf_model.classifier.bias += 1  # else it is known
    with pytest.raises(PlaygroundError, match=r"our pass is another one at 5 × 2 patches: the tokens part after"):
        playground.load(hf_model, **HALVES)


def test_a_model_that_is_traced_again_is_compared_again_only_after_a_change(model, monkeypatch):
    compared = []
    monkeypatch.setattr(
        checking, "check", lambda *arguments, check=checking.check: compared.append(arguments) or check(*arguments)
    )
    hf_model = hugging_face_vit()

    def agrees():
        logits = playground.trace(hf_model, pixel_values=batch()[:1]).logits
        with torch.no_grad():
            return torch.allclose(logits, hf_model(batch()[:1]).logits[0], atol=1e-4)

    assert agrees()
    times = len(compared)
    assert agrees()
    assert len(compared) == times
    hf_model.vit.layers[1].attention.q_proj.weight.data.mul_(2)  # torch does not count this change
    assert agrees()
    with torch.no_grad():
        hf_model.classifier.weight.mul_(2)
    assert agrees()
    assert len(compared) > times


@pytest.mark.parametrize(
    "look",
    [
        lambda model: playground.load(model),
        lambda model: playground.trace(model, "meadow"),
        lambda model: playground.trace_many(["meadow"], model),
    ],
    ids=["load", "trace", "trace_many"],
)
def test_a_warning_points_to_the_line_of_the_person(model, look):
    with pytest.warns(PlaygroundWarning, match="Assumed of") as warnings:
        look(model)
    assert [one.filename for one in warnings] == [__file__]


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (torch.zeros(3, 64, 64), r"given was \(3, 64, 64\)"),
        ("cat.jpg", "given was str"),
        (torch.zeros(1, 3, 64, 64).byte(), r"given was \(1, 3, 64, 64\)"),
        (torch.zeros(1, 3, 33, 33), "can't be run on these pixels"),
    ],
)
def test_a_wrong_batch_is_refused_in_a_sentence(vit, model, batch, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        playground.check(vit, model, batch)


# A user's own transform


def test_a_transform_s_output_is_what_runs_and_what_is_drawn(model, picture):
    mean, std = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)
    transform = transforms.Compose(
        [transforms.Resize(96), transforms.CenterCrop(64), transforms.ToTensor(), transforms.Normalize(mean, std)]
    )
    trace = playground.trace(model, picture, transform=transform)
    pixels = transform(picture)[None]
    assert torch.equal(trace.input, pixels)
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, model(pixels)[0], atol=1e-4, rtol=1e-4)
    cropped = transforms.CenterCrop(64)(transforms.Resize(96)(picture))
    assert np.abs(np.asarray(trace.shown).astype(int) - np.asarray(cropped)).max() <= 1


def test_a_transform_that_fails_or_gives_no_input_is_refused_in_a_sentence(vit, picture):
    with pytest.raises(PlaygroundError, match=r"transform= fails on this picture \(ZeroDivisionError"):
        playground.trace(vit, picture, transform=lambda one: 1 / 0)
    with pytest.raises(PlaygroundError, match=r"pixel_values are pictures of one size.*given was \(64, 64\)"):
        playground.trace(vit, picture, transform=lambda one: torch.zeros(64, 64))
    with pytest.raises(PlaygroundError, match="leave size= out"):
        playground.trace(vit, picture, size=(64, 64), transform=lambda one: torch.zeros(3, 64, 64))
    with pytest.raises(PlaygroundError, match="33 × 33 can't be cut into patches of 16"):
        playground.trace(vit, picture, transform=lambda one: torch.zeros(3, 33, 33))
