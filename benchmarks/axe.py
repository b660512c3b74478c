"""Asks axe-core what it finds wrong on each page of a running app, in a light and a dark window and on a phone.

python benchmarks/axe.py http://localhost:8501 axe.min.js
axe.min.js is in npm's package axe-core. docs/pages/accessibility.md says what it found.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from playground.ui.pages import PAGES

WINDOWS = {
    "light": {"viewport": {"width": 1280, "height": 720}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 720}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
FIND = """async () => (await axe.run()).violations.map(({ id, impact, nodes }) =>
  [id, impact, nodes.map(({ target }) => target.join(" "))])"""


def addresses() -> list[str]:
    story = [f"?story={at}" for at in (*range(1, 15), "b1", "a1")]
    parts = [f"teach?part={part}" for part in ("plan", "notes", "outcomes", "print", "quiz")]
    return ["", "?face=lab", *story, *(name for name in PAGES if name not in ("microscope", "teach")), *parts, "c"]


def main(url: str, axe: str, executable: str = "") -> None:
    code, clean = Path(axe).read_text(encoding="utf-8"), 0
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=executable or None, args=["--no-sandbox"])
        for window, options in WINDOWS.items():
            for address in addresses():
                page = browser.new_page(**options, bypass_csp=True)
                page.goto(f"{url}/{address}", wait_until="networkidle")
                page.wait_for_timeout(1500)
                page.evaluate(code)
                found = page.evaluate(FIND)
                clean += not found
                for rule, impact, targets in found:
                    print(f"{window:5} {address or 'See':22} {impact:9} {rule}: {', '.join(targets[:3])}", flush=True)
                page.close()
        browser.close()
    print(f"{clean} of {len(WINDOWS) * len(addresses())} pages: nothing found")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        print(__doc__)
