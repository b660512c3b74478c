"""A figure of a head that was told where to look says so."""

from dataclasses import replace

from playground.figures.drawing.captions import taught_notes
from playground.figures.drawing.one_map import OneMap, ShownMap, Subject
from playground.figures.drawing.spec import Spec
from playground.vit_parts import GuidedHead


def test_a_caption_says_that_a_head_was_told(small_trace):
    spec = Spec(layer=1, head=2, query=(3, 3))

    def notes_for(spec):
        return taught_notes([ShownMap(OneMap(Subject(small_trace, small_trace.shown, ""), spec, None), None)])

    assert notes_for(spec) == []
    small_trace.vit.told_heads = (
        GuidedHead(1, 2, "patch", "stay on its object"),
        GuidedHead(2, 0, "cls", "look at objects"),
    )
    assert notes_for(spec) == ["In training this head was told to stay on its object."]
    assert notes_for(replace(spec, head=1)) == []
    assert notes_for(replace(spec, query="cls")) == []
    assert notes_for(replace(spec, layer=2, head=0, query="cls")) == [
        "In training this head was told to look at objects."
    ]
    assert notes_for(replace(spec, what="rollout")) == []
