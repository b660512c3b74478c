"""All sessions' things: looked through while others come and go."""

import gc

from playground.serving.asker import Registry


class One:
    pass


def test_who_comes_while_somebody_looks_through_all_disturbs_nobody():
    registry, here = Registry(), [One() for _ in range(3)]
    for one in here:
        registry.add(one)
    looking = iter(registry)
    seen = {next(looking)}
    newcomer = One()
    registry.add(newcomer)  # a WeakSet would raise "Set changed size during iteration"
    assert seen | set(looking) == set(here)
    assert set(registry) == {*here, newcomer}


def test_who_has_gone_is_not_kept():
    registry, here = Registry(), One()
    registry.add(here)
    registry.add(One())
    gc.collect()
    assert list(registry) == [here]
