"""HTTP answers with the microscope's numbers, read without a browser, equal the results of Python."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import playground
from playground.analysis.scale import changed_verdicts
from playground.analysis.sinks import in_the_stream
from playground.pack import unpack
from playground.serving import pictures, queue, routes_traces, traces
from playground.serving.traces import Setup
from playground.tracing import Trace
from serving.visits import ANNA, BERT, assert_refused, bring, photograph

pytestmark = pytest.mark.usefixtures("nothing_fetched")
FLOCK = {"sample": "flock", "model": "untrained"}


@pytest.fixture
def own_words(http):
    return {"mine": bring(http, ANNA)["id"], "model": "untrained"}


def describe(http, words: dict, who: dict | None = None) -> dict:
    answer = http.get("/api/trace", params=words, headers=who)
    assert answer.status_code == 200, answer.text
    return answer.json()


def get_part(http, words: dict, name: str, who: dict | None = None, **extra_words):
    digest = describe(http, words, who)["digest"]
    answer = http.get(f"/api/trace/{digest}/{name}", params=words | extra_words, headers=who)
    assert answer.status_code == 200, answer.text
    return answer


def row_of(pack: bytes, layer: int, head: int, query: int) -> np.ndarray:
    """One row of weights, computed from the pack's q and k as softmax(q · k × scale)."""
    header, arrays = unpack(pack)
    layer_place = header["held"].index(layer)
    heads = header.get("some_heads", list(range(header["heads"])))
    q, k = (arrays[name][layer_place].reshape(len(heads), header["tokens"], header["head_dim"]) for name in "qk")
    head_place = heads.index(head)
    scores = (q[head_place, query].astype(np.float64) @ k[head_place].astype(np.float64).T) * header["scale"]
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


@pytest.mark.parametrize("whose", ["a sample's", "one's own"])
@pytest.mark.parametrize("heads", [None, "3"])
def test_a_row_that_is_read_over_http_is_the_row_of_python(http, own_words, whose, heads):
    words, who = (FLOCK, None) if whose == "a sample's" else (own_words, ANNA)
    reply = describe(http, words, who)
    extra_words = {"layers": "4"} | ({} if heads is None else {"heads": heads})
    pack = get_part(http, words, "layers", who, **extra_words).content
    image = playground.open_image(pictures.sample("flock").image if who is None else photograph())
    patch = 8
    trace = playground.trace(
        playground.load("untrained"), image, size=(reply["grid"][0] * patch, reply["grid"][1] * patch)
    )
    query = len(trace.prefix) + 5 * reply["grid"][1] + 7
    http_row, python_row = row_of(pack, 4, 3, query), trace.row(4, 3, (5, 7)).numpy()
    assert np.abs(http_row - python_row).max() < 2e-3 * python_row.max(), (http_row.max(), python_row.max())
    assert python_row.argmax() == http_row.argmax()


def test_a_sample_s_row_in_the_bundled_model_needs_no_pass_and_is_python_s(http, monkeypatch):
    monkeypatch.setattr(traces, "_run", lambda *_: pytest.fail("a pass was made"))
    words = {"sample": "meadow", "model": "bundled", "detail": "2"}  # a picture and a model that ship with the app
    pack = get_part(http, words, "layers", layers="4").content
    meadow = pictures.sample("meadow")
    size = traces.size(meadow, Setup("bundled", 2))
    trace = playground.trace(playground.load("bundled"), meadow.image, size=size)
    query = len(trace.prefix) + 5 * trace.grid[1] + 7
    python_row = trace.row(4, 3, (5, 7)).numpy()
    assert np.abs(row_of(pack, 4, 3, query) - python_row).max() < 5e-3 * python_row.max()


def test_features_flows_and_a_rollout_of_one_patch_are_python_s_in_sixteen_bits(http):
    trace = traces.trace(pictures.sample("flock"), Setup("untrained"))
    for answer, expected in (
        (get_part(http, FLOCK, "features", layer="3"), trace.features(3)),
        (get_part(http, FLOCK, "values", layer="3"), in_the_stream(trace, 3)),
        (get_part(http, FLOCK, "flows"), trace.rollout()),
        (get_part(http, FLOCK, "flows", query="7,5"), trace.rollout((7, 5))[None]),
        (get_part(http, FLOCK, "flows", query="cls"), trace.rollout("cls")[None]),
    ):
        _, arrays = unpack(answer.content)
        assert arrays["matrix"].dtype == "float16"
        assert arrays["matrix"].shape == tuple(expected.shape)
        assert abs(arrays["matrix"] - expected.numpy()).max() < 2e-3 * abs(expected).max()


def test_pytorch_gives_the_story_s_row_in_full_precision_and_from_the_browser_s_halves(http):
    reply = get_part(http, FLOCK, "ran", layer=2, head=1, query="3,4").json()
    trace = playground.trace("untrained", "flock")
    np.testing.assert_allclose(reply["full"], trace.row(2, 1, (3, 4)).numpy(), atol=1e-5)
    pack = get_part(http, FLOCK, "layers", layers=2).content
    np.testing.assert_allclose(reply["halves"], row_of(pack, 2, 1, trace.token((3, 4))), atol=1e-5)
    assert reply["torch"]
    for wrong_words in ({"layer": 99}, {"head": 99}, {"query": "99,99"}, {"query": "../"}):
        words = FLOCK | {"layer": 2, "head": 1, "query": "3,4"} | wrong_words
        answer = http.get(f"/api/trace/{describe(http, FLOCK)['digest']}/ran", params=words)
        assert answer.status_code == 400, answer.text


def test_the_names_of_a_layer_s_heads_are_those_that_are_measured_with_what_a_head_was_told(http):
    words = {"sample": "flock", "model": "bundled-taught"}
    reply = get_part(http, words, "names", layer="4").json()["heads"]
    trace = traces.trace(pictures.sample("flock"), Setup("bundled-taught"))
    assert [tuple(head) for head in reply] == traces.names_of_heads(trace, 4)
    assert reply[0][3] == "stay on the object that the patch belongs to"


def test_the_verdict_of_a_whole_pass_is_python_s(http):
    words = {"sample": "flock", "model": "bundled", "scale": "off"}
    reply = get_part(http, words, "verdict").json()["labels"]
    scaled, unscaled = (traces.trace(pictures.sample("flock"), Setup("bundled", scale=scale)) for scale in (None, 1.0))
    assert [label for label, *_ in reply] == [verdict.label for verdict in changed_verdicts(scaled, unscaled)]
    assert [numbers for _, *numbers in reply] == [
        [round(v.scaled_share, 5), round(v.unscaled_share, 5)] for v in changed_verdicts(scaled, unscaled)
    ]


def test_a_trace_says_what_the_browser_has_to_know_before_its_numbers(http, own_words):
    reply = describe(http, {"sample": "meadow"})
    assert (reply["model"], reply["title"], reply["detail"], reply["private"]) == ("bundled", "our small ViT", 2, False)
    assert {"detail": reply["detail"], "grid": reply["grid"]} in reply["grids"]
    assert reply["picture"]["sample"] == "meadow"
    assert http.get(f"/{reply['picture']['address']}").headers["Content-Type"] == "image/jpeg"
    own_trace = describe(http, own_words, ANNA)
    assert (own_trace["private"], own_trace["picture"]["title"]) == (True, "0.jpg")
    assert own_trace["picture"]["address"] == f"api/pictures/{own_words['mine']}.jpg"
    assert http.get(f"/{own_trace['picture']['address']}", headers=ANNA).status_code == 200


PARTS = {
    "layers": {"layers": "0"},
    "features": {"layer": "0"},
    "values": {"layer": "0"},
    "flows": {},
    "relevance": {"query": "4,9"},
    "labels": {},
    "answers": {"layer": "0", "label": "1"},
    "occluded": {"query": "4,9", "step": "0"},
    "moved": {"query": "4,9"},
    "names": {"layer": "0"},
    "heads": {},
    "ran": {"layer": "2", "head": "1", "query": "3,4"},
    "verdict": {},
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_sample_s_trace_is_cached_for_ever_and_of_an_own_picture_s_never(http, own_words, name):
    scale = {"scale": "off"} if name == "verdict" else {}
    for_all = get_part(http, {"sample": "flock", "model": "bundled"} | scale, name, **PARTS[name])
    assert for_all.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    own_part = get_part(http, own_words | {"model": "bundled"} | scale, name, ANNA, **PARTS[name])
    assert own_part.headers["Cache-Control"] == "private, no-store"
    assert "Set-Cookie" not in for_all.headers


@pytest.mark.parametrize("name", PARTS)
def test_an_old_digest_is_gone_and_the_page_is_asked_to_reload(http, name):
    answer = http.get(f"/api/trace/{'0' * 16}/{name}", params=FLOCK | PARTS[name])
    assert "reload" in assert_refused(answer, 410)


HOSTILE_REQUESTS = [
    ("layers", {"layers": "99"}), ("layers", {"layers": "-1"}), ("layers", {"layers": "x"}),
    ("layers", {"layers": ""}), ("layers", {"layers": "0," * 5000}), ("layers", {"layers": "٣"}),
    ("layers", {"layers": "0", "heads": "99"}), ("layers", {"layers": "9" * 400}), ("layers", {"heads": "x"}),
    ("values", {}), ("values", {"layer": "99"}),
    ("features", {}), ("features", {"layer": "99"}), ("features", {"layer": "1e1"}), ("features", {"layer": "NaN"}),
    ("flows", {"query": "1,x"}), ("flows", {"query": "99,99"}), ("flows", {"query": "nobody"}),
    ("flows", {"query": "-1,0"}), ("flows", {"query": "²,²"}), ("flows", {"query": "1,2,3"}),
    ("flows", {"query": "9" * 5000 + ",1"}),
    ("relevance", {}), ("relevance", {"query": "99,99"}), ("relevance", {"label": "1000"}),
    ("relevance", {"label": "x"}), ("answers", {}), ("answers", {"layer": "0"}), ("answers", {"query": "99,0"}),
    ("answers", {"layer": "99", "label": "0"}), ("occluded", {"query": "4,9"}),
    ("occluded", {"query": "4,9", "step": "9"}), ("occluded", {"query": "4,9", "step": "0", "by": "black"}),
    ("heads", {"at": "twice"}), ("names", {}), ("names", {"layer": "12"}), ("names", {"layer": " 1"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "extra_words"), HOSTILE_REQUESTS, ids=lambda value: str(value)[:40])
def test_a_part_that_does_not_exist_is_refused_with_a_sentence(http, name, extra_words):
    digest = describe(http, FLOCK)["digest"]
    assert_refused(http.get(f"/api/trace/{digest}/{name}", params=FLOCK | extra_words), 400)


def test_layers_that_exceed_one_answer_are_refused_and_one_layer_is_not(http, monkeypatch):
    monkeypatch.setattr(traces, "MOST_PACKED_BYTES", 10**5)
    digest = describe(http, FLOCK)["digest"]
    pack = http.get(f"/api/trace/{digest}/layers", params=FLOCK | {"layers": "0,1,2"})
    assert "ask for fewer" in assert_refused(pack, 400)
    assert http.get(f"/api/trace/{digest}/layers", params=FLOCK | {"layers": "2"}).status_code == 200


def test_numbers_are_packed_one_after_the_other_however_many_ask(http, monkeypatch):
    """A layer may take 20 MB: 300 students who ask for it at once must not take 300 times as much."""
    running, counts, to_bytes = [], [], Trace.to_bytes

    def count_and_pack(*arguments):
        running.append(1)
        counts.append(len(running))
        data = to_bytes(*arguments)
        running.pop()
        return data

    monkeypatch.setattr(Trace, "to_bytes", count_and_pack)
    with ThreadPoolExecutor(8) as executor:
        picture = pictures.sample("flock")
        list(executor.map(lambda _: traces.pack_of_layers(picture, Setup("untrained"), [0]), range(24)))
    assert counts == [1] * 24
    assert queue.packings().at_work == []


def test_all_flows_of_very_many_tokens_are_too_much_and_one_is_not(http, monkeypatch):
    monkeypatch.setattr(routes_traces, "MOST_FLOWS", 10)
    digest = describe(http, FLOCK)["digest"]
    assert "lock a patch" in assert_refused(http.get(f"/api/trace/{digest}/flows", params=FLOCK), 400)
    assert http.get(f"/api/trace/{digest}/flows", params=FLOCK | {"query": "7,5"}).status_code == 200


def test_two_people_who_open_one_sample_cost_one_pass(http, monkeypatch):
    real_run, calls = traces._run, []
    traces.sample_traces().drop_where(lambda key: True)
    monkeypatch.setattr(traces, "_run", lambda *work: (calls.append(work), real_run(*work))[1])
    packs = [get_part(http, FLOCK, "layers", who, layers="1").content for who in (ANNA, BERT, None)]
    assert len(calls) == 1
    assert len(set(packs)) == 1


@pytest.mark.parametrize("cut", ["residual@2:4,9<1,1", "values@3;*>3x3@1", "head@1.0>4.1", "zero@1.0>4.1"])
def test_a_trace_with_a_cut_equals_python_s(http, cut):
    """The address of a trace takes a `cut` in the notation of figures; links from the Lab use it."""
    words = FLOCK | {"cut": cut} | ({} if cut.startswith("zero") else {"with": "sample:meadow"})
    description = describe(http, words)
    assert description["cut"] == cut.split(";")
    assert description["digest"] != describe(http, FLOCK)["digest"]
    trace, donor = (playground.trace("untrained", name) for name in ("flock", "meadow"))
    expected = {
        "residual@2:4,9<1,1": lambda: trace.patch(donor, 2, {(4, 9): (1, 1)}),
        "values@3;*>3x3@1": lambda: playground.trace("untrained", "flock", cut="*>3x3@1").patch(
            donor, 3, what="values"
        ),
        "head@1.0>4.1": lambda: trace.paths((1, 0), (4, 1), donor).through,
        "zero@1.0>4.1": lambda: trace.paths((1, 0), (4, 1)).through,
    }[cut]()
    row = row_of(get_part(http, words, "layers", layers="5").content, 5, 1, 20)
    assert row == pytest.approx(expected.weights(5, [20])[1, 0].numpy(), abs=2e-3)
    assert get_part(http, words, "moved", query="4,9").json()["by"] == pytest.approx(
        expected.moved(trace, (4, 9)), rel=1e-3
    )


@pytest.mark.parametrize("compared", [{}, {"with": "model:untrained"}, {"with": "sample:nobody"}])
def test_a_cut_takes_values_only_from_a_sample(http, compared):
    answer = http.get("/api/trace", params=FLOCK | {"cut": "residual@2"} | compared)
    assert answer.status_code == 400
    assert "with=sample:NAME" in answer.text


def test_a_head_at_its_mean_is_measured_beside_zeros(http):
    words = FLOCK | {"cut": "mean@3.1"}
    reply = get_part(http, words, "moved", query="4,9").json()
    trace = playground.trace("untrained", "flock")
    for name, to in (("by", "mean"), ("zero", "zero")):
        ablated = trace.ablate(heads=[(3, 1)], to=to)
        assert reply[name] == pytest.approx(ablated.moved(trace, (4, 9)), rel=1e-3), name
