"""Somebody with a browser: opens the app, points, clicks and reads what the microscope says of itself."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser, Locator, Page

from browser.chromium import FLAGS

PATIENCE = 120_000  # milliseconds: a busy machine is no failure
OWN_HOST = "127.0.0.1"
LAUNCH = [
    *FLAGS,
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {OWN_HOST}",
]

FIND = """
window.theLens = (root = document) => {
  for (const element of root.querySelectorAll("*")) {
    const found = element.__lens ?? (element.shadowRoot && window.theLens(element.shadowRoot));
    if (found) return found;
  }
  return null;
};
"""


class Visitor:
    """Nothing is shared with others: own cookies, own storage, and a record of what went wrong and who was asked."""

    def __init__(self, chromium: Browser, url: str, **options):
        self.url = url
        self.context = chromium.new_context(**{"viewport": {"width": 1280, "height": 720}, **options})
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(FIND)
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.context.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.context.on("weberror", lambda thrown: self.errors.append(str(thrown.error)))
        self.context.on("request", lambda request: self._asked(request.url))
        self._open_tab()

    def _open_tab(self) -> None:
        self.page: Page = self.context.new_page()
        self.page.on("websocket", lambda socket: self._asked(socket.url))

    def tab(self) -> Visitor:
        """The same person in another tab of the same browser."""
        other = copy(self)
        other._open_tab()
        return other

    def _asked(self, url: str) -> None:
        if host := urlsplit(url).hostname:  # data: and blob: have none
            self.hosts.add(host)

    # What there is to see

    def open(self, address: str | dict = "") -> Visitor:
        """Goes to an address of the app and waits for its picture."""
        query = urlencode(address) if isinstance(address, dict) else address
        self.page.goto(f"{self.url}/?{query}")
        self.until()
        return self

    def read(self) -> dict:
        return self.page.evaluate("theLens().read()")

    def until(self, condition: str = "() => true") -> dict:
        """What the microscope says once it has painted what fulfils the condition, a function of read()."""
        script = f"() => {{ const r = window.theLens?.()?.read(); return r?.painted && ({condition})(r) ? r : null; }}"
        return self.page.wait_for_function(script).json_value()

    def part(self, name: str) -> Locator:
        return self.page.locator(f'.lens [data-ref="{name}"]')

    def choice(self, key: str, value: str) -> Locator:
        return self.page.locator(f'.lens [data-choice="{key}"] [data-value="{value}"]')

    # What there is to do

    def place(self, patch: tuple[int, int], on: str = "picture") -> tuple[float, float]:
        """Where the middle of a patch lies on the page."""
        rows, columns = self.read()["grid"]
        box = self.part(on).bounding_box()
        row, column = patch
        return box["x"] + (column + 0.5) * box["width"] / columns, box["y"] + (row + 0.5) * box["height"] / rows

    def hover(self, patch: tuple[int, int]) -> dict:
        self.page.mouse.move(*self.place(patch))
        return self.until(f"r => r.query === '{patch[0]},{patch[1]}'")

    def lock(self, patch: tuple[int, int]) -> dict:
        self.page.mouse.click(*self.place(patch))
        return self.until(f"r => r.locked && r.query === '{patch[0]},{patch[1]}'")

    def leave(self) -> None:
        self.page.mouse.move(640, 2)

    def layer(self, layer: int) -> dict:
        self.part("layer").fill(str(layer))
        return self.until(f"r => r.layer === {layer}")

    def head(self, head: int) -> dict:
        self.page.locator(f'.lens [data-head="{head}"]').click()
        return self.until(f"r => r.head === {head}")

    def start_again(self) -> None:
        """The view as it is when nothing has been chosen."""
        self.leave()
        self.page.keyboard.press("Escape")
        self.page.evaluate("theLens().update({view: {}})")
        self.until("r => !r.locked")

    def unfold(self, name: str) -> Locator:
        """What folds out under a button of the toolbar."""
        self.page.get_by_test_id("stPopoverButton").filter(has_text=name).click()
        return self.page.get_by_test_id("stPopoverBody")

    def pick(self, sample: str) -> None:
        self.page.locator(f'.strip [data-sample="{sample}"]').click()
        self.page.locator(f'.strip [data-sample="{sample}"][aria-pressed="true"]').wait_for()

    def says(self, words: str) -> str:
        """Waits for a sentence of the page that holds these words."""
        toast = self.page.get_by_test_id("stToast").filter(has_text=words).first
        toast.wait_for()
        return toast.inner_text()

    def check(self) -> None:
        """No error on the console, and nobody asked but this machine."""
        errors, self.errors[:] = list(self.errors), []
        assert errors == []
        assert self.hosts <= {OWN_HOST}

    def close(self) -> None:
        self.context.close()


Visit = Callable[..., Visitor]
