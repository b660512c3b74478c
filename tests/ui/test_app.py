import io
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.samples import SAMPLES
from playground.serving import address, engine, session
from playground.serving.cache import Shelf
from playground.serving.engine import Wish
from playground.serving.prepared import prepared_pack

ROOT = Path(__file__).parent.parent.parent


# Sessions


def sizes(blob: bytes) -> dict[str, int]:
    header, arrays = unpack(blob)
    return {pack["id"]: arrays[pack["section"]].nbytes if "section" in pack else 0 for pack in header["packs"]}


def test_a_session_starts_with_the_first_sample_and_the_bundled_model():
    here, trouble = session.start({}, {})
    assert trouble is None
    assert here.picture.name == SAMPLES[0].name
    assert here.wish == Wish("bundled")
    assert here.words() == {"model": "bundled", "sample": SAMPLES[0].name}


@pytest.mark.parametrize(
    "words",
    [
        {"model": "vit_nonsense_patch3"},
        {"model": "../secret.safetensors"},
        {"model": "resnet50"},
        {"with": "model:vit_nonsense_patch3"},
    ],
    ids=str,
)
def test_what_an_address_asks_for_and_there_is_not_is_said_in_a_sentence(words):
    here, trouble = session.start({"sample": "flock"} | words, {})
    assert trouble
    assert trouble.endswith((".", "!"))
    assert (here.picture.name, here.wish, here.other) == ("flock", Wish("bundled"), None)
    assert here.blob()


def test_an_address_gets_no_finer_grid_than_the_page_offers(monkeypatch):
    monkeypatch.setattr(engine, "details", lambda name: [1, 2])
    here, trouble = session.start({"model": "untrained", "detail": "4"}, {})
    assert (here.wish, trouble) == (Wish("untrained"), None)


def test_an_unchanged_session_gives_the_very_same_bytes():
    here, _ = session.start({}, {})
    first = here.blob()
    here.view = {"layer": "2"}  # the microscope has it already
    assert here.blob() is first


def test_what_the_browser_has_is_not_sent_again():
    here, _ = session.start({}, {})
    (main,) = sizes(here.blob()).items()
    assert main[1] > 10**5
    here.compare(engine.sample("flock"), "bundled")
    blob = here.blob()
    assert [size > 0 for size in sizes(blob).values()] == [False, True]
    assert [("section" in image) for image in unpack(blob)[0]["images"]] == [False, True]
    here.answer({"what": "similarity", "query": "7,5", "layer": 3})
    blob = here.blob()
    assert set(sizes(blob).values()) == {0}
    assert len(blob) < 10**4
    assert unpack(blob)[1]["overlay"].shape == (unpack(prepared_pack("meadow"))[0]["tokens"],)
    header, _ = unpack(blob)
    here.answer({"what": "packs", "ids": [header["packs"][0]["id"], header["images"][0]["id"]]})
    blob = here.blob()
    assert sizes(blob)[main[0]] == main[1]
    assert "section" in unpack(blob)[0]["images"][0]


def test_the_whole_pass_comes_beside_the_trained_one():
    here, _ = session.start({}, {})
    here.blob()
    here.answer({"what": "whole", "scale": "off"})
    header, arrays = unpack(here.blob())
    assert "section" not in header["packs"][0]
    assert unpack(arrays[header["packs"][1]["section"]].tobytes())[0]["forward_scale"] == 1


def test_what_is_compared_goes_along_with_every_choice():
    def pair(here):
        return [(picture.name, wish.model) for picture, wish in here._pairs()]

    here, _ = session.start({"sample": "meadow", "with": "sample:flock"}, {})
    here.show(engine.sample("portrait"))
    assert pair(here) == [("portrait", "bundled"), ("flock", "bundled")]
    here.use("untrained")
    assert pair(here) == [("portrait", "untrained"), ("flock", "untrained")]
    here.show(engine.sample("flock"))
    assert pair(here) == [("flock", "untrained"), ("portrait", "untrained")]
    here.compare(here.picture, "bundled")
    here.show(engine.sample("meadow"))
    assert pair(here) == [("meadow", "untrained"), ("meadow", "bundled")]
    here.use("bundled")
    assert pair(here) == [("meadow", "bundled"), ("meadow", "untrained")]
    again, _ = session.start(*address.read(here.words()))
    assert pair(again) == pair(here)


@pytest.mark.parametrize(
    "asked",
    [
        {"what": "whole"},
        {"what": "whole", "scale": "loud"},
        {"what": "whole", "scale": math.nan},
        {"what": "layers"},
        {"what": "layers", "pack": None, "layers": ["x"]},
        {"what": "layers", "pack": None, "layers": 3},
        {"what": "similarity"},
        {"what": "similarity", "query": "1,x", "layer": 0},
        {"what": "similarity", "query": "99,99", "layer": 0},
        {"what": "similarity", "query": "7,5", "layer": 99},
        {"what": "rollout", "query": "nobody", "layer": 0},
        {"what": "rollout", "query": "7,5", "layer": 0, "scale": []},
        {"what": "packs", "ids": 7},
        "what",
        None,
    ],
    ids=str,
)
def test_a_question_that_makes_no_sense_is_answered_with_a_sentence(asked):
    here, _ = session.start({}, {})
    first = here.blob()
    with pytest.raises(PlaygroundError):
        here.answer(asked)
    assert here.blob() is first


@pytest.fixture
def passes(monkeypatch):
    """Which forward passes this server runs, with nothing remembered from before."""
    run, counted = engine._run, []
    monkeypatch.setattr(engine, "_sample_traces", Shelf(600 * engine.MB, size=engine.trace_bytes))
    monkeypatch.setattr(engine, "_run", lambda *work: (counted.append(work), run(*work))[1])
    return counted


def test_two_people_opening_one_sample_cost_one_forward_pass(passes):
    words = {"model": "untrained", "sample": "flock"}
    with ThreadPoolExecutor(2) as people:
        first, second = people.map(lambda _: session.start(words, {})[0].blob(), range(2))
    assert sizes(first) == sizes(second)
    assert len(passes) == 1


def test_the_samples_of_the_bundled_model_cost_none(passes):
    for sample in SAMPLES:
        session.start({"sample": sample.name}, {})[0].blob()
    assert passes == []


def jpeg(side: int = 300) -> bytes:
    out = io.BytesIO()
    Image.effect_noise((side, side), 80).convert("RGB").save(out, "JPEG")
    return out.getvalue()


def test_an_upload_stays_in_its_session(passes):
    (here, _), (other, _) = session.start({}, {}), session.start({}, {})
    here.show(engine.upload(jpeg(), "mine.jpg"))
    assert engine._sample_traces.bytes == 0
    assert here.own.bytes > 0
    assert other.own.bytes == 0
    assert "sample" not in here.words()
    assert unpack(here.blob())[0]["ui"]["uploaded"]


def test_a_picture_that_was_cut_short_on_its_way_is_said():
    for photo in ({}, {"data": "no base64!"}, {"data": None}, {"data": "aGVsbG8="}):
        with pytest.raises(PlaygroundError):
            session.sent_photo(photo)


# The page


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
    assert [pack["title"] for pack in header["packs"]] == ["bundled ViT"]
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

    monkeypatch.setattr(engine, "fetch", unreachable)
    app.run()
    name = next(iter(engine.offers()))
    app.selectbox(key="model").set_value(name).run()
    assert app.toast[0].value == f"The weights of {name} could not be fetched."
    assert shown(app)["packs"][0]["title"] == "bundled ViT"
    assert app.run().selectbox(key="model").value == "bundled"


# When the machine is too small


def test_a_model_larger_than_the_shelf_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr(engine, "SETTINGS", replace(engine.SETTINGS, model_mb=50))
    with pytest.raises(PlaygroundError, match="50 MB for models"):
        engine.model("ViT-S/32")


def test_a_server_may_offer_nothing_but_its_list(monkeypatch):
    monkeypatch.setattr(engine, "SETTINGS", replace(engine.SETTINGS, open=False))
    with pytest.raises(PlaygroundError, match="offers no"):
        engine.model("vit_tiny_patch16_224.augreg_in21k")
    assert engine.model("untrained")


def test_a_full_graphics_card_leaves_the_work_to_the_cpu(monkeypatch):
    import torch

    from playground import tracing

    whole, tries = tracing.trace, []

    def trace(*arguments, **options):
        tries.append(1)
        if len(tries) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(*arguments, **options)

    monkeypatch.setattr(tracing, "trace", trace)
    seen = engine._run(engine.sample("flock"), Wish("untrained"))
    assert (len(tries), seen.tokens > 0) == (2, True)


def test_one_s_own_picture_is_one_click_away_and_back_brings_it_back():
    here = session.start({}, {})[0]
    mine = engine.upload(jpeg(), "mine.jpg")
    here.show(mine)
    here.show(engine.sample("flock"))
    strip = here.strip()
    assert strip["chosen"] == "flock"
    assert strip["own"]["title"] == "mine.jpg"
    back = session.start({"model": "bundled"}, {})[0]
    assert back.take_back(here, {"model": "bundled"}) is None
    assert back.picture is mine
    other = session.start({"sample": "flock"}, {})[0]
    other.take_back(here, {"model": "bundled", "sample": "flock"})
    assert other.picture.name == "flock"
    assert other.mine is mine
