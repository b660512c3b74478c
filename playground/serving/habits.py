"""The names of what heads do on the picture that somebody looks at, layer by layer."""

from __future__ import annotations

from functools import cache

from playground.serving import queue
from playground.serving.cache import MB, Cache

ABOUT = 1000  # bytes that the names of one layer take


def kept_names() -> Cache:
    return Cache(MB, size=lambda names: ABOUT)


@cache
def of_samples() -> Cache:
    return kept_names()


def measure(seen, layer: int) -> list[tuple[str, str, str, str]]:
    """(label, short label, colour, told) of each head. `told` is what a loss asked of the head's weights in training:
    the end of "this head was told to …"; else empty. Names are an extra: they come after all who wait for a picture."""
    from playground.analysis import heads
    from playground.models.told_heads import told

    with queue.turn(finer=True):
        measured = heads.look_at(seen, [layer], heads.Grid.of(seen))
    habits, kinds = measured.habits()[0], measured.kinds()[0]
    shorts = [heads.short(measured.head(0, head), habit) for head, habit in enumerate(habits)]
    return [
        (kind, shorts[head], habits[head].colour, told(seen.vit, layer, head) or "") for head, kind in enumerate(kinds)
    ]
