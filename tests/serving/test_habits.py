"""The names of what heads do, measured behind the page."""

import waiting

from playground.analysis import heads
from playground.serving import habits, pictures, traces
from playground.serving.traces import Wish
from playground.told import told


def complete(found) -> bool:
    found.asked = habits.time.monotonic()
    return found.complete


def test_names_are_given_at_once_as_far_as_they_are_known_and_are_those_of_the_heads_page():
    picture, wish, own = pictures.sample("flock"), Wish("untrained"), traces.own_cache()
    found = habits.ask(picture, wish, own, habits.kept_names(), first=2)
    waiting.until(lambda: complete(found), "all layers to be named")
    looked = heads.look(traces.trace(picture, wish, own))
    assert {layer: [name for name, *_ in found.layers[layer]] for layer in found.layers} == dict(
        enumerate(looked.kinds())
    )
    assert habits.ask(picture, wish, own, habits.kept_names(), first=2) is found


def test_a_head_that_was_told_where_to_look_says_so():
    """What its file lists, and of no other head."""
    picture, wish, own = pictures.sample("flock"), Wish("bundled-taught"), traces.own_cache()
    found = habits.ask(picture, wish, own, habits.kept_names(), first=4)
    waiting.until(lambda: complete(found), "all layers to be named")
    vit = traces.trace(picture, wish, own).vit
    for layer, names in found.layers.items():
        for head, (*_, said) in enumerate(names):
            assert said == (told(vit, layer, head) or "")
    assert any(said for names in found.layers.values() for *_, said in names)


def test_for_nobody_nothing_is_measured(monkeypatch):
    monkeypatch.setattr(habits, "PATIENCE", -1)
    found = habits.ask(pictures.sample("twins"), Wish("untrained"), traces.own_cache(), habits.kept_names(), first=0)
    waiting.until(lambda: not found.running, "the measuring to end")
    assert found.layers == {}
    assert not found.complete
