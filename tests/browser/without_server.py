"""Writes a folder in which the lens computes in its worker, and serves it as plain files without special headers, for
benchmarks/site.py."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import waiting

from browser.truth import model
from browser.visitor import OWN_HOST, Visitor
from playground.figures.bundle import LENS_STYLES, MICROSCOPE, bundle, stylesheet
from playground.models.engine_file import card, to_engine

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; style-src 'self'; base-uri 'none'; form-action 'none'"
)
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Without a server</title>
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<link rel="icon" href="data:,"><link rel="stylesheet" href="lens.css"></head>
<body><main id="place"></main><input type="file" id="file" accept="image/*">
<script type="module" src="start.js"></script></body></html>"""
START_SCRIPT = """{
const models = await (await fetch("models.json")).json();
const read = async (address) => new Uint8Array(await (await fetch(address)).arrayBuffer());
const pictures = new Map();
window.times = {};
const source = createWorkerSource({
  worker: new Worker("worker.js", { type: "module" }),
  compiled: () => WebAssembly.compileStreaming(fetch("kernels.wasm")),
  models,
  weightsOf: (name) => read(`${name}.bin`),
  pictureOf: async ({ mine }) => pictures.get(mine),
});
const lens = createLens(document.getElementById("place"), { source, ui: { height: -60 } });
window.openPicture = async (blob, model, view = {}) => {
  const began = performance.now();
  const { width, height } = await createImageBitmap(blob);
  const id = String(pictures.size);
  pictures.set(id, { id, title: id, credit: "", hint: "", start: [0.5, 0.5], width, height, file: async () => blob });
  const trace = await source.open({ mine: id, model });
  await lens.show({ main: trace, view });
  times.shown = performance.now() - began;
  await source.layers(trace, [models[model].layers - 1]);
  times.all = performance.now() - began;
  document.body.dataset.shown = id;
};
document.getElementById("file").addEventListener("change", ({ target }) =>
  openPicture(target.files[0], new URLSearchParams(location.search).get("model")));
window.theSource = source;
}
"""


REQUEST_LOG: list[str] = []  # log lines of all plain servers


class RecordingHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *message_parts: object) -> None:
        REQUEST_LOG.append(" ".join(map(str, message_parts)))


class AnyOriginHandler(RecordingHandler):
    """A handler that lets pages of any origin read its files."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


@contextmanager
def plain_server(folder: Path, handler: type[RecordingHandler] = RecordingHandler) -> Iterator[str]:
    server = ThreadingHTTPServer((OWN_HOST, 0), partial(handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{OWN_HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def write(folder: Path, *names: str) -> Path:
    """Writes the page, the scripts, the kernels and these models. Each model gets the same grid as in the app."""
    folder.mkdir(exist_ok=True)
    grids = {"bundled": (14, 14), "dinov2-small": (16, 16)}
    models = {name: {**card(model(name)), "grid": grids[name], "details": [1, 2]} for name in names}
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "lens.css").write_text(stylesheet(*LENS_STYLES), encoding="utf-8")
    (folder / "models.json").write_text(json.dumps(models))
    (folder / "worker.js").write_text(bundle("engine/worker.js"), encoding="utf-8")
    start_script = bundle("lens/lens.js", "shell/workersource.js") + START_SCRIPT
    (folder / "start.js").write_text(start_script, encoding="utf-8")
    shutil.copy(MICROSCOPE / "engine" / "kernels.wasm", folder)
    for name in names:
        (folder / f"{name}.bin").write_bytes(to_engine(model(name)))
    return folder


class PlainPageVisitor(Visitor):
    """A visitor of the page that `write` writes. Its policy forbids the eval of Playwright's wait_for_function."""

    def arrive(self, name: str = "bundled") -> PlainPageVisitor:
        self.page.goto(f"{self.url}/?model={name}")
        waiting.until(lambda: self.page.evaluate("Boolean(window.theSource)"), "the page has not begun")
        return self

    def until(self, condition: str = "() => true") -> dict:
        script = f"() => {{ const r = window.theLens?.()?.read(); return r?.painted && ({condition})(r) ? r : null; }}"
        states: list[dict] = []
        waiting.until(lambda: states.append(self.page.evaluate(script)) or states[-1], f"the lens is not {condition}")
        return states[-1]

    def give(self, file: Path) -> dict:
        """Opens a photograph, waits for its whole pass, and returns {shown, all}, both in ms."""
        shown_before = self.page.evaluate("document.body.dataset.shown ?? ''")
        self.page.set_input_files("#file", file)
        read_shown = "document.body.dataset.shown ?? ''"
        waiting.until(lambda: self.page.evaluate(read_shown) != shown_before, "the photograph is not shown")
        return self.page.evaluate("times")
