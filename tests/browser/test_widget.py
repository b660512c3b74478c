"""`playground.widget`: its module in a real browser, with a model of anywidget's kind whose other end is Python's."""

import base64
import json

import numpy as np
import pytest
import waiting

import playground
from browser.without_server import plain_server

pytest.importorskip("anywidget", reason="anywidget is not installed")
LAYER, HEAD, QUERY = 4, 1, (7, 5)
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="cell"></div>
<script type="module">
import widget from "./widget.js";

const state = await fetch("state.json").then((answer) => answer.json());
for (const name of ["numbers", "picture"]) // anywidget hands bytes over as a DataView
  state[name] = new DataView(Uint8Array.from(atob(state[name]), (letter) => letter.charCodeAt(0)).buffer);
const listeners = new Map();
let changes = {};
globalThis.model = {
  get: (name) => state[name],
  set(name, value) {
    changes[name] = state[name] = value;
    for (const listener of listeners.get(`change:${name}`) ?? []) listener();
  },
  save_changes() {
    toPython(changes);
    changes = {};
  },
  on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
  off: (event, listener) => listeners.set(event, listeners.get(event).filter((other) => other !== listener)),
};
globalThis.fromPython = (name, value) => {
  model.set(name, value);
  changes = {};
};
globalThis.listenerCount = () => [...listeners.values()].flat().length;
globalThis.stop = widget.render({ model, el: document.querySelector("#cell") });
</script>"""
READ = "() => document.querySelector('#cell > div')?.shadowRoot.querySelector('.lens')?.__lens?.read()"


@pytest.fixture(scope="module")
def seen():
    return playground.trace("bundled", "meadow")


@pytest.fixture
def lens(seen):
    return playground.widget(seen, layer=LAYER, head=HEAD, query=QUERY)


@pytest.fixture
def page(chromium, lens, tmp_path):
    state = lens.get_state(["layer", "head", "query", "title", "numbers", "picture"])
    for name in ("numbers", "picture"):
        state[name] = base64.b64encode(state[name]).decode()
    (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
    (tmp_path / "widget.js").write_text(lens._esm, encoding="utf-8")
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    with plain_server(tmp_path) as url:
        page = chromium.new_page(viewport={"width": 1200, "height": 800})
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.expose_function("toPython", lens.set_state)  # the way of a message of the browser
        page.goto(f"{url}/index.html")
        yield page
        page.close()
        assert not errors


def shown(page, **expected):
    """What the lens shows, once it shows this."""
    states = []
    holds = lambda state: state and state["painted"] and all(state[name] == expected[name] for name in expected)  # noqa: E731
    waiting.until(lambda: states.append(page.evaluate(READ)) or holds(states[-1]), f"it does not show {expected}")
    return states[-1]


def place(page, row, column, seen):
    box = page.locator("canvas[data-ref=picture]").bounding_box()
    rows, columns = seen.grid
    return box["x"] + box["width"] * (column + 0.5) / columns, box["y"] + box["height"] * (row + 0.5) / rows


def test_it_opens_at_python_s_row_and_hovering_sets_python_s_query(page, lens, seen):
    state = shown(page, layer=LAYER, head=HEAD, query="7,5")
    assert np.abs(np.asarray(state["row"]) - seen.row(LAYER, HEAD, QUERY).numpy()).max() < 1e-3
    page.mouse.move(*place(page, 3, 9, seen))
    waiting.until(lambda: page.evaluate("model.get('query')") and lens.query == (3, 9), "Python's query stays")
    page.locator(".see-moments canvas").first.wait_for()
    page.get_by_role("button", name="Lab").click()
    page.get_by_text("Which head").click()
    page.locator("button[data-head='2']").click()
    waiting.until(lambda: page.evaluate("model.get('head')") == 2 and lens.head == 2, "Python's head stays")
    assert (lens.layer, lens.query) == (LAYER, (3, 9))


def test_what_python_sets_is_shown_though_the_cursor_rests_on_the_picture(page, lens, seen):
    page.mouse.move(*place(page, 3, 9, seen))
    shown(page, query="3,9")
    waiting.until(lambda: page.evaluate("model.get('query')") and lens.query == (3, 9), "Python's query stays")
    lens.layer, lens.query = -1, [1, 2]
    for name in ("layer", "query"):
        page.evaluate("([name, value]) => fromPython(name, value)", [name, getattr(lens, name)])
    state = shown(page, layer=seen.layers - 1, query="1,2")
    assert np.abs(np.asarray(state["row"]) - seen.row(-1, HEAD, (1, 2)).numpy()).max() < 1e-3
    assert lens.query == (1, 2), "the resting cursor takes nothing back"
    page.evaluate("stop()")
    assert page.evaluate("listenerCount()") == 0
