"""Files exported by the site without a server equal those of the app's /figure.*: cells, numbers and their origin."""

import base64
import csv
import io
import json
import re
import shlex
from xml.etree import ElementTree

import numpy as np
import pytest
import waiting
from PIL import Image

from browser.on_the_site import DATA_SAVER, SiteVisitor
from browser.without_server import plain_server
from playground.__main__ import main
from playground.figures.drawing import captions, light
from playground.serving import figure_files, figure_words
from playground.ui import site

VIEW = {"sample": "meadow", "model": "bundled", "layer": "4", "head": "1", "query": "7,5"}
VIEWS = {
    "a row": {},
    "a column": {"direction": "column"},
    "without the scale": {"scale": "off"},
    "weight times value": {"what": "value"},
    "scores": {"what": "score"},
}
TOLERANCE = 2e-3  # relative to the largest number: queries and keys in the folder have 16 bits
# Of 255 levels, for a cell's mean colour: browser and Python resize photographs differently
LEVEL_TOLERANCE = 6
HREF = "{http://www.w3.org/1999/xlink}href"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    folder = site.write(tmp_path_factory.mktemp("site") / "out", "/", ["bundled"], named_samples=(), lessons=())
    with plain_server(folder) as url:
        yield url


@pytest.fixture
def visitor(arrive, host):
    site_visitor = arrive(SiteVisitor, host)
    site_visitor.context.add_init_script(DATA_SAVER)
    return site_visitor


def exported_bytes(visitor, view: dict, kind: str, button: str) -> bytes:
    address = "&".join(f"{name}={value}" for name, value in (VIEW | view | {"locked": "true"}).items())
    visitor.arrive(f"#{address}")
    map_name, direction = view.get("what", "weight"), view.get("direction", "row")
    condition = f"r.layer === 4 && r.what === {map_name!r} && r.direction === {direction!r}"
    visitor.until(f"r => r.ready && r.layersHeld.includes(4) && {condition}")
    sheet = visitor.unfold("export")
    with visitor.page.expect_download() as download:
        sheet.get_by_role("button", name=button, exact=False).click()
    assert download.value.suggested_filename.endswith(f".{kind}")
    return download.value.path().read_bytes()


def app_bytes(view: dict, kind: str) -> bytes:
    app_trace, spec = figure_words.read(VIEW | view | {"layout": "head"}, kind, None)
    return figure_files.file(app_trace, spec, kind, None)


@pytest.mark.parametrize("view", VIEWS)
def test_the_exported_numbers_are_the_app_s(view, visitor):
    our_record, app_record = (
        json.loads(exported_bytes(visitor, VIEWS[view], "json", "json")),
        json.loads(app_bytes(VIEWS[view], "json")),
    )
    (our_table,), (app_table,) = our_record["tables"], app_record["tables"]
    (our_map,), (app_map,) = our_table.pop("maps"), app_table.pop("maps")
    (labels, shares), (app_labels, app_shares) = (
        zip(*table.pop("predictions"), strict=True) for table in (our_table, app_table)
    )
    assert labels == app_labels
    assert shares == pytest.approx(app_shares, abs=1e-5)  # a prepared pack rounds to five digits
    assert our_table == app_table
    our_values, app_values = (np.asarray(table.pop("values")) for table in (our_map, app_map))
    assert our_map == pytest.approx(app_map)
    assert np.abs(our_values - app_values).max() <= TOLERANCE * np.abs(app_values).max()
    figure_facts = our_record["figure"]
    assert {key: value for key, value in figure_facts.items() if key != "command"} == {
        key: app_record["figure"][key] for key in figure_facts if key != "command"
    }


def test_the_command_in_the_file_makes_the_same_numbers(visitor, tmp_path, monkeypatch):
    our_record = json.loads(exported_bytes(visitor, {"scale": "off"}, "json", "json"))
    command = shlex.split(our_record["figure"]["command"])
    assert command[:2] == ["attention-playground", "figure"]
    monkeypatch.chdir(tmp_path)
    assert main(command[1:]) == 0
    figure_record = json.loads((tmp_path / "figure.json").read_text(encoding="utf-8"))
    values, truth = (np.asarray(record["tables"][0]["maps"][0]["values"]) for record in (our_record, figure_record))
    assert np.abs(values - truth).max() <= TOLERANCE * truth.max()


def test_npz_and_csv_hold_what_json_holds(visitor):
    truth = json.loads(exported_bytes(visitor, {}, "json", "json"))["tables"][0]
    with np.load(io.BytesIO(exported_bytes(visitor, {}, "npz", "npz"))) as arrays:
        assert arrays["values"] == pytest.approx(np.asarray([truth["maps"][0]["values"]]), rel=1e-6)
        assert arrays["tokens"].tolist() == truth["tokens"]
        assert arrays["grid"].tolist() == truth["grid"]
        assert (arrays["layer"].tolist(), arrays["patch"].tolist()) == ([4], ["7,5"])
        assert json.loads(str(arrays["about"]))["image"] == "meadow"
        with np.load(io.BytesIO(app_bytes({}, "npz"))) as app_arrays:
            assert set(arrays) == set(app_arrays)
    text = exported_bytes(visitor, {}, "csv", "csv").decode()
    lines = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert [float(line["value"]) for line in lines] == pytest.approx(truth["maps"][0]["values"])
    app_csv = app_bytes({}, "csv").decode()
    header = next(line for line in app_csv.splitlines() if not line.startswith("#"))
    assert list(lines[0]) == header.split(",")


def test_the_cells_of_the_svg_are_the_app_s(visitor):
    our_svg = ElementTree.fromstring(exported_bytes(visitor, {}, "svg", "svg"))
    app_svg = ElementTree.fromstring(app_bytes({}, "svg"))
    table = json.loads(app_bytes({}, "json"))["tables"][0]
    grid, values = table["grid"], np.array(table["maps"][0]["values"])
    (our_image,) = (image.get("href") for image in our_svg.iter(f"{SVG}image") if image.get("id") == "map")
    app_image = list(app_svg.iter(f"{SVG}image"))[1]  # the first image is the photograph
    is_flipped = app_image.get("transform", "").startswith("scale(1 -1)")
    cells, truth = cells_of(our_image, grid), cells_of(app_image.get(HREF), grid, is_flipped)
    assert np.abs(cells - truth).max() <= LEVEL_TOLERANCE, np.abs(cells - truth).max(axis=-1).round()
    our_texts = " ".join("".join(text.itertext()) for text in our_svg.iter(f"{SVG}text"))
    exposure = 100 * light.exposure(values[-grid[0] * grid[1] :])
    assert re.search(r"≥\s*([\d.]+)\s*%", our_texts)[1] == captions.number(exposure)


def cells_of(address: str, grid: list[int], is_flipped: bool = False) -> np.ndarray:
    """(rows, columns, 3): the mean colour of the inner half of each cell, where no outline of a neighbour lies."""
    image = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")
    rows, columns = grid
    pixels = np.asarray(image.resize((columns * 8, rows * 8), Image.Resampling.BOX), np.float32)
    pixels = pixels[::-1] if is_flipped else pixels
    inner_dots = pixels.reshape(rows, 8, columns, 8, 3)[:, 2:6, :, 2:6]
    return inner_dots.mean((1, 3))


def test_the_living_page_has_the_row_and_the_sheet_names_the_command_for_a_pdf(visitor, tmp_path):
    page = tmp_path / "alive.html"
    page.write_bytes(exported_bytes(visitor, {}, "html", "stays alive"))
    row = visitor.read()["row"]
    note = visitor.unfold("export").locator(".note").last.inner_text()
    assert re.search(
        r"For a PDF.*attention-playground figure meadow .*--layer 4 --head 1 --patch 7,5 -o figure.pdf", note
    )
    living_page = visitor.context.new_page()
    living_page.goto(page.as_uri())
    living_page.locator("canvas").first.wait_for()
    read_script = "document.querySelector('.lens')?.__lens?.read() ?? null"
    waiting.until(lambda: (living_page.evaluate(read_script) or {}).get("row"), "the page is not alive")
    state = living_page.evaluate(read_script)
    assert np.abs(np.asarray(state["row"]) - np.asarray(row)).max() < 0.05  # the site's model has 8-bit weights
