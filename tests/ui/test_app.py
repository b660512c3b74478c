"""The microscope's page, without a browser."""

import io
import threading
import time
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest
from waiting import until

from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.samples import SAMPLES
from playground.serving import models
from playground.ui import streamlit_private

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


def jpeg(side: int = 300) -> bytes:
    out = io.BytesIO()
    Image.effect_noise((side, side), 80).convert("RGB").save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def app():
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)


def shown(app) -> dict:
    """The header of what the microscope got."""
    assert not app.exception
    return next(unpack(c.proto.bytes)[0] for c in app.get("bidi_component") if c.proto.bytes)


def test_the_page_gives_the_microscope_the_first_sample(app):
    header = shown(app.run())
    assert [image["title"] for image in header["images"]] == [SAMPLES[0].name]
    assert [pack["title"] for pack in header["packs"]] == ["our small ViT"]
    assert not app.toast


def test_the_page_opens_what_its_address_says(app):
    for key, value in {"sample": "twins", "layer": "1", "scale": "off", "nonsense": "<b>"}.items():
        app.query_params[key] = value
    header = shown(app.run())
    assert header["images"][0]["title"] == "twins"
    assert header["view"] == {"layer": "1", "scale": "off"}
    assert "nonsense" not in app.query_params


def test_the_page_takes_an_upload_and_says_what_is_wrong_with_another(app):
    def upload(name: str, data: bytes) -> None:
        app.session_state.opening = True  # the popover has been clicked
        app.run().file_uploader(key="file").upload(name, data).run()

    app.run()
    upload("mine.jpg", jpeg())
    assert shown(app)["images"][0]["title"] == "mine.jpg"
    assert not app.session_state.opening
    upload("broken.jpg", b"no picture")
    assert shown(app)["images"][0]["title"] == "mine.jpg"
    assert len(app.toast) == 1


def press(app, key: str):
    return app.button(key=key).click().run()


def cards(app):
    app.session_state.choosing = True  # the popover has been clicked
    return app.run()


def come(app):
    """What was being fetched is here, or can't be had."""
    if "fetching" not in app.session_state:  # it was quicker than the page
        return app
    until(lambda: app.session_state.fetching[0].over, "it has come")
    return app.run()


def test_the_page_stays_on_its_model_when_another_can_t_be_had(app, monkeypatch):
    def unreachable(name, report) -> None:
        report(total=100).update(40)  # the bar has begun to fill
        raise PlaygroundError(f"The weights of {name} could not be fetched.")

    monkeypatch.setattr(models, "fetch", unreachable)
    app.run()
    name = next(iter(models.offers()))
    come(press(cards(app), f"model-{name}"))
    assert app.toast[0].value == f"The weights of {name} could not be fetched."
    assert shown(app.run())["packs"][0]["title"] == "our small ViT"
    assert not app.toast


def test_a_model_that_comes_takes_over_with_the_view_that_is_there(app, monkeypatch):
    here = threading.Event()

    def fetch(name, report) -> None:
        report(total=100e6).update(40e6)
        here.wait(60)

    load = models.load
    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "load", lambda name: load("untrained" if name == "ViT-XS/16" else name))
    monkeypatch.setattr(models, "is_here", lambda name: name in models.OURS)
    app.query_params["sample"] = "flock"
    app.query_params["draw"] = "light"
    app.run()
    app.session_state.here.missing = "ViT-XS/16"  # as a link leaves it that names what is not here
    monkeypatch.setattr(models, "may_fetch", lambda name: True)
    press(app.run(), "offered")
    assert shown(app)["packs"][0]["title"] == "our small ViT"
    assert app.button(key="cancel")
    here.set()
    header = shown(come(app))
    assert (header["images"][0]["title"], header["view"]["draw"]) == ("flock", "light")
    assert header["packs"][0]["title"] == "ViT-XS/16 (random weights)"
    assert app.query_params["model"] in ("ViT-XS/16", ["ViT-XS/16"])


def test_cancel_leaves_everything_as_it_was(app, monkeypatch):
    stopped = []

    def endless(name, report) -> None:
        with report(total=100) as bar:
            try:
                for _ in range(10_000):
                    bar.update(0)
                    time.sleep(0.01)
            except BaseException:
                stopped.append(name)
                raise

    monkeypatch.setattr(models, "fetch", endless)
    press(cards(app.run()), "model-dinov2-small")
    press(app, "cancel")
    until(lambda: stopped, "the download has stopped")
    assert shown(app.run())["packs"][0]["title"] == "our small ViT"
    assert not app.toast


def test_an_upload_in_the_small_model_is_shown_at_once_and_dinov2_offered_beside_it(app, monkeypatch):
    monkeypatch.setattr(models, "may_fetch", lambda name: True)
    app.session_state.opening = True
    app.run().file_uploader(key="file").upload("mine.jpg", jpeg()).run()
    assert shown(app)["packs"][0]["title"] == "our small ViT"
    assert "This small model knows drawings" in " ".join(text.value for text in app.markdown)
    assert app.button(key="offered").label == "See it with DINOv2 S/14 (90 MB)"


def test_where_nothing_was_fetched_one_line_offers_it_and_offline_nothing_does(app, monkeypatch):
    monkeypatch.setattr(models, "may_fetch", lambda name: True)
    assert app.run().button(key="offered").label == "fetch it (104 MB)"
    monkeypatch.setattr(models, "may_fetch", lambda name: False)
    assert not [button for button in app.run().button if button.key == "offered"]


def test_own_pictures_are_compared_with_each_other(app):
    app.run()
    for name in ("first.jpg", "second.jpg"):
        app.session_state.opening = True
        app.run().file_uploader(key="file").upload(name, jpeg()).run()
    app.session_state.comparing = True
    chooser = app.run().selectbox(key="other_picture")
    assert chooser.options[0] == "Yours: first.jpg"
    first = app.session_state.here.choice.mine[0]
    header = shown(chooser.set_value(f"mine:{first.id}").run())
    assert [image["title"] for image in header["images"]] == ["second.jpg", "first.jpg"]
    assert header["view"]["beside"] == "compare"


def test_a_click_that_still_brings_the_former_address_takes_nothing_back_and_a_step_back_does(app, monkeypatch):
    def at_the_former_address() -> int:
        app.query_params.clear()
        app.query_params["sample"] = "meadow"
        shown(app.run())
        return app.session_state.here.wish.detail

    app.query_params["sample"] = "meadow"
    first = app.run().session_state.here.wish.detail
    finer = app.selectbox(key="detail").set_value(3 - first).run().session_state.here.wish.detail
    assert finer != first
    assert at_the_former_address() == finer
    monkeypatch.setattr(streamlit_private, "went_through_history", lambda: True)
    assert at_the_former_address() == first
