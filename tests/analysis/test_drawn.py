"""Means over rows use the rows of all patches or, in a fine grid, of randomly drawn patches; the page says which."""

from types import SimpleNamespace

import numpy as np

from playground.analysis import heads


def test_rows_of_a_fine_grid_are_drawn_from_all_columns_and_a_note_says_how_many():
    fine_trace = SimpleNamespace(prefix=("cls",), tokens=1 + 56 * 56)
    queries = np.array(heads.measured_tokens(fine_trace)) - 1
    assert len(set(queries.tolist())) == heads.SAMPLE_SIZE
    assert set(queries.tolist()) <= set(range(56 * 56))
    assert len(set((queries % 56).tolist())) == 56, "some columns ask nothing"
    assert heads.sampling_note(fine_trace) == "Measured on the rows of 400 of 3,136 patches, drawn at random."
