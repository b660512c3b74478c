"""The lesson on heads: the settings in its address, and the numbers in its sentences."""

import json

import numpy as np
import pytest
from conftest import SMALL, scramble
from serving.visits import played, texts_in

import playground
from lessons.playing import flat_records, meadow, parts_of
from lessons.test_lessons import STRONGEST_HEAD
from playground.analysis.ablation import ablation_effect
from playground.analysis.heads import measure_heads
from playground.assets import PLACE, SAMPLES
from playground.lessons import heads
from playground.lessons.heads import MOST_HEADS_OFF, habits, switched_off
from playground.lessons.parts import Ask, Drawing, Words
from playground.numbers import percent
from playground.serving import models, traces
from playground.serving.app import App, bound
from playground.vit import Config, VisionTransformer

OFF_SETTING = heads.LESSON.choices["off"]


@pytest.mark.parametrize("text", [None, "x", "1.2,3.4", "١.٢", "-1.2", " ".join(["1.2"] * (MOST_HEADS_OFF + 1))])
def test_what_is_no_list_of_heads_switches_none_off(text):
    assert OFF_SETTING.read(text) == ""


def test_heads_that_the_model_does_not_have_are_passed_over():
    assert switched_off("3.0 9.9 1.2 3.0", meadow().trace()) == [(1, 2), (3, 0)]


def test_the_strongest_head_is_the_one_that_adds_most():
    effect = measure_heads(meadow().trace()).effect
    (board,) = (part for part in parts_of("heads", "off") if isinstance(part, Drawing))
    layer, head = board.data["strongest"]
    assert (layer, head) == STRONGEST_HEAD
    assert effect[layer, head] == effect.max()


def test_the_words_about_near_and_far_name_the_measured_layers(small_trace):
    head_numbers = measure_heads(small_trace)
    layer_means = [head_numbers.distance[layer].mean() for layer in range(small_trace.layers)]
    words = heads.near_or_far(head_numbers.distance)
    assert f"layer {layer_means.index(min(layer_means))} ({min(layer_means):.1f} patches)" in words
    assert f"layer {layer_means.index(max(layer_means))} ({max(layer_means):.1f})" in words


def test_habits_measured_layer_by_layer_are_the_same_numbers():
    all_layers, measured_habits = measure_heads(meadow().trace()), habits(meadow())
    assert measured_habits.distance == pytest.approx(all_layers.distance)
    assert measured_habits.offsets == pytest.approx(all_layers.offsets)


def test_the_layer_that_the_microscope_opens_with_is_asked_about_first():
    upper_question, layer_4_question = (parts_of("heads", "sum", summed=layer)[-1].question for layer in (-1, 4))
    assert upper_question == layer_4_question
    assert parts_of("heads", "sum", summed=1)[-1].question != upper_question


def test_zeros_and_means_stand_side_by_side_for_the_heads_that_are_off():
    trace, first_patch = meadow().trace(), len(meadow().trace().prefix)
    parts = parts_of("heads", "off", off="3.2")
    (board,) = (part for part in parts if isinstance(part, Drawing))
    for to, key in (("zero", "means"), ("mean", "averaged")):
        expected = ablation_effect(trace, {(3, 2)}, to=to).change[:, first_patch:].mean(1)
        assert board.data[key] == pytest.approx(expected.tolist(), abs=1e-4), to
    assert any("overstate" in part.text for part in parts if isinstance(part, Words))


def test_the_question_about_a_sharp_head_is_answered_by_what_moved_without_it():
    trace, first_patch = meadow().trace(), len(meadow().trace().prefix)
    entropy = measure_heads(trace).entropy
    (question,) = (part.question for part in parts_of("heads", "off") if isinstance(part, Ask))
    for index in (entropy.argmin(), entropy.argmax()):
        layer, head = (int(n) for n in divmod(index, trace.heads))
        zero, mean = (
            percent(float(ablation_effect(trace, {(layer, head)}, to=to).change[-1, first_patch:].mean()))
            for to in ("zero", "mean")
        )
        assert f"head {head} of layer {layer}" in question.says
        assert f"by {zero}" in question.says
        assert f"{mean}" in question.says, (zero, mean)


def test_what_place_explains_is_that_of_the_hundred_photographs_and_near_what_drawings_give():
    (atlas,) = (part for part in parts_of("heads", "atlas", measure="place") if isinstance(part, Drawing))
    (measure,) = (one for one in atlas.data["measures"] if one["key"] == "place")
    measured = json.loads(PLACE.read_text())
    assert np.allclose(measure["values"], 100 * np.array(measured["shares"]["bundled"]))
    assert f"over {measured['photographs']} photographs" in heads.MEASURES["place"][1]
    drawn = playground.place_share(SAMPLES, "bundled", size=(112, 112), progress=False)
    assert np.corrcoef(drawn.flatten(), np.ravel(measure["values"]))[0, 1] > 0.9


# Models without a class token or registers


WIDE_SHAPE = {"image_size": (32, 64), "patch_size": 8, "depth": 2, "width": 32, "mlp_width": 64, "heads": 4}
BARE_CONFIG = Config(**WIDE_SHAPE, classes=0, cls_token=False, pool="avg", positions="rotary")
CLASS_TOKEN_CONFIG = Config(**WIDE_SHAPE, classes=3, labels=("cat", "dog", "eel"))


@pytest.fixture
def play_in(monkeypatch):
    """play_in(config, words): the parts of the step with all heads, in a model of this kind."""

    def play(config: Config, step: str = "atlas", **words: str) -> list[dict]:
        vit = scramble(VisionTransformer(config))
        vit.name = "scrambled"
        monkeypatch.setattr(models, "load", lambda name: vit)
        monkeypatch.setattr(traces, "_made_ahead", lambda *which: None)
        with bound(App()):
            return played("heads", step, model="bundled", sample="meadow", **words)

    return play


def offered_measures(parts: list[dict]) -> list[str]:
    (choice,) = (part for part in flat_records(parts) if part.get("setting") == "measure")
    return [value for value, _ in choice["options"]]


def test_a_model_with_class_token_and_registers_offers_all_measures(play_in):
    parts = play_in(SMALL)
    assert {*heads.MEASURES} - {*offered_measures(parts)} == {heads.BY_PLACE}  # measured of models that come along
    assert "has no" not in texts_in(parts)


def test_measures_that_do_not_apply_are_absent_and_a_sentence_says_why(play_in):
    parts = play_in(BARE_CONFIG, measure="class")
    assert len(offered_measures(parts)) == 3
    assert "class" not in offered_measures(parts)
    assert parts == play_in(BARE_CONFIG, measure="entropy")
    assert "This model has no class token and no registers." in texts_in(parts)
    parts = play_in(CLASS_TOKEN_CONFIG)
    assert len(offered_measures(parts)) == 4
    assert "This model has no registers." in texts_in(parts)


@pytest.mark.parametrize(
    ("by_layer", "words"),
    [
        ((1, 2, 3, 4), "near first, far later"),
        ((4, 3, 2, 1), "far first, near later"),
        ((1, 3, 3, 1), "no steady trend"),
    ],
)
def test_the_trend_of_distances_over_the_layers_is_named(by_layer, words):
    assert heads.trend(np.array(by_layer, float)) == words
