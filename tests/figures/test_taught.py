"""A figure of a head that was told where to look says so."""

from dataclasses import replace

from playground.figures.captions import taught
from playground.figures.spec import Spec
from playground.vit import Told


def test_a_caption_says_that_a_head_was_told(seen):
    spec = Spec(layer=1, head=2, query=(3, 3))
    assert taught(spec, seen) == []
    seen.vit.told = (Told(1, 2, "patch", "stay on its object"), Told(2, 0, "cls", "look at objects"))
    assert taught(spec, seen) == ["In training this head was told to stay on its object."]
    assert taught(replace(spec, head=1), seen) == []
    assert taught(replace(spec, query="cls"), seen) == []
    assert taught(replace(spec, layer=2, head=0, query="cls"), seen) == [
        "In training this head was told to look at objects."
    ]
    assert taught(replace(spec, what="rollout"), seen) == []
