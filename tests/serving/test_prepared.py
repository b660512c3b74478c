"""What was made ahead says the same as what would be made now."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import playground
from playground import borrowed
from playground.assets import OFFERS
from playground.errors import PlaygroundError
from playground.images import fit
from playground.pack import unpack
from playground.samples import PHOTOGRAPHS, SAMPLES, named, samples, start_patch
from playground.serving import models, pictures, prepared, session, traces
from playground.serving.prepared import fresh_pack, photograph_layers, prepare, prepared_pack
from playground.serving.traces import Wish
from playground.tracing import Trace, trace

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(("sample", "detail"), [*((s.name, 1) for s in SAMPLES), *prepared.FINER.items()])
def test_a_prepared_pack_is_a_fresh_trace(sample, detail):
    header, arrays = unpack(prepared_pack(sample, detail))
    fresh, expected = unpack(fresh_pack(sample, models.load("bundled"), detail))
    ours, theirs = header.pop("predictions"), fresh.pop("predictions")
    assert header == fresh
    assert dict(ours) == pytest.approx(dict(theirs), abs=1e-3)
    for name in expected:
        assert np.allclose(arrays[name], expected[name], rtol=2e-3, atol=2e-3), name


@pytest.fixture
def cat_alone(really_here, tmp_path, monkeypatch):
    """The weights and the cat, fetched but not prepared, in a folder that is only read; and an empty cache."""
    really_here("dinov2-small")
    really_here("photographs")
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    for file in (borrowed.DINOV2.file, "chelsea.png"):
        (fetched / file).symlink_to(borrowed.find(file))
    monkeypatch.setenv("PLAYGROUND_BORROWED", str(fetched))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return named("chelsea")


def test_a_photograph_is_prepared_once_and_then_read_layer_by_layer_without_torch(cat_alone):
    assert photograph_layers("chelsea") is None
    assert prepare() == ["chelsea"]
    assert prepare() == []
    code = (
        "import sys; from playground.serving.prepared import photograph_layers;"
        "sys.stdout.buffer.write(photograph_layers('chelsea')); assert 'torch' not in sys.modules"
    )
    first = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert unpack(first)[0]["held"] == [cat_alone.look.layer]
    assert len(first) < 1.5e6
    rest = Trace.from_bytes(photograph_layers("chelsea", [0, 11]))
    fresh = trace(playground.load("dinov2-small"), playground.open_image(cat_alone.path), size=rest.size)
    for layer in (0, 11):
        assert (rest.row(layer, 2, (5, 5)) - fresh.row(layer, 2, (5, 5))).abs().max() < 5e-3


def test_an_eye_of_the_cat_finds_the_other_eye_where_the_photograph_opens(cat_alone):
    prepare()
    seen = Trace.from_bytes(photograph_layers("chelsea"))
    eye = start_patch("chelsea", seen.grid)
    for scale, least in (("on", 0.6), ("off", 0.95)):
        weights = seen.on_grid(seen.row(cat_alone.look.layer, cat_alone.look.head, eye, scale))
        other = weights[6:12, 10:16].sum().item()  # the left eye: 5 % of the picture
        print(f"1/√d_k {scale}: the other eye takes {other:.0%}, its strongest patch {weights.max().item():.0%}")
        assert other > least
    assert weights.max() > 0.9  # without 1/√d_k nearly everything comes from one patch


def test_a_pack_of_another_version_is_not_shown_and_makes_room_for_the_new_one(cat_alone, monkeypatch):
    prepare()
    monkeypatch.setattr(prepared, "__version__", "another")
    assert photograph_layers("chelsea") is None
    prepare()
    assert len(list(borrowed.cache_folder().glob("*.pack"))) == 1


def test_a_damaged_pack_is_not_shown(cat_alone):
    folder = borrowed.cache_folder()
    folder.mkdir(parents=True)
    for damage in (b"", b"half a pack", bytes(1000)):
        (folder / prepared.photograph_file(cat_alone)).write_bytes(damage)
        assert photograph_layers("chelsea") is None


def test_a_cache_that_can_not_be_written_is_said_when_photographs_are_prepared(cat_alone, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    with pytest.raises(PlaygroundError, match="can't be written"):
        prepare()


@pytest.mark.parametrize("sample", PHOTOGRAPHS, ids=lambda sample: sample.name)
def test_a_photograph_opens_as_finely_as_any_picture_in_its_model(sample):
    patch, usual = models.cut(sample.look.model)
    with Image.open(sample.path) as image:
        assert fit(image.size, patch, usual) == tuple(side * patch for side in sample.look.grid)


@pytest.fixture
def cat_s_session(cat_alone):
    prepare()
    return session.start({}, {})


def test_the_first_picture_is_the_cat_where_the_other_eye_answers(cat_s_session):
    here, trouble = cat_s_session
    look = named("chelsea").look
    assert (trouble, here.picture.name, here.wish) == (None, "chelsea", Wish("dinov2-small"))
    assert here.view == {"layer": str(look.layer), "head": str(look.head)}
    header, arrays = unpack(here.blob())
    assert unpack(arrays[header["packs"][0]["section"]].tobytes())[0]["held"] == [look.layer]
    assert "van der Walt" in header["images"][0]["credit"]
    assert "layers" in header["ui"]["asks"]


def test_each_picture_opens_in_its_model_until_a_person_has_chosen_one(cat_s_session):
    here, _ = cat_s_session
    here.show(pictures.sample("flock"))
    assert here.wish == Wish("bundled")
    here.show(pictures.sample("chelsea"))
    assert here.wish == Wish("dinov2-small")
    assert here.view["head"] == "5"
    here.use("bundled")
    here.show(pictures.sample("flock"))
    here.show(pictures.sample("chelsea"))
    assert here.wish.model == "bundled"


def test_a_link_with_a_sample_alone_opens_it_at_its_best_and_one_with_a_layer_there(cat_s_session):
    here, _ = session.start({"sample": "chelsea"}, {"query": "3,4"})
    assert (here.wish.model, here.view) == ("dinov2-small", {"query": "3,4", "layer": "6", "head": "5"})
    here, _ = session.start({"sample": "chelsea", "model": "dinov2-small"}, {"layer": "2"})
    assert here.view == {"layer": "2"}
    here, _ = session.start({"sample": "chelsea", "model": "bundled"}, {})
    assert (here.wish, here.chose_model) == (Wish("bundled"), True)


def test_another_model_keeps_the_patch_where_it_is(cat_s_session):
    here, _ = cat_s_session
    here.use("bundled")
    here.hear_view({"layer": "4", "query": "5,9", "locked": "true", "draw": "light"})
    rows, columns = traces.grid(here.picture, here.wish)
    here.use("dinov2-small")
    row, column = (int(part) for part in here.view["query"].split(","))
    assert abs((row + 0.5) / 23 - 5.5 / rows) < 1 / 23
    assert abs((column + 0.5) / 34 - 9.5 / columns) < 1 / 34
    assert here.view | {"query": ""} == {"layer": "6", "head": "5", "query": "", "locked": "true", "draw": "light"}


def test_photographs_stand_first_once_they_are_there(cat_alone, monkeypatch):
    assert [s.name for s in samples()] == ["chelsea", *(s.name for s in SAMPLES)]
    with pytest.raises(PlaygroundError, match="download photographs"):
        _ = named("coffee").path
    monkeypatch.delenv("PLAYGROUND_BORROWED")
    assert samples() == SAMPLES
    with pytest.raises(PlaygroundError, match="nothing to prepare"):
        prepare()


@pytest.mark.parametrize("sample", [*PHOTOGRAPHS, *SAMPLES], ids=lambda sample: sample.name)
def test_every_picture_says_who_made_it_and_what_may_be_done_with_it(sample):
    assert sample.author
    assert sample.licence in ("CC0", "public domain", "MIT")
    assert sample.kind == ("photograph" if sample.look else "drawing")
    if sample.look:
        row, column = start_patch(sample.name, sample.look.grid)
        assert 0 <= row < sample.look.grid[0]
        assert 0 <= column < sample.look.grid[1]


def test_the_facts_about_the_offered_models_are_up_to_date():
    spec = importlib.util.spec_from_file_location("benchmarks_zoo", ROOT / "benchmarks" / "zoo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert json.loads(OFFERS.read_text(encoding="utf-8")) == module.offers()
