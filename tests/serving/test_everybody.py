"""All sessions' things: looked through while others come and go."""

import gc

from playground.serving.everybody import Everybody


class One:
    pass


def test_who_comes_while_somebody_looks_through_all_disturbs_nobody():
    everybody, here = Everybody(), [One() for _ in range(3)]
    for one in here:
        everybody.add(one)
    looking = iter(everybody)
    seen = {next(looking)}
    newcomer = One()
    everybody.add(newcomer)  # a WeakSet would raise "Set changed size during iteration"
    assert seen | set(looking) == set(here)
    assert set(everybody) == {*here, newcomer}


def test_who_has_gone_is_not_kept():
    everybody, here = Everybody(), One()
    everybody.add(here)
    everybody.add(One())
    gc.collect()
    assert list(everybody) == [here]
