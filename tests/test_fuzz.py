"""A short run of what benchmarks/fuzz.py does at length."""

import pytest
from fuzz import addresses, images

from playground.errors import PlaygroundError
from playground.images import open_image
from playground.serving import address, session


def test_a_mutated_picture_is_opened_or_refused_in_a_sentence():
    opened = 0
    for data in images(150):
        try:
            opened += open_image(data).width > 0
        except PlaygroundError:
            continue
    assert 0 < opened < 150  # the mutations are neither harmless nor hopeless


def test_a_mutated_address_gives_a_page():
    for words in addresses(150):
        page, view = address.read(words)
        here, trouble = session.start(page, view)
        assert trouble is None or trouble.endswith((".", "!"))
        assert here.words().items() >= view.items()
        assert not here.picture.name.startswith(("/", "."))


@pytest.mark.parametrize("words", [{"layer": "9" * 400}, {"model": "a" * 10**5}, {"query": "1,1\n"}], ids=str)
def test_what_is_too_long_or_has_two_lines_is_dropped(words):
    assert address.read(words) == ({}, {})
