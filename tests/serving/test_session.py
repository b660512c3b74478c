"""What a person chooses, and what goes to their browser."""

import gc
import io
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.samples import SAMPLES
from playground.serving import address, browser, models, pictures, session, traces
from playground.serving.prepared import prepared_pack
from playground.serving.traces import Wish

pytestmark = pytest.mark.usefixtures("nothing_fetched")


def sizes(blob: bytes) -> dict[str, int]:
    header, arrays = unpack(blob)
    return {pack["id"]: arrays[pack["section"]].nbytes if "section" in pack else 0 for pack in header["packs"]}


def test_where_nothing_was_fetched_a_session_starts_with_the_first_drawing_on_a_finer_grid():
    here, trouble = session.start({}, {})
    assert trouble is None
    assert here.picture.name == SAMPLES[0].name
    assert here.wish == Wish("bundled", detail=2)
    assert here.words() == {"model": "bundled", "sample": SAMPLES[0].name, "detail": "2"}
    here.show(pictures.sample("flock"))
    assert here.wish == Wish("bundled")


def test_an_old_link_opens_as_it_was():
    here, trouble = session.start({"model": "bundled", "sample": "meadow"}, {"layer": "2"})
    assert (trouble, here.wish, here.view) == (None, Wish("bundled"), {"layer": "2"})


def test_a_link_to_a_photograph_or_a_model_that_is_not_here_opens_at_once_on_what_is():
    here, trouble = session.start({"sample": "coffee"}, {})
    assert "download photographs" in trouble
    assert (here.picture.name, here.missing) == ("meadow", None)
    here, trouble = session.start({"model": "vit_base_patch16_224.mae", "sample": "flock"}, {})
    assert trouble == "MAE B/16 is not on this machine yet; our small ViT is shown until it is fetched."
    assert (here.wish, here.missing) == (Wish("bundled"), "vit_base_patch16_224.mae")


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
    monkeypatch.setattr(models, "details", lambda name: [1, 2])
    here, trouble = session.start({"model": "untrained", "detail": "4"}, {})
    assert (here.wish, trouble) == (Wish("untrained"), None)


def test_an_unchanged_session_gives_the_very_same_bytes():
    here, _ = session.start({}, {})
    first = here.blob()
    here.hear_view({"layer": "2"})  # the microscope has it already
    assert here.blob() is first


def test_what_the_browser_has_is_not_sent_again():
    here, _ = session.start({}, {})
    (main,) = sizes(here.blob()).items()
    assert main[1] > 10**5
    here.compare(pictures.sample("flock"), "bundled")
    blob = here.blob()
    assert [size > 0 for size in sizes(blob).values()] == [False, True]
    assert [("section" in image) for image in unpack(blob)[0]["images"]] == [False, True]
    here.answer({"what": "rollout", "query": "7,5"})
    blob = here.blob()
    assert set(sizes(blob).values()) == {0}
    assert len(blob) < 10**4
    assert unpack(blob)[1]["overlay"].shape == (unpack(prepared_pack("meadow", 2))[0]["tokens"],)
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


def test_a_second_picture_that_the_microscope_asked_for_does_not_change_its_view():
    here, _ = session.start({"sample": "meadow"}, {})
    before = here.view_id
    here.hear_view({"beside": "compare"})
    here.hear_view({})  # it shows the convolution again before the answer comes
    here.answer({"what": "compare"})
    assert here.other is not None
    assert (here.view, here.view_id) == ({}, before)


def test_what_is_compared_goes_along_with_every_choice():
    def pair(here):
        return [(picture.name, wish.model) for picture, wish in here.choice.pairs()]

    here, _ = session.start({"sample": "meadow", "with": "sample:flock"}, {})
    here.show(pictures.sample("portrait"))
    assert pair(here) == [("portrait", "bundled"), ("flock", "bundled")]
    here.use("untrained")
    assert pair(here) == [("portrait", "untrained"), ("flock", "untrained")]
    here.show(pictures.sample("flock"))
    assert pair(here) == [("flock", "untrained"), ("portrait", "untrained")]
    here.compare(here.picture, "bundled")
    here.show(pictures.sample("meadow"))
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
        {"what": "features"},
        {"what": "features", "pack": "nobody's", "layer": 0},
        {"what": "flows", "pack": ["x"]},
        {"what": "rollout"},
        {"what": "rollout", "query": "1,x"},
        {"what": "rollout", "query": "99,99"},
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
    run, counted = traces._run, []
    traces.of_samples.cache_clear()
    monkeypatch.setattr(traces, "_run", lambda *work: (counted.append(work), run(*work))[1])
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
    here.show(pictures.upload(jpeg(), "mine.jpg"))
    assert traces.of_samples().bytes == 0
    assert here.own.bytes > 0
    assert other.own.bytes == 0
    assert "sample" not in here.words()
    assert unpack(here.blob())[0]["ui"]["uploaded"]


def test_one_s_own_picture_is_one_click_away_and_back_brings_it_back():
    here = session.start({}, {})[0]
    mine = pictures.upload(jpeg(), "mine.jpg")
    here.show(mine)
    here.show(pictures.sample("flock"))
    strip = here.choice.strip()
    assert strip["chosen"] == "flock"
    assert [own["title"] for own in strip["own"]] == ["mine.jpg"]
    back = session.start({"model": "bundled"}, {})[0]
    assert back.take_back(here, {"model": "bundled"}) is None
    assert back.picture is mine
    other = session.start({"sample": "flock"}, {})[0]
    other.take_back(here, {"model": "bundled", "sample": "flock"})
    assert other.picture.name == "flock"
    assert other.choice.mine == (mine,)


def test_the_server_keeps_the_last_few_pictures_of_a_person_and_forgets_them_when_told():
    here = session.start({"sample": "flock"}, {})[0]
    for number in range(session.MOST_OWN + 2):
        here.show(pictures.upload(jpeg(), f"{number}.jpg"))
    here.show(here.choice.mine[0])
    assert [mine.name for mine in here.choice.mine] == ["3.jpg", "4.jpg", "2.jpg"]
    here.compare(here.choice.mine[1], here.wish.model)
    here.forget()
    assert here.picture.sample
    assert (here.choice.mine, here.other, here.own.bytes) == ((), None, 0)


def test_a_patch_that_was_locked_in_a_photograph_is_not_locked_in_the_next():
    here = session.start({"sample": "flock"}, {})[0]
    here.show(pictures.upload(jpeg(), "first.jpg"))
    here.hear_view({"query": "3,4", "locked": "true", "layer": "2", "draw": "light"})
    before = here.view_id
    here.show(pictures.upload(jpeg(), "second.jpg"))
    assert here.view_id != before
    assert here.view == {"layer": "2", "draw": "light"}


def test_a_costly_model_gives_an_upload_a_coarse_first_look_and_then_the_real_one(passes, monkeypatch):
    monkeypatch.setattr(traces, "FIRST_LOOK", 7)
    monkeypatch.setattr(traces, "FIRST_LOOK_ABOVE", 0)
    here = session.start({"sample": "flock", "model": "untrained"}, {})[0]
    passes.clear()
    here.chose_model = True
    here.show(mine := pictures.upload(jpeg(), "mine.jpg"))
    first, real = here.choice.first, here.wish
    grids = [tuple(unpack(unpack_pack(here))[0]["grid"])]
    assert here.finish()
    grids.append(tuple(unpack(unpack_pack(here))[0]["grid"]))
    assert grids == [(7, 7), traces.grid(mine, real)]
    assert [(wish, finer) for _, wish, *finer in passes] == [(first, [False]), (real, [True])]
    assert not here.finish()
    here.show(pictures.sample("flock"))
    assert here.choice.first is None
    here.show(mine)
    assert here.choice.first is None, "the real one is there already"


def unpack_pack(here) -> bytes:
    """The first pack of what the microscope gets."""
    return unpack(here.blob())[1]["pack0"].tobytes()


def test_features_and_flows_of_all_tokens_go_once_and_are_python_s():
    here, _ = session.start({"sample": "meadow", "model": "bundled"}, {})
    (its_id,) = sizes(here.blob())
    seen = traces.trace(here.picture, here.wish, here.own)
    for asked, expected in (
        ({"what": "features", "pack": its_id, "layer": 3}, seen.features(3)),
        ({"what": "flows", "pack": its_id}, seen.rollout()),
    ):
        here.answer(asked)
        header, arrays = unpack(here.blob())
        assert header["matrix"] == {"what": asked["what"], "pack": its_id, "layer": asked.get("layer", 0)} | {
            "section": "matrix"
        }
        assert arrays["matrix"].dtype == "float16"
        assert abs(arrays["matrix"] - expected.numpy()).max() < 2e-3 * abs(expected).max()
        here.tell_view({})
        assert "matrix" not in unpack(here.blob())[0]


def test_a_layer_that_is_not_there_has_no_features():
    here, _ = session.start({"sample": "meadow", "model": "bundled"}, {})
    (its_id,) = sizes(here.blob())
    with pytest.raises(PlaygroundError, match="no layer 99"):
        here.answer({"what": "features", "pack": its_id, "layer": 99})


def test_a_scene_brings_picture_model_view_and_what_was_compared_also_one_s_own_picture():
    here = session.start({"sample": "meadow", "model": "untrained"}, {"layer": "2"})[0]
    here.compare(pictures.sample("flock"), "untrained")
    words, view = address.read(here.words())
    mine = pictures.upload(jpeg(), "mine.jpg")
    here.alone()
    here.show(mine)
    here.go(words, view)
    assert (here.picture.name, here.wish.model, here.other[0].name) == ("meadow", "untrained", "flock")
    assert here.view == view
    here.go({"model": "untrained"}, {}, mine.id)
    assert here.picture is mine
    assert here.other is None
    with pytest.raises(PlaygroundError, match="not here any more"):
        here.go({"model": "untrained"}, {}, "another")


# Many people ----------------------------------------------------------------------------------------------------------


def own_picture(number: int, side: int = 1600):
    out = io.BytesIO()
    Image.new("RGB", (side, side * 3 // 4), (number * 40 % 256, 90, 60)).save(out, "JPEG")
    return pictures.upload(out.getvalue(), f"{number}.jpg")


def test_many_people_s_own_pictures_take_no_more_than_their_share_and_go_with_their_sessions(monkeypatch):
    gc.collect()
    monkeypatch.setattr(pictures, "MOST_OWN", pictures.held() + 12 * 2**20)
    before, people = pictures.held(), []
    for number in range(6):  # of 7.7 MB each
        here, _ = session.start({}, {})
        here.show(own_picture(number))
        people.append(here)
    assert pictures.held() - before <= 12 * 2**20
    assert [here.picture.image.width for here in people] == sorted(here.picture.image.width for here in people)
    assert people[-1].picture.image.width == 1600  # the latest has all its pixels
    assert traces.grid(people[0].picture, people[0].wish) == traces.grid(people[-1].picture, people[-1].wish)
    del here, people
    gc.collect()
    assert pictures.held() == before


def test_when_there_is_no_room_for_one_more_picture_it_is_said(monkeypatch):
    gc.collect()
    monkeypatch.setattr(pictures, "MOST_OWN", pictures.held() + 2**20)
    kept = [own_picture(0, 500)]
    with pytest.raises(PlaygroundError, match="no room for one more"):
        kept.append(own_picture(1, 500))
    del kept
    gc.collect()
    own_picture(2, 500)


def test_messages_to_many_browsers_are_kept_only_up_to_a_bound(monkeypatch):
    first, _ = session.start({}, {})
    message = first.blob()
    assert first.blob() is message
    monkeypatch.setattr(browser, "MESSAGES", len(message) + 1000)
    second, _ = session.start({}, {})
    assert len(second.blob()) > 10**5
    again = first.blob()
    assert len(again) < 10**4  # the browser has all that it names
    assert sizes(again).keys() == sizes(message).keys()
    assert len(second.blob()) > 10**5
