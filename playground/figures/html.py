"""The microscope in one HTML file: the picture, queries and keys, and the app's own JavaScript.

It works from a disk, offline, in a frame, on a phone, and makes no request at all. What only a network could answer
(similarity, rollout, the whole pass with another scale, layers that are not in the file) is not in its interface.
"""

from __future__ import annotations

import base64
import html
import io
import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from PIL import Image

from playground import images
from playground.analysis import fingerprints
from playground.errors import PlaygroundError
from playground.figures.bundle import bundle, stylesheet
from playground.tracing import Query, Trace
from playground.version import __version__

SIDE = 896  # of the picture, in pixels: sharp at the size at which a browser shows it, and small beside Q and K
QUALITY = 85
LIGHT = 6 * 2**20  # bytes that nobody minds: below it a file holds all layers if none is asked for
FLAGS = {  # keys of the view that the command line knows -> the flag, and what goes without saying
    "scale": ("--scale", "on"),
    "what": ("--what", "weight"),
    "direction": ("--direction", "row"),
    "colours": ("--colours", "shared"),
    "ceiling": ("--ceiling", "auto"),
    "k": ("--kernel", 3),
}

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
{facts}
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main id="place"></main>
<img id="picture" alt="{name}" src="data:image/jpeg;base64,{jpeg}">
<noscript>With JavaScript this picture shows whom each patch listens to.</noscript>
<footer id="foot"><span>{words}</span><span>made by <code>{command}</code></span></footer>
<script type="application/json" id="start">{start}</script>
<script type="text/plain" id="pack">{pack}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def write(file: str | Path, seen: Trace, image: Image.Image | None = None, **choice) -> int:
    """Writes `page` and gives the file's size in bytes."""
    data = page(seen, image, **choice).encode()
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(data)
    except OSError as error:
        raise PlaygroundError(f"{file} can't be written: {error.strerror or error}.") from None
    return len(data)


def page(
    seen: Trace,
    image: Image.Image | None = None,
    *,
    name: str = "image",
    layers: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
    view: dict | None = None,
) -> str:
    """The HTML, holding these layers and heads (all). `image` is what was traced; without it the file shows what the
    model saw. `name` is its file's. `view` is what is shown at first: layer, head, query, scale and whatever else
    microscope/core/view.js knows."""
    held = _held(seen, layers, heads, view)
    return _page(seen, image, name, held, seen.to_bytes(held.layers, held.heads))


def size(
    seen: Trace,
    image: Image.Image | None = None,
    *,
    name: str = "image",
    layers: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
    view: dict | None = None,
) -> int:
    """How many bytes `write` would write, to within a few hundred, without doing it."""
    held = _held(seen, layers, heads, view)
    least = len(seen.to_bytes(held.layers[:1], held.heads[:1]))
    per_head = seen.tokens * (2 * 2 * seen.head_dim + 4)  # q and k: 2 bytes a number; the length of a value: 4
    numbers = least + (len(held.layers) * len(held.heads) - 1) * per_head
    return len(_page(seen, image, name, held, b"").encode()) + 4 * -(-numbers // 3)


def light(seen: Trace, image: Image.Image | None = None, layer: int | None = None, **choice) -> list[int]:
    """All layers, where the file stays light with them, else this one."""
    everything = list(seen.record)
    if size(seen, image, **choice) <= LIGHT:
        return everything
    return [seen.upper_layer if layer is None else layer]


# What is in it --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    layers: list[int]
    heads: list[int]
    view: dict


def _held(seen: Trace, layers, heads, view) -> Held:
    if seen.scale != seen.native_scale:
        raise PlaygroundError(
            "An interactive figure shows the trained pass, and its switch takes the scale away from one layer; "
            "trace the picture without another scale."
        )
    layers = sorted(set(seen.record if layers is None else layers))
    heads = sorted(set(range(seen.heads) if heads is None else heads))
    if not layers or not heads:
        raise PlaygroundError("An interactive figure needs at least one layer and one head.")
    return Held(layers, heads, _start(seen, layers, heads, dict(view or {})))


def _start(seen: Trace, layers: list[int], heads: list[int], view: dict) -> dict:
    """The view with its layer, head, patch and scale filled in, each of them in the file."""
    try:
        layer = int(view.get("layer", min(layers, key=lambda i: abs(i - seen.upper_layer))))
        head = int(view.get("head", heads[0]))
    except (TypeError, ValueError):
        raise PlaygroundError("The layer and the head of a view are numbers, counting from 0.") from None
    for what, wanted, held in (("layer", layer, layers), ("head", head, heads)):
        if wanted not in held:
            raise PlaygroundError(
                f"The view begins at {what} {wanted}, and the file would hold {', '.join(map(str, held))}."
            )
    scale = view.get("scale", "on")
    if not 0 <= seen.scale_number(scale) <= 1:
        raise PlaygroundError(f"The dial of an interactive figure goes from 0 to 1; the scale given was {scale}.")
    query = _query(seen, view.get("query"))
    view |= {"layer": layer, "head": head, "query": query, "scale": scale}
    if view.get("what") in ("similarity", "rollout"):
        view["what"] = "weight"  # the others need the network
    return view


def _query(seen: Trace, query: Query | None) -> str:
    """As the browser knows it: "7,5" or the name of a prefix token."""
    if query is None:
        query = (seen.grid[0] // 2, seen.grid[1] // 2)
    if isinstance(query, str) and query not in seen.prefix and "," in query:
        query = tuple(query.split(","))
    token = seen.token(query)
    if token < len(seen.prefix):
        return seen.prefix[token]
    row, column = divmod(token - len(seen.prefix), seen.grid[1])
    return f"{row},{column}"


# The page around it ---------------------------------------------------------------------------------------------------


def _page(seen: Trace, image: Image.Image | None, name: str, held: Held, pack: bytes) -> str:
    picture = _picture(seen, image)
    name = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    facts = _facts(seen, picture, name, held)
    style, script = f"{stylesheet()}\n{stylesheet('shell/alone.css')}", bundle("shell/alone.js")
    start = {"title": name, "view": held.view, "heads": held.heads}
    return PAGE.format(
        policy=_policy(style, script),
        title=html.escape(f"Attention in {name}: {seen.model}, layer {held.view['layer']}, head {held.view['head']}"),
        facts="\n".join(
            f'<meta name="playground:{key}" content="{html.escape(str(value))}">' for key, value in facts.items()
        ),
        name=html.escape(name),
        jpeg=_text(_jpeg(picture)),
        words=html.escape(f"{name} · {seen.model} · {seen.grid[0]} × {seen.grid[1]} patches"),
        command=html.escape(facts["command"]),
        start=json.dumps(start).replace("<", r"\u003c"),  # nothing in a name can end the script element
        pack=_text(pack),
        style=style,
        script=script,
    )


def _policy(style: str, script: str) -> str:
    """Only this style and this script, the picture from inside the file, and no request to anywhere."""
    style, script = (_text(sha256(text.encode()).digest()) for text in (style, script))
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _facts(seen: Trace, picture: Image.Image, name: str, held: Held) -> dict:
    view = held.view
    return {
        "version": __version__,
        "model": seen.model,
        "weights": "unknown" if seen.vit is None else f"sha256:{fingerprints.of_weights(seen.vit)}",
        "image": name,
        "pixels": f"sha256:{fingerprints.of_image(picture)}",
        "layer": view["layer"],
        "head": view["head"],
        "patch": view["query"],
        "scale": view["scale"],
        "layers": " ".join(map(str, held.layers)),
        "heads": " ".join(map(str, held.heads)),
        "input": f"{seen.size[0]}x{seen.size[1]}",
        "command": _command(seen, picture, name, held),
    }


def _command(seen: Trace, picture: Image.Image, name: str, held: Held) -> str:
    view = held.view
    words = ["python", "-m", "playground", "figure", f"./{name}" if name.startswith("-") else name]
    words += ["--model", seen.model, "--layer", _layers_words(seen, held), "--head", _heads_words(seen, held)]
    words += ["--patch", view["query"]]
    for key, (flag, usual) in FLAGS.items():
        if str(view.get(key, usual)) != str(usual):
            words += [flag, view[key]]
    if seen.vit is not None:
        c = seen.vit.config
        if seen.size != images.fit(picture.size, c.patch_size, c.image_size):
            words += ["--size", f"{seen.size[0]}x{seen.size[1]}"]
    return shlex.join(map(str, [*words, "-o", "figure.html"]))


def _layers_words(seen: Trace, held: Held) -> str:
    """The command holds the layers that it names and begins at the first of them."""
    start = held.view["layer"]
    if len(held.layers) == seen.layers and start == seen.upper_layer:
        return "all"
    return ",".join([str(start), *_runs([layer for layer in held.layers if layer != start])])


def _heads_words(seen: Trace, held: Held) -> str:
    """It holds all heads where it names one, and just that one where it names it as a range."""
    start = held.view["head"]
    if len(held.heads) == 1 < seen.heads:
        return f"{start}-{start}"
    others = [] if len(held.heads) == seen.heads else [head for head in held.heads if head != start]
    return ",".join([str(start), *_runs(others)])


def _runs(numbers: list[int]) -> list[str]:
    """1, 2, 3, 7 as 1-3, 7."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def _picture(seen: Trace, image: Image.Image | None) -> Image.Image:
    if image is not None:
        return images.open_image(image)  # upright, RGB and without whatever else its file said
    if seen.input is None:
        raise PlaygroundError("A trace that was read from bytes has no picture; give the one that was traced.")
    return seen.image


def _jpeg(picture: Image.Image) -> bytes:
    shown, out = picture.copy(), io.BytesIO()
    shown.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    shown.save(out, "JPEG", quality=QUALITY, optimize=True)
    return out.getvalue()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
