"""The page of heads: their numbers for one picture or all samples, and what goes to the browser."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from itertools import count
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from PIL import Image

from playground.samples import SAMPLES, start_patch
from playground.serving import pictures, queue, traces
from playground.serving.cache import MB, Cache
from playground.serving.pictures import Picture
from playground.serving.session import Session
from playground.serving.traces import Wish
from playground.ui import guess, lesson
from playground.ui.components import component
from playground.ui.lesson import CONVOLUTION
from playground.ui.messages import plain
from playground.ui.navigation import Setting, Steps

ENTROPY, DISTANCE, SELF, CLASS, REGISTERS = "entropy", "distance", "self", "class", "registers"
MEASURES = {
    ENTROPY: "entropy",
    DISTANCE: "distance",
    SELF: "share to itself",
    CLASS: "share to CLS",
    REGISTERS: "share to registers",
}
SAYS = {
    ENTROPY: "**Entropy**, in bits: 0 if one token gets all the weight, and largest if all tokens get the same.",
    DISTANCE: "**Mean attention distance**: how many patches away the places lie that a patch listens to.",
    SELF: "**Share to itself**: the weight that a patch gives to itself.",
    CLASS: "**Share to CLS**: the weight that the patches give to the class token.",
    REGISTERS: "**Share to registers**: the weight that the patches give to tokens without a place in the picture.",
}
PICTURE, SAMPLES_ALL = "picture", "samples"
OVER = {PICTURE: "this picture", SAMPLES_ALL: f"the {len(SAMPLES)} samples"}
BRIGHT_SHARE = 50  # per cent of a row: from there on a head is named after it
THUMB = 200  # pixels
MOST_OFF = 40

_habits = Cache(24 * MB, size=lambda habits: sum(getattr(habits, f.name).nbytes for f in fields(habits)))
SLOW = 1000  # tokens: from there on a layer takes long enough to be reported
Spot = tuple[int, int]  # (layer, head)
Report = Callable[[float, str], object]  # how far, from 0 to 1, and in words


class Off(Setting):
    """Heads that are switched off, as "3.0 4.2": layer and head of each."""

    def read(self, text: str | None) -> str:
        if not re.fullmatch(r"\d{1,3}\.\d{1,3}( \d{1,3}\.\d{1,3})*", text or "", re.ASCII):
            return self.default
        return " ".join(text.split(" ")[:MOST_OFF])


STEPS = {
    "row": "1 · Where will it look?",
    "atlas": "2 · All heads",
    "far": "3 · Near first, far later?",
    "off": "4 · Switch a head off",
    "sum": "5 · Is a layer the sum of its heads?",
}
SETTINGS = {
    "measure": Setting.of(ENTROPY, MEASURES),
    "over": Setting.of(PICTURE, OVER),
    "off": Off("", ()),
    "step": Steps.by(STEPS, atlas=("measure", "over"), off=("off",)),
}


# Numbers


def habits(here: Session, picture: Picture, wish: Wish, report: Report):
    """One picture's numbers; those of an upload stay in its session."""
    own = st.session_state.setdefault("own_habits", Cache(4 * MB, _habits.size))
    return (_habits if picture.sample else own).get((picture.id, wish), lambda: _look(here, picture, wish, report))


def _look(here: Session, picture: Picture, wish: Wish, report: Report):
    from playground.analysis.heads import look

    seen, layers = traces.trace(picture, wish, here.own), count(1)

    @contextmanager
    def turn():
        layer = next(layers)
        if seen.tokens > SLOW:
            report((layer - 1) / seen.layers, f"{plain(picture.name)}: layer {layer} of {seen.layers}")
        with queue.turn():
            yield

    return look(seen, turn)


def habits_here(here: Session):
    """Those of the picture that is shown; a bar tells how far it is."""
    bar = st.empty()
    found = habits(here, here.picture, here.wish, bar.progress)
    bar.empty()
    return found


def measured(here: Session, seen):
    """(mean, spread) of every head, on what is chosen here: this picture, or all samples."""
    state = st.session_state
    if state.measure not in (offered := measures_of(seen)):
        state.measure = ENTROPY
    with st.container(key="choices", horizontal=True, vertical_alignment="bottom"):
        if state.step == "atlas":
            st.segmented_control("Colour shows", offered, key="measure", format_func=MEASURES.get, required=True)
        st.segmented_control("Measured on", OVER, key="over", format_func=OVER.get, required=True)
    if state.step == "atlas":
        st.caption(f"{SAYS[state.measure]} {absent(seen)}")
    if state.over == PICTURE:
        return habits_here(here), None
    bar = st.empty()
    found = over_samples(here, bar.progress)
    bar.empty()
    return found


def over_samples(here: Session, report: Report):
    """(mean, spread) over the samples."""
    from playground.analysis.heads import average, spread

    many = []
    for n, sample in enumerate(SAMPLES):
        words = f"{sample.title}: {n + 1} of {len(SAMPLES)}"
        report(n / len(SAMPLES), words)
        part = partial(_part, report, n, words)
        many.append(habits(here, pictures.sample(sample.name), here.wish, part))
    return average(many), spread(many)


def _part(report: Report, n: int, words: str, share: float, _: str) -> None:
    report((n + share) / len(SAMPLES), words)


def lost(here: Session, seen, off: list[Spot]):
    """Remembered, for a page runs again whatever is chosen on it."""
    from playground.analysis.ablation import without

    def work():
        with queue.turn():
            return without(seen, off)

    kept = st.session_state.setdefault("losses", Cache(4 * MB, lambda loss: loss.change.numel() * 4))
    return kept.get((here.picture.id, here.wish, tuple(off)), work)


# Choices


def measures_of(seen) -> list[str]:
    """Those that mean something for this model."""
    registers = any(name.startswith("reg") for name in seen.prefix)
    has = {CLASS: bool(set(seen.prefix) & {"cls", "dist"}), REGISTERS: registers}
    return [key for key in MEASURES if has.get(key, True)]


def absent(seen) -> str:
    """In a word, why a column that others have is not there."""
    there = measures_of(seen)
    missing = [word for key, word in ((CLASS, "class token"), (REGISTERS, "registers")) if key not in there]
    return f"This model has no {' and no '.join(missing)}." if missing else ""


def switched_off(seen) -> list[Spot]:
    """From the address; heads that this model does not have are passed over."""
    spots = [tuple(int(n) for n in spot.split(".")) for spot in st.session_state.off.split()]
    return sorted({(layer, head) for layer, head in spots if layer < seen.layers and head < seen.heads})


def switch_off(spots: list[Spot]) -> None:
    st.session_state.off = " ".join(f"{layer}.{head}" for layer, head in sorted(spots)[:MOST_OFF])


# A row to paint


def paint_a_row(here: Session, seen) -> None:
    """Where will this patch look? In the head that is shown in the microscope, or else in one that is worth a guess."""
    from playground.analysis.heads import far_looking

    rows, columns = seen.grid
    row, column = start_patch(here.picture.name, seen.grid)
    if {"layer", "head"} <= here.view.keys():
        layer, head = min(int(here.view["layer"]), seen.layers - 1), int(here.view["head"]) % seen.heads
    else:
        layer, head = far_looking(seen, (row, column))

    def truth() -> guess.Truth:
        found = seen.on_grid(seen.row(layer, head, (row, column))).flatten()
        share = float(found.topk(max(1, len(found) // 50)).values.sum() / found.sum())
        return guess.Truth(
            [round(float(weight), 6) for weight in found],
            f" The brightest 2 % of the patches hold {share:.0%} of the row. Overlap: what an even coat of your paint "
            "and the row have in common.",
        )

    guess.row(
        "heads_row", f"Paint where the outlined patch will look, in head {head} of layer {layer}.",
        _thumbnail(here.picture.jpeg), (rows, columns), row * columns + column, truth,
        context=(here.picture.id, here.wish, layer, head),
    )  # fmt: skip


# The atlas


def atlas(here: Session, seen, mean, spread=None) -> None:
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
        "link": "./?" + urlencode(here.words(view=False)),
    }
    component("atlas", "lessons/atlas.js", "lessons/heads.css")(key="atlas", data=data, on_open_change=lambda: None)
    if opened := state.atlas.get("open"):
        here.tell_view(here.view | {"layer": str(int(opened["layer"])), "head": str(int(opened["head"]))})
        st.switch_page("pages/microscope.py", query_params=here.words())


def _habit_names(mean, vit) -> list[list[dict[str, str | None]]]:
    """`told`: what a loss asked of this head's weights in training, or None."""
    from playground.analysis.heads import short
    from playground.told import told

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


# Distance by depth


def near_or_far(mean) -> str:
    """Whether heads look farther in higher layers, in this model."""
    by_layer = mean.distance.mean(axis=1)  # (layers,)
    near, far = int(by_layer.argmin()), int(by_layer.argmax())
    trend = float(np.corrcoef(np.arange(len(by_layer)), by_layer)[0, 1]) if len(by_layer) > 2 else 0.0
    verdict = "near first, far later" if trend > 0.5 else "far first, near later" if trend < -0.5 else "no steady trend"
    return (
        f"Here the nearest layer on average is layer {near} ({by_layer[near]:.1f} patches), the farthest layer {far} "
        f"({by_layer[far]:.1f}): {verdict}."
    )


def least(mean) -> str:
    """The head that adds the least, as an example."""
    layer, head = np.unravel_index(np.nanargmin(mean.effect), mean.effect.shape)
    return (
        f"Here the shortest is what head {head} of layer {layer} adds: {mean.effect[layer, head]:.2f} × the average of "
        f"its layer, while its rows have an entropy of {mean.entropy[layer, head]:.1f} bits."
    )


def scatter(seen, mean, spread=None) -> go.Figure:
    """Every head at its layer: the figure that the ViT paper prints."""
    from playground.analysis.heads import HABITS, Habit, even_distance

    even = even_distance(*seen.grid)
    figure, kinds = go.Figure(), mean.kinds()
    groups: dict[Habit, list[Spot]] = {}
    for layer, row in enumerate(mean.habits()):
        for head, habit in enumerate(row):
            groups.setdefault(habit, []).append((layer, head))
    for habit, spots in sorted(groups.items(), key=lambda group: HABITS.index(group[0])):
        layers, heads = (np.array(numbers) for numbers in zip(*spots, strict=True))
        far = mean.distance[layers, heads]
        spare = None if spread is None else {"array": spread.distance[layers, heads], "thickness": 1, "width": 0}
        hover = [
            f"layer {layer}, head {head}: {kinds[layer][head]}<br>listens {x:.1f} patches away, "
            f"{x * seen.patch_size:.0f} pixels"
            for (layer, head), x in zip(spots, far, strict=True)
        ]
        figure.add_scatter(
            x=layers + (heads - (seen.heads - 1) / 2) * 0.5 / seen.heads, y=far, error_y=spare, name=habit.label,
            mode="markers", text=hover, hoverinfo="text",
            marker={"size": 11, "symbol": habit.symbol, "color": habit.colour, "line": {"width": 1.5}},
        )  # fmt: skip
    ends = [-0.5, seen.layers - 0.5]
    for level, words, colour in ((even, "an even row", INK), (NEAR, "3 × 3 convolution", CONVOLUTION)):
        line = {"color": colour, "width": 2, "dash": "dot"}
        figure.add_scatter(x=ends, y=[level] * 2, name=words, mode="lines", line=line, hoverinfo="name")
    figure.update_layout(
        xaxis={"title": "layer", "dtick": 1 if seen.layers <= 14 else 2, "range": ends, "zeroline": False},
        yaxis={"title": "mean attention distance, patches", "range": [0, max(even, mean.distance.max()) * 1.1]},
        legend={"orientation": "h", "y": -0.2, "yanchor": "top"},
    )
    return figure


INK = "#83838F"  # on either theme; the colours of the roles are taken
NEAR = (4 + 4 * 2**0.5) / 9  # patches: the mean distance of nine cells that get the same


# Switches


def board(here: Session, seen, mean) -> None:
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
        "picture": _thumbnail(here.picture.jpeg),
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


@st.fragment
def sum_of_heads(here: Session, seen) -> None:
    """Whether a layer's loss is the sum of its heads' losses, measured when asked for."""
    layer = st.number_input(
        "Layer", 0, seen.layers - 1, min(seen.upper_layer, seen.layers - 1), key="summed", width=160
    )

    def truth() -> guess.Truth:
        from playground.analysis.ablation import addition

        with queue.turn():
            found = addition(seen, layer)
        return guess.Truth("more" if found.whole > found.together else "less", _added_words(layer, found))

    guess.choice(
        "heads_sum",
        f"Switch the heads of layer {layer} off one by one, and add up what is lost. Then switch off all of them at "
        "once. Which loss is larger?",
        {"less": "the sum of the single losses", "more": "the loss of all at once"},
        truth, context=(here.picture.id, here.wish, layer), afresh=True,
    )  # fmt: skip


def _added_words(layer: int, found) -> str:
    single = " + ".join(f"{loss:.1%}" for loss in found.single)
    compared = "more" if found.whole > found.together else "less"
    return (
        f" One by one, the heads of layer {layer} cost {single} = {found.together:.1%}: so far do the patches' tokens "
        f"move after the last layer. All at once they cost {found.whole:.1%}, {compared} than the sum. There is no "
        f"rule: the vectors that two heads add to a patch have a mean cosine of {found.cosine:.2f} here (0: at right "
        "angles), and the norms and MLPs above are not linear. Other layers and pictures answer differently."
    )


def _toggle(seen) -> None:
    said = st.session_state.board.toggle or {}
    switch_off(list(set(switched_off(seen)) ^ {(int(said["layer"]), int(said["head"]))}))


def _read(seen, loss, off: list[Spot]) -> str:
    missing = "names no classes" if seen.logits is not None else "has no classifier: it predicts nothing"
    turned = f"The vector that sums the picture up has turned: its cosine with what it was is {1 - loss.turned:.3f}."
    return f"This model {missing}. {turned if off else 'Switch a head off, and see how far its summary turns.'}"


def _nice(x: float) -> float:
    """The next of 5, 10, 20, 50, 100 … per cent, so that the colours mean a round number."""
    return next((n for n in (0.05, 0.1, 0.2, 0.5, 1.0) if x <= n * 1.2), 2.0)


@st.cache_data(max_entries=64, ttl=3600, show_spinner=False)
def _thumbnail(jpeg: bytes) -> str:
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    image.thumbnail((THUMB, THUMB))
    return pictures.data_url(pictures.as_jpeg(image, quality=80))
