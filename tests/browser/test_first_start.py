"""The very first start of a server: without a cache and without a network."""

import pytest
from waiting import until

from browser.server import Server
from browser.visitor import LOST, Visitor
from playground.samples import SAMPLES

PACKS = {"meadow-2", *(sample.name for sample in SAMPLES)}


@pytest.fixture
def bare(tmp_path):
    server = Server(tmp_path, PLAYGROUND_BORROWED="").start()
    yield server
    server.stop()


@pytest.mark.slow
def test_every_drawing_is_shown_before_it_is_ready_and_ready_soon_after(bare, arrive):
    folder = bare.home / ".cache" / "huggingface" / "hub" / "attention-playground"

    def ready() -> set[str]:
        return {path.name.rpartition("-")[0] for path in folder.glob("*.pack")}

    assert not ready()
    visitor = arrive(Visitor, bare.wait().url)
    visitor.page.goto(bare.url)  # an address without words
    assert visitor.until()["grid"] == [28, 28]  # the meadow in 28 × 28 patches ships with the app
    last_sample = SAMPLES[-1].name
    visitor.open(f"sample={last_sample}")
    assert visitor.until()["grid"] == [14, 14]
    until(lambda: ready() == PACKS, f"{PACKS - ready()} are not prepared; the server says\n{bare.tell()}")
    until(lambda: "prepared meadow-2" in bare.log, f"nobody said that it was prepared:\n{bare.tell()}")
    visitor.check()
    visitor.forgiven = LOST
