"""Browsers of other people: WebKit of Debian's webkit2gtk-driver by WebDriver, Debian's Firefox by WebDriver BiDi."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import waiting

from browser.server import free_port
from browser.visitor import FIND_LENS

ONE_CALL = 120  # seconds that one command may take
SCREEN = (1280, 800)
BROWSERS = {"webkit": "WebKitWebDriver", "firefox": "firefox-esr"}  # name -> the program that must be there


def missing(name: str) -> str:
    """Why this browser cannot be tried here; "" if it can."""
    needed = [BROWSERS[name], *(["Xvfb"] if name == "webkit" and not os.environ.get("DISPLAY") else [])]
    return " and ".join(f"{program} is not on this machine" for program in needed if shutil.which(program) is None)


class OtherBrowser(Protocol):
    name: str

    def open(self, address: str) -> None: ...
    def ask(self, function: str, *arguments: object) -> Any:
        """What a JavaScript function returns, or what its promise gives."""
        ...

    def point(self, x: float, y: float, press: bool = False) -> None: ...
    def choose(self, path: Path) -> None:
        """Chooses a file in the page's field with the id `chosen`."""
        ...

    def picture(self) -> bytes: ...


def until(browser: OtherBrowser, function: str, *arguments: object) -> Any:
    """Waits until the function returns something that counts as true, and returns it."""
    said: list[Any] = []
    try:
        waiting.until(lambda: said.append(browser.ask(function, *arguments)) or said[-1], function)
    except AssertionError:
        text = browser.ask(
            """() => [location.href, window.theLens?.()?.read()?.picture, document.body?.innerText.slice(0, 600),
              ...[...document.querySelectorAll(".attention-notice")].map((notice) => notice.innerText)].join(" | ")"""
        )
        raise AssertionError(f"{browser.name} never came to {function}. The page says: {text}") from None
    return said[-1]


def lens(browser: OtherBrowser, condition: str = "() => true") -> dict:
    """What the lens on the page shows, as soon as it is painted and the condition holds."""
    script = (
        f"() => {{ if (!window.theLens) {{ {FIND_LENS} }} const r = window.theLens()?.read();"
        f" return r?.painted && ({condition})(r) ? {{ ...r, row: [...(r.row ?? [])] }} : null; }}"
    )
    return until(browser, script)


def press(browser: OtherBrowser, selector: str) -> None:
    """Presses the middle of what the selector names, as soon as it can be seen."""
    place = until(
        browser,
        """(selector) => {
          const part = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
          if (!part || part.disabled) return null;
          part.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, top, width, height } = part.getBoundingClientRect();
          return [left + width / 2, top + height / 2];
        }""",
        selector,
    )
    browser.point(*place, press=True)


@contextmanager
def other_browser(name: str) -> Iterator[OtherBrowser]:
    with ExitStack() as ending:
        home = Path(ending.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        browser = WebKit(home, ending) if name == "webkit" else Firefox(home, ending)
        yield browser


def start(ending: ExitStack, command: list[str], **options: Any) -> subprocess.Popen:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    ending.callback(process.wait)
    ending.callback(process.terminate)
    return process


class WebKit:
    """A session of WebDriver, whose commands are JSON over HTTP."""

    name = "webkit"

    def __init__(self, home: Path, ending: ExitStack):
        environment = os.environ | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "WEBKIT_DISABLE_SANDBOX": "1"}
        if "DISPLAY" not in os.environ:
            read_end, write_end = os.pipe()
            size = "x".join(map(str, (*SCREEN, 24)))
            command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", size]
            start(ending, command, pass_fds=[write_end])
            os.close(write_end)
            with open(read_end) as display:  # the server writes its number when it is ready
                environment["DISPLAY"] = f":{display.readline().strip()}"
        port = free_port()
        start(ending, ["WebKitWebDriver", f"--port={port}"], env=environment)
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"webkitgtk:browserOptions": {"binary": _mini_browser(), "args": ["--automation"]}}
        capabilities = {"alwaysMatch": options | {"timeouts": {"script": ONE_CALL * 1000}}}
        self.address += "/" + self._send("", {"capabilities": capabilities})["sessionId"]
        ending.callback(lambda: self._send("", method="DELETE"))
        self._send("/window/rect", {"x": 0, "y": 0, "width": SCREEN[0], "height": SCREEN[1]})

    def _send(self, command: str, body: dict | None = None, method: str = "POST") -> Any:
        data = None if body is None else json.dumps(body).encode()
        end = time.monotonic() + ONE_CALL
        while True:
            request = urllib.request.Request(self.address + command, data, method=method)
            try:
                with urllib.request.urlopen(request, timeout=2 * ONE_CALL) as answer:
                    return json.load(answer)["value"]
            except urllib.error.HTTPError as error:
                raise AssertionError(f"{self.name}: {error.read().decode()}") from None
            except urllib.error.URLError:  # the driver does not listen yet
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def open(self, address: str) -> None:
        self._send("/url", {"url": address})

    def ask(self, function: str, *arguments: object) -> Any:
        script = (
            "const done = arguments[arguments.length - 1];"
            f"Promise.resolve().then(() => ({function})(...[...arguments].slice(0, -1)))"
            ".then((value) => done({ value }), (error) => done({ error: String(error) }));"
        )
        said = self._send("/execute/async", {"script": script, "args": list(arguments)})
        assert "error" not in said, f"{self.name}: {said['error']}"
        return said.get("value")

    def point(self, x: float, y: float, press: bool = False) -> None:
        steps = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] if press else []
        self._send("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def choose(self, path: Path) -> None:
        (element,) = self._send("/element", {"using": "css selector", "value": "#chosen"}).values()
        self._send(f"/element/{element}/value", {"text": str(path)})

    def picture(self) -> bytes:
        return b64decode(self._send("/screenshot", method="GET"))


def _mini_browser() -> str:
    return str(next(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")))


class Firefox:
    """A session of WebDriver BiDi, whose commands are JSON over a WebSocket that Firefox opens itself."""

    name = "firefox"

    def __init__(self, home: Path, ending: ExitStack):
        from websockets.exceptions import InvalidStatus
        from websockets.sync.client import connect

        port = free_port()
        command = [BROWSERS[self.name], "--headless", "--no-remote", "--profile", str(home), "--remote-debugging-port"]
        environment = os.environ | {"HOME": str(home), "MOZ_HEADLESS_WIDTH": str(SCREEN[0])}
        start(ending, [*command, str(port)], env=environment | {"MOZ_HEADLESS_HEIGHT": str(SCREEN[1])})
        end = time.monotonic() + ONE_CALL
        while True:
            try:
                address = f"ws://127.0.0.1:{port}/session"
                self.socket = ending.enter_context(connect(address, max_size=None, proxy=None))
                break
            except (OSError, InvalidStatus):  # Firefox does not listen yet
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.numbers = count()
        self._send("session.new", {"capabilities": {}})
        self.context = self._send("browsingContext.getTree", {})["contexts"][0]["context"]
        viewport = dict(zip(("width", "height"), SCREEN, strict=True))
        self._send("browsingContext.setViewport", {"context": self.context, "viewport": viewport})

    def _send(self, method: str, parameters: dict) -> Any:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=2 * ONE_CALL))
            if answer.get("id") == number:
                assert answer["type"] == "success", f"{self.name}: {answer}"
                return answer["result"]

    def open(self, address: str) -> None:
        self._send("browsingContext.navigate", {"context": self.context, "url": address, "wait": "complete"})

    def ask(self, function: str, *arguments: object) -> Any:
        declaration = f"async (words) => JSON.stringify((await ({function})(...JSON.parse(words))) ?? null)"
        words = {"type": "string", "value": json.dumps(arguments)}
        parameters = {"functionDeclaration": declaration, "arguments": [words], "awaitPromise": True}
        said = self._send("script.callFunction", parameters | {"target": {"context": self.context}})
        assert said["type"] == "success", f"{self.name}: {said['exceptionDetails']['text']}"
        return json.loads(said["result"]["value"])

    def point(self, x: float, y: float, press: bool = False) -> None:
        steps = [{"type": "pointerMove", "x": round(x), "y": round(y)}]
        steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] if press else []
        actions = [{"type": "pointer", "id": "mouse", "actions": steps}]
        self._send("input.performActions", {"context": self.context, "actions": actions})

    def choose(self, path: Path) -> None:
        field = {"functionDeclaration": "() => document.querySelector('#chosen')", "awaitPromise": False}
        said = self._send("script.callFunction", field | {"target": {"context": self.context}})
        element = {"sharedId": said["result"]["sharedId"]}
        self._send("input.setFiles", {"context": self.context, "element": element, "files": [str(path)]})

    def picture(self) -> bytes:
        return b64decode(self._send("browsingContext.captureScreenshot", {"context": self.context})["data"])
