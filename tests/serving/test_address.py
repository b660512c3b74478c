from urllib.parse import parse_qsl

import pytest

from playground.serving import chosen

HOSTILE_VALUES = {
    "sample": ("nobody", "meadow\n", "../../etc/passwd"),
    "model": ("<script>alert(1)</script>", "a" * 81, "ünï", ""),
    **{"detail": ("5", "²", "1e3"), "layer": ("-1", "٣", "9999", "9" * 400), "query": ("1,2,3", "cls;drop", "1,1\n")},
    **{"scale": ("nan", "inf", "1e400"), "direction": ("sideways",), "beside": ("__proto__",)},
    **{"locked": ("maybe",), "view_id": "1", "": ("",)},
}


@pytest.mark.parametrize("word", HOSTILE_VALUES)
def test_unexpected_words_of_an_address_are_dropped(word):
    for value in HOSTILE_VALUES[word]:
        assert chosen.read_address({word: value}) == ({}, {}), value
        assert chosen.view.allowed_words({word: value}) == chosen.read_address({word: value})[0] == {}, value


def test_the_view_that_the_microscope_writes_is_read_again():
    text = "layer=4&head=2&query=7%2C5&locked=true&scale=3.1e-7&ceiling=0.05&beside=wall"
    view = chosen.view.allowed_words(dict(parse_qsl(text)))
    assert len(view) == text.count("=")
    assert chosen.read_address(view)[1] == view


def test_of_a_view_with_endless_words_the_valid_ones_are_read():
    endless = {f"x{n}": "1" for n in range(10**5)} | {"layer": "1", "query": "1," * 10**5, "head": "9" * 10**5}
    assert chosen.view.allowed_words(endless) == {"layer": "1"}
