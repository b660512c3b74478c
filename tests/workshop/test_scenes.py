"""The drawings: what lies in assets/ is what the code draws, and their labels and masks are true."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from playground.assets import DRAWINGS
from playground.pictures import cifar
from playground.samples import SAMPLES
from workshop import samples
from workshop.scenes.backdrops import BACKDROPS, GROUNDS, Backdrop
from workshop.scenes.drawing import Description, Thing, draw
from workshop.scenes.generate import FIRST_HELD_OUT, patch_targets, scene
from workshop.scenes.silhouettes import SHAPES
from workshop.scenes.textures import MATERIALS, Material

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_on_disk_is_what_the_code_draws(sample):
    stored_pixels = np.asarray(Image.open(sample.path), int)
    image = samples.draw_sample(sample.name).image
    assert stored_pixels.shape == image.shape
    assert np.abs(stored_pixels - image).mean() < 3  # JPEG compression changes colours a little


def test_the_small_drawings_on_disk_are_what_the_code_draws():
    data_set = cifar.read(DRAWINGS)
    assert (len(data_set), data_set.labels) == (samples.DRAWING_COUNT, tuple(SHAPES))
    for number in (0, 5, samples.DRAWING_COUNT - 1):
        drawing = samples.small_drawing(number)
        image, label = data_set.open(number)
        assert label == SHAPES[drawing.shapes[0]]
        assert np.abs(np.asarray(image, int) - drawing.image).mean() < 1


def test_the_same_seed_gives_the_same_bytes_in_every_process():
    code = (
        "from hashlib import sha256; from workshop.scenes.generate import scene; "
        "print(*(sha256(part).hexdigest() for i in (3, 4) for part in (scene(i).image, scene(i).objects)))"
    )
    other_digests = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()
    digests = [sha256(part).hexdigest() for i in (3, 4) for part in (scene(i).image, scene(i).objects)]
    assert other_digests == digests


def test_every_label_is_in_range_and_every_shape_material_and_backdrop_occurs():
    scenes = [scene(FIRST_HELD_OUT + number) for number in range(200)]
    for one in scenes:
        assert set(np.unique(one.objects)) - {0} == set(range(1, len(one.shapes) + 1))
        assert (one.grounds < len(GROUNDS)).all()
        assert one.regions.max() < len(one.grounds)
    assert set(np.concatenate([one.shapes for one in scenes])) == set(range(len(SHAPES)))
    assert set(np.concatenate([one.materials for one in scenes])) == set(range(len(MATERIALS)))
    assert {one.backdrop for one in scenes} == set(range(len(BACKDROPS)))


def test_the_mask_is_where_the_object_is_painted():
    grey, red = Material("solid", ((120, 120, 120),)), Material("solid", ((200, 40, 40),))
    star = Thing("star", 0.5, 0.5, 0.4, (red,), relief=0.0, shadow="none")
    drawn = draw(Description(Backdrop("empty", (grey,)), (star,), ambience=0.0), 112)
    is_star = drawn.objects == 1
    assert is_star.sum() > 300
    assert (is_star == (np.abs(drawn.image.astype(int) - 120).sum(-1) > 100)).mean() > 0.99


def test_patch_targets_agree_with_a_loop_over_patches():
    drawn = scene(FIRST_HELD_OUT + 11)
    targets = patch_targets(drawn, 8)
    for row, column in np.ndindex(14, 14):
        patch_slice = np.s_[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
        numbers, counts = np.unique(drawn.objects[patch_slice], return_counts=True)
        winner = int(numbers[counts.argmax()])
        assert targets.objects[row, column] == winner
        assert targets.shapes[row, column] == (drawn.shapes[winner - 1] if winner else -1)
