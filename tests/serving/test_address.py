from urllib.parse import parse_qsl

import pytest

from playground.serving import chosen


@pytest.mark.parametrize(
    "hostile",
    [
        {"sample": "nobody"},
        {"sample": "meadow\n"},
        {"sample": "../../etc/passwd"},
        {"model": "<script>alert(1)</script>"},
        {"model": "a" * 81},
        {"model": "ünï"},
        {"model": ""},
        {"detail": "5"},
        {"detail": "²"},
        {"detail": "1e3"},
        {"layer": "-1"},
        {"layer": "٣"},
        {"layer": "9999"},
        {"query": "1,2,3"},
        {"query": "cls;drop"},
        {"scale": "nan"},
        {"scale": "inf"},
        {"scale": "1e400"},
        {"draw": "7"},
        {"direction": "sideways"},
        {"beside": "__proto__"},
        {"locked": "maybe"},
        {"view_id": "1"},
        {"": ""},
    ],
    ids=str,
)
def test_unexpected_words_of_an_address_are_dropped(hostile):
    assert chosen.read_address(hostile) == ({}, {})
    assert chosen.view_of(hostile) == {}
    assert chosen.readable_settings(hostile) == {}


def test_the_view_that_the_microscope_writes_is_read_again():
    text = "layer=4&head=2&query=7%2C5&locked=true&scale=3.1e-7&draw=light&ceiling=0.05&beside=wall"
    view = chosen.view_of(dict(parse_qsl(text)))
    assert len(view) == text.count("=")
    assert chosen.read_address(view)[1] == view


def test_of_a_view_with_endless_words_the_valid_ones_are_read():
    endless = {f"x{n}": "1" for n in range(10**5)} | {"layer": "1", "query": "1," * 10**5, "head": "9" * 10**5}
    assert chosen.view_of(endless) == {"layer": "1"}
