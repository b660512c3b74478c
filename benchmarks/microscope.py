"""The microscope's speed, measured inside a real Chromium against a real server: python benchmarks/microscope.py

Prints the table of docs/pages/numbers.md. Script time is the time that the page's scripts take for computing and
drawing between a move of the cursor and the frame that shows its effect. For large grids, a page with a pack of noise
is served from this machine. `--few` measures a few samples only, to try the script.
"""

import argparse
import http.server
import statistics
import threading
from contextlib import contextmanager

import harness
import numpy as np
from browser.server import serving_url
from browser.visitor import Visitor
from playwright.sync_api import Browser

from playground.figures.bundle import bundle, stylesheet
from playground.pack import pack

FEATURE_WIDTH = 384  # length of a feature vector


def random_pack(layers: int, heads: int, side: int, layers_held: list[int], dim: int = 64) -> bytes:
    """A pack of a ViT with a class token and side × side patches, filled with noise."""
    random, tokens = np.random.default_rng(0), 1 + side * side
    shape = (len(layers_held), heads, tokens, dim)
    header = {
        "format": "attention-playground/1",
        "model": f"{tokens} tokens × {heads} heads",
        "scale": dim**-0.5,
        "forward_scale": None,
        "layers": layers,
        "heads": heads,
        "head_dim": dim,
        "tokens": tokens,
        "prefix": ["cls"],
        "grid": [side, side],
        "size": [16 * side, 16 * side],
        "patch": 16,
        "held": layers_held,
        "predictions": None,
    }
    q, k = (random.standard_normal(shape, np.float32).astype(np.float16) for _ in "qk")
    return pack(header, {"q": q, "k": k, "value_norms": np.ones(shape[:3], np.float32)})


PAGE = """<!doctype html><title>lens</title><style>body {{ margin: 0 }} {style}</style><div id="place"></div>
<script type="module">{script}
const bytes = new Uint8Array(await (await fetch("pack")).arrayBuffer());
const noise = (count) => Uint16Array.from({{ length: count }}, () =>
  0x3000 + Math.random() * 0x0c00 + (Math.random() < 0.5 ? 0x8000 : 0));
const source = {{
  offers: ["features"],
  layers: async () => bytes,
  picture: async () => null,
  features: async () => noise({width} * {tokens}),
}};
const view = {{ beside: "{beside}" }};
const lens = createLens(document.getElementById("place"), {{ source, view, ui: {{ height: 600 }} }});
lens.show({{ main: {{ id: "noise", title: "", picture: {{ id: "none", title: "", start: [0.5, 0.5] }} }} }});
</script>"""


@contextmanager
def lens_page(data: bytes, panel: str, tokens: int = 0):
    """A page with only the microscope, like an exported file. `tokens`: the number of tokens whose features it has."""
    fields = {"style": stylesheet(), "script": bundle("lens/lens.js"), "width": FEATURE_WIDTH, "tokens": tokens}
    page = PAGE.format(beside=panel, **fields).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, kind = (data, "application/octet-stream") if self.path == "/pack" else (page, "text/html")
            self.send_response(200 if self.path in ("/", "/?", "/pack") else 404)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")  # these two headers refine the page's clock
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def hover(visitor: Visitor, moves: int, is_locked: bool = False) -> list[float]:
    """Milliseconds of script for each frame while the cursor wanders over the picture, patch by patch."""
    rows, columns = visitor.read()["grid"]
    if not is_locked:
        visitor.hover((1, 3))  # fills caches before the measurement; not at the left edge, where the curtain is
    visitor.page.evaluate("theLens().clearTimings()")
    for i in range(1, moves + 1):
        patch = (i * 7) % (rows * columns)
        visitor.page.mouse.move(*patch_middle(visitor, patch // columns, patch % columns))
        visitor.page.evaluate("new Promise(requestAnimationFrame)")
    return visitor.page.evaluate("theLens().timings()")


def patch_middle(visitor: Visitor, row: int, column: int) -> tuple[float, float]:
    if not hasattr(visitor, "box"):
        visitor.box, visitor.grid = visitor.part("picture").bounding_box(), visitor.read()["grid"]
    x, y, width, height = (visitor.box[key] for key in ("x", "y", "width", "height"))
    return x + (column + 0.5) * width / visitor.grid[1], y + (row + 0.5) * height / visitor.grid[0]


def print_line(title: str, times: list[float], bar: str) -> None:
    slowest = statistics.quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
    unit, factor = ("s", 1e3) if statistics.median(times) > 500 else ("ms", 1)
    print(
        f"| {title} | {statistics.median(times) / factor:.2f} {unit} | {slowest / factor:.2f} {unit} | {bar} |",
        flush=True,
    )


def print_hovering(chromium: Browser, url: str, moves: int) -> None:
    visitor = Visitor(chromium, url).open()
    state = visitor.read()
    heads = visitor.page.locator(".lens [data-head]").count()
    print_line(
        f"hover, {len(state['row'])} tokens × {heads} heads (bundled, in the app)", hover(visitor, moves), "≤ 4 ms"
    )
    visitor.close()
    all_layers, one_layer = list(range(12)), [8]
    for title, side, layers, mode, bar in (
        ("hover, 197 tokens × 12 heads", 14, all_layers, "convolution", "≤ 4 ms"),
        ("hover with the wall, 12 layers × 12 heads × 197 tokens", 14, all_layers, "wall", "≤ 16 ms"),
        ("hover with the wall, 12 layers × 6 heads × 785 tokens", 28, all_layers, "wall", "≤ 16 ms"),
        ("hover, 4,097 tokens × 12 heads", 64, one_layer, "convolution", "≤ 16 ms"),
    ):
        with lens_page(random_pack(12, 6 if "6 heads" in title else 12, side, layers), mode) as page:
            visitor = Visitor(chromium, page).open()
            print_line(title, hover(visitor, moves), bar)
            visitor.close()


SHOW_WAY = """async (what) => {
  const lens = window.theLens();
  lens.update({ view: { what, layer: 8 } });
  while (lens.read().what !== what || !lens.read().map) await new Promise(requestAnimationFrame);
}"""


def print_features(chromium: Browser, moves: int) -> None:
    """Measures hovering while the page shows similarity, the colours of components, or a locked patch's line."""
    for side, bar in ((16, "≤ 4 ms"), (37, "≤ 16 ms")):
        tokens = 1 + side * side
        with lens_page(random_pack(12, 6, side, [8]), "convolution", tokens) as page:
            visitor = Visitor(chromium, page).open()
            for way, words in (("similarity", "similarity"), ("components", "colours of components")):
                visitor.page.evaluate(SHOW_WAY, way)
                print_line(f"{words}, {tokens} tokens × {FEATURE_WIDTH}", hover(visitor, moves), bar)
            visitor.page.evaluate("theLens().update({view: {layer: 8}})")
            visitor.lock((2, 3))
            print_line(f"line of a locked patch, {tokens} tokens × 6 heads", hover(visitor, moves, True), bar)
            visitor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", action="store_true", help="few samples, for a look")
    is_quick = parser.parse_args().few
    with harness.chromium() as chromium, serving_url() as url:
        harness.print_header("what", "median", "p95", "bar")
        print_hovering(chromium, url, 20 if is_quick else 400)
        print_features(chromium, 20 if is_quick else 400)


if __name__ == "__main__":
    main()
