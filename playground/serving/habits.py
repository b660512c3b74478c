"""The names of what heads do, for the picture that somebody looks at: measured behind the page, layer by layer."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from playground.serving import queue, traces
from playground.serving.cache import MB, Cache
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

PATIENCE = 20.0  # seconds: whoever still looks asks more often; for nobody nothing is measured
ABOUT = 8000  # bytes that the names of one picture take

log = logging.getLogger("playground")
_one = ThreadPoolExecutor(1, thread_name_prefix="habits")  # one picture at a time: nobody waits for names


class Names:
    """Of one picture in one model: layer -> (label, short label, colour, told) of each head, as far as they are known.
    `told` is what a loss asked of the head's weights in training: the end of "this head was told to …"; else empty."""

    def __init__(self) -> None:
        self.layers: dict[int, list[tuple[str, str, str, str]]] = {}
        self.complete = False
        self.running = False
        self.asked = 0.0


def kept_names() -> Cache:
    return Cache(MB, size=lambda names: ABOUT)


@cache
def of_samples() -> Cache:
    return kept_names()


def ask(picture: Picture, wish: Wish, own: Cache, names: Cache, first: int) -> Names:
    """What is known by now, at once; the rest is being measured, the layer on view first. `own` and `names` are a
    session's, for what it uploaded."""
    found: Names = (of_samples() if picture.sample else names).get((picture.id, wish), Names)
    found.asked = time.monotonic()
    if not found.complete and not found.running:
        found.running = True
        _one.submit(_measure, found, picture, wish, own, first)
    return found


def _measure(names: Names, picture: Picture, wish: Wish, own: Cache, first: int) -> None:
    from playground.analysis import heads
    from playground.told import told

    try:
        if time.monotonic() - names.asked > PATIENCE:  # others came first, and nobody is there any more
            return
        seen = traces.trace(picture, wish, own)
        grid = heads.Grid.of(seen)
        for layer in sorted(set(range(seen.layers)) - names.layers.keys(), key=lambda layer: abs(layer - first)):
            if time.monotonic() - names.asked > PATIENCE:
                return
            with queue.turn(finer=True):
                measured = heads.look_at(seen, [layer], grid)
            habits, kinds = measured.habits()[0], measured.kinds()[0]
            shorts = [heads.short(measured.head(0, head), habit) for head, habit in enumerate(habits)]
            names.layers[layer] = [
                (kind, shorts[head], habits[head].colour, told(seen.vit, layer, head) or "")
                for head, kind in enumerate(kinds)
            ]
        names.complete = True
    except Exception:  # they are an extra: the page goes on without them
        log.warning("the habits of heads could not be measured", exc_info=True)
        names.complete = True
    finally:
        names.running = False
