"""Previews that other programs show for a link."""

import io
import re
from html import unescape

import pytest
from PIL import Image

from playground.serving import routes_figures
from serving.visits import client

ROOT = "https://example.org/attention/"


def preview_properties(words: dict[str, str]) -> dict[str, str]:
    pairs = re.findall(r'<meta property="([^"]+)" content="([^"]*)">', routes_figures.preview_tags(words, ROOT))
    return {name: unescape(text) for name, text in pairs}


def test_a_link_to_a_moment_shows_the_figure_of_that_very_view():
    words = {"sample": "flock", "model": "bundled", "layer": "4", "head": "2", "query": "9,3", "face": "see"}
    preview = preview_properties(words)
    assert preview["og:title"] == "A flock of equal birds · our small ViT, layer 4, head 2"
    assert preview["og:description"] == routes_figures.HINT_OF_ANY_VIEW
    address = preview["og:image"].removeprefix(ROOT)
    assert "layer=4&head=2&query=9%2C3" in address
    with client() as http:
        image = http.get(f"/{address}")
    assert image.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(image.content)).width == pytest.approx(1200, abs=12)


@pytest.mark.parametrize(
    "words",
    [
        {"mine": "0123456789abcdef", "layer": "3"},
        {"sample": "flock", "with": "mine:0123456789abcdef"},
        {"sample": "nowhere"},
        {"model": "no_such_model"},
        {},
    ],
)
def test_a_link_to_an_own_or_unknown_picture_previews_the_opening_picture(words):
    assert preview_properties(words) == preview_properties({})
    assert "mine" not in preview_properties(words)["og:image"]


def test_no_word_of_an_address_becomes_markup():
    html = routes_figures.preview_tags(
        {"sample": "flock", "query": '"><script>', "label": "<b>", "text": 'a" onload="x'}, ROOT
    )
    assert "<script" not in html
    assert "<b>" not in html
    assert 'onload="' not in html
