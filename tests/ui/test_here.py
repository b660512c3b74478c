"""`Here`: the picture and the settings of a person on a page that the server draws."""

import pytest
from serving.visits import photograph

from playground.serving import people, pictures, traces, worked
from playground.serving.here import Here
from playground.serving.traces import Setup

pytestmark = pytest.mark.usefixtures("nothing_fetched")
KEY, OTHER_KEY = "anna" * 6, "bert" * 6


@pytest.fixture
def mine_id():
    people.everybody().enter(KEY).take(pictures.upload(photograph(), "mine.jpg"))
    yield next(iter(people.everybody().find(KEY).pictures))
    people.everybody().forget(KEY)


def test_a_sample_needs_no_key_and_nothing_is_kept_of_who_looks_at_it():
    people.everybody().forget(KEY)  # another test may have entered this person
    here = Here({"sample": "flock"}, {"layer": "2"}, KEY)
    assert (here.picture.name, here.setup) == ("flock", Setup("bundled"))
    assert people.everybody().find(KEY) is None
    assert here.words() == {"model": "bundled", "sample": "flock"}
    assert here.view == {"layer": "2"}


def test_with_the_key_a_picture_is_shown_and_its_traces_and_results_are_the_person_s(mine_id):
    here = Here({"mine": mine_id, "model": "untrained"}, {}, KEY)
    assert here.picture.name == "mine.jpg"
    assert here.words() == {"model": "untrained", "mine": mine_id}
    former_bytes = worked.shared_results().bytes, traces.sample_traces().bytes
    traces.trace(here.picture, here.setup)
    here.cached("what was found", lambda: "a result")
    person = people.everybody().find(KEY)
    own_caches = traces.own_traces(), worked.own_results()
    assert all(any(key[0] == mine_id for key in cache._entries) for cache in own_caches)
    assert (worked.shared_results().bytes, traces.sample_traces().bytes) == former_bytes
    assert person.drop(mine_id)
    assert not any(key[0] == mine_id for cache in own_caches for key in cache._entries)
