"""The models that ship, measured on scenes that were not in their training.

benchmarks/bundled.py measures the same on 500 scenes for the model card; these tests use fewer.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from playground.analysis.explain import NAMED_SCENES, SHARES_ON_NAMED
from playground.assets import ASSETS, MEASURED, SHIPPED_MODELS
from playground.models import loading
from workshop import evaluate
from workshop.scenes import generate
from workshop.scenes.generate import LABELS

# Bars just below the model card's numbers for 500 scenes, because 40 scenes are less precise.
UNTAUGHT_BARS = {"mass": 0.5, "f1": 0.6, "overlap": 0.18}
TAUGHT_BARS = {"mass": 0.84, "f1": 0.85, "overlap": 0.49}
MOST_MEGABYTES = 10
SCENE_COUNT, OTHER_COUNT = 40, 20


@cache
def held_out_scenes() -> list:
    return [generate.scene(generate.FIRST_HELD_OUT + i) for i in range(SCENE_COUNT + OTHER_COUNT)]


def measures_of(name: str) -> dict:
    vit = loading.load(name, device="cpu")
    return evaluate.measure(vit, held_out_scenes()[:SCENE_COUNT], held_out_scenes()[SCENE_COUNT:])


@pytest.fixture(scope="module")
def bundled_measures():
    return measures_of("bundled")


@pytest.mark.slow
def test_the_object_under_the_cursor_lights_up_more_than_by_chance_or_nearness(bundled_measures):
    assert bundled_measures["mass"] >= UNTAUGHT_BARS["mass"]
    assert bundled_measures["mass"] > 4 * bundled_measures["area"]
    assert bundled_measures["far mass"] > max(bundled_measures["far area"], bundled_measures["far gaussian"])
    assert bundled_measures["overlap"] >= UNTAUGHT_BARS["overlap"]


@pytest.mark.slow
def test_the_class_token_says_what_the_picture_shows(bundled_measures):
    assert bundled_measures["f1"] >= UNTAUGHT_BARS["f1"]
    assert bundled_measures["f1"] > bundled_measures["f1 of yes"]


@pytest.mark.slow
def test_rollout_finds_named_objects_hardly_better_than_chance_and_the_lesson_says_so():
    assert len(held_out_scenes()) == NAMED_SCENES
    scores = evaluate.share_on_named_things(loading.load("bundled", device="cpu"), held_out_scenes())
    assert {method: scores[method] for method in SHARES_ON_NAMED} == pytest.approx(SHARES_ON_NAMED, abs=0.004)
    assert 0.5 * scores["area"] < scores["attention"] < 1.2 * scores["area"], (
        "the class token's own rows find it no better"
    )
    assert scores["rollout"] < 1.2 * scores["area"] < scores["gradient"]


@pytest.mark.slow
def test_the_taught_model_does_what_it_was_taught():
    measures = measures_of("bundled-taught")
    assert all(measures[name] >= bar for name, bar in TAUGHT_BARS.items()), measures
    assert measures["mass"] > max(measures["colour"] + 0.2, measures["gaussian"], measures["area"])
    assert measures["class token on objects"] >= 2 * measures["area of objects"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED_MODELS)
def test_the_shipped_models_are_small_and_load_without_timm(name):
    assert SHIPPED_MODELS[name].stat().st_size < MOST_MEGABYTES * 1e6
    code = (
        f"import sys, playground; vit = playground.load({name!r}, device='cpu'); "
        "print(len(vit.config.labels), 'timm' in sys.modules)"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=Path(__file__).parent.parent)
    assert output.split() == [str(len(LABELS)), "False"]


def test_documentation_and_lesson_show_the_card_s_numbers_beside_the_filter():
    card = (ASSETS / "MODEL.md").read_text(encoding="utf-8")
    page = (ASSETS.parent / "docs" / "pages" / "numbers.md").read_text(encoding="utf-8")
    table = json.loads(MEASURED.read_text(encoding="utf-8"))
    for name, *numbers in table["rows"]:
        assert all(f"| {number} |" in card for number in numbers), name
        assert f"| {name} | {' | '.join(numbers)} |" in page
        by_column = dict(zip(table["head"][1:], (float(n.split()[0].replace("−", "-")) for n in numbers), strict=True))
        difference = by_column["`bundled`"] - by_column["filter, no network"]
        assert by_column["`bundled` − filter"] == pytest.approx(difference, abs=2e-3), name
