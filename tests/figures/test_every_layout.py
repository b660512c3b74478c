"""Every layout draws and says what is kept: whoever changes a picture or a sentence sees which, and means it."""

import json

import numpy as np
import pytest
from PIL import Image

from figures import keeping
from figures.keeping import DRAWN, KEPT, SAID, TEXTS, difference, drawn, texts, wrong_cell
from playground import figures
from playground.figures.files import pixels
from playground.figures.spec import LAYOUTS

MOST = 0.005  # of the dots may differ


def test_every_layout_has_a_kept_picture():
    assert {spec.layout for spec in DRAWN.values()} == set(LAYOUTS)
    assert {file.stem for file in KEPT.glob("*.webp")} == set(DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_a_layout_is_drawn_as_it_is_kept(name, tmp_path):
    now = drawn(DRAWN[name])
    differs = difference(Image.open(KEPT / f"{name}.webp").convert("RGB"), now)
    if differs.mean() > MOST or wrong_cell(differs):
        now.save(tmp_path / f"{name}.png")
        pytest.fail(f"{differs.mean():.2%} of the dots differ; the new picture: {tmp_path / name}.png")


@pytest.mark.parametrize("name", SAID)
def test_a_figure_says_what_is_kept(name):
    kept = json.loads(TEXTS.read_text(encoding="utf-8"))
    assert texts(SAID[name]) == kept[name]


@pytest.mark.parametrize("name", ["head", "heads", "grid"])
def test_one_wrong_cell_is_seen(name, monkeypatch):
    """The difference that is allowed is smaller than a single patch."""
    from playground.figures import maps

    right, look, spec = drawn(DRAWN[name]), maps.look, DRAWN[name]

    def wrong(*asked):
        map_ = look(*asked)
        grid = map_.grid.copy()
        at = np.unravel_index(grid.argsort(axis=None)[grid.size // 2], grid.shape)
        grid[at] = np.sort(grid, axis=None)[-3]  # no other exposure, no other largest
        return keeping.replace(map_, grid=grid)

    monkeypatch.setattr(maps, "look", wrong)
    beside, others = keeping.traced(spec)
    differs = difference(right, pixels(figures.draw(spec, *beside, **others)).convert("RGB"))
    assert wrong_cell(differs), f"{differs.mean():.2%} of the dots differ, and no square of them"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_written_in_three_formats(layout, tmp_path):
    spec = next(spec for spec in DRAWN.values() if spec.layout == layout)
    figure = keeping.figure(spec)
    sizes = {
        kind: figures.write(figure, tmp_path / f"{layout}.{kind}").stat().st_size for kind in ("png", "svg", "pdf")
    }
    assert all(size > 5000 for size in sizes.values()), sizes
