"""Two pictures in one figure have the same parts, and a line leads from the query patch to its match."""

import json

import numpy as np
import pytest
import torch
from matplotlib.text import Text

import playground
from playground.samples import named


@pytest.fixture(scope="module")
def pairs():
    vit = playground.load("bundled", device="cpu")
    images = [playground.open_image(named(name).path) for name in ("twins", "portrait")]
    return [(playground.trace(vit, image), image) for image in images]


def compared_numbers(pairs, tmp_path, **options):
    (seen, image), (other_seen, other_image) = pairs
    pictures = {"image": image, "other_image": other_image}
    json_file = playground.save(seen, tmp_path / "a.json", layout="compare", other=other_seen, **pictures, **options)
    return json.loads(json_file.read_text())


def test_the_parts_of_a_figure_are_those_of_the_traces(pairs, tmp_path):
    (seen, _), (other_seen, _) = pairs
    tables = compared_numbers(pairs, tmp_path, what="parts", layer=3)["tables"]
    shared_parts = seen.parts(other=other_seen, layer=3)
    for table, parts in zip(tables, shared_parts, strict=True):
        assert np.array_equal(np.array(table["maps"][0]["values"]).ravel(), parts.flatten().numpy())


def test_similarity_is_of_one_patch_in_both_pictures_and_the_caption_tells_of_its_match(pairs, tmp_path):
    (seen, _), (other_seen, other_image) = pairs
    matches = seen.match(other_seen)
    for has_match in (True, False):
        query = tuple(((matches[..., 0] >= 0) == has_match).nonzero()[0].tolist())
        feature = seen.features(3)[seen.token(query)]
        table = compared_numbers(pairs, tmp_path, what="similarity", layer=3, query=query)["tables"][1]
        cosines = torch.cosine_similarity(other_seen.features(3), feature[None], dim=-1)
        figure = playground.figure(
            seen, 3, query=query, layout="compare", what="similarity", other=other_seen, other_image=other_image
        )
        text_drawn = " ".join(text.get_text() for text in figure.findobj(Text))
        assert ("each resembles the other most" in text_drawn) == has_match
        assert ("no patch of the other picture matches it" in text_drawn) != has_match
        assert np.allclose(np.array(table["maps"][0]["values"]).ravel(), cosines.numpy(), atol=1e-4)
