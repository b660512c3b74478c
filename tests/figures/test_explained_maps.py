"""Figures of relevance of a label, of occlusion, of the logit lens, and of lengths without outliers."""

from dataclasses import replace

import numpy as np
import pytest
import timm
from timm.models import save_for_hf

import playground
from playground.__main__ import main
from playground.analysis import occlusion, token_norms
from playground.errors import PlaygroundError
from playground.figures.command_line import unused_reasons
from playground.figures.drawing import captions, maps
from playground.figures.drawing.one_map import OneMap, ShownMap, Subject
from playground.figures.drawing.spec import Spec

SPEC = Spec(query=(4, 4), layer=1)


def drawn_grid(trace, **options) -> np.ndarray:
    return maps.map_of(trace, replace(SPEC, **options), 1, 0, None).grid


def test_the_relevance_of_a_label_is_drawn_where_one_is_named(small_trace):
    np.testing.assert_allclose(
        drawn_grid(small_trace, what="relevance", label="3"),
        small_trace.on_grid(small_trace.relevance(label=3)),
        rtol=1e-4,
        atol=1e-7,
    )
    np.testing.assert_allclose(
        drawn_grid(small_trace, what="relevance"),
        small_trace.on_grid(small_trace.relevance((4, 4))),
        rtol=1e-4,
        atol=1e-7,
    )


@pytest.mark.parametrize("blank", occlusion.FILLINGS)
def test_a_drawn_occlusion_is_the_last_of_its_steps(small_trace, blank):
    *_, last_step = occlusion.occlusion(occlusion.Blanking(small_trace, occlusion.Target(query=(4, 4)), blank))
    np.testing.assert_allclose(
        drawn_grid(small_trace, what="occlusion", blank=blank), last_step.map, rtol=1e-3, atol=1e-6
    )


def test_the_logit_lens_shows_the_named_label_else_the_likeliest(small_trace):
    np.testing.assert_allclose(
        drawn_grid(small_trace, what="label", label="3"), small_trace.on_grid(small_trace.answers(1)[:, 3]), rtol=1e-4
    )
    likeliest = int(small_trace.logits.argmax())
    np.testing.assert_allclose(
        drawn_grid(small_trace, what="label"), small_trace.on_grid(small_trace.answers(1)[:, likeliest]), rtol=1e-4
    )


def test_an_unknown_label_is_refused_in_a_sentence(small_trace):
    with pytest.raises(PlaygroundError, match="no label 99"):
        drawn_grid(small_trace, what="label", label="99")


@pytest.fixture
def labelled_folder(tmp_path, monkeypatch, picture):
    """A folder with a picture and a model whose labels have names."""
    monkeypatch.chdir(tmp_path)
    picture.save("leaf.png")
    model = timm.create_model("vit_tiny_patch16_224", num_classes=3, depth=2)
    save_labelled(model, "leaves", ["rust", "sane", "1"])
    return tmp_path


def save_labelled(model, folder: str, labels: list[str]) -> None:
    config = {"model_args": {"depth": 2}, "model_config": {"label_names": labels}}
    save_for_hf(model, folder, safe_serialization=True, **config)  # pickled weights would be read in another process


def test_a_label_may_be_given_by_its_name_and_the_caption_names_it(labelled_folder):
    arguments = ["figure", "leaf.png", "--model", "leaves", "--what", "relevance", "--dpi", "20"]
    assert main([*arguments, "--label", "sane", "-o", "name.png"]) == 0
    assert main([*arguments, "--label", "1", "-o", "number.png"]) == 0
    by_name, by_number = ((labelled_folder / name).read_bytes() for name in ("name.png", "number.png"))
    assert by_name != by_number  # "1" names the third label
    trace = playground.trace("leaves", "leaf.png")
    for label in ("sane", 1):
        playground.save(trace, "words.txt", what="relevance", label=label)
        assert "what speaks for and against label “sane”, through all layers" in (
            labelled_folder / "words.txt"
        ).read_text(encoding="utf-8")
    playground.save(trace, "words.txt", what="label")
    likeliest = ["rust", "sane", "1"][int(trace.logits.argmax())]
    assert f"how likely the likeliest label, “{likeliest}”, is" in (labelled_folder / "words.txt").read_text(
        encoding="utf-8"
    )


def test_each_of_several_pictures_or_models_has_its_own_label(labelled_folder, picture):
    """Once, a caption named the first picture's likeliest label for both pictures. A second model explained the label
    with the same number instead of the label with the same name."""
    timm_model = timm.create_model("vit_tiny_patch16_224", num_classes=3, depth=2)
    save_labelled(timm_model, "others", ["1", "rust", "sane"])
    picture.rotate(90).save("other.png")
    arguments = ["figure", "leaf.png", "--model", "leaves", "--layout", "compare", "--what", "label"]
    assert main([*arguments, "--with-image", "other.png", "-o", "two.txt"]) == 0
    caption = (labelled_folder / "two.txt").read_text(encoding="utf-8")
    assert "how likely the likeliest label is" in caption, caption
    assert main([*arguments, "--with-model", "others", "--label", "sane", "-o", "two.npz"]) == 0
    other_trace = playground.trace("others", "leaf.png")
    with np.load("two.npz") as arrays:
        map_of_other = arrays["values_2"][0]
    # label 2 of the model "others" is “sane”
    np.testing.assert_allclose(map_of_other[1:], other_trace.answers(1)[1:, 2], rtol=1e-4)


def test_a_label_that_a_model_has_not_is_refused_in_a_sentence(labelled_folder, capsys):
    arguments = ["figure", "leaf.png", "--model", "leaves", "--what", "relevance", "-o", "a.png", "--label"]
    for label in ("mildew", "7"):
        assert main([*arguments, label]) == 2
        assert f"leaves has no label {label!r}: rust, sane, 1" in capsys.readouterr().err.replace(" 7:", " '7':")


def test_outlying_lengths_can_be_left_out_of_the_exposure():
    lengths = np.array([[10, 11, 12, 13], [14, 15, 16, 100.0]])
    map_ = maps.Map(lengths, (), None)
    highest = {
        typical: maps.domain(replace(SPEC, what="norm", typical=typical), [map_]).high for typical in (False, True)
    }
    assert highest == {False: 100, True: 16}
    assert token_norms.outlier_bound(lengths) == 25.75


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"what": "relevance", "label": "3"}, "label 3"), ({"what": "relevance"}, "the feature of"),
        ({"what": "occlusion", "blank": "noise"}, "noise"), ({"what": "label"}, "the likeliest label"),
    ],
)  # fmt: skip
def test_the_caption_says_what_is_explained_and_how(options, words, small_trace):
    spec = replace(SPEC, **options)
    assert words in captions._statement(
        spec, "row 4, column 4", [ShownMap(OneMap(Subject(small_trace, small_trace.shown, ""), spec, None), None)]
    )


def test_options_that_would_change_nothing_are_unused():
    assert {"label", "blank", "typical"} <= unused_reasons(SPEC).keys()
    assert "label" not in unused_reasons(replace(SPEC, what="occlusion"))
    assert "query" in unused_reasons(replace(SPEC, what="relevance", label="3"))
    assert "typical" not in unused_reasons(replace(SPEC, what="norm"))
