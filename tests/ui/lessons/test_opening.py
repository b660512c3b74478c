"""No page is empty while a model is loaded and runs."""

import pytest
from playground.ui.host import with_opening_picture

from playground.lessons.parts import Drawing, Picture, Wait, Words
from playground.lessons.registry import LESSONS
from playground.serving import models, traces
from playground.serving.cache import Cache
from playground.serving.here import Here

pytestmark = pytest.mark.usefixtures("nothing_fetched")


def fresh_here() -> Here:
    """A `Here` for the sample `meadow` with an empty cache of results."""
    here = Here({"sample": "meadow", "model": "bundled"})
    here._worked = Cache(100, size=lambda _: 1)
    return here


@pytest.mark.parametrize(("name", "step"), [(name, step) for name, lesson in LESSONS.items() for step in lesson.steps])
def test_every_step_shows_the_picture_before_the_model_is_asked_anything(monkeypatch, name, step):
    def ask_model(*_, **__):
        raise AssertionError("the model is asked")

    monkeypatch.setattr(models, "load", ask_model)
    monkeypatch.setattr(traces, "trace", ask_model)
    monkeypatch.setattr(Here, "has_cached", lambda *_: False)
    lesson, here = LESSONS[name], fresh_here()
    first_part = next(with_opening_picture(step, lesson.steps[step].parts(here, lesson.defaults()), here))
    assert isinstance(first_part, Wait)
    assert isinstance(first_part.meanwhile, Picture)


def test_words_wait_for_the_first_drawing_and_other_waits_keep_the_picture(monkeypatch):
    stored = set()
    monkeypatch.setattr(Here, "has_cached", lambda _, what: what in stored)
    monkeypatch.setattr(Here, "cached", lambda _, what, make: stored.add(what))
    parts = [Words("one"), Wait("two"), Drawing("three", {}), Words("four")]
    first_part, second_part, *others = with_opening_picture("step", iter(parts), fresh_here())
    assert isinstance(second_part, Wait)
    assert (second_part.words, second_part.meanwhile) == ("two", first_part.meanwhile)
    assert others == [parts[0], parts[2], parts[3]]
    assert [*with_opening_picture("step", iter(parts), fresh_here())] == parts, "the second time all is quick"
