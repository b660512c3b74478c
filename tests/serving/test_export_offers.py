"""Export offers all layouts and widths, and each offered address asks for the same file as the offered command."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.figures.drawing.spec import WIDTHS
from playground.figures.layouts import LAYOUTS
from playground.serving.routes_figures import ROUTES
from serving.figure_requests import FLOCK, KEY, bytes_of_command


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
    assert names(data, "kind") == ["png", "svg", "pdf", "html", "numbers"]
    assert names(data, "layout") == [name for name in LAYOUTS if name not in ("grid", "compare")]
    assert names(data, "width") == list(WIDTHS)
    assert data["chosen"]["layout"] == "convolution"
    words = {"with": "sample:meadow", "beside": "compare"}
    comparison = client.get("/api/exports", params={"sample": "flock", "model": "bundled"} | words).json()
    assert comparison["chosen"]["layout"] == "compare"


def test_only_possible_kinds_and_layouts_are_offered(client):
    data = offers(client, what="similarity", kind="html")
    assert "html" not in names(data, "kind")
    assert data["chosen"]["kind"] == "png"
    assert names(data, "layout") == ["head", "convolution"]


LAYOUTS_OFFERED = [layout for layout in LAYOUTS if layout != "grid"]  # the sheet cannot ask for rows and columns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "kind"),
    [*((layout, "svg") for layout in LAYOUTS_OFFERED), ("head", "numbers"), ("compare", "numbers")],
)
def test_the_offered_address_gives_the_bytes_of_the_offered_command(client, layout, kind, tmp_path):
    words = FLOCK | {
        "layout": layout, "kind": kind, "table": "csv", "width": "column", "background": "dark", "what": "value",
        "scale": "off", "locked": "true", "grid": "true", "colours": "own", "curtain": "0.5", "map": "grey",
    }  # fmt: skip
    compare_words = {"with": "sample:landscape"} if layout == "compare" else {}
    data = client.get("/api/exports", params=words | compare_words).json()
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
