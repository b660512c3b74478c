"""What a cut moves, beside cuts of as much attention to other patches."""

import pytest
import torch
from PIL import Image

import playground
from playground.analysis import cutting
from playground.errors import PlaygroundError
from playground.vit import Config, VisionTransformer


@pytest.fixture
def run(small, picture):
    return lambda texts: playground.trace(small, picture, cut=texts)


def test_how_far_a_feature_moved(small, seen, run):
    cut = run(["7,5>3,2+3,3"])
    before, after = (one.features()[seen.token((7, 5))] for one in (seen, cut))
    assert cutting.moved(seen, cut, (7, 5)) == pytest.approx(float((after - before).norm() / before.norm()))
    assert cutting.moved(seen, run([]), (7, 5)) == 0


def test_the_attention_that_a_cut_takes_is_what_its_rows_gave(seen, run):
    cut = run(["7,5+6,6>3,2+3,3@1.2"])
    keys = [seen.token((3, 2)), seen.token((3, 3))]
    expected = torch.stack([seen.row(1, 2, query)[keys].sum() for query in ((7, 5), (6, 6))]).mean()
    assert cutting.attention_cut(seen, cut.cuts.all) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("text", ["7,5>3,2+3,3+3,4", "7,5+6,6>3,2+0,0@1", "*>5,5+5,6@2.1"])
def test_other_patches_take_as_much_attention_and_are_others(seen, run, text):
    cut = run([text])
    found = cutting.beside_others(seen, cut, (7, 5), run)
    assert found.others_attention == pytest.approx([found.attention] * 3, rel=0.31)
    (one,) = cut.cuts.all
    for n in range(3):
        (other,) = run([cutting._of_others(seen, one, n)]).cuts.all
        assert not {*other.unheard} & {*one.unheard, *(one.hearers or ())}
        assert (other.hearers, other.layers, other.heads) == (one.hearers, one.layers, one.heads)
    assert found.times == pytest.approx(found.by / (sum(found.others) / 3))


def test_where_no_patch_is_far_no_edge_is_cut():
    vit = VisionTransformer(Config(image_size=(32, 32), patch_size=8, width=24, depth=2, heads=3)).eval()
    seen = playground.trace(vit, Image.new("RGB", (32, 32)))
    assert cutting.cut_edge(seen, (1, 1), lambda texts: seen) is None


def test_one_edge_is_cut_and_as_large_blocks_elsewhere_are(small, seen, run):
    query, cuts = (7, 5), []

    def told(texts):
        cuts.append(texts[0])
        return run(texts)

    edge = cutting.cut_edge(seen, query, told)
    print(edge)
    features = torch.nn.functional.normalize(seen.features(), dim=-1)
    alike = seen.on_grid(features @ features[seen.token(query)])
    near = max(2, max(seen.grid) // cutting.NEARBY)
    far = [(r, c) for r in range(seen.grid[0]) for c in range(seen.grid[1]) if max(abs(r - 7), abs(c - 5)) > near]
    assert edge.twin == max(far, key=lambda spot: float(alike[spot]))
    assert edge.before == pytest.approx(float(alike[edge.twin]), abs=1e-6)
    assert f"{edge.twin[0]},{edge.twin[1]}" in cuts[0].partition(">")[2].split("+")
    cut = run([cuts[0]])
    assert edge.by == pytest.approx(cutting.moved(seen, cut, query))
    after = torch.nn.functional.normalize(cut.features(), dim=-1)
    assert edge.after == pytest.approx(float(after[seen.token(query)] @ after[seen.token(edge.twin)]), abs=1e-6)
    assert edge.others == pytest.approx([cutting.moved(seen, run([one]), query) for one in cuts[1:]])
    heard = [{*one.partition(">")[2].split("+")} for one in cuts]
    assert len(cuts) == 1 + cutting.BLOCKS
    assert not any(heard[0] & other for other in heard[1:])


def test_what_silences_nearly_everybody_has_no_other_beside_it(seen, run):
    with pytest.raises(PlaygroundError, match="no other patches"):
        cutting.beside_others(seen, run(["*>3x3"]), (7, 5), run)
