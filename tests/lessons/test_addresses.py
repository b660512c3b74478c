"""The settings in the address of a lesson: what each text becomes, and what links of older versions open."""

import pytest
from serving.visits import client, played
from twins import in_javascript

from playground.lessons.by_hand import first_arrows
from playground.lessons.lesson import Setting

pytestmark = pytest.mark.usefixtures("nothing_fetched")
OLD_ADDRESSES = {  # lesson -> {the step that its words belong to: the words}
    "by_hand": {"masks": {"mask": "causal"}, "colours": {"temperature": "1"}, "arrows": {"arrows": first_arrows()}},
    "block": {"whole": {"box": "MLP"}, "stream": {"layer": "3"}, "answer": {"supposed": "2"}},
    "patches": {
        "cut": {"patch": "32"}, "filters": {"filter": "14"}, "positions": {"table": "sinusoidal"},
        "shuffle": {"positions": "on"},
    },
    "shapes": {"walk": {"step": "5", "example": "sentence"}},
    "scale": {"row": {"dk": "512"}, "model": {"instead": "-1.0"}},
    "heads": {"atlas": {"measure": "distance"}, "off": {"off": "1.2"}},
    "cost": {"pairs": {"image": "1024"}, "formulas": {"count": "scores"}},
}  # fmt: skip
OPEN = """return given.map(([{ settings, steps }, words]) =>
  [shell_lessonpage.stepOfAddress(steps, words).name, shell_lessonpage.settingsOf(settings, words).settings]);"""


def opened(cases: list[tuple[str, dict[str, str]]]) -> list[tuple[str, dict[str, str]]]:
    with client() as http:
        records = [(http.get(f"/api/lessons/{name}").json(), words) for name, words in cases]
    return in_javascript(["shell/lessonpage"], OPEN, records)


def test_an_old_address_without_a_step_opens_the_step_that_its_words_belong_to():
    cases = [(name, words, step) for name, steps in OLD_ADDRESSES.items() for step, words in steps.items()]
    steps = [step for step, _ in opened([(name, words) for name, words, _ in cases])]
    assert dict(zip([str(case) for case in cases], steps, strict=True)) == {str(case): case[2] for case in cases}


def test_a_setting_is_one_of_its_options():
    setting = Setting(512, (512, 1024))
    for text in (None, "", "1024\n", "1e3", "<b>", "٥١٢", "9" * 5000):
        assert setting.read(text) == 512
    assert setting.read("1024") == 1024


def test_of_a_layer_that_the_model_lacks_the_upper_one_is_shown():
    layer_2, layer_4, layer_63 = (
        played("shapes", "walk", at=at, model="bundled", sample="meadow") for at in ("2", "4", "63")
    )
    assert layer_63 == layer_4 != layer_2


@pytest.mark.parametrize("layer", ["40", "4", "x"])
def test_a_layer_that_a_step_does_not_offer_becomes_the_default(layer):
    """Layer 4 exists, but it is the bundled model's `upper_layer`, which this step calls -1, its default value."""
    words = {"model": "bundled", "sample": "meadow"}
    assert played("block", "mlp", layer=layer, **words) == played("block", "mlp", **words)


def test_in_place_of_a_label_that_the_model_lacks_the_true_one_is_shown():
    parts = played("block", "answer", model="bundled", sample="meadow", supposed="999")
    (table,) = (part for part in parts if part["kind"] == "table")
    assert ["**7: textured**", "yes"] in [[row[0], row[3]] for row in table["rows"]]
