"""What a figure says: headings, captions, and what the picture can't show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from playground.figures import naming
from playground.figures.light import share_within
from playground.figures.maps import Domain, Map, clipped, is_even, least_move, moved_by_nothing
from playground.figures.prints import PART_COLOURS, has_outline, outline
from playground.figures.spec import METHODS, OF_A_LABEL, POOLED, THROUGH_LAYERS, WITHOUT_HEADS, Spec
from playground.models.names import plain_name
from playground.models.told_heads import told

if TYPE_CHECKING:
    from playground.tracing import Trace


def asked(query) -> str:
    """The query, in words."""
    if isinstance(query, tuple | list):
        return f"patch {query[0]}, {query[1]}"
    return _token(query) if isinstance(query, str) else f"token {query}"


def _token(name: str) -> str:
    if name.startswith("reg") and name[3:].isdecimal():
        return f"register {name[3:]}"
    return {"cls": "the class token", "dist": "the distillation token"}.get(name, name)


def picture(name: str) -> str:
    return Path(name).name or "the picture"


def place(spec: Spec, layer: int, head: int | str) -> str:
    if spec.what in THROUGH_LAYERS:
        return "through all layers"
    if spec.what in WITHOUT_HEADS:
        return f"after layer {layer}"
    return f"layer {layer}, {POOLED.get(head, f'head {head}')}"


def method(spec: Spec) -> str:
    """The heading of a map."""
    if spec.what in WITHOUT_HEADS:
        return _NAMES[spec.what]
    name = {"weight": "attention", "value": "weight × ‖W_O v‖", "score": "raw scores"}[spec.what]
    return name if spec.direction == "row" else f"{name}, by column"


_NAMES = {
    "similarity": "feature similarity",
    "rollout": "rollout",
    "relevance": "relevance",
    "occlusion": "occlusion",
    "label": "logit lens",
    "text": "likeness with a text",
    "components": "colours of features",
    "parts": "parts by features",
    "norm": "length of features",
}


def scale(seen: Trace, given: str | None) -> str:
    """ "1/√32" or "no scale", or the number."""
    number = seen.scale_number(given)
    if abs(number - seen.native_scale) < 1e-9:
        return f"1/√{seen.head_dim}"
    return "no scale" if number == 1 else f"{number:.3g}"


def breadth(map_: Map, all_tokens: int) -> str:
    """How many tokens a row listens to, as its entropy has it."""
    if map_.breadth is None:
        return ""
    return "even" if is_even(map_, all_tokens) else f"about {_count(map_.breadth)} tokens"


def _count(b: float) -> str:
    return f"{b:.1f}" if b < 10 else f"{b:.0f}"


def number(x: float) -> str:
    """Two digits or more, and never 1.1e+02."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.2g}" if abs(x) >= 1e-4 or x == 0 else f"{x:.1e}"


def signed(value: float, share: bool) -> str:
    """ "+4.1%" or "−0.13"."""
    return f"{'−' if value < 0 else '+'}{(percent if share else number)(abs(value))}"


def percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def bare_share(share: float) -> str:
    """In so few letters that it fits into a patch: percent without the sign."""
    return f"{100 * share:.1f}" if share < 0.0995 else f"{100 * share:.0f}"


def from_to(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((percent(low), percent(high))))


def outside(map_: Map, spec: Spec) -> str:
    """What goes to tokens that have no place in the picture, in a row of weights: "CLS 0.4%, registers 1.2%"."""
    if spec.head == "max" and spec.what == "weight":
        return ""
    if not (
        map_.prefix and spec.prefix and spec.what in ("weight", "rollout", "relevance") and spec.direction == "row"
    ):
        return ""
    shares = {"CLS": 0.0, "DIST": 0.0, "registers": 0.0}
    for name, share in map_.prefix:
        shares["registers" if name.startswith("reg") else name.upper()] += share
    written = partial(signed, share=True) if spec.for_and_against else percent
    present = {"registers" if name.startswith("reg") else name.upper() for name, _ in map_.prefix}
    return ", ".join(f"{name} {written(share)}" for name, share in shares.items() if name in present)


def taken(map_: Map) -> float:
    return sum(abs(share) for _, share in map_.prefix)


def caption(
    spec: Spec, seen: Trace, maps: list[Map], other: tuple[Spec, Trace] | None = None, span: Domain | None = None
) -> str:
    """One or two sentences that say what is seen, and with what it was made. `other` is what it is compared with."""
    made_with = _made_with(spec, seen)
    if other is not None and (theirs := _made_with(*other)) != made_with:
        made_with = f"{made_with}, and {theirs}"
    said = _says(spec, _counted(spec.query), seen)
    if other is not None and other[0].query != spec.query:
        said += f"; the same place in the other grid is {asked(other[0].query)}"
    first = f"{made_with}: {said}"
    if len(maps) == 1 and maps[0].breadth is not None:
        even = is_even(maps[0], seen.tokens)
        first += (
            f", evenly: all {seen.tokens} tokens alike"
            if even
            else f", about {_count(maps[0].breadth)} of {seen.tokens} tokens (2^entropy)"
        )
    first += held(maps)
    first += peak(maps, span) + blocks(maps) + for_and_against(spec, maps) + unmoved(spec, maps)
    words = [f"{first[0].upper()}{first[1:]}.", *taught(spec, seen), *altered(spec, seen), *outlined(spec, maps)]
    return " ".join(words)


def peak(maps: list[Map], span: Domain | None) -> str:
    """A peak is not hidden: how many patches are brighter than can be shown, and how much the largest has."""
    count = sum(len(clipped(one, span)) for one in maps) if span else 0
    return brighter(span, count, max(float(one.grid.max()) for one in maps), "patch", "patches") if span else ""


def blocks(maps: list[Map]) -> str:
    """Which blocks an occlusion has blanked, of one map or of several."""
    blanked = sorted({side for one in maps if one.blanked for side in one.blanked.sides}, reverse=True)
    return f"; blanked in {sides(blanked)}, each patch with its part of its block" if blanked else ""


def sides(of_blocks: Sequence[int]) -> str:
    """ "blocks of 4 × 4 and 2 × 2, the smaller where more moved" """
    *others, last = (f"{side} × {side}" for side in of_blocks)
    return f"blocks of {', '.join(others)} and {last}, the smaller where more moved" if others else f"blocks of {last}"


def for_and_against(spec: Spec, maps: list[Map]) -> str:
    """How much each way, and the patch with the most: "; 48% for it, most patch 3, 4 (+3.2%); 52% against it, …"."""
    if not spec.for_and_against or moved_by_nothing(maps):
        return ""
    said = []
    for words, sign in (("for it", 1), ("against it", -1)):
        largest = max(float((sign * one.grid).max()) for one in maps)
        if largest <= 0:
            said.append(f"nothing speaks {words}")
            continue
        written = signed(sign * largest, spec.what == "relevance")
        if len(maps) > 1:
            said.append(f"{words} up to {written}")
            continue
        share = float(maps[0].grid[sign * maps[0].grid > 0].sum()) if spec.what == "relevance" else 0.0
        at = "{}, {}".format(*divmod(int((sign * maps[0].grid).argmax()), maps[0].grid.shape[1]))
        said.append(f"{f'{percent(abs(share))} ' if share else ''}{words}, most patch {at} ({written})")
    return f"; {'; '.join(said)}"


def unmoved(spec: Spec, maps: list[Map]) -> str:
    """What blanking moves so little that nobody should look for a pattern in it."""
    if not moved_by_nothing(maps):
        return ""
    least = least_move(spec)
    return f"; nothing here moves it: no block by {f'{least:g} logits' if spec.explains_label else percent(least)}"


def brighter(span: Domain, count: int, largest: float, one: str, many: str) -> str:
    if not count:
        return ""
    least, most = told_apart(span.high, largest, percent if span.percent else number)
    return f"; brightest from {least}, {count} {many if count > 1 else one} above it, up to {most}"


def told_apart(less: float, more: float, written: Callable[[float], str]) -> tuple[str, str]:
    """Two numbers as they are written, with as many digits as tell them apart: never "above 10%, up to 10%"."""
    said, digits = (written(less), written(more)), 3
    while said[0] == said[1] and digits < 8:
        percents = said[0].endswith("%")
        said = tuple(f"{100 * x:.{digits}g}%" if percents else f"{x:.{digits}g}" for x in (less, more))
        digits += 1
    return said


def taught(spec: Spec, seen: Trace) -> list[str]:
    """A head that a loss told where to look is no evidence of what a transformer finds by itself."""
    if seen.vit is None or not isinstance(spec.head, int) or spec.layer is None or spec.what in WITHOUT_HEADS:
        return []
    what = told(seen.vit, spec.layer, spec.head, spec.query if isinstance(spec.query, str) else "patch")
    return [f"In training this head was told to {what}."] if what and spec.layout == "head" else []


def held(maps: list[Map]) -> str:
    """How much of what there is the colours of features show."""
    if maps[0].colours is None:
        return ""
    shares = [one.held for one in maps]
    said = from_to(min(shares), max(shares))
    alike = "; after one layer of one model, what is alike has one colour" if len({*shares}) < len(shares) else ""
    return f"; they hold {said} of what differs between patches{alike}"


def grid_caption(spec: Spec, asks, rows, columns, maps: list[Map], span: Domain | None = None) -> str:
    """What all panels share, and what changes along the rows and the columns."""
    first, changing = asks[0], {rows.name if spec.rows else "", columns.name if spec.columns else ""}
    fixed = [] if "models" in changing else [naming.model(first.subject.seen)]
    alike = {one.spec.layer for one in asks}
    fixed += [f"layer {first.spec.layer}"] if len(alike) == 1 and spec.what not in THROUGH_LAYERS else []
    if "heads" not in changing and spec.what not in WITHOUT_HEADS:
        fixed.append(POOLED.get(first.spec.head, f"head {first.spec.head}"))
    who = _counted(first.spec.query) if len({one.spec.query for one in asks}) == 1 else "the outlined patch"
    made_with = ", ".join(fixed)
    shown = _says(spec, who, first.subject.seen)
    said = f"{made_with}: {shown}" if made_with else shown
    along = [f"{where}: {axis.name}" for where, axis in (("rows", rows), ("columns", columns)) if axis.name in changing]
    more = f"{peak(maps, span)}{blocks(maps)}{for_and_against(spec, maps)}{unmoved(spec, maps)}"
    first_sentence = f"{said[0].upper()}{said[1:]}{held(maps)}; {', '.join(along)}{more}."
    where = [] if "scales" in changing else altered(first.spec, first.subject.seen)
    return " ".join([first_sentence, *where, *outlined(spec, maps)])


def _counted(query) -> str:
    """A patch with what its numbers are."""
    return f"{asked(query)} (row, column, from 0)" if isinstance(query, tuple | list) else asked(query)


def _says(spec: Spec, who: str, seen: Trace) -> str:
    said = {
        "weight": f"whom {who} listens to" if spec.direction == "row" else f"who listens to {who}",
        "value": f"what arrives at {who}" if spec.direction == "row" else f"what {who} gives to each patch",
        "score": f"raw scores of {who}",
        "similarity": f"patches with features like those of {who}",
        "rollout": f"what weights alone bring to {who} through all layers",
        "relevance": _of_relevance(spec, who, seen),
        "occlusion": _of_occlusion(spec, who, seen),
        "label": f"how likely {_label(spec, seen)} is, if the classifier read each patch after this layer",
        "text": f"which patches are like “{spec.text}”, if the model read each after this layer",
        "components": "the first three principal components of the patches’ features as red, green and blue",
        "parts": f"the patches cut into {len(PART_COLOURS)} parts by their features, a colour for each",
        "norm": "how long each patch’s features are",
    }[spec.what]
    return said.replace("listens to", "attends to") if spec.words == "paper" else said


_BLANKED = {"mean": "the mean colour", "noise": "noise", "neighbours": "what is around"}


def explained(spec: Spec, seen: Trace) -> dict[str, str]:
    """What a file says of its numbers beside what they are called: whose they are, how made, and what a sign means."""
    if spec.what not in OF_A_LABEL:
        return {}
    made = METHODS[spec.method].partition(",")[0] if spec.what == "relevance" else f"blanked by {spec.blank}"
    said = {"made": made}
    if spec.explains_label:
        names = seen.vit.config.labels if seen.vit else ()
        said = {"label": names[int(spec.label)] if names else spec.label} | said
    if spec.for_and_against:
        said["sign"] = "+ speaks for it, - against it"
    if spec.what == "occlusion":
        said["unit"] = f"logits, {margin(seen)}" if spec.explains_label else "parts of the feature's length"
    return said


def _of_relevance(spec: Spec, who: str, seen: Trace) -> str:
    kind = METHODS[spec.method].replace("speaks for it", "speaks for it" if spec.explains_label else "adds to it")
    verb = "speaks for and against" if spec.for_and_against else "moves"
    return f"what {verb} {_explained(spec, who, seen)}, through all layers ({kind})"


def _of_occlusion(spec: Spec, who: str, seen: Trace) -> str:
    """What is measured, and in what."""
    blanked = f"when patches become {_BLANKED[spec.blank]}"
    if not spec.explains_label:
        return f"how far {_explained(spec, who, seen)} moves {blanked}"
    return f"what {_label(spec, seen)} loses in logits {blanked} ({margin(seen)})"


def margin(seen: Trace) -> str:
    yes_or_no = seen.vit is not None and seen.vit.config.multi_label
    return "its own: this model says yes or no to each label" if yes_or_no else "how far it is above the largest other"


def _explained(spec: Spec, who: str, seen: Trace) -> str:
    return _label(spec, seen) if spec.label else f"the feature of {who}"


def _label(spec: Spec, seen: Trace) -> str:
    """By its name, where it has one. The likeliest one is not named where each picture or pass has its own."""
    several = not spec.label and spec.layout in ("compare", "scale", "grid")
    if several or seen.vit is None or seen.logits is None:
        return f"label {spec.label}" if spec.label else "the likeliest label"
    names, number = seen.vit.config.labels, int(spec.label or seen.logits.argmax())
    called = f"“{names[number]}”" if names else str(number)
    return f"label {called}" if spec.label else f"the likeliest label, {called},"


def outlined(spec: Spec, maps: list[Map]) -> list[str]:
    """How much of what the patches get lies within the lines, counted from these lines."""
    if not has_outline(spec):
        return []
    shares = [share_within(outline(one.grid, spec), one.grid) for one in maps]
    verb = "Shown" if spec.mask else "Outlined"
    return [f"{verb}: the patches that hold {from_to(min(shares), max(shares))} of what all patches get."]


def queries_caption(spec: Spec, seen: Trace, maps: list[Map], span) -> str:
    full = f"{number(100 * span.high)}%" if span.percent else number(span.high)
    many = _says(spec, f"{len(maps)} patches", seen).replace("listens", "listen").replace("attends", "attend")
    said = f"{_made_with(spec, seen)}: {many}."
    said = f"{said[0].upper()}{said[1:]}"
    return " ".join([said, f"A colour is strongest from {full} on.", *outlined(spec, maps), *altered(spec, seen)])


def _made_with(spec: Spec, seen: Trace) -> str:
    """The model, its layer and its head."""
    if spec.layout in ("wall", "atlas") or spec.what in ("rollout", "relevance"):  # these say "through all layers"
        return naming.model(seen)
    where = f"layer {spec.layer}" if spec.layout == "heads" else place(spec, spec.layer, spec.head)
    return f"{naming.model(seen)}, {where}"


def altered(spec: Spec, seen: Trace) -> list[str]:
    """A scale that the network was not trained with, and an edge that is cut, are counterfactuals, and said to be."""
    return _cut(seen) + _scaled(spec, seen)


def assumed(traces: Iterable[Trace]) -> list[str]:
    """What nobody has said of these models, and what was taken instead."""
    of = {naming.model(seen): seen.assumed for seen in traces if seen.assumed}
    return [f"Assumed of {name}: {what}." for name, what in of.items()]


def _cut(seen: Trace) -> list[str]:
    said = ", ".join(text.replace(">", " > ").replace("@", " in ") for text in seen.cuts.texts)
    return [f"Cut in the whole forward pass: {said}."] if said else []


def _scaled(spec: Spec, seen: Trace) -> list[str]:
    number = seen.scale_number(spec.scale)
    if number == seen.native_scale == seen.scale:
        return []
    if spec.what in WITHOUT_HEADS and not spec.whole:  # made of the pass, whatever is asked of one layer
        return []
    where = "in the whole forward pass" if spec.whole else "in this layer alone"
    if spec.layout == "wall" and not spec.whole:
        where = "in each layer alone"
    if number == seen.native_scale:
        return [f"With 1/√dₖ {where}: the forward pass ran with another scale."]
    how = "Without 1/√dₖ" if number == 1 else f"Scale {number:.3g} instead of {scale(seen, 'on')}"
    return [f"{how} {where}."]


def prefix_line(spec: Spec, maps: list[Map]) -> str:
    """What the maps leave out, of one map or of many."""
    if not maps or not outside(maps[0], spec):
        return ""
    if len(maps) == 1:
        return f"Not in the picture: {outside(maps[0], spec)}."
    names = {"registers" if name.startswith("reg") else name.upper() for name, _ in maps[0].prefix}
    who = " and ".join(sorted(names, key=str.isupper, reverse=True))
    low, high = min(map(taken, maps)), max(map(taken, maps))
    verb = "take" if len(names) > 1 or "registers" in names else "takes"
    return f"Not in the pictures: {who} {verb} {from_to(low, high)} of the row."


def title(spec: Spec) -> str:
    """For a file's metadata."""
    what = {"heads": f"all heads of layer {spec.layer}", "wall": "all heads of all layers"}
    if spec.layout == "curves":
        return "Softmax with and without 1/√dₖ"
    if spec.layout == "components":
        return f"Colours of features of {plain_name(spec.model)}, after layer {spec.layer}"
    if spec.layout == "grid":
        along = [axis.partition(":")[0] for axis in (spec.rows, spec.columns) if axis]
        return f"{method(spec).capitalize()} by {' and '.join(along)}"
    if spec.layout == "atlas":
        return f"Head atlas of {plain_name(spec.model)}"
    shown = what.get(spec.layout, place(spec, spec.layer, spec.head))
    if spec.explains_label:
        return f"{method(spec).capitalize()} of label {spec.label} of {plain_name(spec.model)}, {shown}"
    if not spec.asks:
        return f"{method(spec).capitalize()} of {plain_name(spec.model)}, {shown}"
    return f"{method(spec).capitalize()} of {asked(spec.query)}, {shown}"
