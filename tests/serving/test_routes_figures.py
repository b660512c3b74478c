"""A figure's address returns the same bytes as the command, and refuses what the command refuses."""

import pytest

from serving.figure_requests import (
    FLOCK,
    FLOCK_FLAGS,
    TINY,
    TINY_FLAGS,
    ask,
    bytes_of_command,
    figure_bytes,
    refusal_of,
    tiny_options,
)

# The same file --------------------------------------------------------------------------------------------------------


FIGURES = [  # the kind of file, the words of its address, the flags of its command
    *((kind, {}, "") for kind in ("pdf", "npz")),
    ("svg", {"layout": "compare", "with": "model:untrained"}, "--layout compare --with-model untrained"),
    ("png", {"ceiling": "0.05", "colours": "grey"}, "--ceiling 0.05 --colours grey"),
    ("png", {"direction": "column", "what": "value"}, "--direction column --what value"),
    ("png", {"theme": "dark", "caption": "false"}, "--theme dark --no-caption"),
    ("png", {"head": "mean", "width": "89"}, "--head mean --width 89"),
    ("html", {"theme": "dark", "locked": "true"}, "--theme dark --view locked=true"),
    ("html", {"bare": "true", "scale": "off"}, "--bare --scale off"),
    ("html", {"all_layers": "true"}, "--all-layers"),
    (
        "csv",
        {"cut": "residual@2:4,9;values@3", "with": "sample:meadow"},
        "--cut 'residual@2:4,9;values@3' --with-image meadow",
    ),
    ("csv", {"cut": "head@1.0>4.1", "with": "sample:meadow"}, "--cut 'head@1.0>4.1' --with-image meadow"),
    ("csv", {"cut": "zero@1.0>4.1"}, "--cut 'zero@1.0>4.1'"),
]


@pytest.mark.parametrize(("kind", "words", "flags"), FIGURES, ids=lambda value: str(value)[:50])
def test_the_file_of_an_address_is_the_file_of_the_command(client, kind, words, flags, tmp_path):
    look, look_flags = tiny_options(kind)
    file_bytes = figure_bytes(client, kind, FLOCK | look | words, "POST" if kind == "html" else "GET")
    assert file_bytes == bytes_of_command(f"{FLOCK_FLAGS} {look_flags} {flags}", kind, tmp_path)


def test_words_that_say_nothing_about_a_figure_are_ignored(client):
    words = {"lauout": "head", "weights": "/etc/passwd", "grid": "true", "colours": "own", "purpose": "page"}
    words |= {"with": "sample:meadow", "locked": "true", "pass": "whole"}
    assert figure_bytes(client, "csv", FLOCK | words) == figure_bytes(client, "csv", FLOCK)


def test_a_picture_opens_where_it_opens_in_the_app(client, tmp_path):
    file_bytes = figure_bytes(client, "svg", {"sample": "flock", "model": "bundled"} | TINY)
    assert file_bytes == bytes_of_command(f"figure flock {TINY_FLAGS}", "svg", tmp_path)


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"layer": "6"}, "There is no layer 6 here"),
        ({"layer": "4000"}, "layer can't be '4000'"),
        ({"head": "17"}, "There is no head 17"),
        ({"head": "all"}, "head can't be 'all'"),
        ({"query": "99,0"}, "There is no patch (99, 0): rows count from 0 to 13"),
        ({"query": "reg99"}, "has no token called 'reg99'"),
        ({"query": "up"}, "query can't be 'up'"),
        ({"scale": "loud"}, "scale can't be 'loud'"),
        ({"what": "importance"}, "what can't be 'importance': weight, value"),
        ({"layout": "heds"}, "A figure's layout is head, "),
        ({"dpi": "9"}, "dpi goes from 10 to 2400; given was 9."),
        ({"dpi": "many"}, "dpi is a number; given was 'many'."),
        ({"dpi": "2400"}, "this server draws 5,000 at most"),
        ({"caption": "no"}, "caption is true or false; given was 'no'."),
        ({"layout": "compare"}, "with=sample:NAME or with=model:NAME."),
        ({"width": "far"}, "slide, column, page, or millimetres"),
        ({"text": "x" * 500}, "text has 500 letters"),
        ({"colours": "sparkling"}, "There is no colour map"),
        ({"layout": "wall", "what": "rollout"}, "has no heads"),
        ({"layout": "grid", "rows": "pictures:flock,/etc/passwd"}, "the command makes it on your own machine"),
        ({"detail": "9"}, "times as fine as usual"),
        ({"sample": "../flock"}, "There is no sample called"),
        ({"model": "/tmp/x.safetensors"}, "A file of weights is loaded by playground.load"),
    ],
    ids=str,
)  # fmt: skip
def test_an_impossible_figure_is_refused_with_a_sentence(client, words, expected):
    answer = ask(client, "svg", FLOCK | words)
    assert 400 <= answer.status_code < 405, answer.text[:200]
    sentence = answer.json()["says"]
    assert expected in sentence
    assert "--" not in sentence, "an address has no flags"


def test_unknown_kinds_are_refused_and_a_living_file_by_get(client):
    assert "There is no figure.gif; there are png, svg" in refusal_of(client, "gif", FLOCK, status=404)
    assert "asked for by POST" in refusal_of(client, "html", FLOCK, status=405)


def test_a_cut_that_puts_values_needs_a_picture_and_refuses_another_model(client):
    assert "name that picture, too" in refusal_of(client, "png", FLOCK | {"cut": "residual@2"})
    words = FLOCK | {"cut": "residual@2", "with": "model:untrained"}
    assert "name that picture, too" in refusal_of(client, "png", words)
    assert "no layer 99" in refusal_of(client, "png", FLOCK | {"cut": "residual@99", "with": "sample:meadow"})
