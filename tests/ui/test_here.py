"""`Here`: the picture and the settings of a person on a page that the server draws."""

import pytest
from serving.visits import photograph

from playground.serving import people, pictures, traces, worked
from playground.serving.answering import Refused
from playground.serving.here import Here
from playground.serving.traces import Setup

pytestmark = pytest.mark.usefixtures("nothing_fetched")
KEY, OTHER_KEY = "anna" * 6, "bert" * 6


@pytest.fixture
def mine_id():
    """The id of a photograph that belongs to `KEY`."""
    people.everybody().enter(KEY).take(pictures.upload(photograph(), "mine.jpg"))
    yield next(iter(people.everybody().find(KEY).pictures))
    people.everybody().forget(KEY)


def test_a_sample_needs_no_key_and_nothing_is_kept_of_who_looks_at_it():
    people.everybody().forget(KEY)  # another test may have entered this person
    here = Here({"sample": "flock"}, {"layer": "2"}, KEY)
    assert (here.picture.name, here.setup, here.own_traces) == ("flock", Setup("bundled"), None)
    assert people.everybody().find(KEY) is None
    assert here.words() == {"model": "bundled", "sample": "flock"}
    assert here.view == {"layer": "2"}


@pytest.mark.parametrize("key", [None, "", OTHER_KEY, "x", KEY + "x"])
def test_a_picture_of_one_s_own_is_not_shown_without_its_key(mine_id, key):
    with pytest.raises(Refused) as error:
        Here({"mine": mine_id}, {}, key)
    assert (error.value.status, error.value.fields) == (404, {"forgotten": mine_id})


def test_with_the_key_a_picture_is_shown_and_its_traces_and_results_are_the_person_s(mine_id):
    here = Here({"mine": mine_id, "model": "untrained"}, {}, KEY)
    assert here.picture.name == "mine.jpg"
    assert here.words() == {"model": "untrained", "mine": mine_id}
    former_bytes = worked.shared_results().bytes, traces.sample_traces().bytes
    traces.trace(here.picture, here.setup, here.own_traces)
    here.cached("what was found", lambda: "a result")
    person = people.everybody().find(KEY)
    assert person.traces.bytes > 0
    assert person.results.bytes > 0
    assert (worked.shared_results().bytes, traces.sample_traces().bytes) == former_bytes
    assert person.drop(mine_id)
    assert (person.traces.bytes, person.results.bytes) == (0, 0)
