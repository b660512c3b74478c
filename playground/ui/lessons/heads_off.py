"""Heads that are switched off, and what is lost without them."""

from __future__ import annotations

import base64

import numpy as np
import streamlit as st

from playground.lessons.words import heads as said
from playground.serving import queue
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.components import component, spot
from playground.ui.lessons.heads import MOST_OFF, TEXT, Spot, thumbnail


def board(here: Here, seen, mean) -> None:
    """A click switches a head off; it is there with what that costs."""
    off = switched_off(seen)
    loss = lost(here, seen, off)
    patches = loss.change[:, len(seen.prefix) :].numpy()
    ceiling = _nice(float(np.quantile(patches, 0.98))) if off else 1.0
    summary = (
        {"name": seen.prefix[0].upper(), "values": loss.change[:, 0].tolist()} if seen.prefix[:1] == ("cls",) else None
    )
    data = {
        "layers": seen.layers,
        "heads": seen.heads,
        "off": [list(spot) for spot in off],
        "effect": mean.effect.tolist(),
        "picture": thumbnail(here.picture.jpeg),
        "grid": list(seen.grid),
        "rows": loss.predictions(seen.vit.config.labels) or None,
        "read": _read(seen, loss, off),
        "maps": base64.b64encode((patches / ceiling * 255).clip(0, 255).astype(np.uint8).tobytes()).decode(),
        "ceiling": ceiling,
        "means": patches.mean(axis=1).tolist(),
        "summary": summary,
    }
    component("board", "lessons/board.js", "lessons/heads.css")(
        key="board", data=data, on_toggle_change=lambda: _toggle(seen), on_reset_change=lambda: switch_off([])
    )


def switches(seen, mean) -> None:
    off = switched_off(seen)
    layer, head = (int(n) for n in np.unravel_index(np.nanargmax(mean.effect), mean.effect.shape))
    alone = off == [(layer, head)] or ("several" if (layer, head) in off else "other" if off else False)
    whole = any(all((one, head) in off for head in range(seen.heads)) for one in range(seen.layers))
    column = len({one for one, _ in off}) > 1 and "column"
    done = {"heads_strongest": alone, "heads_layer_off": whole or column}
    lesson.exercises(TEXT.steps["off"], done, layer=layer, head=head, most=mean.effect[layer, head])


def guess_sharp(mean) -> None:
    guess.ask(said.off(*(_lowest(mean, of) for of in (mean.entropy, mean.effect))))


def _lowest(mean, of: np.ndarray) -> tuple[int, int, float, float]:
    """The head with the lowest number: its place, what it adds, its rows' entropy."""
    layer, head = (int(n) for n in np.unravel_index(np.nanargmin(of), of.shape))
    return layer, head, mean.effect[layer, head], mean.entropy[layer, head]


def lost(here: Here, seen, off: list[Spot]):
    """Remembered, for a page runs again whatever is chosen on it."""
    from playground.analysis.ablation import without

    def work():
        with queue.turns() as give_way:
            return without(seen, off, give_way)

    return here.kept(("lost", tuple(off)), work)


def switched_off(seen) -> list[Spot]:
    """From the address; heads that this model does not have are passed over."""
    spots = [tuple(int(n) for n in spot.split(".")) for spot in st.session_state.off.split()]
    return sorted({(layer, head) for layer, head in spots if layer < seen.layers and head < seen.heads})


def switch_off(spots: list[Spot]) -> None:
    st.session_state.off = " ".join(f"{layer}.{head}" for layer, head in sorted(spots)[:MOST_OFF])


def _toggle(seen) -> None:
    if said := spot(st.session_state.board.toggle, seen.layers, seen.heads):
        switch_off(list(set(switched_off(seen)) ^ {said}))


def _read(seen, loss, off: list[Spot]) -> str:
    words = TEXT.steps["off"].said
    missing = words["names_none" if seen.logits is not None else "no_classifier"]
    return f"{missing} {words['turned' if off else 'untouched'].format(cosine=1 - loss.turned)}"


def _nice(x: float) -> float:
    """The next of 5, 10, 20, 50, 100 … per cent, so that the colours mean a round number."""
    return next((n for n in (0.05, 0.1, 0.2, 0.5, 1.0) if x <= n * 1.2), 2.0)
