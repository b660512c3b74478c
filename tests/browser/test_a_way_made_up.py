"""A new view needs only its record, its words and one function: these tests invent one and open it in a browser."""

import re
from dataclasses import replace

import made_up_way
import numpy as np
import pytest

from browser.test_exported_html import FILE_SPEC, Reader
from browser.truth import python_trace
from playground.figures import bundle, html
from playground.figures.drawing import light
from playground.figures.drawing.ways import WAYS

PIXELS = """picture => [...picture.getContext("2d").getImageData(0, 0, picture.width, picture.height).data]"""


@pytest.fixture
def reader(arrive, tmp_path, monkeypatch):
    made_up_way.add_way(monkeypatch)
    made_up_way.add_way_in_the_browser(monkeypatch)
    monkeypatch.setattr(html, "bundle", bundle.bundle)
    file = tmp_path / "squared.html"
    html.write(file, replace(FILE_SPEC, image="meadow", model="bundled", layers=(4,), heads=(2,)), python_trace())
    return arrive(Reader).read_file(file)


@pytest.mark.slow
def test_weight_squared_has_its_tab_its_colours_its_legend_and_its_sentence(reader):
    tab = reader.page.get_by_role("button", name="weight²")
    assert tab.get_attribute("title") == "a weight times itself"
    weight_pixels = np.array(reader.part("picture").evaluate(PIXELS)).reshape(-1, 4)
    tab.click()
    state = reader.until("r => r.what === 'squared' && r.painted")
    assert tab.get_attribute("aria-pressed") == "true"
    truth = python_trace().row(4, 2, (7, 5)).numpy()
    np.testing.assert_allclose(state["row"], truth, atol=2e-3)

    squares = truth[len(python_trace().prefix) :] ** 2
    legend = reader.part("exposed").inner_text()
    matches = re.match(r"brightest from ([\d.e−-]+)", legend)
    assert matches, legend
    assert float(matches[1]) == float(f"{light.exposure(squares):.1g}"), legend
    row, column = divmod(int(squares.argmax()), python_trace().grid[1])
    sentence = reader.part("sentence").inner_text()
    assert re.match(rf"The largest square stands (here|at row {row}, column {column}): [\d.e-]+\.", sentence), sentence
    assert reader.part("note").inner_text() == "w²: large weights stand out"
    assert reader.part("ask1").inner_text() == "What is most certain of"

    squared_pixels = np.array(reader.part("picture").evaluate(PIXELS)).reshape(-1, 4)
    changed_share = (np.abs(squared_pixels - weight_pixels).max(1) > 16).mean()
    assert changed_share > 0.05, f"{changed_share:.1%} of the dots have another colour"
    reader.check()


def test_a_link_opens_the_made_up_way(reader):
    reader.page.goto(f"{reader.page.url}#what=squared&query=2,3")
    reader.page.reload()
    state = reader.until("r => r.what === 'squared'")
    assert state["query"] == "2,3"


def test_the_menu_has_every_way_to_look_in_the_order_of_the_table(reader):
    values = reader.page.locator(".lens [data-choice=what] button").evaluate_all(
        "all => all.map((b) => b.dataset.value)"
    )
    assert values == sorted(WAYS, key=lambda name: WAYS[name].extra), "what few need stands behind the others"
