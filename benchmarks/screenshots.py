"""The README's pictures of the app, into assets/readme: python benchmarks/screenshots.py

They show the photographs and DINOv2, which `python -m playground download dinov2-small photographs` and
`python -m playground prepare` have to have brought.
"""

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.chromium import find, install  # noqa: E402
from browser.server import serving  # noqa: E402
from browser.visitor import LAUNCH, Visitor  # noqa: E402

from playground.models import borrowed  # noqa: E402

FOLDER = ROOT / "assets" / "readme"
DESK = {"viewport": {"width": 1280, "height": 720}, "device_scale_factor": 1.5}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
CAT = {"sample": "chelsea"}
EYE = (11, 23)  # a patch of one eye of the cat, in samples.py's grid


class Newcomer(Visitor):
    """Whose browser has shown neither face yet: a plain link opens See."""

    had_lab = False


SHOTS = {  # a file's name -> the address, the patch that is pointed at, the browser
    "see": (CAT, EYE, DESK),
    "see-dark": (CAT, EYE, {**DESK, "color_scheme": "dark"}),
    "see-phone": (CAT, EYE, PHONE),
    "microscope": (CAT, EYE, DESK),
    "dark": (CAT | {"draw": "light"}, EYE, {**DESK, "color_scheme": "dark"}),
    "off": (CAT | {"curtain": "0.55"}, EYE, DESK),
    "wall": (CAT | {"beside": "wall"}, EYE, DESK),
    "compare": ({"sample": "portrait", "with": "sample:meadow", "beside": "compare"}, (6, 7), DESK),
    "phone": (CAT, EYE, PHONE),
}
PAGES = ["training"]


def shoot(chromium: Browser, url: str, file: Path) -> None:
    address, patch, options = SHOTS[file.stem]
    visits = Newcomer if file.stem.startswith("see") else Visitor
    visitor = visits(chromium, url, **options).open(address)
    if options.get("has_touch"):
        visitor.page.touchscreen.tap(*visitor.place(patch))
    else:
        visitor.hover(patch)
    visitor.page.evaluate("document.fonts.ready")
    visitor.page.wait_for_timeout(1200)  # Streamlit's own transitions
    visitor.until()
    visitor.page.screenshot(path=file)
    visitor.check()
    visitor.close()


def shoot_page(chromium: Browser, url: str, file: Path) -> None:
    visitor = Visitor(chromium, url, **DESK).open()
    visitor.page.goto(f"{url}/{file.stem}")
    visitor.page.get_by_text("Next: ").wait_for()
    visitor.page.wait_for_timeout(5000)  # charts and moments
    visitor.page.screenshot(path=file)
    visitor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default all of {', '.join([*SHOTS, *PAGES])}")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    path = find() or install()
    with sync_playwright() as playwright, serving(PLAYGROUND_BORROWED=str(borrowed.cache_folder())) as server:
        chromium = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        for name in asked.names or [*SHOTS, *PAGES]:
            file = asked.folder / f"{name}.png"
            (shoot_page if name in PAGES else shoot)(chromium, server.url, file)
            print(f"{file.name}  {file.stat().st_size / 1000:.0f} kB", flush=True)
        chromium.close()


if __name__ == "__main__":
    main()
