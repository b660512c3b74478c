"""The README's pictures of the app, into assets/readme: python benchmarks/screenshots.py

They show the photographs and DINOv2, which `python -m playground download dinov2-small photographs` and
`python -m playground prepare` have to have brought.
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.chromium import find, install  # noqa: E402
from browser.server import serving  # noqa: E402
from browser.visitor import LAUNCH, Visitor  # noqa: E402

from playground import borrowed  # noqa: E402

FOLDER = ROOT / "assets" / "readme"
DESK = {"viewport": {"width": 1280, "height": 720}, "device_scale_factor": 1.5}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
CAT = {"sample": "chelsea"}
EYE = (11, 23)  # a patch of one eye of the cat, in samples.py's grid


def shoot(chromium: Browser, url: str, name: str, address: dict, patch=EYE, act=None, **options) -> None:
    visitor = Visitor(chromium, url, **{**DESK, **options}).open(address)
    if options.get("has_touch"):
        visitor.page.touchscreen.tap(*visitor.place(patch))
    else:
        visitor.hover(patch)
    if act:
        act(visitor)
    visitor.page.evaluate("document.fonts.ready")
    visitor.page.wait_for_timeout(1200)  # Streamlit's own transitions
    visitor.until()
    visitor.page.screenshot(path=FOLDER / f"{name}.png")
    visitor.check()
    visitor.close()
    print(f"{name}.png  {(FOLDER / f'{name}.png').stat().st_size / 1000:.0f} kB")


def shoot_page(chromium: Browser, url: str, page: str) -> None:
    visitor = Visitor(chromium, url, **DESK).open()
    visitor.page.goto(f"{url}/{page}")
    visitor.page.get_by_text("Next: ").wait_for()
    visitor.page.wait_for_timeout(5000)  # charts and moments
    visitor.page.screenshot(path=FOLDER / f"{page}.png")
    visitor.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = find() or install()
    with sync_playwright() as playwright, serving(PLAYGROUND_BORROWED=str(borrowed.cache_folder())) as server:
        chromium, url = playwright.chromium.launch(executable_path=path, args=LAUNCH), server.url
        shoot(chromium, url, "microscope", CAT)
        shoot(chromium, url, "dark", CAT | {"draw": "light"}, color_scheme="dark")
        shoot(chromium, url, "off", CAT | {"curtain": "0.55"})
        shoot(chromium, url, "wall", CAT | {"beside": "wall"})
        shoot(chromium, url, "compare", {"sample": "portrait", "with": "sample:meadow", "beside": "compare"}, (6, 7))
        shoot(chromium, url, "phone", CAT, **PHONE)
        shoot_page(chromium, url, "training")
        chromium.close()


if __name__ == "__main__":
    main()
