"""Prepared packs hold the same as packs that are computed now."""

import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from waiting import until

import playground
from playground.assets import OFFERS, PACKS
from playground.models import borrowed
from playground.pack import unpack
from playground.samples import PHOTOGRAPHS, SAMPLES, named, start_patch
from playground.serving import chosen, models, pictures, prepared, queue, traces
from playground.serving.prepared import SamplePack, all_packs, fresh_pack, prepare
from playground.serving.traces import Setup
from playground.tracing import Trace, trace

ROOT = Path(__file__).parent.parent.parent
DRAWINGS = ["meadow-2", *(sample.name for sample in SAMPLES)]
ALL_LAYERS = list(range(6))


@pytest.fixture
def cache(nothing_fetched, tmp_path):
    """The path of the packs' folder, which does not exist yet, on a machine without photographs."""
    return borrowed.cache_folder()


@pytest.fixture
def cat_alone(really_here, tmp_path, monkeypatch):
    """The weights and the photograph of a cat in a read-only folder, not yet prepared; and an empty cache."""
    really_here("dinov2-small")
    really_here("photographs")
    fetched_folder = tmp_path / "fetched"
    fetched_folder.mkdir()
    for file in (borrowed.DINOV2.file, "chelsea.png"):
        (fetched_folder / file).symlink_to(borrowed.find(file))
    monkeypatch.setenv("PLAYGROUND_BORROWED", str(fetched_folder))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(prepared, "SAMPLES", ())  # without the drawings: other tests prepare them
    monkeypatch.setattr(prepared, "FINER_GRIDS", {})
    return named("chelsea")


def layers_of(name: str, numbers: list[int] | None = None, detail: int = 1) -> bytes | None:
    return prepared.pack_of_layers(name, SamplePack(named(name)).model, detail, numbers, None)


def header_shown(name: str, numbers: list[int] | None = None) -> dict:
    picture = pictures.sample(name)
    return unpack(traces.pack_of_layers(picture, chosen.usual_setup(picture.sample_name), numbers))[0]


def assert_close(pack: bytes, other_pack: bytes) -> None:
    (header, arrays), (other_header, expected) = unpack(pack), unpack(other_pack)
    predictions = [dict(pack_header.pop("predictions")) for pack_header in (header, other_header)]
    assert header == other_header
    assert predictions[0] == pytest.approx(predictions[1], abs=1e-3)
    for name in expected:
        assert np.allclose(arrays[name], expected[name], rtol=2e-3, atol=2e-3), name


# Packs that ship with the app -----------------------------------------------------------------------------------------


def test_the_shipped_layer_equals_that_of_a_fresh_trace():
    new_pack = fresh_pack("meadow", models.load("bundled"), 2)
    assert_close((PACKS / "meadow-2.pack").read_bytes(), prepared.some_layers(new_pack, None))


FIRST_PICTURE_CODE = """
import sys
from starlette.applications import Starlette
from starlette.testclient import TestClient
from playground.serving.routes_traces import ROUTES
client = TestClient(Starlette(routes=ROUTES))
said = client.get("/api/trace").json()
for words in ("layers=4&heads=0", "layers=4"):
    assert client.get(f"/api/trace/{said['digest']}/layers?{words}").status_code == 200
assert (said["picture"]["sample"], said["detail"]) == ("meadow", 2), said
print("torch" in sys.modules, "numpy" in sys.modules)
"""


def test_the_first_picture_needs_no_torch_on_a_machine_that_has_nothing_yet(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "XDG_", "PLAYGROUND_"))}
    environment |= {"HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    result = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE_CODE], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert result.stdout == "False True\n", result.stdout + result.stderr
    assert not list(tmp_path.iterdir())


# Packs that are made on this machine ----------------------------------------------------------------------------------


def test_each_drawing_is_prepared_once_and_says_what_a_fresh_trace_says(cache):
    assert prepare() == DRAWINGS
    assert prepare() == []
    for sample_pack in all_packs():
        prepared_layers = layers_of(sample_pack.sample.name, ALL_LAYERS, sample_pack.detail)
        assert_close(prepared_layers, fresh_pack(sample_pack.sample.name, models.load("bundled"), sample_pack.detail))


def test_a_new_pack_takes_the_place_of_its_old_one_and_of_no_other(cache, monkeypatch):
    monkeypatch.setattr(prepared, "fresh_pack", lambda *arguments: b"numbers")
    prepare()
    old_files = set(cache.iterdir())
    monkeypatch.setattr(prepared, "__version__", "another")
    assert prepare() == DRAWINGS
    assert sorted(path.name for path in cache.iterdir()) == sorted(sample_pack.file for sample_pack in all_packs())
    assert not old_files & set(cache.iterdir())


DAMAGES = {
    "empty": lambda data: b"",
    "a header of zeros": lambda data: bytes(1000),
    "truncated in its numbers": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"x",
    "one bit of a number": lambda data: data[:-9000] + bytes([data[-9000] ^ 1]) + data[-8999:],
    "zeros at its end, as after a power cut": lambda data: data[:-4096] + bytes(4096),
}


@pytest.fixture(scope="module")
def flock():
    return fresh_pack("flock", models.load("bundled"))


@pytest.fixture
def flock_alone(cache, flock, monkeypatch):
    monkeypatch.setattr(prepared, "all_packs", lambda: [SamplePack(named("flock"))])
    monkeypatch.setattr(prepared, "fresh_pack", lambda *arguments: flock)
    assert prepare() == ["flock"]
    return cache


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_pack_counts_as_absent(flock_alone, damage):
    cache = flock_alone
    file = cache / SamplePack(named("flock")).file
    content = file.read_bytes()
    assert len(content) > 900_000
    assert layers_of("flock", [2]) is not None
    file.write_bytes(damage(content))
    assert layers_of("flock", [2]) is None
    assert header_shown("flock", [2])["held"] == [2]  # computed, not prepared
    assert prepare() == ["flock"]
    assert layers_of("flock", [2]) is not None


def test_a_damaged_pack_in_the_cache_does_not_hide_a_whole_one_that_was_built_in(flock_alone, tmp_path, monkeypatch):
    cache = flock_alone
    cache.rename(tmp_path / "built-in")
    monkeypatch.setenv("PLAYGROUND_BORROWED", str(tmp_path / "built-in"))
    assert prepare() == []
    cache.mkdir()
    (cache / SamplePack(named("flock")).file).write_bytes(b"half a pack")
    assert layers_of("flock", [2]) is not None


@pytest.fixture
def unwritable(cache, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "file" / "hub"))


def test_where_nothing_can_be_written_a_drawing_is_traced_once_and_kept_in_memory(unwritable, monkeypatch, caplog):
    with caplog.at_level("INFO", "playground"):
        prepared.prepare_behind_everybody()
    assert "can't be written" in caplog.text
    passes, real_run = [], traces._run
    monkeypatch.setattr(traces, "_run", lambda *arguments: passes.append(arguments) or real_run(*arguments))
    traces.sample_traces().drop_where(lambda key: True)
    for layer in (0, 1, 0):
        assert header_shown("twins", [layer])["held"] == [layer]
    assert len(passes) == 1, passes


def test_a_person_who_chooses_a_drawing_comes_before_the_preparation_of_all(cache, monkeypatch):
    passes, made_names, headers = queue.Queue(), [], []
    monkeypatch.setattr(queue, "passes", lambda: passes)
    traces.sample_traces().drop_where(lambda key: True)
    background_thread = threading.Thread(target=lambda: made_names.extend(prepare()))
    person_thread = threading.Thread(target=lambda: headers.append(header_shown("portrait", [1])))
    with queue.turn():  # takes the queue's only turn, so that whoever comes next waits
        background_thread.start()
        until(lambda: len(passes.line) == 1, "nothing is prepared")
        person_thread.start()
        until(lambda: len(passes.line) == 2, "the person does not wait")
        assert [ticket.last for ticket in passes.line] == [False, True]
        assert layers_of("portrait", [1]) is None
    person_thread.join()
    background_thread.join()
    assert [header["held"] for header in headers] == [[1]]
    assert made_names == DRAWINGS
    assert layers_of("portrait", [1]) is not None


# Photographs ----------------------------------------------------------------------------------------------------------


def test_a_photograph_is_prepared_once_and_then_read_layer_by_layer_without_torch(cat_alone):
    assert layers_of("chelsea") is None
    assert prepare() == ["chelsea"]
    assert prepare() == []
    code = (
        "import sys; from playground.serving.prepared import pack_of_layers;"
        "sys.stdout.buffer.write(pack_of_layers('chelsea', 'dinov2-small', 1, [6], None));"
        "assert 'torch' not in sys.modules"
    )
    first_layer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert unpack(first_layer)[0]["held"] == [cat_alone.look.layer]
    assert len(first_layer) < 1.5e6
    two_layers = Trace.from_bytes(layers_of("chelsea", [0, 11]))
    fresh_trace = trace(playground.load("dinov2-small"), playground.open_image(cat_alone.path), size=two_layers.size)
    for layer in (0, 11):
        assert (two_layers.row(layer, 2, (5, 5)) - fresh_trace.row(layer, 2, (5, 5))).abs().max() < 5e-3


def test_a_photograph_is_not_prepared_on_a_server_that_does_not_offer_its_model(cat_alone, monkeypatch):
    assert [sample_pack.name for sample_pack in all_packs()] == ["chelsea"]
    monkeypatch.setattr(models, "has_photographs", lambda: False)
    assert all_packs() == []


def test_each_picture_opens_in_its_model_unless_an_address_names_one(cat_alone):
    assert chosen.read({"sample": "flock"}, None)[1] == Setup("bundled")
    assert chosen.read({"sample": "chelsea"}, None)[1] == Setup("dinov2-small")
    assert chosen.read({"sample": "chelsea", "model": "bundled"}, None)[1] == Setup("bundled")


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
