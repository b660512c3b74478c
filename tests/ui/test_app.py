"""The microscope's page, without a browser."""

import io
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.samples import SAMPLES
from playground.serving import models

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


def test_the_page_stays_on_its_model_when_another_can_t_be_had(app, monkeypatch):
    def unreachable(name, report) -> None:
        report(total=100).update(40)  # the bar has begun to fill
        raise PlaygroundError(f"The weights of {name} could not be fetched.")

    monkeypatch.setattr(models, "fetch", unreachable)
    app.run()
    name = next(iter(models.offers()))
    app.selectbox(key="model").set_value(name).run()
    assert app.toast[0].value == f"The weights of {name} could not be fetched."
    assert shown(app)["packs"][0]["title"] == "our small ViT"
    assert app.run().selectbox(key="model").value == "bundled"
