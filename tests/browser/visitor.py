"""A visitor with a browser, who opens the app, points, clicks and calls the microscope's read()."""

from __future__ import annotations

import json
import re
import tempfile
from copy import copy
from pathlib import Path
from urllib.parse import unquote, urlencode, urlsplit

import waiting
import witnesses
from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request

from browser.chromium import FLAGS
from playground.lessons.registry import QUESTIONS as IDS

PATIENCE = 1000 * waiting.PATIENCE  # milliseconds
OWN_HOST = "127.0.0.1"
MOST_CHARACTERS = 2000  # characters of the microscope's read() that a failed test prints
LAUNCH = [
    *FLAGS,
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {OWN_HOST}",
]

READ_LENS = "() => JSON.stringify(window.theLens?.()?.read() ?? null)"
POLLING_MS = 50  # milliseconds between two checks of a condition: a check in every frame takes a tenth of a core
OPEN_ROW = """(part) => {
  const line = part.closest("[data-row]:not(.open)")?.querySelector(".opens");
  if (line?.checkVisibility()) line.click();
}"""
IN_MORE = {"model": "Model", "compare": "Compare", "export": "Export"}
FIND_SENTENCE = "words => sentences().find((said) => said.toLowerCase().includes(words.toLowerCase()))"

LAST_STEP = (
    6  # pixels between the last two points of a mouse's way to a patch; see LEAST_POINTING_MOVE in lens/moment.js
)
# A returning visitor has guessed all questions, so pages hold nothing back.
ALL_GUESSED = json.dumps({question: {"words": "long ago"} for question in IDS})
BEEN_HERE = f"""try {{
  const guesses = 'attention-playground:guesses';
  if (!localStorage.getItem(guesses)) localStorage.setItem(guesses, '{ALL_GUESSED}');
}} catch {{}}"""

# Most tests are about Lab, so the browser remembers Lab as the last face.
HAD_LAB = """try {
  const name = 'attention-playground-face';
  if (!localStorage.getItem(name)) localStorage.setItem(name, 'lab');
} catch {}"""

FIND_LENS = """
window.theLens = (root = document) => {
  for (const element of root.querySelectorAll("*")) {
    const found = element.__lens ?? (element.shadowRoot && window.theLens(element.shadowRoot));
    if (element.__lens) window.lensRoot = element;
    if (found) return found;
  }
  return null;
};
window.theDrawing = (part, root = document) => {
  for (const element of root.querySelectorAll("*")) {
    const found = element.__drawing?.read && (element.matches(part) || element.querySelector(part))
      ? element : element.shadowRoot && window.theDrawing(part, element.shadowRoot);
    if (found) return found;
  }
  return null;
};
window.readDrawing = (part, root = document) => {
  try { return window.theDrawing(part, root)?.__drawing.read() ?? null; } catch { return null; } // it is being made
};
window.sentences = () => {
  const notices = [...document.querySelectorAll(".attention-notice")];
  return notices.filter((notice) => notice.checkVisibility()).map((notice) => notice.innerText);
};
"""


# The browser's line on the console when a route refuses a request; the page itself shows a sentence.
REFUSED_REQUEST = re.compile(r"status of 4\d\d .*/api/")
# The browser's lines on the console while the server is away. A busy machine prints more kinds, as pages retry longer.
LOST_SERVER = re.compile("ERR_(CONNECTION|CONTENT|EMPTY|SOCKET|NETWORK)|is not responding")


def with_small_picture(query: str) -> str:
    """The query of an address. If it names no picture and no model, the meadow and the bundled model are added, whose
    few patches make tests quick."""
    names_picture = any(f"{word}=" in query for word in ("sample", "mine", "model"))
    return query if names_picture else f"model=bundled&sample=meadow&{query}".rstrip("&")


def finish_exercise(page: Page, id: str) -> None:
    """Waits until an exercise is done; if the exercise also asks a question, tries its answers until one is right."""
    done_exercise = page.locator(f'.exercise[data-id="{id}"][data-done="true"]')
    answer_buttons = page.locator(f'.exercise[data-id="{id}"] .offers:not([hidden]) button')
    done_exercise.or_(answer_buttons).first.wait_for(state="attached")
    for n in range(answer_buttons.count()):
        if not done_exercise.count():
            answer_buttons.nth(n).dispatch_event("click")  # click() would fail on an exercise that is folded away
    done_exercise.wait_for()


class Visitor:
    """One person with cookies and storage of their own. `errors` holds the console's errors except those that match
    `forgiven_errors`, `hosts` all requested hosts. Others than newcomers have guessed all questions."""

    forgiven_errors: re.Pattern[str] | None = None
    remembers_lab = True

    def __init__(self, chromium: Browser, url: str, newcomer: bool = False, **options):
        self.url = url
        self.context = chromium.new_context(**{"viewport": {"width": 1280, "height": 720}, **options})
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(FIND_LENS)
        if self.remembers_lab:
            self.context.add_init_script(HAD_LAB)
        if not newcomer:
            self.context.add_init_script(BEEN_HERE)
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.asked: list[str] = []  # the addresses of all requests
        self.uploaded: list[str] = []  # names of the visitor's pictures that were uploaded
        self.context.on("console", self._listen)
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.context.on("request", self._requested)
        self._open_tab()
        witnesses.enter(self)

    def _listen(self, entry: ConsoleMessage) -> None:
        line = f"{entry.text} at {entry.location['url']}"
        if entry.type == "error" and not (self.forgiven_errors and self.forgiven_errors.search(line)):
            self.errors.append(line)

    def _open_tab(self) -> None:
        self.page: Page = self.context.new_page()

    def new_tab(self) -> Visitor:
        second_tab = copy(self)
        second_tab._open_tab()
        return second_tab

    def _requested(self, request: Request) -> None:
        self.asked.append(request.url)
        self._add_host(request.url)
        if request.method == "POST" and urlsplit(request.url).path.endswith("/api/pictures"):
            self.uploaded.append(unquote(request.headers["x-playground-name"]))

    def _add_host(self, url: str) -> None:
        if host := urlsplit(url).hostname:  # data: and blob: URLs have no host
            self.hosts.add(host)

    # What the page shows

    def open(self, address: str | dict = "", sentence: str = "") -> Visitor:
        """Goes to an address of the app and waits for its picture. Waits first for `sentence`, if any, since a
        sentence disappears after a while."""
        query = urlencode(address) if isinstance(address, dict) else address
        if sentence:
            self.forgiven_errors = REFUSED_REQUEST
        self.page.goto(f"{self.url}/?{with_small_picture(query)}")
        if sentence:
            self.hears(sentence)
        self.until()
        return self

    def read(self) -> dict:
        return self.page.evaluate("theLens().read()")

    def until(self, condition: str = "() => true") -> dict:
        """The microscope's read(), once it fulfils the condition, a JavaScript function of read(). Also waits until the
        picture takes the pointer, which a picture that is loading does not."""
        script = f"""() => {{
          const r = window.theLens?.()?.read();
          return r?.painted && !window.lensRoot.classList.contains("waits") && ({condition})(r) ? r : null;
        }}"""
        return self.page.wait_for_function(script, polling=POLLING_MS).json_value()

    def drawing(self, part: str, condition: str = "r => true") -> dict:
        """The read() of a lesson's drawing that has this part, once it fulfils the condition."""
        script = f"() => {{ const r = readDrawing(`{part}`); return r && ({condition})(r) ? r : null; }}"
        return self.page.wait_for_function(script, polling=POLLING_MS).json_value()

    def rest(self) -> None:
        self.page.wait_for_load_state("networkidle")

    def part(self, name: str) -> Locator:
        """A part of the lens. A part in a closed row of Lab is reached by opening the row."""
        return self.reach(f'[data-ref="{name}"]')

    def choice(self, key: str, value: str) -> Locator:
        return self.reach(f'[data-choice="{key}"] [data-value="{value}"]')

    def reach(self, selector: str) -> Locator:
        found = self.page.locator(f".lens {selector}")
        if found.count():
            found.first.evaluate(OPEN_ROW)
        return found

    def open_row(self, name: str) -> None:
        self.page.locator(f'.lens [data-row="{name}"]').evaluate(OPEN_ROW)

    # What a visitor does

    def place(self, patch: tuple[int, int], canvas: str = "picture") -> tuple[float, float]:
        rows, columns = self.read()["grid"]
        self.part(canvas).element_handle().wait_for_element_state("stable")
        box = self.part(canvas).bounding_box()
        row, column = patch
        return box["x"] + (column + 0.5) * box["width"] / columns, box["y"] + (row + 0.5) * box["height"] / rows

    def point(self, patch: tuple[int, int]) -> None:
        """Moves the mouse to a patch in two steps, as a hand does: one report may be of a resting mouse."""
        x, y = self.place(patch)
        self.page.mouse.move(x - LAST_STEP, y - LAST_STEP)
        self.page.mouse.move(x, y)

    def hover(self, patch: tuple[int, int]) -> dict:
        self.point(patch)
        return self.until(f"r => r.query === '{patch[0]},{patch[1]}'")

    def lock(self, patch: tuple[int, int]) -> dict:
        self.page.mouse.click(*self.place(patch))
        return self.until(f"r => r.locked && r.query === '{patch[0]},{patch[1]}'")

    def aim(self, patch: tuple[int, int]) -> dict:
        self.point(patch)
        return self.until(f"r => r.locked && r.aim?.at === '{patch[0]},{patch[1]}'")

    def leave(self) -> None:
        self.page.mouse.move(640, 2)

    def choose_layer(self, layer: int) -> dict:
        self.part("layer").fill(str(layer))
        return self.until(f"r => r.layer === {layer}")

    def choose_head(self, head: int) -> dict:
        self.reach(f'[data-head="{head}"]').click()
        return self.until(f"r => r.head === {head}")

    def start_again(self) -> None:
        self.leave()
        self.page.keyboard.press("Escape")
        self.page.evaluate("theLens().update({view: {}})")
        self.until("r => !r.locked")

    def opener(self, kind: str) -> Locator:
        return self.page.locator(f".toolbar .opener.{kind}")

    def unfold(self, kind: str) -> Locator:
        """Presses a button of the toolbar, or a line of its sheet *More*, and returns the sheet that it opens."""
        if kind in IN_MORE:
            self.opener("more").click()
            self.page.locator('.toolbar .sheet[data-kind="more"] button.wide').filter(has_text=IN_MORE[kind]).click()
        else:
            self.opener(kind).click()
        sheet = self.page.locator(f'.toolbar .sheet[data-kind="{kind}"]')
        sheet.wait_for()
        return sheet

    def pick(self, sample: str) -> dict:
        """Presses a picture in the strip: a sample, or "mine:" and the id of an own picture. Waits until the stage
        shows it and returns read(); on a lesson, which has no stage, waits for the strip's mark and returns {}."""
        self.press_sample(sample)
        if self.page.locator("#stage:not([hidden])").count():
            return self.shows(sample)
        self.page.locator(f'.toolbar[data-picture="{sample}"]').wait_for(state="attached")
        return {}

    def press_sample(self, sample: str) -> None:
        self.strip().locator(f'[data-sample="{sample}"]').click()

    def strip(self) -> Locator:
        return self.unfold("pictures").locator(".strip")

    def shows(self, picture: str = "", model: str = "") -> dict:
        if picture:
            self.page.locator(f'.toolbar[data-picture="{picture}"]').wait_for(state="attached")
        expected = json.dumps([picture.removeprefix("mine:"), model])
        return self.until(f"r => {expected}.every((name, i) => !name || [r.picture, r.model][i] === name)")

    def pick_model(self, title: str) -> None:
        """Chooses one of the models on the machine, in the sheet of models."""
        self.unfold("model").get_by_role("button").filter(has_text=title).first.click()

    def hears(self, words: str) -> str:
        """Waits for a sentence on the page that holds these words, and returns the sentence. One script does both,
        because sentences disappear after a while."""
        return self.page.wait_for_function(FIND_SENTENCE, arg=words, polling=POLLING_MS).json_value()

    def check(self) -> None:
        """Asserts that the console shows no error and that only this machine was asked."""
        errors, self.errors[:] = list(self.errors), []
        assert not errors, "\n".join(["The browser's console has errors:", *errors, self.report()])
        assert self.hosts <= {OWN_HOST}

    def report(self) -> str:
        """A report for a failed test: the address, the microscope's read(), the errors and a screenshot's path."""
        if self.page.is_closed():
            return "has closed the page"
        report_lines = [self.page.url]
        try:
            lens = self.page.wait_for_function(READ_LENS, timeout=20_000)  # gives up if the page hangs
            report_lines.append(lens.json_value()[:MOST_CHARACTERS])
            report_lines += self.errors
            file = Path(tempfile.mkdtemp(prefix="playground-failed-")) / "page.png"
            self.page.screenshot(path=file, timeout=20_000)
            report_lines.append(f"a picture of the page: {file}")
        except Error as error:
            report_lines.append(f"the page does not answer: {error}")
        return "\n".join(report_lines)

    def close(self) -> None:
        witnesses.leave(self)
        self.context.close()


class PatientVisitor(Visitor):
    """A visitor whose check() forgives the console's errors while the server is away."""

    forgiven_errors = LOST_SERVER
