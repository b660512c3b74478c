"""Export offers all layouts and widths, and each offered address asks for the same file as the offered command."""

import io

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.figures.drawing.spec import WIDTHS
from playground.figures.layouts import LAYOUTS
from playground.serving.routes_figures import ROUTES
from serving.figure_requests import FLOCK, KEY, ask, bytes_of_command


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=ROUTES))


# Offers of the sheet --------------------------------------------------------------------------------------------------


def offers(client, **words) -> dict:
    answer = client.get("/api/exports", params={"sample": "flock", "model": "bundled", **words})
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(data: dict, kind: str) -> list[str]:
    return [option["name"] for option in data["offers"][kind]]


def test_export_offers_what_the_tables_hold(client):
    data = offers(client, layer="3", head="2")
    assert names(data, "kind") == ["png", "svg", "pdf", "html", "webp", "numbers"]
    assert names(data, "layout") == [name for name in LAYOUTS if name not in ("grid", "compare", "change")]
    assert names(data, "width") == list(WIDTHS)
    assert data["chosen"]["layout"] == "convolution"
    words = {"with": "sample:meadow", "beside": "compare"}
    comparison = client.get("/api/exports", params={"sample": "flock", "model": "bundled"} | words).json()
    assert comparison["chosen"]["layout"] == "compare"


@pytest.mark.parametrize(
    ("words", "is_offered"),
    [
        ({"with": "sample:meadow"}, True), ({"with": "model:untrained"}, True),
        ({"with": "sample:landscape"}, False),  # a picture of another shape
        ({"with": "sample:meadow", "what": "components"}, False),
    ],
)  # fmt: skip
def test_a_change_is_offered_where_patches_can_be_subtracted(client, words, is_offered):
    assert ("change" in names(offers(client, **words), "layout")) == is_offered


def test_only_possible_kinds_and_layouts_are_offered(client):
    data = offers(client, what="similarity", kind="html")
    assert "html" not in names(data, "kind")
    assert data["chosen"]["kind"] == "png"
    assert names(data, "layout") == ["head", "convolution", "curves"]
    webp_data = offers(client, what="similarity", kind="webp", sweep="scale")
    assert names(webp_data, "sweep") == ["layers"]
    assert webp_data["chosen"]["sweep"] == "layers"
    assert "atlas" not in names(offers(client, kind="webp"), "layout")


LAYOUTS_OFFERED = [layout for layout in LAYOUTS if layout != "grid"]  # the sheet cannot ask for rows and columns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "kind"),
    [*((layout, "svg") for layout in LAYOUTS_OFFERED), ("head", "numbers"), ("compare", "numbers"), ("head", "webp")],
)
def test_the_offered_address_gives_the_bytes_of_the_offered_command(client, layout, kind, tmp_path):
    words = FLOCK | {
        "layout": layout, "kind": kind, "table": "csv", "width": "column", "background": "dark", "what": "value",
        "k": "5", "scale": "off", "locked": "true", "grid": "true", "colours": "own", "curtain": "0.5", "map": "grey",
    }  # fmt: skip
    compare_words = {"compare": {"with": "sample:landscape"}, "change": {"with": "sample:meadow"}}
    words_of_layout = compare_words.get(layout, {})
    data = client.get("/api/exports", params=words | words_of_layout).json()
    assert data["chosen"]["layout"] == layout
    file, suffix = data["file"], data["file"]["name"].rpartition(".")[2]
    response = client.request(file["method"], f"/{file['address']}", headers=KEY)
    assert response.status_code == 200, (file, response.text[:300])
    flags = data["command"].removeprefix("python -m playground ").rsplit(" -o ", 1)
    assert flags[1] == file["name"]
    assert response.content == bytes_of_command(flags[0], suffix, tmp_path)


def test_the_offered_living_figure_has_the_bytes_of_the_offered_command(client, tmp_path):
    for layers in ("layer", "all"):
        words = {
            "sample": "flock",
            "model": "bundled",
            "kind": "html",
            "held": layers,
            "locked": "true",
            "beside": "wall",
        }
        data = client.get("/api/exports", params=words).json()
        response = client.post(f"/{data['file']['address']}", headers=KEY)
        assert response.status_code == 200, response.text[:300]
        flags = data["command"].removeprefix("python -m playground ").rsplit(" -o ", 1)[0]
        assert response.content == bytes_of_command(flags, "html", tmp_path)


def test_a_lesson_offers_its_own_figure(client):
    data = offers(client, only="atlas", what="similarity")
    assert names(data, "kind") == ["png", "svg", "pdf", "numbers"]
    assert names(data, "layout") == ["atlas"]
    assert data["file"]["address"].startswith("figure.png?sample=flock&model=bundled&layout=atlas")
    assert offers(client, only="curves")["file"]["address"] == "figure.png?layout=curves"


@pytest.mark.parametrize("kind", ["png", "numbers", "html"])
def test_the_preview_is_the_figure_with_few_dots(client, kind):
    data = offers(client, kind=kind, layer="3")
    response = client.request(data["preview"]["method"], f"/{data['preview']['address']}")
    assert abs(Image.open(io.BytesIO(response.content)).width - 960) < 14


def test_the_size_of_a_living_figure_is_said(client):
    words = FLOCK | {"kind": "html", "pack": "int8", "held": "layer"}
    sentence = client.get("/api/exports/size", params=words).json()["says"]
    size = len(ask(client, "html", FLOCK | {"pack": "int8"}, "POST").content)
    assert f"One file of {size / 1e6:.2f} MB" in sentence
    assert "With q and k in 8 bits: a weight is off by at most" in sentence
