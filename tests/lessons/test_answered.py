"""Steps 5 and 6 of the lesson Block: which picture and which model they show, and their words."""

import pytest
from safetensors.torch import save_file

from lessons.playing import flat_parts
from playground.lessons.parts import Ask, Table, Words
from playground.lessons.questions import Question
from playground.lessons.registry import LESSONS
from playground.serving import models
from playground.serving.here import Here

pytestmark = pytest.mark.usefixtures("nothing_fetched")
EVERYDAY_MODEL = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"


def words_and_question(step: str, **words: str) -> tuple[str, Question]:
    lesson = LESSONS["block"]
    parts = flat_parts(lesson.steps[step].parts(Here(words), lesson.defaults()))
    (question,) = (part.question for part in parts if isinstance(part, Ask))
    tables = [" | ".join(row) for part in parts if isinstance(part, Table) for row in (part.head, *part.rows)]
    return "\n".join([*(part.text for part in parts if isinstance(part, Words)), *tables]), question


def test_our_model_is_asked_about_a_picture_that_it_answers_rightly_and_a_softmax_is_only_supposed():
    texts, question = words_and_question("answer", model="bundled", sample="meadow")
    assert "Our small ViT learned from drawn scenes, so here is one." in texts
    assert "*Portrait* shows, of the model’s 13 labels: **animal or face, textured**" in texts
    assert "every answer is right" in texts
    for words in (question.asks, question.says, question.prose):
        assert "softmax" not in words.lower()
    named = [line for line in texts.splitlines() if "softmax" in line.lower()]
    assert len(named) == 1
    assert named[0].startswith("If exactly **one** class is right")
    assert "**7: textured**" in texts


def test_a_picture_that_the_model_answers_rightly_stays():
    texts, _ = words_and_question("answer", model="bundled-taught", sample="two-colours")
    assert "*One thing, two colours* shows, of the model’s 13 labels: **made thing, landscape**" in texts
    assert "so here is one" not in texts


def test_a_model_without_labels_is_replaced_by_one_for_everyday_things(tmp_path, monkeypatch):
    """The model for everyday things has random weights here, ImageNet's labels and a softmax over them."""
    import timm

    from playground.models import timm_models

    folder = tmp_path / "empty" / f"models--timm--{EVERYDAY_MODEL}" / "snapshots" / "0"
    folder.mkdir(parents=True)
    save_file(timm.create_model(EVERYDAY_MODEL, pretrained=False).state_dict(), folder / "model.safetensors")
    monkeypatch.setattr(timm_models, "hub_file", lambda *arguments: str(folder / "model.safetensors"))
    assert models.naming_model() == EVERYDAY_MODEL
    texts, question = words_and_question("answer", model="untrained", sample="meadow")
    assert "here is ViT Ti/16" in texts
    assert "This is what it says of this picture" in texts
    assert "only you can tell" in texts
    assert "A softmax gives" in question.asks
    assert "softmax: they sum to 1" in texts


def test_without_an_everyday_model_ours_replaces_a_model_without_labels():
    assert models.naming_model() is None
    texts, _ = words_and_question("read", model="untrained", sample="meadow")
    assert "here is our small ViT" in texts


def test_an_offer_says_how_many_labels_it_has():
    labelled_models = {name for name, offer in models.offers().items() if offer["labels"]}
    assert EVERYDAY_MODEL in labelled_models
    assert "vit_small_patch8_224.dino" not in labelled_models
