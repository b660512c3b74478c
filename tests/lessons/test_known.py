"""Block 5 and 6 explain an answer that is right, and what a model of yes and no says is never a softmax."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from conftest import SMALL, scramble

import playground
from playground import samples
from playground.analysis import block
from playground.lessons import block_answer, known
from playground.scenes.labels import LABELS, presence
from playground.vit import VisionTransformer

ROOT = Path(playground.__file__).parent


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=lambda sample: sample.name)
def test_a_drawing_shows_what_its_scene_holds(sample):
    held = presence(samples.draw_sample(sample.name, 224))
    assert set(sample.shows) == {label for label, there in zip(LABELS, held, strict=True) if there}


def test_a_photograph_shows_what_imagenet_has_a_name_for():
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    names = {info.index_to_description(number).split(",")[0] for number in range(1000)}
    assert {label for sample in samples.PHOTOGRAPHS for label in sample.shows} <= names


@pytest.mark.parametrize("model", known.FOUND)
def test_our_models_answer_their_picture_rightly_and_the_answer_changes_on_the_way(model):
    vit = playground.load(model)
    looks = {sample.name: playground.trace(vit, sample.name) for sample in samples.SAMPLES}
    judged = [known.judged(name, seen, samples.named(name).shows) for name, seen in looks.items()]
    found = known.best([one for one in judged if one])
    assert found.picture == known.FOUND[model]
    shares = looks[found.picture].logits.sigmoid()
    says = {LABELS[number] for number, share in enumerate(shares.tolist()) if share > 0.5}
    assert says == set(samples.named(found.picture).shows), shares.tolist()
    along = known.on_the_way(looks[found.picture])[:, found.label]
    assert along[-1] > 0.5 > along[:-1].min(), along.tolist()


def named(seen, labels, **more):
    seen.vit.config = replace(seen.vit.config, labels=labels, **more)
    return seen


def test_a_model_that_shares_out_is_right_where_its_likeliest_label_is_true(seen):
    likeliest = int(seen.logits.argmax())
    labels = tuple(f"thing {number}" for number in range(10))
    named(seen, labels)
    right = known.judged("x", seen, (labels[likeliest], labels[likeliest - 1]))
    assert (right.wrong, right.label) == (0, likeliest)
    assert known.judged("x", seen, (labels[likeliest - 1],)).wrong == 1
    assert known.judged("x", seen, ("nothing of it",)) is None


def test_what_a_picture_costs_is_torch_s(seen):
    many, one = replace(seen.vit.config, multi_label=True), seen.vit.config
    for label in range(10):
        assert block.cross_entropy(many, seen.logits, label) == pytest.approx(-float(F.logsigmoid(seen.logits[label])))
        by_hand = -float(seen.logits.log_softmax(-1)[label])
        assert block.cross_entropy(one, seen.logits, label) == pytest.approx(by_hand, abs=1e-5)
    so = torch.zeros(10).index_fill(0, torch.tensor([2, 5]), 1)
    assert float(block.costs(seen.logits, [2, 5]).mean()) == pytest.approx(
        float(F.binary_cross_entropy_with_logits(seen.logits, so))
    )


def test_the_stream_of_a_model_of_yes_and_no_is_read_by_a_sigmoid(picture):
    seen = playground.trace(scramble(VisionTransformer(replace(SMALL, multi_label=True))), picture)
    assert block.read_stream(seen, 3).pooled[-1] == pytest.approx(float(seen.logits[3].sigmoid()), abs=1e-5)


def test_no_logits_of_labels_go_through_a_softmax_unasked():
    """One place knows which of both it is: Config.shares; whoever does it for himself asks the same."""
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in ROOT.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"logits[^#]*\.(log_)?softmax\(", line) and "multi_label" not in line
    ]
    assert not lines


# What is printed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("multi", [True, False])
def test_the_question_on_the_loss_speaks_of_the_model_s_own(multi):
    question = block_answer.loss_question("plant", 0.0983, "textured", 0.88, multi)
    said = " ".join((question.asks, question.says, question.prose))
    assert ("softmax" in said, "sigmoid" in said) == (not multi, multi)
    assert "−log 0.098 = 2.32" in said


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ((60, 70, 80), "It is above one half all the way."),
        ((10, 20, 30), "It is never above one half."),
        ((70, 20, 30), "In the end it is not above one half."),
        ((70, 20, 30, 90), "The last layer brings it above one half."),
        ((10, 60, 70), "It is above one half after 1 layer and stays there."),
        ((10, 60, 20, 70, 90), "It is above one half after 3 layers and stays there."),
        ((10, 50.04, 70), "The last layer brings it above one half."),
    ],
)
def test_the_sentence_on_one_half_is_true(said, sentence):
    assert block_answer.above_half(said).strip() == sentence


def test_a_probability_just_above_one_half_is_not_printed_as_one_half():
    assert [block_answer.per_cent(p) for p in (0.2, 12.4, 50.4, 99.7)] == ["0.2", "12", "50.4", "99.7"]
