"""All heads of all layers as cells; a click opens one of them in the microscope."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import streamlit as st

from playground.serving.here import Here
from playground.ui.components import component, spot
from playground.ui.lessons.heads import CLASS, DISTANCE, ENTROPY, MEASURES, REGISTERS, SELF
from playground.ui.lessons.heads_numbers import measures_of

BRIGHT_SHARE = 50  # per cent of a row: from there on a head is named after it


def atlas(here: Here, seen, mean, spread=None) -> None:
    """A click opens a head in the microscope."""
    state = st.session_state
    view = here.view
    shown = [min(int(view.get("layer", seen.upper_layer)), seen.layers - 1), int(view.get("head", 0)) % seen.heads]
    data = {
        "layers": seen.layers,
        "heads": seen.heads,
        "measure": state.measure,
        "measures": [_measure(key, seen, mean, spread) for key in measures_of(seen)] + [_effect(mean, spread)],
        "habits": _habit_names(mean, seen.vit),
        "offsets": np.round(mean.offsets.reshape(seen.layers, seen.heads, -1), 4).tolist(),
        "reach": mean.offsets.shape[-1] // 2,
        "shown": shown,
        "link": "./?" + urlencode(here.words()),
    }
    component("atlas", "lessons/atlas.js", "lessons/heads.css")(key="atlas", data=data, on_open_change=lambda: None)
    if opened := spot(state.atlas.get("open"), seen.layers, seen.heads):
        shown = {"layer": str(opened[0]), "head": str(opened[1])}
        st.switch_page("pages/microscope.py", query_params=here.words() | here.view | shown)


def _habit_names(mean, vit) -> list[list[dict[str, str | None]]]:
    """`told`: what a loss asked of this head's weights in training, or None."""
    from playground.analysis.heads import short
    from playground.models.source import told

    named = zip(mean.kinds(), mean.habits(), strict=True)
    return [
        [
            {"long": name, "short": short(mean.head(layer, head), habit), "told": told(vit, layer, head)}
            for head, (name, habit) in enumerate(zip(names, habits, strict=True))
        ]
        for layer, (names, habits) in enumerate(named)
    ]


def _measure(key: str, seen, mean, spread) -> dict:
    from playground.analysis.heads import even_distance

    name, factor = {SELF: "to_self", CLASS: "to_class", REGISTERS: "to_registers"}.get(key, key), 1
    high, unit, digits = BRIGHT_SHARE, "%", 1
    if key == ENTROPY:
        high, unit, digits = float(np.log2(seen.tokens)), "bits", 2
    elif key == DISTANCE:
        high, unit = even_distance(*seen.grid), "patches"
    else:
        factor = 100
    return {
        "key": key, "name": MEASURES[key], "unit": unit, "digits": digits, "high": high, "over": key != ENTROPY,
        "values": (getattr(mean, name) * factor).tolist(),
        "spread": (getattr(spread, name) * factor).tolist() if spread else None,
    }  # fmt: skip


def _effect(mean, spread) -> dict:
    return {
        "key": "effect", "name": "adds to the tokens", "unit": "× average", "digits": 2, "high": 3,
        "over": True, "values": mean.effect.tolist(), "spread": spread.effect.tolist() if spread else None,
    }  # fmt: skip
