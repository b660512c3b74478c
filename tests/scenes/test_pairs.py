"""Boards of the game of pairs: every sign appears twice, and the answer for a field is the colour of its twin."""

import numpy as np

from playground.scenes import compositions


def boards(count=5, patch=8):
    return compositions.boards(np.random.default_rng(3), count, patch)


def tile(image, field, patch):
    row, column = divmod(field, compositions.BOARD_SIDE)
    return image[row * patch : (row + 1) * patch, column * patch : (column + 1) * patch].astype(int)


def test_twin_fields_name_each_other_and_never_themselves():
    for twin in boards().twin:
        fields = np.arange(len(twin))
        np.testing.assert_array_equal(twin[twin], fields)
        assert not (twin == fields).any()


def test_twins_show_one_sign_on_two_colours_and_others_show_another_sign():
    all_boards = boards(patch=24)
    papers = [tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in compositions.COLOURS]
    for image, twin, twin_colours in zip(all_boards.images, all_boards.twin, all_boards.twin_colours, strict=True):
        tiles = [tile(image, field, 24) for field in range(len(twin))]
        assert [tuple(field_image[0, 0]) for field_image in tiles] == [papers[colour] for colour in twin_colours[twin]]
        assert (twin_colours != twin_colours[twin]).all()
        # for each pixel, 1 means white and 0 the colour of the paper
        ink_shares = [
            np.abs(field_image - field_image[0, 0]).sum(-1) / np.abs(255 - field_image[0, 0]).sum()
            for field_image in tiles
        ]
        for field, twin_field in enumerate(twin):
            differences = [np.abs(ink_shares[field] - field_image).mean() for field_image in ink_shares]
            assert differences[twin_field] < 0.02
            assert sum(difference < 0.03 for difference in differences) == 2, "two signs look the same"


def test_the_first_board_does_not_depend_on_how_many_follow():
    np.testing.assert_array_equal(boards(1).images[0], boards(5).images[0])
