"""For each file that the Export sheet offers, the command that it shows writes the same bytes."""

import shlex

import pytest

from playground.__main__ import main
from playground.figures.drawing.spec import CHOICES, WIDTHS
from playground.figures.layouts import LAYOUTS

KEY = {"X-Playground-Key": "a-key-of-a-browser-in-a-test"}
FLOCK = {"sample": "flock", "model": "bundled", "layer": "3", "head": "2", "query": "4,9"}
COMPARED = ("sample:landscape", "model:untrained")  # the drawing landscape has another shape than flock
WAYS = [way for way in CHOICES["what"] if way != "text"]  # these models know no texts
WAYS_WITHOUT_HEADS = ("similarity", "rollout", "relevance", "occlusion", "label", "text", "components", "norm")


def offers_of(client, words: dict) -> dict:
    answer = client.get("/api/exports", params=words)
    assert answer.status_code == 200, answer.text
    return answer.json()


def assert_command_writes_the_same(client, words: dict, folder) -> None:
    """Asserts that the file offered for these words equals the file of the command shown beside it."""
    data = offers_of(client, words)
    assert words.items() >= {key: data["chosen"][key] for key in ("layout", "kind")}.items(), data["chosen"]
    response = client.request(data["file"]["method"], f"/{data['file']['address']}", headers=KEY)
    assert response.status_code == 200, response.text[:300]
    flags, name = data["command"].removeprefix("python -m playground ").rsplit(" -o ", 1)
    out = folder / shlex.split(name)[0]
    assert main([*shlex.split(flags), "-o", str(out)]) == 0, flags
    assert response.content == out.read_bytes(), f"{data['command']} makes another file"


@pytest.fixture(scope="module")
def offered_layouts(client) -> dict[str, list[str]]:
    """For each value of `what`: the layouts that Export offers."""
    words = FLOCK | {"kind": "numbers", "table": "csv"}
    return {
        way: [option["name"] for option in offers_of(client, words | {"what": way})["offers"]["layout"]] for way in WAYS
    }


@pytest.fixture(scope="module")
def compared_layouts(offered_layouts) -> dict[str, list[str]]:
    """For each value of `what`, the two offered layouts that the values before it have least often, and every layout
    once. Addresses and commands name the layout and the `what` separately, so testing every pair would find nothing
    more."""
    drawn_layouts, chosen_layouts = [], {}
    for way, layouts in offered_layouts.items():
        chosen_layouts[way] = sorted(layouts, key=drawn_layouts.count)[:2]
        drawn_layouts += chosen_layouts[way]
    for way, layouts in offered_layouts.items():
        missed_layouts = [layout for layout in layouts if layout not in drawn_layouts]
        chosen_layouts[way] += missed_layouts
        drawn_layouts += missed_layouts
    return chosen_layouts


@pytest.mark.parametrize("way", WAYS)
def test_the_numbers_of_each_way_in_offered_layouts_equal_the_command_s(
    client, offered_layouts, compared_layouts, way, tmp_path
):
    assert ("heads" in offered_layouts[way]) == (way not in WAYS_WITHOUT_HEADS), offered_layouts[way]
    for layout in compared_layouts[way]:
        compare_words = {"with": "sample:landscape"} if layout == "compare" else {}
        words = FLOCK | {"what": way, "kind": "numbers", "table": "csv", "layout": layout}
        assert_command_writes_the_same(client, words | compare_words, tmp_path)


@pytest.mark.parametrize("way", ["value", "relevance", "components"])  # magma, signs, colours
def test_each_way_is_drawn_as_its_command_draws_it(client, way, tmp_path):
    words = FLOCK | {"what": way, "kind": "png", "layout": "convolution", "width": "column"}
    assert_command_writes_the_same(client, words, tmp_path)


NUMBERS = {"kind": "numbers", "table": "csv"}  # ten times faster to make than a drawing
VIEWS = [
    {"scale": "off", "pass": "whole", "layout": "wall", "kind": "svg"},
    {"scale": "0.3", "pass": "whole", "layout": "compare", "with": COMPARED[0]} | NUMBERS,
    *({"detail": detail, "layout": "compare", "with": COMPARED[1]} | NUMBERS for detail in "12"),
    {"detail": "2", "layout": "scale"} | NUMBERS,
    {"layout": "head", "kind": "svg", "width": "column", "background": "dark", "locked": "true", "map": "grey"},
    *({"layout": "convolution", "kind": "html", "held": held, "beside": "wall"} for held in ("layer", "all")),
]


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_each_view_is_exported_as_its_command_writes_it(client, view, tmp_path):
    assert_command_writes_the_same(client, FLOCK | view, tmp_path)


@pytest.mark.parametrize(
    "view", [{"what": "similarity"}, {"what": "rollout"}, {"scale": "off", "pass": "whole"}], ids=str
)
def test_html_that_cannot_be_interactive_is_not_offered_and_refused_with_a_sentence(client, view):
    kinds = [option["name"] for option in offers_of(client, FLOCK | view)["offers"]["kind"]]
    assert "html" not in kinds
    answer = client.post("/figure.html", params=FLOCK | view, headers=KEY)
    assert (answer.status_code, answer.json()["says"][-1]) == (400, "."), answer.text[:300]
    assert "html" in [option["name"] for option in offers_of(client, FLOCK)["offers"]["kind"]]


def names(data: dict, kind: str) -> list[str]:
    return [option["name"] for option in data["offers"][kind]]


def test_export_offers_what_the_tables_hold(client):
    data = offers_of(client, FLOCK)
    assert names(data, "kind") == ["png", "svg", "pdf", "html", "numbers"]
    assert names(data, "layout") == [name for name in LAYOUTS if name not in ("grid", "compare")]
    assert names(data, "width") == list(WIDTHS)
    assert data["chosen"]["layout"] == "convolution"
    assert offers_of(client, FLOCK | {"with": COMPARED[0], "beside": "compare"})["chosen"]["layout"] == "compare"


def test_only_possible_kinds_and_layouts_are_offered(client):
    data = offers_of(client, FLOCK | {"what": "similarity", "kind": "html"})
    assert data["chosen"]["kind"] == "png"
    assert names(data, "layout") == ["head", "convolution"]
