"""The wall of moments: its sentences are true, and each picture is served under its address only."""

import io

import numpy as np
import pytest
from PIL import Image

from playground.figures.drawing import light
from playground.serving import pictures, traces, wall
from serving.visits import client


@pytest.fixture(scope="module", autouse=True)
def _(request):
    request.getfixturevalue("really_here")("photographs")
    request.getfixturevalue("really_here")("dinov2-small")


@pytest.mark.parametrize("number", [0, 1, 9])
def test_the_facts_of_a_moment_are_those_of_the_network_s_row(number):
    moment = wall.MOMENTS[number]
    trace = traces.trace(pictures.sample(moment.sample), traces.Setup(moment.model))
    row = trace.row(moment.layer, moment.head, moment.patch).numpy()
    facts, patches = wall.facts(moment), row[len(trace.prefix) :]
    assert facts["most"] == pytest.approx(row.max(), abs=2e-3)
    mark = moment.patch[0] * trace.grid[1] + moment.patch[1]
    rows, columns = np.indices(trace.grid).reshape(2, -1)
    y, x = (rows + 0.5) / trace.grid[0], (columns + 0.5) / trace.grid[1]
    for place in facts["told"]["places"]:
        top, left, bottom, right = place["part"]["box"] if place["part"] else (0, 0, 1, 1)
        box = (top <= y) & (y < bottom) & (left <= x) & (x < right)
        whole = patches[box] if place["part"] else patches[place["patches"]]
        assert place["share"] == pytest.approx(whole.sum(), abs=2e-3)
        assert patches[place["brightest"]] == pytest.approx(patches[place["patches"]].max(), abs=2e-3)
        assert place["own"] == (mark in place["patches"])


def test_each_picture_is_lit_where_the_row_is_brightest():
    for moment in wall.on_this_machine()[:6]:
        image = Image.open(io.BytesIO(wall.picture(moment)))
        photo = np.asarray(
            pictures.sample(moment.sample).image.convert("RGB").resize(image.size, Image.Resampling.LANCZOS)
        )
        unlit_pixels = light.heat(photo, np.zeros(photo.shape[:2])).astype(int)
        facts = wall.facts(moment)
        rows, columns = traces.trace(pictures.sample(moment.sample), traces.Setup(moment.model)).grid
        change = Image.fromarray(np.abs(np.asarray(image) - unlit_pixels).sum(-1).astype(np.float32))
        brightness = (
            np.asarray(change.resize((columns, rows), Image.Resampling.BOX)).ravel().copy()
        )  # one value for each patch
        brightness[moment.patch[0] * columns + moment.patch[1]] = 0  # without the patch's own frame
        best = facts["told"]["places"][0]["brightest"]
        assert (brightness > brightness[best]).mean() < 0.03, moment


def test_the_list_leads_to_the_pictures_and_an_old_address_is_refused():
    with client() as http:
        entries = http.get("/api/moments").json()
        assert len(entries) == 24
        image = http.get(f"/{entries[3]['picture']}")
        assert image.status_code == 200
        assert Image.open(io.BytesIO(image.content)).size == tuple(entries[3]["size"])
        assert "immutable" in image.headers["cache-control"]
        assert http.get("/api/moments/0123456789abcdef/0.jpg").status_code == 410
        edition = entries[0]["picture"].split("/")[2]
        assert http.get(f"/api/moments/{edition}/24.jpg").status_code == 400
