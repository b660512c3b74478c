"""The generator of scenes is repeatable, its labels are true, and colour alone does not solve its scenes."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from own_mass import own_mass
from PIL import Image

from playground.errors import PlaygroundError
from playground.samples import SAMPLES, draw_sample
from playground.scenes.backdrops import BACKDROPS, GROUNDS, Backdrop
from playground.scenes.drawing import Description, Thing, draw
from playground.scenes.generate import (
    FAMILIES,
    FIRST_HELD_OUT,
    LABELS,
    area_rows,
    close_up,
    colour_rows,
    describe,
    gaussian_rows,
    patch_targets,
    presence,
    scene,
)
from playground.scenes.silhouettes import SHAPES, silhouette
from playground.scenes.textures import MATERIALS, Material, bank

ROOT = Path(__file__).parent.parent.parent
GREY, RED = Material("solid", ((120, 120, 120),)), Material("solid", ((200, 40, 40),))
PLAIN_BACKDROP = Backdrop("empty", (GREY,))


@pytest.fixture(scope="module")
def held_out():
    return [scene(FIRST_HELD_OUT + number) for number in range(200)]


def flat_thing(shape="disc", x=0.5, y=0.5, size=0.4, **options):
    return Thing(shape, x, y, size, (RED,), relief=0.0, shadow="none", **options)


def test_the_same_seed_gives_the_same_bytes_in_every_process():
    code = (
        "from hashlib import sha256; from playground.scenes.generate import scene; "
        "print(*(sha256(part).hexdigest() for i in (3, 4) for part in (scene(i).image, scene(i).objects)))"
    )
    other_digests = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()
    digests = [sha256(part).hexdigest() for i in (3, 4) for part in (scene(i).image, scene(i).objects)]
    assert other_digests == digests


def test_different_seeds_give_different_pictures(held_out):
    assert len({sample.image.tobytes() for sample in held_out}) == len(held_out)


def test_training_and_held_out_seeds_give_different_pictures():
    assert scene(7).image.tobytes() != scene(FIRST_HELD_OUT + 7).image.tobytes()


def test_object_numbers_have_no_gaps_and_every_label_is_in_range(held_out):
    for sample in held_out:
        count = len(sample.shapes)
        assert set(np.unique(sample.objects)) - {0} == set(range(1, count + 1))
        assert len(sample.materials) == len(sample.visible_shares) == len(sample.boxes) == count
        assert ((sample.shapes >= 0) & (sample.shapes < len(SHAPES))).all()
        assert ((sample.materials >= 0) & (sample.materials < len(MATERIALS))).all()
        assert (sample.grounds < len(GROUNDS)).all()
        assert sample.regions.max() < len(sample.grounds)
        assert ((sample.visible_shares > 0) & (sample.visible_shares <= 1)).all()


def test_every_shape_material_and_backdrop_occurs(held_out):
    shapes, materials = (
        np.concatenate([getattr(sample, field) for sample in held_out]) for field in ("shapes", "materials")
    )
    assert set(shapes) == set(range(len(SHAPES)))
    assert set(materials) == set(range(len(MATERIALS)))
    assert {sample.backdrop for sample in held_out} == set(range(len(BACKDROPS)))


def test_every_label_is_given_to_some_pictures_and_not_to_others(held_out):
    shares = np.mean([presence(sample) for sample in held_out], axis=0)
    assert len(shares) == len(set(LABELS)) == len(LABELS)
    assert ((shares > 0.02) & (shares < 0.9)).all()


def test_every_shape_has_one_family_and_every_material_one_at_most():
    members = [member for family in FAMILIES.values() for member in family]
    assert len(members) == len(set(members))
    assert set(SHAPES) <= set(members) <= set(SHAPES) | set(MATERIALS)


def test_a_close_up_shows_one_or_two_things_as_large_as_a_whole_scene_does():
    close_ups = [close_up(FIRST_HELD_OUT + i) for i in range(40)]
    assert {len(sample.shapes) for sample in close_ups} <= {0, 1, 2}
    full_scenes = [scene(FIRST_HELD_OUT + i) for i in range(40)]
    pixels = [
        np.median([n for sample in scenes for n in np.bincount(sample.objects.ravel())[1:]])
        for scenes in (close_ups, full_scenes)
    ]
    assert 0.5 < pixels[0] / pixels[1] < 2


def test_the_mask_is_where_the_object_is_painted():
    star = draw(Description(PLAIN_BACKDROP, (flat_thing("star"),), ambience=0.0), 112)
    is_star = star.objects == 1
    painted = (np.abs(star.image.astype(int) - 120).sum(-1)) > 100
    assert is_star.sum() > 300
    assert (is_star == painted).mean() > 0.99
    assert (star.image[is_star] == (200, 40, 40)).all(-1).mean() > 0.85  # the other pixels lie on the softened edge


def test_a_box_encloses_what_is_seen(held_out):
    for sample in held_out[:40]:
        for number, (left, top, right, bottom) in enumerate(sample.boxes * 112, 1):
            rows, columns = np.nonzero(sample.objects == number)
            assert (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) == pytest.approx(
                (left, top, right, bottom)
            )


def test_a_hidden_thing_is_no_object():
    description = Description(
        PLAIN_BACKDROP,
        (flat_thing(size=0.2), flat_thing("square", size=0.7), flat_thing("star", x=0.1, y=0.1, size=0.15)),
    )
    sample = draw(description)
    assert [SHAPES[shape] for shape in sample.shapes] == ["square", "star"]
    assert set(np.unique(sample.objects)) == {0, 1, 2}


def test_hardly_visible_objects_are_not_present():
    description = Description(
        PLAIN_BACKDROP, (flat_thing("heart", x=0.5, size=0.4), flat_thing("pear", x=0.53, size=0.8))
    )
    sample = draw(description)
    labels = dict(zip(LABELS, presence(sample), strict=True))
    assert 0 < sample.visible_shares[0] < 0.35
    assert (labels["plain shape"], labels["plant"], labels["empty"], labels["landscape"]) == (0, 1, 1, 0)


def test_a_larger_drawing_shows_the_same_scene():
    for seed in range(12):
        small_scene, large_scene = scene(seed, 112), scene(seed, 448)
        is_same = small_scene.objects == large_scene.objects[2::4, 2::4]
        assert is_same.mean() > 0.97
        reduced = np.asarray(Image.fromarray(large_scene.image).reduce(4), int)
        assert np.abs(reduced - small_scene.image).mean() < 12


def test_an_outline_fills_its_frame():
    for name in SHAPES:
        points = np.concatenate([part.points for part in silhouette(name, 1)])
        assert np.abs(points).max() == pytest.approx(1)


def test_natural_textures_have_all_greys_equally_often():
    for fields in bank().values():
        for levels in fields:
            assert np.asarray(levels[0]).mean() == pytest.approx(128, abs=4)


# Targets of the patches.


def test_patch_targets_agree_with_a_loop_over_patches():
    sample = scene(FIRST_HELD_OUT + 11)
    targets = patch_targets(sample, 8)
    for row, column in np.ndindex(14, 14):
        patch_slice = np.s_[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
        numbers, counts = np.unique(sample.objects[patch_slice], return_counts=True)
        winner = int(numbers[counts.argmax()])
        assert targets.objects[row, column] == winner
        assert targets.shapes[row, column] == (sample.shapes[winner - 1] if winner else -1)
        x, y = (column + 0.5) / 14, (row + 0.5) / 14
        left, top, right, bottom = sample.boxes[winner - 1]
        expected = (x - left, y - top, right - x, bottom - y) if winner else (0, 0, 0, 0)
        assert targets.boxes[row, column] == pytest.approx(expected, abs=1e-6)


def test_a_size_that_patches_do_not_divide_is_refused_with_advice():
    with pytest.raises(PlaygroundError, match="choose a multiple"):
        patch_targets(scene(1, 100), 8)


def test_rows_sum_to_one_and_leave_the_patch_itself_out(held_out):
    for rows in (area_rows(196), gaussian_rows(14, 14), colour_rows(held_out[0].image, 1e-3)):
        assert rows.sum(1) == pytest.approx(np.ones(196), abs=1e-4)
        assert (np.diag(rows) == 0).all()


def test_own_mass_of_perfect_attention_is_one():
    objects = patch_targets(scene(FIRST_HELD_OUT)).objects.ravel()
    same_object = (objects[:, None] == objects[None]) & ~np.eye(len(objects), dtype=bool)
    assert own_mass(same_object / np.maximum(same_object.sum(1, keepdims=True), 1), objects) == pytest.approx(1)


def test_neither_colour_nor_nearness_finds_the_objects(held_out):
    grids = [patch_targets(sample).objects for sample in held_out]

    def average(rows_of):
        return np.concatenate(
            [own_mass(rows_of(sample), grid) for sample, grid in zip(held_out, grids, strict=True)]
        ).mean()

    best_mass = max(average(lambda one, t=t: colour_rows(one.image, t)) for t in (1e-5, 1e-4, 1e-3, 1e-2))
    even_rows, near_rows = area_rows(196), gaussian_rows(14, 14)
    assert 0.3 < best_mass < 0.6
    assert average(lambda one: even_rows) < 0.15
    assert average(lambda one: near_rows) < 0.55


# Samples that ship.


def test_importing_samples_does_not_import_the_drawing_code():
    code = "import sys, playground.samples as s; print(len(s.SAMPLES), 'playground.scenes.drawing' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == [str(len(SAMPLES)), "False"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_on_disk_is_what_the_code_draws(sample):
    stored_pixels = np.asarray(Image.open(sample.path), int)
    image = draw_sample(sample.name).image
    assert stored_pixels.shape == image.shape
    assert np.abs(stored_pixels - image).mean() < 3  # JPEG compression changes colours a little


def test_samples_are_small_enough_to_ship():
    assert sum(sample.path.stat().st_size for sample in SAMPLES) < 2_000_000
    assert any(draw_sample(sample.name, 64).image.shape == (64, 96, 3) for sample in SAMPLES)


def test_a_description_is_plain_data_that_compares_equal():
    assert describe(5) == describe(5)
