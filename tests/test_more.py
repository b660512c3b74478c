"""`make more` covers every slow check, and reports each part that it skips."""

import more


def test_every_script_of_the_benchmarks_has_a_smallest_run():
    assert sorted(more.SMALLEST_RUNS) == more.script_names()
