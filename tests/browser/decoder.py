"""Runs the browser's own decoding on a page of a plain file server, in Chromium and in the system's Firefox."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

from browser.without_server import plain_server
from playground.figures.bundle import MICROSCOPE, bundle

MODULES = ("engine/images.js", "engine/tensors.js", "shell/readable.js")
EXPORTS = "\nexport { createTensors, resizedPicture, shrinkIfLarge, toBitmap };\n"
FETCH_FILE = """async (name) => (await fetch(name, { cache: "no-store" })).blob()"""
TO_BASE64 = """(bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}"""
DISPLAYED_PIXELS = f"""async (name, height, width) => {{
  const {{ createTensors, resizedPicture, toBitmap }} = await import("/decoding.js");
  const t = await createTensors(await WebAssembly.compile(await (await fetch("/kernels.wasm")).arrayBuffer()));
  return ({TO_BASE64})(await resizedPicture(t, await toBitmap(await ({FETCH_FILE})(name)), height, width));
}}"""
SENT_BYTES = f"""async (name) => {{
  const {{ shrinkIfLarge }} = await import("/decoding.js");
  const sent = await shrinkIfLarge(new File([await ({FETCH_FILE})(name)], name));
  return ({TO_BASE64})(new Uint8Array(await sent.arrayBuffer()));
}}"""

Run = Callable[..., str]  # (script, *given) -> the result of that JavaScript function in the page


@contextmanager
def decoding_page(folder: Path) -> Iterator[str]:
    """The address of an empty page, served from a folder that also holds the decoding scripts."""
    scripts = bundle(*MODULES)
    (folder / "decoding.js").write_text(scripts + EXPORTS, encoding="utf-8")
    (folder / "index.html").write_text("<!doctype html><title>Decoding</title>", encoding="utf-8")
    shutil.copy(MICROSCOPE / "engine" / "kernels.wasm", folder)
    with plain_server(folder) as url:
        yield f"{url}/index.html"


class Decoder:
    """Runs the browser's decoding: `run` calls a script on the page of `decoding_page(folder)`."""

    def __init__(self, folder: Path, run: Run):
        self.folder, self.run = folder, run

    def displayed_pixels(self, data: bytes, size: tuple[int, int]) -> np.ndarray:
        """(height, width, 3): the pixels that a network in the browser gets from this file."""
        (self.folder / "picture").write_bytes(data)
        pixels = base64.b64decode(self.run(DISPLAYED_PIXELS, "/picture", *size))
        return np.frombuffer(pixels, np.uint8).reshape(*size, 4)[..., :3]

    def sent_bytes(self, data: bytes) -> bytes:
        """The bytes that a browser uploads for this file, after shrinking a large picture."""
        (self.folder / "picture").write_bytes(data)
        return base64.b64decode(self.run(SENT_BYTES, "/picture"))


def resized_pixels(picture: Image.Image, size: tuple[int, int]) -> np.ndarray:
    """(height, width, 3): the picture's pixels, resized as for a network in Python."""
    return np.asarray(picture.resize(size[::-1], Image.Resampling.BICUBIC))
