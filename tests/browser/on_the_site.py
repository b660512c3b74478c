"""A visitor of the static site, which a plain file server serves."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import waiting

from browser.own_picture import hand_over
from browser.visitor import Visitor

# Turns the browser's data saver on, so that the page fetches nothing in advance
DATA_SAVER = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
READ_FIRST_DRAWING = "readDrawing('*', document.querySelector('#lesson .lesson-drawing')?.shadowRoot ?? document)"
CACHE_NAMES = "() => navigator.serviceWorker.ready.then(() => caches.keys())"


class SiteVisitor(Visitor):
    """A visitor of the site without a server. Its policy forbids the eval of Playwright's wait_for_function."""

    def arrive(self, address: str = "") -> SiteVisitor:
        self.requested_paths: list[str] = []  # paths, one for each request
        self.page.on("request", lambda request: self.requested_paths.append(unquote(urlsplit(request.url).path)))
        self.page.goto(f"{self.url}/{address}")
        self.until()
        return self

    def until(self, condition: str = "() => true") -> dict:
        script = f"() => {{ const r = window.theLens?.()?.read(); return r?.painted && ({condition})(r) ? r : null; }}"
        states: list[dict] = []
        waiting.until(lambda: states.append(self.page.evaluate(script)) or states[-1], f"the lens is not {condition}")
        return states[-1]

    def first_bytes(self, folder: Path) -> dict[str, int]:
        """{file: its uncompressed bytes} for all files that the page requested before its second pack. The first pack
        was prepared for the first picture; the second pack holds a whole layer."""
        prefix_length, pack_names, sizes = len(urlsplit(self.url).path.strip("/")), set(), {}
        for path in self.requested_paths:
            name = path.strip("/")[prefix_length:].strip("/") or "index.html"
            pack_names |= {name} if name.endswith(".pack") else set()
            if len(pack_names) > 1:
                break
            sizes[name] = (folder / name).stat().st_size
        return sizes

    def files(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.requested_paths]

    def bring_photograph(self, file: Path, mime_type: str = "image/jpeg", gesture: str = "drop") -> dict:
        picture_before = self.read()["picture"]
        hand_over(self, gesture, file.read_bytes(), mime_type, file.name)
        return self.until(f"r => r.picture !== {picture_before!r}")

    def hears(self, words: str) -> str:
        sentences: list[str] = []
        script = "words => sentences().find((said) => said.toLowerCase().includes(words.toLowerCase()))"
        waiting.until(
            lambda: sentences.append(self.page.evaluate(script, words)) or sentences[-1], f"nobody says {words!r}"
        )
        return sentences[-1]

    def wait_until_kept(self) -> None:
        """Waits until the service worker controls the page, which can then open without a network."""
        self.page.evaluate(CACHE_NAMES)
        waiting.until(lambda: self.page.evaluate("Boolean(navigator.serviceWorker.controller)"), "the page is not kept")
