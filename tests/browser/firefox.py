"""Drives the system's Firefox over WebDriver BiDi, because Playwright drives only the Firefox that it ships."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import waiting
from websockets.sync.client import ClientConnection, connect

from browser.visitor import FIND_LENS

PROGRAM_NAMES = ("firefox-esr", "firefox")
PREFERENCES = {
    "media.navigator.streams.fake": True,  # a camera that shows a test picture
    "media.navigator.permission.disabled": True,  # Firefox does not ask whether the page may use the camera
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
MOST_BYTES = 64_000_000  # bytes of an answer; the longest are screenshots


def find() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAM_NAMES)), None)


@contextmanager
def firefox(folder: Path) -> Iterator[Page]:
    """A page in a new Firefox, whose empty profile lies in this folder."""
    preference_lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
    (folder / "user.js").write_text("\n".join(preference_lines))
    command = [find() or "", "--headless", "--remote-debugging-port", "0", "--profile", str(folder), "about:blank"]
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            matches: list[re.Match] = []
            waiting.until(
                lambda: matches.extend(LISTENING.finditer((folder / "log").read_text())) or matches,
                "Firefox does not listen",
            )
            with connect(f"{matches[0][1]}/session", max_size=MOST_BYTES) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            process.wait()


class Page:
    """One tab. `errors` lists the exceptions and console errors of its pages."""

    def __init__(self, socket: ClientConnection):
        self.socket, self.numbers = socket, itertools.count(1)
        self.errors: list[str] = []
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded"])
        self.context = self.command("browsingContext.create", type="tab")["context"]
        self.command("script.addPreloadScript", functionDeclaration=f"() => {{ {FIND_LENS} }}")

    def command(self, method: str, **params: object) -> dict:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            record = json.loads(self.socket.recv(timeout=waiting.PATIENCE))
            if record.get("method") == "log.entryAdded" and record["params"]["level"] == "error":
                self.errors.append(record["params"]["text"])
            if record.get("id") == number:
                assert record["type"] == "success", f"{method}: {record.get('message')}"
                return record["result"]

    def open(self, address: str) -> None:
        self.command("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def set_size(self, width: int, height: int) -> None:
        self.command("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def run(self, script: str, *values: object) -> object:
        """The result of a JavaScript function in the page for these values; a promise is awaited."""
        function = f"async (...given) => JSON.stringify((await ({script})(...given.map(JSON.parse))) ?? null)"
        reply = self.command(
            "script.callFunction", functionDeclaration=function, target={"context": self.context}, awaitPromise=True,
            arguments=[{"type": "string", "value": json.dumps(value)} for value in values],
        )  # fmt: skip
        assert reply["type"] == "success", reply["exceptionDetails"]["text"]
        return json.loads(reply["result"]["value"])

    def until(self, condition: str, *values: object) -> object:
        """Waits until this JavaScript function returns something truthy, and returns that."""
        results: list[object] = []
        waiting.until(lambda: results.append(self.run(condition, *values)) or results[-1], f"it is not {condition}")
        return results[-1]

    def read(self, condition: str = "() => true") -> dict:
        """The result of the lens's read(), once the lens has painted and the result fulfils the condition."""
        return self.until(f"() => {{ const r = theLens()?.read(); return r?.painted && ({condition})(r) ? r : null; }}")

    def point(self, x: float, y: float, click: bool = False) -> None:
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "actions": actions}
        self.command("input.performActions", context=self.context, actions=[mouse])

    def tap(self, x: float, y: float) -> None:
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0}]
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
        finger["actions"] = [*actions, {"type": "pointerUp", "button": 0}]
        self.command("input.performActions", context=self.context, actions=[finger])

    def press(self, *keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": actions}
        self.command("input.performActions", context=self.context, actions=[keyboard])

    def click(self, selector: str, words: str = "") -> None:
        """Clicks the first visible match of the selector that holds these words, also inside shadow roots."""
        middle = self.until(FIND_MIDDLE, selector, words)
        self.point(*middle, click=True)

    def screenshot(self) -> str:
        """A screenshot as a PNG, in base64."""
        return self.command("browsingContext.captureScreenshot", context=self.context)["data"]


FIND_MIDDLE = """(selector, words) => {
  const roots = [document];
  for (const root of roots)
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  const found = roots.flatMap((root) => [...root.querySelectorAll(selector)])
    .find((one) => one.checkVisibility() && one.textContent.includes(words));
  if (!found) return null;
  found.scrollIntoView({ block: "nearest" });
  const { left, top, width, height } = found.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}"""
