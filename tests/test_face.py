"""The functions of `playground`: they accept pictures, models and indices of all usual types, or say why not."""

import inspect

import numpy as np
import pytest
import torch
from PIL import Image

import playground
from playground import PlaygroundError
from playground.figures.command_line import FLAGS
from playground.samples import SAMPLES


@pytest.fixture(scope="module")
def photo():
    return playground.open_image(SAMPLES[0].path)


@pytest.fixture(scope="module")
def usual_trace(photo):
    return playground.trace("untrained", photo)


def test_a_path_a_sample_an_array_and_a_tensor_are_the_same_picture(usual_trace, photo):
    array = np.asarray(photo)
    pictures = {
        "sample": SAMPLES[0].name, "path": SAMPLES[0].path, "text": str(SAMPLES[0].path),
        "bytes": SAMPLES[0].path.read_bytes(),
        "array": array, "fractions": array / 255, "batch": torch.tensor(array).permute(2, 0, 1)[None],
        "tensor": torch.tensor(array).permute(2, 0, 1) / 255,
    }  # fmt: skip
    for kind, picture_value in pictures.items():
        assert torch.equal(playground.trace("untrained", picture_value).input, usual_trace.input), kind


def test_a_figure_is_as_sharp_as_the_picture_that_was_traced(usual_trace, photo):
    assert usual_trace.size == (112, 112)
    figure = playground.figure(usual_trace, layer=1, width="page")
    drawn = np.asarray(figure.axes[0].images[0].get_array(), int)
    assert len(drawn) > 600
    expected = np.asarray(photo.resize(drawn.shape[1::-1], Image.Resampling.LANCZOS))
    assert np.abs(drawn - expected).mean() < 1
    assert 'alt="meadow"' in playground.show(playground.trace("untrained", "meadow"), layer=1).page


def test_a_figure_of_a_sample_asks_from_the_sample_s_patch_and_has_its_name():
    figure = playground.figure(playground.trace("untrained", "meadow"), layer=1)
    assert figure.spec.query == (8, 5)
    assert figure.facts["image"] == "meadow"


def test_the_options_of_a_figure_are_the_flags_of_the_command(usual_trace):
    parameters = inspect.signature(playground.figure).parameters
    assert set(parameters) - {"seen", "image", "other", "values"} <= set(FLAGS)


WRONG_CALLS = {
    "no model": (lambda seen: playground.trace(None, "meadow"), "a model that playground.load gave"),
    "a strange model": (lambda seen: playground.trace(torch.nn.Linear(2, 2), "meadow"), "given was Linear"),
    "no name": (lambda seen: playground.load(3), "load takes a model's name"),
    "no picture": (lambda seen: playground.trace("untrained", None), "takes a picture, or the model.s input"),
    "a list": (lambda seen: playground.trace("untrained", [1, 2]), "not from list"),
    "four channels": (lambda seen: playground.trace("untrained", np.zeros((9, 9, 4))), r"given was \(9, 9, 4\)"),
    "normalised": (lambda seen: playground.trace("untrained", torch.randn(3, 32, 32)), "Undo the normalisation"),
    "sixteen bits": (lambda seen: playground.open_image(np.zeros((32, 32), np.int16)), "given was int16"),
    "no file": (lambda seen: playground.trace("untrained", "no.jpg"), "There is no file"),
    "no trace": (lambda seen: playground.figure("cat.jpg"), "what playground.trace gives; given was str"),
    "nothing to show": (lambda seen: playground.show(None), "given was NoneType"),
    "a word for a head": (lambda seen: seen.row(1, "x", (1, 1)), "There is no head 'x'"),
    "a list of layers": (lambda seen: seen.row([1], 1, (1, 1)), r"There is no layer \[1\]"),
    "no query": (lambda seen: seen.row(1, 1, None), "A query is a patch"),
    "another, but no comparison": (lambda seen: playground.figure(seen, other=seen), "layout='compare'"),
    "nothing to compare": (lambda seen: playground.figure(seen, layout="compare"), "Name another picture or another"),
    "dots in words": (lambda seen: playground.figure(seen, dpi="many"), "dpi goes from 10"),
    "no kind of file": (lambda seen: playground.save(seen, "a.docx"), "A figure is saved as"),
    "no option": (lambda seen: playground.save(seen, "a.png", colour="red"), "A figure has no option colour"),
}


@pytest.mark.parametrize("mistake", WRONG_CALLS)
def test_a_wrong_call_is_refused_in_a_sentence(usual_trace, mistake):
    call, sentence = WRONG_CALLS[mistake]
    with pytest.raises(PlaygroundError, match=sentence):
        call(usual_trace)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html", ".npz"])
def test_whatever_is_shown_can_be_saved(usual_trace, tmp_path, suffix):
    file = playground.save(usual_trace, tmp_path / f"a{suffix}", layer=1, head=2, query=(3, 4))
    assert file.stat().st_size > 2000
