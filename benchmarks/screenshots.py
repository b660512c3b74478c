"""Writes the README's pictures of the app to assets/readme: python benchmarks/screenshots.py

The pictures show photographs in DINOv2. First run `python -m playground download dinov2-small photographs` and
`python -m playground prepare`.
"""

import argparse
from io import BytesIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import harness
from browser.own_picture import hand_over
from browser.server import serving
from browser.visitor import Visitor
from PIL import Image
from playwright.sync_api import Browser

from playground.models import borrowed

FOLDER = harness.ROOT / "assets" / "readme"
DESK = {"viewport": {"width": 1280, "height": 720}, "device_scale_factor": 1.5}
CAT = {"sample": "chelsea"}
EYE = (11, 23)  # a patch of one eye of the cat, in samples.py's grid


class Newcomer(Visitor):
    """A visitor whose browser remembers neither See nor Lab, so that a plain link opens See."""

    remembers_lab = False


SHOTS = {  # file -> (address, patch under the cursor, browser options)
    "see": (CAT, EYE, DESK)
}
PAGES = ["training"]
SHEET = "see-sizes"  # the name of one picture that shows See in windows of all WINDOW_SIZES, light and dark
WINDOW_SIZES = (
    (1920, 1080), (1440, 900), (1280, 720), (1024, 768), (834, 1112), (844, 390), (640, 360), (390, 844), (360, 740),
    (320, 568),
)  # fmt: skip
TOUCH_WIDTHS = (834, 844, 390, 360, 320)  # widths of tablets and phones
MOVING = "moving"  # the name of the README's animated picture, which `shoot_moving` writes
MOVING_OPTIONS = {"viewport": {"width": 1152, "height": 648}, "device_scale_factor": 0.85}
CURSOR_PATH = ((11, 23), (10, 22), (9, 14), (8, 12), (9, 10), (13, 9), (20, 19), (22, 20), (11, 23))  # patches
# (x, y) shares of the photograph of the astronaut: eyes, suit, helmet
ASTRONAUT_PLACES = ((0.40, 0.19), (0.48, 0.18), (0.44, 0.72), (0.75, 0.83))
SHORT_MS, LONG_MS = 450, 1500  # milliseconds of a short and of a long frame
ALL_NAMES = [*SHOTS, *PAGES, SHEET, MOVING]
LINE_HEIGHT, SHEET_WIDTH, GAP = 300, 2000, 8  # pixels: height and width of a line of the sheet, space between pictures


def shoot(chromium: Browser, url: str, file: Path) -> None:
    address, patch, options = SHOTS[file.stem]
    write_shot(chromium, url, file, Newcomer if file.stem.startswith("see") else Visitor, address, patch, options)


def write_shot(
    chromium: Browser, url: str, file: Path, visitor_type: type[Visitor], address: dict, patch, options: dict
) -> None:
    visitor = visitor_type(chromium, url, **options).open(address)
    if options.get("has_touch"):
        visitor.page.touchscreen.tap(*visitor.place(patch))
    else:
        visitor.hover(patch)
    visitor.page.evaluate("document.fonts.ready")
    visitor.page.wait_for_timeout(1200)  # until transitions have ended
    visitor.until()
    visitor.page.get_by_text("running the whole network").wait_for(state="hidden")
    visitor.page.screenshot(path=file)
    visitor.check()
    visitor.close()


def shoot_sizes(chromium: Browser, url: str, file: Path) -> None:
    """Writes one sheet with See in all window sizes."""
    with TemporaryDirectory() as folder:
        for (width, height), colours in product(WINDOW_SIZES, ("light", "dark")):
            touch = {"has_touch": True, "is_mobile": True} if width in TOUCH_WIDTHS else {}
            options = {"viewport": {"width": width, "height": height}, "color_scheme": colours, **touch}
            shot_file = Path(folder) / f"{width}-{height}-{colours}.png"
            write_shot(chromium, url, shot_file, Newcomer, CAT, EYE, options)
        pictures = [
            Image.open(Path(folder) / f"{w}-{h}-{c}.png") for (w, h), c in product(WINDOW_SIZES, ("light", "dark"))
        ]
        sheet(pictures).save(file.with_suffix(".jpg"), quality=80)


def sheet(pictures: list[Image.Image]) -> Image.Image:
    thumbnails = [
        picture.convert("RGB").resize((picture.width * LINE_HEIGHT // picture.height, LINE_HEIGHT))
        for picture in pictures
    ]
    lines: list[list[Image.Image]] = [[]]
    for picture in thumbnails:
        if sum(other.width + GAP for other in lines[-1]) + picture.width > SHEET_WIDTH:
            lines.append([])
        lines[-1].append(picture)
    sheet = Image.new("RGB", (SHEET_WIDTH, len(lines) * (LINE_HEIGHT + GAP)), "#888888")
    for n, line in enumerate(lines):
        x = 0
        for picture in line:
            sheet.paste(picture, (x, n * (LINE_HEIGHT + GAP)))
            x += picture.width + GAP
    return sheet


def shoot_moving(chromium: Browser, url: str, file: Path) -> None:
    """Writes an animated picture: points at the cat, switches √d_k off and on, and drops another photograph."""
    visitor = Newcomer(chromium, url, **MOVING_OPTIONS).open(CAT)
    frames: list[tuple[Image.Image, int]] = []

    def take(milliseconds: int) -> None:
        visitor.until()
        visitor.page.wait_for_timeout(400)  # until See's transitions have ended
        frames.append((Image.open(BytesIO(visitor.page.screenshot())).convert("RGB"), milliseconds))

    for patch in CURSOR_PATH:
        visitor.hover(patch)
        take(LONG_MS if patch == EYE else SHORT_MS)
    visitor.lock(EYE)
    switch = visitor.part("switch")
    for scale in ("r.scale === 1", "r.scale !== 1"):
        switch.click()
        visitor.until(f"r => {scale}")
        take(LONG_MS)
    photograph = (borrowed.cache_folder() / "astronaut.png").read_bytes()
    hand_over(visitor, "drop", photograph, "image/png", "my photograph.png")
    visitor.until("r => r.row && r.picture !== 'chelsea'")
    visitor.page.get_by_text("eye → eye").wait_for(state="detached")  # until the cat's moments are gone
    box = visitor.part("picture").bounding_box()
    for x_share, y_share in ASTRONAUT_PLACES:
        visitor.page.mouse.move(box["x"] + x_share * box["width"], box["y"] + y_share * box["height"])
        take(LONG_MS)
    visitor.close()
    pictures, milliseconds = zip(*frames, strict=True)
    pictures[0].save(
        file.with_suffix(".webp"), save_all=True, append_images=pictures[1:], duration=milliseconds, loop=0,
        quality=60, method=4,
    )  # fmt: skip


def shoot_page(chromium: Browser, url: str, file: Path) -> None:
    visitor = Visitor(chromium, url, **DESK | {"viewport": {"width": 1280, "height": 1150}}).open()
    visitor.page.goto(f"{url}/{file.stem}")
    visitor.page.get_by_text("Next: ").wait_for()
    visitor.page.wait_for_timeout(5000)  # until charts and moments are drawn
    top = visitor.page.get_by_role("button", name="Play", exact=True).bounding_box()["y"] - 10  # below the question
    visitor.page.screenshot(path=file, clip={"x": 0, "y": top, "width": 1280, "height": 522})
    visitor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default all of {', '.join(ALL_NAMES)}")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with harness.chromium() as chromium, serving(PLAYGROUND_BORROWED=str(borrowed.cache_folder())) as server:
        for name in arguments.names or ALL_NAMES:
            other_tasks = {SHEET: shoot_sizes, MOVING: shoot_moving}
            make = shoot_page if name in PAGES else other_tasks.get(name, shoot)
            make(chromium, server.url, arguments.folder / f"{name}.png")
            (file,) = arguments.folder.glob(f"{name}.*")
            print(f"{file.name}  {file.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
