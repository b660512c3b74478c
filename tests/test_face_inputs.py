"""Every function of the face takes integers of any library, layers counted from the end, and models of any precision;
what it can't take is refused in a sentence."""

import copy
import errno
import inspect
from functools import partial

import numpy as np
import pytest
import timm
import torch

import playground
from playground import PlaygroundError
from playground.analysis.faithfulness import faithfulness, with_shuffled
from playground.figures import batch
from playground.figures.notebook import FIELD_TYPES, OPTIONS
from playground.samples import named

SIZE = (112, 112)


@pytest.fixture(scope="module")
def vit():
    return playground.load("bundled")


@pytest.fixture(scope="module")
def seen(vit):
    return playground.trace(vit, "meadow", size=SIZE)


@pytest.fixture(scope="module")
def other(vit):
    return playground.trace(vit, "flock", size=SIZE)


def plain(result):
    if isinstance(result, torch.Tensor):
        return result.tolist()
    if isinstance(result, playground.Trace):
        return result.record[result.layers - 1].q.tolist(), result.interventions, result.cuts.texts
    return result


# Each takes a trace, another one, an integer maker `n` and a folder.
OF_INTEGERS = {
    "row": lambda s, o, n, out: s.row(n(1), n(1), (n(1), n(2))),
    "weights": lambda s, o, n, out: s.weights(n(1), [n(6)]),
    "scores": lambda s, o, n, out: s.scores(n(1), n(1), [n(1), n(2)], scale=n(1)),
    "relevance": lambda s, o, n, out: s.relevance(label=n(1)),
    "to_bytes": lambda s, o, n, out: s.to_bytes(layers=[n(1)], heads=[n(1), n(0)]),
    "ablate": lambda s, o, n, out: s.ablate([(n(1), n(1))]),
    "patch": lambda s, o, n, out: s.patch(o, n(1), positions=[n(1), n(2)]),
    "paths": lambda s, o, n, out: s.paths((n(1), n(1)), (n(2), n(0)), o).margin(n(1)),
    "occlude": lambda s, o, n, out: s.occlude(blocks=n(7), label=n(1)),
    "figure": lambda s, o, n, out: (
        playground.figure(s, n(1), n(1), (n(1), n(2)), what="relevance", label=n(1), dpi=n(50), width=n(100)).spec
    ),
    "save": lambda s, o, n, out: playground.save(s, out / "one.csv", n(1), n(1), (n(1), n(2))).read_text(),
    "trace": lambda s, o, n, out: playground.trace(s.vit, "meadow", size=(n(112), n(112))),
    "trace_many": lambda s, o, n, out: [
        one.arrays["entropy"].tolist()
        for one in playground.trace_many([named("meadow").path], s.vit, "entropy", size=(n(112), n(112)), batch=n(1))
    ],
    "sweep": lambda s, o, n, out: playground.sweep(
        [named("meadow").path], s.vit, "moved", "layers × positions", blocks=n(7), size=(n(112), n(112)), progress=False
    )["value"].values.tolist(),
}


@pytest.mark.parametrize("number", [np.int64, torch.tensor], ids=["int64", "tensor"])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers_of_numpy_and_torch_are_integers(name, number, seen, other, tmp_path):
    call = OF_INTEGERS[name]
    assert plain(call(seen, other, number, tmp_path)) == plain(call(seen, other, int, tmp_path))


OF_LAYERS = {
    "row": lambda s, o, layer, out: s.row(layer, 1, "cls"),
    "to_bytes": lambda s, o, layer, out: s.to_bytes(layers=[layer]),
    "ablate": lambda s, o, layer, out: s.ablate([(layer, 0)]),
    "ablate to a mean of pictures": lambda s, o, layer, out: s.ablate([(layer, 0)], to="mean", mean_of=out),
    "patch": lambda s, o, layer, out: s.patch(o, layer),
    "paths": lambda s, o, layer, out: s.paths((0, 1), (layer, 2)).margin(1),
    "figure": lambda s, o, layer, out: playground.figure(s, layer).spec,
}


@pytest.mark.parametrize("name", OF_LAYERS)
def test_layers_count_from_the_end_too(name, seen, other, tmp_path):
    call = OF_LAYERS[name]
    (tmp_path / "one.jpg").write_bytes(named("meadow").path.read_bytes())
    assert plain(call(seen, other, -1, tmp_path)) == plain(call(seen, other, seen.layers - 1, tmp_path))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_the_trust_in_maps_is_measured_in_every_precision(dtype, vit):
    trace = playground.trace(copy.deepcopy(vit).to(dtype), "meadow", size=(56, 56))
    for scores in faithfulness(trace, with_shuffled(trace.vit)):
        assert np.isfinite(scores.rank_correlation), scores


UNDER_AUTOCAST = {
    "relevance": lambda s: s.relevance((1, 1)),
    "occlude": lambda s: s.occlude(blocks=7, query="cls"),
    "row": lambda s: s.row(1, 1, (1, 1)),
}


@pytest.mark.parametrize("name", UNDER_AUTOCAST)
def test_autocast_and_inference_mode_change_no_number(name, vit, seen):
    with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
        trace = playground.trace(vit, "meadow", size=SIZE)
        within = UNDER_AUTOCAST[name](trace)
    for result in (within, UNDER_AUTOCAST[name](trace)):
        assert torch.allclose(result, UNDER_AUTOCAST[name](seen), atol=1e-6)


def test_autocast_and_inference_mode_change_no_number_of_many_pictures(vit):
    def measure():
        many = playground.trace_many([named("meadow").path], vit, ("entropy", "features"), size=SIZE)
        swept = playground.sweep([named("meadow").path], vit, "moved", size=SIZE, progress=False)
        return {**next(iter(many)).arrays, "swept": swept["value"].values}

    with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
        within = measure()
    for name, numbers in measure().items():
        np.testing.assert_allclose(within[name], numbers, atol=1e-6, err_msg=name)


def test_a_model_loaded_in_inference_mode_is_differentiated():
    with torch.inference_mode():
        vit = playground.load("untrained")
        trace = playground.trace(vit, "meadow", size=SIZE, grad=True)
        its_own_trace = playground.trace(timm.create_model("vit_tiny_patch16_224", depth=1, img_size=64), "meadow")
    assert its_own_trace.relevance((1, 1)).isfinite().all()
    assert trace.logits is None or trace.logits.requires_grad
    assert trace.record[0].q.requires_grad
    assert trace.relevance((1, 1)).isfinite().all()


WRONG_MASKS = {
    "nobody is heard": (lambda n: torch.zeros(1, 1, n, n, dtype=torch.bool), "leaves a token nobody to hear"),
    "nobody, in one number": (lambda n: torch.zeros(1, 1, 1, 1, dtype=torch.bool), "leaves a token nobody to hear"),
    "numbers": (lambda n: torch.zeros(1, 1, n, n), "torch.float32 of .* who hears whom is True or False"),
    "another grid's": (lambda n: torch.ones(1, 1, 3, 3, dtype=torch.bool), r"\(1, 1, 3, 3\)"),
    "two sides": (lambda n: torch.eye(n, dtype=torch.bool), r"pictures or 1, heads or 1, 201, 201"),
}


@pytest.mark.parametrize("name", WRONG_MASKS)
def test_a_mask_that_says_not_who_hears_whom_is_refused(name, vit, seen):
    mask, sentence = WRONG_MASKS[name]
    with pytest.raises(PlaygroundError, match=sentence):
        playground.trace(vit, "meadow", size=SIZE, at={"layers.1.attention.heard": lambda _: mask(seen.tokens)})


def test_quantised_weights_and_none_at_all_are_told_in_a_sentence(vit):
    timm_model = timm.create_model("vit_tiny_patch16_224", depth=1, img_size=64)
    for model in (vit, timm_model):
        quantised = torch.ao.quantization.quantize_dynamic(copy.deepcopy(model), {torch.nn.Linear}, dtype=torch.qint8)
        in_bytes = copy.deepcopy(model)
        in_bytes.blocks[0].mlp.fc1.weight = torch.nn.Parameter(torch.zeros(3, 3, dtype=torch.int8), requires_grad=False)
        empty = copy.deepcopy(model).to("meta")
        for other, kind in ((quantised, "quantised"), (in_bytes, "quantised"), (empty, "on the device meta")):
            for call in (partial(playground.trace, other, "meadow"), partial(playground.check, vit, other)):
                with pytest.raises(PlaygroundError, match=f"are {kind}.*: load it in float32"):
                    call()


def test_a_store_on_a_full_disk_is_a_sentence(vit, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("playground.figures.zarr_file._regions", full)
    with pytest.raises(PlaygroundError, match=r"one.zarr can't be written: No space left on device. A .zarr keeps"):
        playground.trace_many([named("meadow").path], vit, "entropy", size=SIZE).write(tmp_path / "one.zarr")


def test_a_folder_of_class_folders_is_a_folder_of_pictures(tmp_path):
    for name in ("cats/one", "dogs/one", "figures/cats/old"):
        file = (tmp_path / name).with_suffix(".jpg")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(named("meadow").path.read_bytes())
    pictures = batch.pictures_of([str(tmp_path)], tmp_path / "figures")
    assert pictures == [str(tmp_path / "cats/one.jpg"), str(tmp_path / "dogs/one.jpg")]
    assert batch.pictures_of([str(tmp_path / "figures")], tmp_path / "figures") == [
        str(tmp_path / "figures/cats/old.jpg")
    ]


def test_the_options_of_a_figure_are_fields_of_its_spec():
    figure_options = {name for name in inspect.signature(playground.figure).parameters if name in FIELD_TYPES}
    assert figure_options - {"layer", "head", "query", "scale"} <= set(OPTIONS) <= FIELD_TYPES.keys()


WRONG_CALLS = {
    "a place between patches": (lambda s, o: s.row(1, 1, (1.5, 2)), "A query is a patch"),
    "a place of truths": (lambda s, o: s.row(1, 1, np.array([True, False])), "A query is a patch"),
    "weights of a number": (lambda s, o: s.weights(1, 5), "take a list of queries"),
    "too short a row": (lambda s, o: s.on_grid(np.ones(5)), "A row has 201 tokens"),
    "a name to match": (lambda s, o: s.match("flock"), "what playground.trace gives; given was str"),
    "parts with a name": (lambda s, o: s.parts(3, "flock"), "what playground.trace gives; given was str"),
    "a patch of nothing": (lambda s, o: s.patch(None, 1), "what playground.trace gives; given was NoneType"),
    "no layer to patch": (lambda s, o: s.patch(o, None), "There is no layer None"),
    "moved since another model": (
        lambda s, o: s.moved(playground.trace("untrained", "meadow"), "cls"),
        "within one model",
    ),
    "moved since another grid": (lambda s, o: s.moved(playground.trace(s.vit, "meadow", size=(56, 56)), "cls"), "grid"),
    "heads in no pairs": (lambda s, o: s.ablate((1, 0)), r"named as \(layer, head\)"),
    "a mean of a number": (lambda s, o: s.ablate([(1, 0)], to="mean", mean_of=3), "mean_of= is a folder"),
    "again with nothing": (lambda s, o: s.again(None), "with something else in it"),
    "again with a number": (lambda s, o: s.again(3), "at= is a function"),
    "again in another precision": (lambda s, o: s.again({"layers.1.mlp": lambda x: x.double()}), "torch.float64"),
    "a pack of nothing": (lambda s, o: s.to_bytes(layers=[]), "some layers and heads, each once"),
    "a pack of a number": (lambda s, o: s.to_bytes(layers=1), "lists of numbers"),
    "a pack of nine bits": (lambda s, o: s.to_bytes(numbers="int9"), "float16 or int8"),
    "a trace under a number": (lambda s, o: s.save(3.5), "3.5 can't be written"),
    "a trace of nothing": (lambda s, o: playground.Trace.load(None), "None can't be read"),
    "a figure under a number": (lambda s, o: playground.save(s, 3), "under a file's name"),
    "a layout of a list": (lambda s, o: playground.figure(s, layout=["head"]), "layout= is a text"),
    "rows of a number": (lambda s, o: playground.figure(s, layout="grid", rows=3), "rows= is a text"),
    "cuts of a number": (lambda s, o: playground.trace(s.vit, "meadow", cut=3), "Cuts are a text or several"),
    "half a pixel": (lambda s, o: playground.trace(s.vit, "meadow", size=(112.5, 112)), "A size is"),
    "an endless size": (lambda s, o: playground.trace(s.vit, "meadow", size=(float("inf"), 8)), "A size is"),
    "sparse pixels": (lambda s, o: playground.trace(s.vit, pixel_values=torch.ones(1, 3, 8, 8).to_sparse()), "dense"),
    "many of a number": (lambda s, o: playground.trace_many(3, s.vit), "no pictures to look at"),
    "nothing of many": (lambda s, o: playground.trace_many(["meadow"], s.vit, ()), "Of many pictures there are"),
    "many of one side": (lambda s, o: playground.trace_many(["meadow"], s.vit, size=112), "A size is"),
    "blocks of one and a half": (
        lambda s, o: playground.sweep([named("meadow").path], s.vit, "moved", "layers × positions", blocks=1.5),
        "blocks= is the side of a block",
    ),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_call_that_means_nothing_is_a_sentence(name, seen, other):
    call, sentence = WRONG_CALLS[name]
    with pytest.raises(PlaygroundError, match=sentence):
        call(seen, other)


def test_what_can_be_meant_is_understood(vit, seen, other):
    assert seen.patch(other, [1, 1], (p for p in [(1, 1)])).interventions == ("residual of flock in layers 1 at 1,1",)
    assert playground.open_image(torch.rand(3, 9, 9).bfloat16()).size == (9, 9)
    many = playground.trace_many((path for path in [named("meadow").path]), vit, "entropy", size=SIZE)
    assert [one.arrays["entropy"].shape for one in many] == [(6, 6, 201)]
