"""For each file that the Export sheet offers, the command that it shows writes the same bytes."""

import shlex

import pytest

from playground.__main__ import main
from playground.figures.drawing.spec import CHOICES, WIDTHS
from playground.figures.layouts import LAYOUTS
from serving.figure_requests import FLOCK, KEY

COMPARED = ("sample:landscape", "model:untrained")  # the drawing landscape has another shape than flock
WAYS = [way for way in CHOICES["what"] if way != "text"]  # these models know no texts
WAYS_WITHOUT_HEADS = ("similarity", "rollout", "relevance", "occlusion", "label", "text", "components", "norm")


def offers_of(client, words: dict) -> dict:
    answer = client.get("/api/exports", params=words)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(data: dict, kind: str) -> list[str]:
    return [option["name"] for option in data["offers"][kind]]


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


@pytest.mark.parametrize("way", WAYS)
def test_the_numbers_of_each_way_in_an_offered_layout_equal_the_command_s(client, way, tmp_path):
    """Each way in another of its layouts: addresses and commands name the two separately."""
    words = FLOCK | {"what": way, "kind": "numbers", "table": "csv"}
    layouts = names(offers_of(client, words), "layout")
    assert ("heads" in layouts) == (way not in WAYS_WITHOUT_HEADS), layouts
    assert_command_writes_the_same(client, words | {"layout": layouts[WAYS.index(way) % len(layouts)]}, tmp_path)


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
    assert "html" not in names(offers_of(client, FLOCK | view), "kind")
    answer = client.post("/figure.html", params=FLOCK | view, headers=KEY)
    assert (answer.status_code, answer.json()["says"][-1]) == (400, "."), answer.text[:300]
    assert "html" in [option["name"] for option in offers_of(client, FLOCK)["offers"]["kind"]]


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
