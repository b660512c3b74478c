"""What the one who teaches sees of the class."""

import pytest

from playground.serving import admission
from playground.ui.lessons import teach


@pytest.mark.parametrize(
    ("people", "waiting", "sentence"),
    [
        (28, 0, "28 people on this server, nobody waits."),
        (1, 0, "1 person on this server, nobody waits."),
        (28, 1, "28 people on this server, 1 person waits."),
        (300, 12, "300 people on this server, 12 people wait."),
    ],
)
def test_the_line_says_how_many_are_there_and_how_many_wait(people, waiting, sentence):
    assert teach.sentence(people, waiting) == sentence


def test_two_tabs_of_one_browser_are_one_person():
    places = admission.Places()
    for key in ("one", "one", "two", ""):
        places.enter("hall", lambda: None).key = key
    assert places.people() == 3
