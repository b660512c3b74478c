"""Block 5 and 6, on the page: which picture in which model they look at, and in what words."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors.torch import save_file
from streamlit.testing.v1 import AppTest

from playground.serving import models
from playground.ui import guess
from playground.ui.lessons import block_answer, block_read

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent
EVERYDAY = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"


@pytest.fixture
def asked(monkeypatch):
    """Every question that is asked."""
    found = []
    for page in (block_answer, block_read):
        monkeypatch.setattr(
            page, "guess", SimpleNamespace(ask=lambda one, context: found.append(one), after=guess.after)
        )
    return found


def opened(step: str, **words: str) -> str:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    for name, word in (words | {"step": step}).items():
        app.query_params[name] = word
    app.switch_page("pages/block.py").run()
    assert not app.exception
    return " ".join(element.value for element in app.markdown)


def test_our_model_explains_a_picture_that_it_answers_rightly_and_never_by_a_softmax(asked):
    said = opened("answer", model="bundled", sample="meadow")
    assert "these are true of *Portrait*: **animal or face, textured**" in said
    assert "every answer is right" in said
    (question,) = asked
    for words in (said, question.asks, question.says, question.prose):
        assert "softmax" not in words.lower()
    assert "| **7: textured** |" in said


def test_reading_the_stream_asks_about_a_true_label_that_is_not_there_from_the_start(asked):
    said = opened("read", model="bundled", sample="odd-tile")
    assert "*Portrait*" in said
    (question,) = asked
    assert "gives *textured* 88 %" in question.asks
    assert "The last layer brings it above one half" in question.says
    assert "From 0 layers" not in question.says


def test_a_picture_that_the_model_answers_rightly_stays(asked):
    assert "true of *One thing, two colours*" in opened("answer", model="bundled-taught", sample="two-colours")


def test_where_a_model_names_nothing_one_for_everyday_things_takes_its_place(asked, tmp_path, monkeypatch):
    """Made here, with random weights: its labels are ImageNet's, and it shares 100 % out among them."""
    import timm

    from playground.models import timm_models

    folder = tmp_path / "empty" / f"models--timm--{EVERYDAY}" / "snapshots" / "0"
    folder.mkdir(parents=True)
    save_file(timm.create_model(EVERYDAY, pretrained=False).state_dict(), folder / "model.safetensors")
    monkeypatch.setattr(timm_models, "hub_file", lambda *what: str(folder / "model.safetensors"))
    assert models.that_names() == EVERYDAY
    said = opened("answer", model="untrained", sample="meadow")
    assert "here is ViT Ti/16" in said
    assert "only you can tell" in said
    (question,) = asked
    assert "A softmax gives" in question.asks
    assert "softmax: they sum to 1" in said


def test_without_such_a_model_ours_takes_its_place(asked):
    assert models.that_names() is None
    assert "here is our small ViT" in opened("read", model="untrained", sample="meadow")


def test_an_offer_says_how_many_labels_it_has():
    named = {name for name, fact in models.offers().items() if fact["labels"]}
    assert EVERYDAY in named
    assert "vit_small_patch8_224.dino" not in named
