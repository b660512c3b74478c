"""A plan as slides: one file, no address of anybody else's in it, and no text that ends its data."""

import json
import re

from playground.figures import teaching
from playground.lessons.questions import Choice, Question, plain

ASKED = plain(Question("x", "</script><b>?", Choice.of({"a": "A", "b": "B"}), "a", "So.", tempting=(("b", "no"),)))


def made() -> str:
    return teaching.page(
        "Attention & <more>", [teaching.Slide("One", "minute 0 to 5", "Say nothing.", (ASKED,))], ["let x"]
    )


def test_what_is_shown_is_in_the_file_as_data():
    (data,) = re.findall(r'id="slides">(.*?)</script>', made(), re.DOTALL)
    (slide,) = json.loads(data)
    assert slide["questions"][0]["asks"] == ASKED["asks"]
    assert (slide["title"], slide["task"], slide["living"]) == ("One", "Say nothing.", "")


def test_nothing_is_asked_of_anybody():
    page = made()
    assert "default-src 'none'" in page
    assert "connect-src" not in page
    assert page.count("'sha256-") == 2
    assert not re.search(r'(?:src|href)="https?:', page)
    assert "<title>Attention &amp; &lt;more&gt;</title>" in page
