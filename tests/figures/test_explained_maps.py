"""Figures of relevance of a label, of occlusion, of the logit lens, and of lengths without those that stand apart."""

from dataclasses import replace

import numpy as np
import pytest

from playground.analysis import occlusion, outliers
from playground.errors import PlaygroundError
from playground.figures import captions, maps
from playground.figures.spec import Spec
from playground.figures.unused_options import unused

SPEC = Spec(query=(4, 4), layer=1)


def grid(seen, **what) -> np.ndarray:
    return maps.look(seen, replace(SPEC, **what), 1, 0, None).grid


def test_the_relevance_of_a_label_is_drawn_where_one_is_named(seen):
    np.testing.assert_allclose(
        grid(seen, what="relevance", label="3"), seen.on_grid(seen.relevance(label=3)), rtol=1e-4, atol=1e-7
    )
    np.testing.assert_allclose(grid(seen, what="relevance"), seen.on_grid(seen.relevance((4, 4))), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("by", occlusion.BLANKS)
def test_an_occlusion_is_the_last_of_its_steps(seen, by):
    *_, last = occlusion.occlusion(occlusion.Measured(seen, occlusion.Asked(query=(4, 4)), by))
    np.testing.assert_allclose(grid(seen, what="occlusion", blank=by), last.map, rtol=1e-3, atol=1e-6)


def test_the_logit_lens_is_of_the_label_that_is_named_else_of_the_likeliest(seen):
    np.testing.assert_allclose(grid(seen, what="label", label="3"), seen.on_grid(seen.answers(1)[:, 3]), rtol=1e-4)
    best = int(seen.logits.argmax())
    np.testing.assert_allclose(grid(seen, what="label"), seen.on_grid(seen.answers(1)[:, best]), rtol=1e-4)


def test_a_label_that_there_is_not_gets_a_sentence(seen):
    with pytest.raises(PlaygroundError, match="no label 99"):
        grid(seen, what="label", label="99")


def test_lengths_that_stand_apart_can_be_left_out_of_the_exposure():
    lengths = np.array([[10, 11, 12, 13], [14, 15, 16, 100.0]])
    one = maps.Map(lengths, (), None)
    high = {typical: maps.domain(replace(SPEC, what="norm", typical=typical), [one]).high for typical in (False, True)}
    assert high == {False: 100, True: 16}
    assert outliers.bound(lengths) == 25.75


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({"what": "relevance", "label": "3"}, "label 3"), ({"what": "relevance"}, "the feature of"),
        ({"what": "occlusion", "blank": "noise"}, "noise"), ({"what": "label"}, "the likeliest label"),
    ],
)  # fmt: skip
def test_the_caption_says_what_is_explained_and_how(what, says):
    assert says in captions._says(replace(SPEC, **what), "row 4, column 4")


def test_what_would_change_nothing_is_told():
    assert {"label", "blank", "typical"} <= unused(SPEC).keys()
    assert "label" not in unused(replace(SPEC, what="occlusion"))
    assert "query" in unused(replace(SPEC, what="relevance", label="3"))
    assert "typical" not in unused(replace(SPEC, what="norm"))
