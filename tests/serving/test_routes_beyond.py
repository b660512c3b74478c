"""HTTP answers about relevance, occlusion, labels and texts equal the results of Python."""

import numpy as np
import pytest
import torch
from models.test_text_tower import save_towers
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.analysis import occlusion
from playground.pack import unpack
from playground.serving import effort, pictures, settings, traces
from playground.serving.routes import ROUTES
from playground.serving.traces import Setup
from serving.test_routes_traces import describe, get_part
from serving.visits import assert_refused

pytestmark = pytest.mark.usefixtures("nothing_fetched")
FLOCK = {"sample": "flock", "model": "bundled", "detail": "1"}


@pytest.fixture(scope="module")
def flock_trace():
    return traces.trace(pictures.sample("flock"), Setup("bundled"))


def header_and_values(answer) -> tuple[dict, np.ndarray]:
    header, arrays = unpack(answer.content)
    return header, arrays["matrix"][0].astype(np.float32)


def test_the_labels_come_with_their_numbers_the_likeliest_first(http, flock_trace):
    reply = get_part(http, FLOCK, "labels").json()["labels"]
    assert len(reply) == 13
    assert [name for _, name, _ in reply[:5]] == [label for label, _ in flock_trace.predictions]
    assert all(flock_trace.vit.config.labels[number] == name for number, name, _ in reply)
    assert get_part(http, FLOCK | {"model": "untrained"}, "labels").status_code == 200


def test_the_logit_lens_is_python_s(http, flock_trace):
    _, values = header_and_values(get_part(http, FLOCK, "answers", layer="4", label="5"))
    np.testing.assert_allclose(values, flock_trace.answers(4)[:, 5], atol=1e-3)
    layers = get_part(http, FLOCK, "answers", query="cls").json()["layers"]
    assert len(layers) == flock_trace.layers
    assert [label for label, _ in layers[-1]] == [label for label, _ in flock_trace.predictions[:3]]


def test_each_step_of_an_occlusion_continues_the_last_and_says_how_well_relevance_foretells_it(
    http, flock_trace, monkeypatch
):
    pass_counts = []
    real_answers = occlusion.Blanking._answer_vectors
    monkeypatch.setattr(
        occlusion.Blanking,
        "_answer_vectors",
        lambda self, pixels: pass_counts.append(len(pixels)) or real_answers(self, pixels),
    )
    digest = describe(http, FLOCK)["digest"]
    steps, step = [], 0
    while not steps or step < steps[-1][0]["steps"]:
        words = FLOCK | {"query": "7,5", "by": "mean", "step": str(step)}
        steps.append(header_and_values(http.get(f"/api/trace/{digest}/occluded", params=words)))
        step += 1
    passes = [header["passes"] for header, _ in steps]
    assert passes == sorted(set(passes))
    assert passes[-1] == steps[-1][0]["of"] == occlusion.passes_of(flock_trace.grid)
    # Each pass runs once; each answer also needs one pass of the whole picture. Equal blocks save up to four passes.
    assert passes[-1] - 4 <= sum(pass_counts) - len(steps) <= passes[-1]
    measurement = occlusion.Blanking(flock_trace, occlusion.Target(query=(7, 5)))
    *_, last_state = occlusion.occlusion(measurement)
    np.testing.assert_allclose(steps[-1][1], last_state.map.flatten(), rtol=2e-3, atol=1e-5)
    relevance = flock_trace.on_grid(flock_trace.relevance((7, 5)))
    moves = measurement.moved(occlusion.blocks(flock_trace.grid, last_state.complete_side))
    assert steps[-1][0]["foretells"] == pytest.approx(
        occlusion.foretells(relevance, last_state.complete_side, moves), abs=0.01
    )


def test_relevance_that_would_take_too_long_is_refused_before_it_begins(http, monkeypatch):
    get_part(http, FLOCK, "relevance", query="1,2")  # so that the pass is in the cache
    digest = describe(http, FLOCK)["digest"]
    monkeypatch.setattr(effort, "MOST_SECONDS", 0.0)
    for name, words in {
        "relevance": {"query": "1,1"}, "occluded": {"query": "1,1", "step": "0"},
        "answers": {"query": "1,1"},
    }.items():  # fmt: skip
        answer = http.get(f"/api/trace/{digest}/{name}", params=FLOCK | words)
        assert "would take about" in assert_refused(answer, 400), name


CAPTION_WORDS = {"sample": "meadow", "model": "own/captions"}


@pytest.fixture
def captions(tmp_path, monkeypatch):
    (tmp_path / "captions").mkdir()
    save_towers("CLIP", tmp_path / "captions")
    monkeypatch.setenv("PLAYGROUND_MODELS_DIR", str(tmp_path))
    monkeypatch.setattr(settings, "now", settings.read)
    return TestClient(Starlette(routes=ROUTES))


def test_a_model_that_learned_from_captions_says_so_and_reads_a_text(captions):
    assert captions.get("/api/trace", params=CAPTION_WORDS | {"model": "bundled"}).json()["text"] is False
    reply = captions.get("/api/trace", params=CAPTION_WORDS).json()
    assert reply["text"] is True
    path = f"/api/trace/{reply['digest']}/text"
    maps = []
    for text in ("a cat", "sky"):
        answer = captions.get(path, params=CAPTION_WORDS | {"layer": "1", "text": text})
        assert answer.status_code == 200, answer.text
        maps.append(torch.from_numpy(unpack(answer.content)[1]["matrix"].copy()).view(torch.float16)[0])
        assert len(maps[-1]) == 1 + reply["grid"][0] * reply["grid"][1]
        assert maps[-1].abs().max() <= 1
    assert not torch.equal(*maps)
    for wrong_words in ({"text": ""}, {"text": 61 * "a"}, {}):
        response = captions.get(path, params=CAPTION_WORDS | {"layer": "1"} | wrong_words)
        assert response.status_code == 400
        assert "1 to 60 letters" in response.json()["says"]


def test_a_model_without_a_text_tower_says_so(captions):
    reply = captions.get("/api/trace", params=CAPTION_WORDS | {"model": "bundled"}).json()
    path = f"/api/trace/{reply['digest']}/text"
    answer = captions.get(path, params=CAPTION_WORDS | {"model": "bundled", "layer": "1", "text": "a cat"})
    assert answer.status_code == 400
    assert "has no text tower" in answer.json()["says"]
