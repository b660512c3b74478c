"""Somebody at the site without a server, behind a plain server of files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import waiting

from browser.own_picture import hand_over
from browser.without_server import Visiting

# Somebody whose browser is to save data: nothing comes that nobody asked for
SPARING = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
KEPT = "() => navigator.serviceWorker.ready.then(() => caches.keys())"
PRESSED = '.strip [data-sample^="mine:"][aria-pressed="true"]'


class AtTheSite(Visiting):
    """Whose policy forbids what Playwright's wait_for_function does."""

    def arrive(self, address: str = "") -> AtTheSite:
        self.asked: list[str] = []  # paths, one for each request
        self.page.on("request", lambda request: self.asked.append(unquote(urlsplit(request.url).path)))
        self.page.goto(f"{self.url}/{address}")
        self.until()
        return self

    def first_bytes(self, folder: Path) -> dict[str, int]:
        """What of the folder was asked for before a whole layer was, which is a pack too, and how large it is on a host
        that compresses nothing."""
        inside, packs, sizes = len(urlsplit(self.url).path.strip("/")), set(), {}
        for path in self.asked:
            name = path.strip("/")[inside:].strip("/") or "index.html"
            packs |= {name} if name.endswith(".pack") else set()
            if len(packs) > 1:
                break
            sizes[name] = (folder / name).stat().st_size
        return sizes

    def files(self) -> list[str]:
        """What was asked of the host by now, without what only the browser itself holds."""
        return [path.rpartition("/")[2] for path in self.asked]

    def gives(self, file: Path, kind: str = "image/jpeg", how: str = "drop") -> dict:
        """A photograph of one's own, dropped or pasted; waits until it is on the stage."""
        before = self.read()["picture"]
        hand_over(self, how, file.read_bytes(), kind, file.name)
        return self.until(f"r => r.picture !== {before!r}")

    def bring(self, files: list[Path]) -> None:
        """A model of one's own, by the sheet of models."""
        self.unfold("model").locator(".own-model input").set_input_files(files)

    def hears(self, words: str) -> str:
        """Waits for a sentence of the page that holds these words."""
        said: list[str] = []
        script = "words => sentences().find((said) => said.toLowerCase().includes(words.toLowerCase()))"
        waiting.until(lambda: said.append(self.page.evaluate(script, words)) or said[-1], f"nobody says {words!r}")
        return said[-1]

    def is_kept(self) -> None:
        """Waits until a visit without a network would work."""
        self.page.evaluate(KEPT)
        waiting.until(lambda: self.page.evaluate("Boolean(navigator.serviceWorker.controller)"), "the page is not kept")
