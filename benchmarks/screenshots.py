"""The README's pictures of the app, into assets/readme: python benchmarks/screenshots.py

For each picture the script looks for the head that gathers the pointed-at object best (the samples know their masks),
so that a newly trained model needs no new choices.
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.chromium import find, install  # noqa: E402
from browser.server import running  # noqa: E402
from browser.truth import seen  # noqa: E402
from browser.visitor import LAUNCH, Visitor  # noqa: E402

from playground.samples import draw_sample  # noqa: E402

FOLDER = ROOT / "assets" / "readme"
DESK = {"viewport": {"width": 1280, "height": 720}, "device_scale_factor": 1.5}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
SHOWS = 0.05  # a weight that can be seen well; more at one place is no better
CAT = (9, 7)  # a patch of the cat's face in the meadow


def best_head(sample: str, patch: tuple[int, int]) -> tuple[int, int]:
    """The layer and head whose row spreads over the object of this patch and over nothing else."""
    import torch

    truth, objects = seen(sample), torch.from_numpy(draw_sample(sample).objects)
    y, x = (int((n + 0.5) * side / count) for n, side, count in zip(patch, objects.shape, truth.grid, strict=True))
    mask = (objects == objects[y, x]).float()[None, None]
    mask = torch.nn.functional.adaptive_avg_pool2d(mask, truth.grid).flatten()
    scores = {}
    for layer in range(truth.layers):
        for head, weights in enumerate(truth.rows(layer, patch)[:, len(truth.prefix) :]):
            scores[layer, head] = float(weights.clamp(max=SHOWS) @ mask)
    return max(scores, key=scores.get)


def shoot(chromium: Browser, url: str, name: str, address: dict, patch=CAT, act=None, **options) -> None:
    visitor = Visitor(chromium, url, **{**DESK, **options})
    layer, head = best_head(address.get("sample", "meadow"), patch)
    visitor.open({"layer": layer, "head": head} | address)
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
    size = (FOLDER / f"{name}.png").stat().st_size / 1000
    print(f"{name}.png  layer {layer}, head {head}, patch {patch[0]}, {patch[1]}  {size:.0f} kB")


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
    with sync_playwright() as playwright, running() as url:
        chromium = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        shoot(chromium, url, "microscope", {})
        shoot(chromium, url, "dark", {}, color_scheme="dark")
        shoot(chromium, url, "off", {"scale": "off"})
        shoot(chromium, url, "wall", {"beside": "wall"})
        shoot(chromium, url, "compare", {"sample": "portrait", "with": "sample:landscape", "beside": "compare"}, (6, 7))
        shoot(chromium, url, "phone", {}, **PHONE)
        shoot_page(chromium, url, "training")
        chromium.close()


if __name__ == "__main__":
    main()
