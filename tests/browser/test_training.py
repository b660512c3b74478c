"""The page of the training: the clock, the picture that answers at every moment, and a model trained on the spot."""

import dataclasses
import os
from urllib.parse import urlsplit

import numpy as np
import pytest

from browser.server import ROOT, running
from browser.visitor import Visitor
from playground.tracing import Trace
from playground.training import quick, timelapse
from playground.training.loop import train

FIND = """
window.theReel = (root = document) => {
  for (const element of root.querySelectorAll("*")) {
    const found = element.__reel ?? (element.shadowRoot && window.theReel(element.shadowRoot));
    if (found) return found;
  }
  return null;
};
"""
OWN_TROUBLE = "the server responded with a status of 404"  # Streamlit asks for its health below a page's path
SITE = """
from pathlib import Path
import playground.assets
playground.assets.TIMELAPSE = Path({!r})
"""


class Watcher(Visitor):
    def open(self, address=""):
        self.context.add_init_script(FIND)
        self.said = []  # to the server
        self.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: self.said.append(frame)))
        self.page.goto(f"{self.url}/training?{address}")
        return self

    def until(self, condition="() => true"):
        script = f"() => {{ const r = window.theReel?.()?.read(); return r?.painted && ({condition})(r) ? r : null; }}"
        return self.page.wait_for_function(script).json_value()

    def read(self):
        return self.page.evaluate("theReel().read()")

    def part(self, name):
        return self.page.locator(f'.reel [data-ref="{name}"]')

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def check(self):
        self.errors[:] = [error for error in self.errors if OWN_TROUBLE not in error]
        super().check()


@pytest.fixture(scope="module")
def lapse(tmp_path_factory):
    """A time-lapse of a run of forty steps."""
    folder = tmp_path_factory.mktemp("run")
    config = dataclasses.replace(quick.SMALL.config, width=12, mlp_width=12)
    recipe = dataclasses.replace(quick.SMALL, steps=40, batch=2, config=config)
    with quick.one_core():
        train(recipe, folder / "run", device="cpu")
        timelapse.write(folder / "run", folder / "timelapse.bin", count=2)
    return folder / "timelapse.bin"


@pytest.fixture(scope="module")
def url(lapse):
    (lapse.parent / "sitecustomize.py").write_text(SITE.format(str(lapse)))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(lapse.parent), str(ROOT)])
    try:
        with running() as address:
            yield address
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@pytest.fixture
def watch(chromium, url):
    there = []

    def new(address=""):
        there.append(Watcher(chromium, url))
        return there[-1].open(address)

    yield new
    for watcher in there:
        watcher.check()
        watcher.close()


def test_the_picture_is_the_model_s_row_at_every_moment(watch, lapse):
    watcher, moments = watch(), timelapse.read(lapse).moments
    shown = watcher.until()
    assert shown["step"] == 40
    box = watcher.part("picture").bounding_box()
    rows, columns = shown["grid"]
    for step, patch in ((0, (2, 3)), (20, (9, 9)), (40, (5, 1))):
        watcher.part("ticks").get_by_role("button").nth([m.step for m in moments].index(step)).click()
        x, y = ((part + 0.5) / whole for part, whole in zip(patch[::-1], (columns, rows), strict=True))
        watcher.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        shown = watcher.until(f"r => r.step === {step} && r.patch === '{patch[0]},{patch[1]}'")
        trace = Trace.from_bytes(next(moment for moment in moments if moment.step == step).trace)
        np.testing.assert_allclose(shown["row"], trace.row(shown["layer"], shown["head"], patch), atol=1e-5)


def test_playing_goes_through_all_moments_and_asks_nobody(watch):
    watcher = watch("moment=0")
    watcher.until("r => r.step === 0")
    watcher.page.evaluate(
        """() => {
          window.path = [];
          const look = () => { window.path.push(theReel().read().now); requestAnimationFrame(look); };
          look();
        }"""
    )
    watcher.page.wait_for_timeout(500)
    watcher.said.clear()
    watcher.button("Play").click()
    last = len(watcher.read()["moments"]) - 1
    watcher.page.wait_for_function(f"() => theReel().read().now > {last} - 0.5")
    assert watcher.said == []
    watcher.until("r => !r.playing && r.step === 40")
    path = watcher.page.evaluate("window.path")
    assert path == sorted(path)
    assert len({round(now, 2) for now in path}) > 3 * last


def test_a_link_opens_the_same_moment_layer_head_and_patch(watch):
    watcher = watch()
    watcher.until()
    watcher.part("ticks").get_by_role("button").nth(2).click()
    watcher.part("layers").get_by_role("button", name="1", exact=True).click()
    watcher.part("heads").get_by_role("button").nth(2).click()
    watcher.part("picture").click(position={"x": 4, "y": 4})
    shown = watcher.until("r => r.layer === 1 && r.head === 2 && r.patch === '0,0'")
    watcher.page.wait_for_url("**patch=0%2C0**")
    same = watch(urlsplit(watcher.page.url).query).until("r => r.layer === 1")
    assert {key: same[key] for key in ("step", "layer", "head", "patch")} == {
        key: shown[key] for key in ("step", "layer", "head", "patch")
    }


def test_two_who_train_wait_for_each_other_and_who_leaves_gives_the_turn_back(watch):
    first, second = watch("run=now"), watch("run=now&sample=flock")
    first.button("Train now").click()
    first.until("r => r.growing")
    second.button("Train now").click()
    second.page.get_by_text("One is before you").wait_for()
    first.until("r => r.moments.length > 1")
    first.page.goto("about:blank")
    second.until("r => r.growing")
    second.button("Stop").click()
    second.page.get_by_text("Stopped after").wait_for()
    second.until("r => !r.growing")  # and can still be looked at
    second.button("Train again").wait_for()
