"""Heads that are switched off, and what is lost without them."""

from __future__ import annotations

import base64

import numpy as np
import streamlit as st

from playground.serving import queue
from playground.ui import guess, lesson
from playground.ui.components import component, spot
from playground.ui.here import Here
from playground.ui.lessons import heads_numbers
from playground.ui.lessons.heads import MOST_OFF, Spot, thumbnail


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
    strongest = tuple(int(n) for n in np.unravel_index(np.nanargmax(mean.effect), mean.effect.shape))
    lesson.exercise(
        "Switch off the head that adds most to the tokens, compared with the average of its layer.",
        f"Head {strongest[1]} of layer {strongest[0]}: it adds {mean.effect[strongest]:.2f} × the average of its "
        "layer. What adds much need not matter most for the answer: look at the predictions.",
        hint="Point at the switches: each says what its head adds. Or colour *All heads* and read the cards.",
        done=strongest in off, id="heads_strongest",
    )  # fmt: skip
    whole = {layer for layer, _ in off if all((layer, head) in off for head in range(seen.heads))}
    lesson.exercise(
        "Switch off all heads of one layer. What do the tokens still get from it?",
        "What its MLP adds, and the constant vector of W_O’s bias. The token itself goes past on the skip connection, "
        "so nothing is lost of what the layers below have made.",
        hint="Click each switch in one row.",
        done=bool(whole), id="heads_layer_off",
    )  # fmt: skip


def guess_sharp(mean) -> None:
    guess.choice(
        "heads_off", "A head’s weights are very sharp. Does much change when it is switched off?",
        {
            "may": "that can’t be told from its weights",
            "yes": "yes: sharp weights carry more",
            "no": "no: it hears few tokens only",
        },
        "may",
        "Its weights say how values are mixed; but the values may be short, or W_O (and LayerScale) may make them "
        "short, "
        f"so that hardly anything arrives. {heads_numbers.least(mean)} That is why the card says what a head *adds* "
        "beside whom it *listens* to.",
        {
            "yes": "All rows sum to 1, sharp or even. What arrives depends on the values and on W_O.",
            "no": "One token may be all that is needed, if its value is long.",
        },
    )  # fmt: skip


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
    missing = "names no classes" if seen.logits is not None else "has no classifier: it predicts nothing"
    turned = f"The vector that sums the picture up has turned: its cosine with what it was is {1 - loss.turned:.3f}."
    return f"This model {missing}. {turned if off else 'Switch a head off, and see how far its summary turns.'}"


def _nice(x: float) -> float:
    """The next of 5, 10, 20, 50, 100 … per cent, so that the colours mean a round number."""
    return next((n for n in (0.05, 0.1, 0.2, 0.5, 1.0) if x <= n * 1.2), 2.0)
