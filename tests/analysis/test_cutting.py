"""The effect of a cut, compared with the effects of cuts that take as much attention from other patches."""

import pytest
import torch

import playground
from playground.analysis import cutting
from playground.figures.drawing.view import allowed_words


@pytest.fixture
def trace_with_cuts(small, picture):
    return lambda texts: playground.trace(small, picture, cut=texts)


def test_moved_is_the_relative_change_of_the_feature(small, small_trace, trace_with_cuts):
    cut_trace = trace_with_cuts(["7,5>3,2+3,3"])
    old_feature, new_feature = (trace.features()[small_trace.token((7, 5))] for trace in (small_trace, cut_trace))
    assert cutting.feature_move(small_trace, cut_trace.cuts.texts, (7, 5)) == pytest.approx(
        float((new_feature - old_feature).norm() / old_feature.norm())
    )
    assert cutting.feature_move(small_trace, [], (7, 5)) == 0


def test_the_attention_that_a_cut_takes_is_the_mean_of_its_hearers_weights(small_trace, trace_with_cuts):
    cut_trace = trace_with_cuts(["7,5+6,6>3,2+3,3@1.2"])
    keys = [small_trace.token((3, 2)), small_trace.token((3, 3))]
    expected = torch.stack([small_trace.row(1, 2, query)[keys].sum() for query in ((7, 5), (6, 6))]).mean()
    assert cutting.attention_cut(small_trace, cut_trace.cuts.all) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("text", ["7,5>3,2+3,3+3,4", "7,5+6,6>3,2+0,0@1", "*>5,5+5,6@2.1"])
def test_controls_cut_as_much_attention_to_other_patches(small_trace, trace_with_cuts, text):
    cut_trace = trace_with_cuts([text])
    comparison = cutting.moved_beside_controls(small_trace, [text], (7, 5))
    assert comparison.control_attention == pytest.approx([comparison.attention] * 3, rel=0.31)
    (first_cut,) = cut_trace.cuts.all
    for n in range(3):
        (control,) = trace_with_cuts([cutting._control_cut(small_trace, first_cut, n)]).cuts.all
        assert not {*control.unheard} & {*first_cut.unheard, *(first_cut.hearers or ())}
        assert (control.hearers, control.layers, control.heads) == (
            first_cut.hearers,
            first_cut.layers,
            first_cut.heads,
        )
    assert comparison.times == pytest.approx(comparison.move / (sum(comparison.control_moves) / 3))


def test_an_edge_and_blocks_of_the_same_size_elsewhere_are_cut(monkeypatch, small, small_trace, trace_with_cuts):
    query, texts, passes, pauses = (7, 5), [], [], []
    features, with_cuts = small.features, cutting._features_with
    monkeypatch.setattr(small, "features", lambda *given: passes.append(given) or features(*given))
    monkeypatch.setattr(
        cutting, "_features_with", lambda whole, made: texts.extend(made.texts) or with_cuts(whole, made)
    )
    edge = cutting.cut_edge(small_trace, query, lambda: pauses.append(len(passes)))
    monkeypatch.undo()
    print(edge)
    assert len(passes) == cutting.PASSES
    assert pauses == [*range(1, cutting.PASSES)], "others come in between any two passes"
    features = torch.nn.functional.normalize(small_trace.features(), dim=-1)
    cosines = small_trace.on_grid(features @ features[small_trace.token(query)])
    radius = max(2, max(small_trace.grid) // cutting.NEAR_DIVISOR)
    far_patches = [
        (r, c)
        for r in range(small_trace.grid[0])
        for c in range(small_trace.grid[1])
        if max(abs(r - 7), abs(c - 5)) > radius
    ]
    assert edge.twin == max(far_patches, key=lambda spot: float(cosines[spot]))
    assert edge.cosine_before == pytest.approx(float(cosines[edge.twin]), abs=1e-6)
    assert edge.cut == texts[0]
    assert f"{edge.twin[0]},{edge.twin[1]}" in texts[0].partition(">")[2].split("+")
    cut_trace = trace_with_cuts([texts[0]])
    old_feature = small_trace.features()[small_trace.token(query)]
    moves = [
        float((trace_with_cuts([text]).features()[small_trace.token(query)] - old_feature).norm() / old_feature.norm())
        for text in texts
    ]
    assert [edge.move, *edge.control_moves] == pytest.approx(moves)
    unit_features = torch.nn.functional.normalize(cut_trace.features(), dim=-1)
    assert edge.cosine_after == pytest.approx(
        float(unit_features[small_trace.token(query)] @ unit_features[small_trace.token(edge.twin)]), abs=1e-6
    )
    cut_patches = [{*text.partition(">")[2].split("+")} for text in texts]
    assert len(texts) == 1 + cutting.CONTROL_COUNT
    assert not any(cut_patches[0] & patches for patches in cut_patches[1:])


@pytest.mark.parametrize("grid", [(7, 7), (14, 14), (23, 34), (64, 64), (128, 20)])
def test_a_cut_edge_fits_into_an_address_and_two_blocks_share_no_patch(grid):
    block_radius = cutting.cut_radius(grid)
    text = cutting._cut_around((0, 0), (grid[0] // 2, grid[1] // 2), block_radius, grid)
    assert allowed_words({"cut": text}) == {"cut": text}
    assert len(text.split("+")) == (2 * block_radius + 1) ** 2
    assert cutting._near_radius(grid) >= 2 * block_radius
