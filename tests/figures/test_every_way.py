"""A way to look is one record, from which figures and the browser derive drawings and words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from twins import in_javascript

import playground
from playground.analysis.faithfulness import foretold_table
from playground.figures import Spec, command_line, compose, files
from playground.figures.drawing import maps
from playground.figures.drawing.ways import FIRST_WAY, WAYS, Way
from playground.figures.request import from_files
from playground.relevance import DEFAULT_METHOD

ROOT = Path(__file__).parent.parent.parent
SHARED_FIELDS = {  # Python's name of a field -> the browser's
    "name": "name", "needs": "needs", "exposed": "exposed", "unit": "unit", "unit_of_label": "unitOfLabel",
    "asks_a_patch": "asksAPatch", "through_layers": "throughLayers", "explains": "explains",
    "attributes": "attributes", "resembles": "resembles", "of_heads": "ofHeads", "coloured": "coloured",
    "spread": "spread", "rows": "rows", "signed": "signed",
}  # fmt: skip
BROWSER_KINDS = ("tab", "note")  # every way has words of each of these kinds


@pytest.fixture
def squared(monkeypatch):
    """(the spec of a figure of a new way, its trace, its picture). The way has a record, words and a function."""
    way = Way(
        "squared", "scores", "brightest", "squared attention", "weight × weight", "the squares of what {who} takes",
        unit="square",
    )  # fmt: skip
    monkeypatch.setitem(WAYS, "squared", way)
    monkeypatch.setitem(maps.NUMBERS, "squared", lambda asked: maps.weight(asked) ** 2)
    spec = Spec(image="meadow", model="bundled", layer=4, head=0, query=(7, 5), what="squared", width="page", dpi=48)
    return spec, *from_files(replace(spec, what="weight"))[:2]


def correlations_by_model() -> dict[str, dict[str, float]]:
    """{model: {way to look: its maps' rank correlation with blanking}}, with that of random and of constant maps."""
    rows = {}
    for model, scores_by_map in foretold_table().items():
        ways = [way for way in WAYS.values() if way.attributes]
        scores = {way.name: scores_by_map[DEFAULT_METHOD if way.methods else way.name] for way in ways}
        some_score = next(iter(scores.values()))
        numbers = {name: round(score.correlation, 2) for name, score in scores.items()}
        rows[model] = numbers | {"random": round(some_score.random, 2), "constant": 0, "pictures": some_score.pictures}
    return rows


def test_the_browser_has_the_same_ways_with_words_of_its_own():
    browser = in_javascript(
        ["ways", "waytable"], "return { ...ways, FORETOLD: waytable.FORETOLD, words: waytable.WAY_WORDS.en };"
    )
    assert browser["FIRST_WAY"] == FIRST_WAY
    assert list(browser["WAYS"]) == list(WAYS)
    assert browser["FORETOLD"] == correlations_by_model()
    assert Spec.method == DEFAULT_METHOD
    for way in WAYS.values():
        record = browser["WAYS"][way.name]
        differing = {ours for ours, theirs in SHARED_FIELDS.items() if getattr(way, ours) != record[theirs]}
        assert not differing, (way.name, differing, record)
        missing = [kind for kind in BROWSER_KINDS if way.name not in browser["words"][kind]]
        assert not missing, (way.name, missing)


def test_a_way_made_up_here_is_drawn_and_said_by_its_record_alone(squared, tmp_path):
    spec, seen, image = squared
    figure = compose.draw(spec, seen, image)
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert "squared attention" in texts, texts
    assert "weight × weight" in texts, texts
    caption = files.caption_words(spec, seen, image)
    assert "layer 4, head 0: the squares of what patch 7, 5 (row, column, from 0) takes" in caption, caption
    one = maps.OneMap(maps.Subject(seen, image, ""), figure.spec, "on")
    map_ = maps.map_of(one)
    np.testing.assert_allclose(map_.grid, seen.on_grid(seen.row(4, 0, (7, 5))).numpy() ** 2, rtol=1e-6)
    assert map_.breadth is None  # squares do not sum to 1
    map_domain = maps.domain(spec, [map_])
    assert (map_domain.low, map_domain.percent, map_domain.signed) == (0, False, False)
    mean_values = maps.map_of(replace(one, spec=replace(figure.spec, head="mean"))).values
    np.testing.assert_allclose(mean_values, (seen.rows(4, (7, 5)).numpy() ** 2).mean(0), rtol=1e-6)
    file = playground.save(seen, tmp_path / "squared.csv", layer=4, query=(7, 5), what="squared")
    assert "squared" in file.read_text(encoding="utf-8")
    assert "--what squared" in command_line.command(figure.spec)
