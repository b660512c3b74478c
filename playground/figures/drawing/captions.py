"""The words of a figure: headings, the caption, and facts that the picture can't show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from playground.figures.drawing import naming
from playground.figures.drawing.maps import POOLED, Domain, Map, clipped_patches, is_even, least_move, moved_by_nothing
from playground.figures.drawing.spec import METHODS, POOLINGS, Query, Spec
from playground.numbers import percent

if TYPE_CHECKING:
    from playground.tracing import Trace

PREFIX_NAMES = {"cls": "the class token", "dist": "the distillation token"}


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def joined(phrases: Iterable[str]) -> str:
    *first_phrases, last_phrase = phrases
    return " and ".join(filter(None, [", ".join(first_phrases), last_phrase]))


# Names of single things -----------------------------------------------------------------------------------------------


def query_phrase(query: Query) -> str:
    """The query, in words."""
    if isinstance(query, tuple | list):
        return f"patch {query[0]}, {query[1]}"
    if isinstance(query, str) and query.startswith("reg") and query[3:].isdecimal():
        return f"register {query[3:]}"
    return PREFIX_NAMES.get(query, query) if isinstance(query, str) else f"token {query}"


def picture(name: str) -> str:
    """The file's name without lone surrogates, which no font can draw."""
    drawable = name.encode("utf-8", "replace").decode()
    return Path(drawable).name or "the picture"


def head(spec: Spec) -> str:
    return POOLED[spec.head] if spec.head in POOLINGS else f"head {spec.head}"


def place(spec: Spec) -> str:
    """ "layer 4, head 0", or "after layer 4" for a way to look that has no heads."""
    if spec.way.through_layers:
        return "through all layers"
    return f"layer {spec.layer}, {head(spec)}" if spec.way.of_heads else f"after layer {spec.layer}"


def method(spec: Spec) -> str:
    """The name of the way to look, as a map's heading."""
    return f"{spec.way.title}, by column" if spec.way.of_heads and spec.direction == "column" else spec.way.title


def scale(trace: Trace, scale_words: str | None) -> str:
    """ "1/√32" or "no scale", or the number."""
    number = trace.scale_number(scale_words)
    if abs(number - trace.native_scale) < 1e-9:
        return f"1/√{trace.head_dim}"
    return "no scale" if number == 1 else f"{number:.3g}"


def scale_heading(trace: Trace, scale_words: str | None) -> str:
    """ "scale 1/√32" or "no scale", over a map."""
    name = scale(trace, scale_words)
    return name if name == "no scale" else f"scale {name}"


def breadth(map_: Map, all_tokens: int) -> str:
    """How many tokens a row listens to, by its entropy, in words."""
    if map_.breadth is None:
        return ""
    return "even" if is_even(map_, all_tokens) else f"about {_count(map_.breadth)} tokens"


def _count(tokens: float) -> str:
    return f"{tokens:.1f}" if tokens < 10 else f"{tokens:.0f}"


def number(x: float) -> str:
    """The number with at least two digits, and without an exponent if it is large."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.2g}" if abs(x) >= 1e-4 or x == 0 else f"{x:.1e}"


def signed(value: float, is_share: bool) -> str:
    """ "+4.1 %" or "−0.13"."""
    return f"{'−' if value < 0 else '+'}{(percent if is_share else number)(abs(value))}"


def range_words(low: float, high: float) -> str:
    """ "0.34 to 1.9 %", or one number where both are written the same."""
    low_words, high_words = percent(low), percent(high)
    return high_words if low_words == high_words else f"{low_words.removesuffix(' %')} to {high_words}"


def sides(block_sides: Sequence[int]) -> str:
    """The sides of blanked blocks: "blocks of 4 × 4 and 2 × 2, the smaller where more moved"."""
    sizes = joined(f"{side} × {side}" for side in block_sides)
    return f"blocks of {sizes}{', the smaller where more moved' if len(block_sides) > 1 else ''}"


# Shares of prefix tokens ----------------------------------------------------------------------------------------------


def prefix_shares(map_: Map) -> str:
    """The shares of the prefix tokens in a row of weights: "CLS 0.4 %, registers 1.2 %"."""
    spec = map_.spec
    adds_up = (spec.way.whole or spec.way.signed) and spec.direction == "row"
    if not (map_.prefix and adds_up) or (spec.head == "max" and spec.way.of_heads):
        return ""
    shares: dict[str, float] = {}
    for name, share in map_.prefix:
        kind = "registers" if name.startswith("reg") else name.upper()
        shares[kind] = shares.get(kind, 0.0) + share
    write_share = partial(signed, is_share=spec.in_percent) if spec.for_and_against else percent
    return ", ".join(f"{name} {write_share(share)}" for name, share in shares.items())


def prefix_note(panels: list[Map]) -> str:
    """What maps don't show: the prefix tokens' shares; of several maps the range."""
    shares = [(panel, words) for panel in panels if (words := prefix_shares(panel))]
    if not shares:
        return ""
    if len(shares) == 1:
        return f"; not in the picture: {shares[0][1]}"
    if not panels[0].spec.in_percent:
        return ""
    totals = [sum(abs(share) for _, share in panel.prefix) for panel, _ in shares]
    return f"; the prefix tokens, which are not in the pictures, take {range_words(min(totals), max(totals))}"


# The caption ----------------------------------------------------------------------------------------------------------


def sentence(spec: Spec, panels: list[Map], domain: Domain, where: str, more: str = "") -> str:
    """The caption: one sentence on what the maps show, in which model, `where` in it, from which weight on they are
    brightest, and what the prefix tokens take; then a sentence on each thing that is not as trained."""
    trace = panels[0].seen
    models = dict.fromkeys(naming.model(panel.seen) for panel in panels)
    context = ", ".join(filter(None, [joined(models), "" if where in spec.way.caption else where]))
    text = f"{capital(context)}: {statement(spec, panels)}{more}"
    if len(panels) == 1 and panels[0].breadth is not None:
        even = is_even(panels[0], trace.tokens)
        text += ", evenly" if even else f", about {_count(panels[0].breadth)} of {trace.tokens} tokens (2^entropy)"
    if panels[0].colours is not None:
        held = [panel.variance_share for panel in panels]
        text += f", which hold {range_words(min(held), max(held))} of what differs between patches"
    text += exposure_note(panels, domain) + _sides_note(spec, panels) + _blanking_note(spec, panels)
    return " ".join([f"{text}{prefix_note(panels)}.", *notes(spec, panels)])


def statement(spec: Spec, panels: list[Map]) -> str:
    """What the maps show, without the model: "what patch 7, 5 (row, column, from 0) attends to"."""
    queries = {panel.spec.query for panel in panels if panel.subject is panels[0].subject}
    query = next(iter(queries)) if len(queries) == 1 else None
    who = "the outlined patch" if query is None else query_phrase(query)
    if isinstance(query, tuple | list):
        who += " (row, column, from 0)"
    column = spec.way.column[1] if spec.direction == "column" else ""
    label = spec.way.of_label[1] if spec.explains_label else ""
    has_several = len({id(panel.subject) for panel in panels}) > 1
    return (label or column or spec.way.caption).format(**_filling(spec, panels[0].seen, who, has_several))


def _filling(spec: Spec, trace: Trace, who: str, has_several: bool = False) -> dict[str, str]:
    """What stands in place of the curly brackets of ways.py."""
    explained = ""
    if spec.way.explains in ("label", "patch"):
        needs_label = spec.way.explains == "label" or spec.label
        explained = _label(spec, trace, has_several) if needs_label else f"the feature of {who}"
    return {
        "who": who,
        "text": spec.text,
        "explained": explained,
        "blank": naming.BLANKS[spec.blank],
        "method": METHODS[spec.method].replace("adds to it", "speaks for it" if spec.explains_label else "adds to it"),
        "margin": margin(trace),
    }


def _label(spec: Spec, trace: Trace, has_several: bool) -> str:
    """The label in words, with its name if it has one. The likeliest label of several pictures has none: each may
    have another."""
    kind = "label" if spec.label else "the likeliest label"
    if (has_several and not spec.label) or trace.vit is None or trace.logits is None:
        return f"{kind} {spec.label}".rstrip()
    names, label_number = trace.vit.config.labels, int(spec.label or trace.logits.argmax())
    return f"{kind} {f'“{names[label_number]}”' if names else label_number}"


def margin(trace: Trace) -> str:
    if trace.vit is not None and trace.vit.config.multi_label:
        return "its own: this model says yes or no to each label"
    return "how far it is above the largest other"


def exposure_note(maps: list[Map], domain: Domain) -> str:
    """From which value on patches are brightest, how many exceed it, up to which value."""
    note = "; brightness is logarithmic, down to a thousandth of the brightest" if domain.log else ""
    count = sum(len(clipped_patches(map_, domain)) for map_ in maps)
    if not count:
        return note
    largest = max(float(map_.grid.max()) for map_ in maps)
    least_words, largest_words = distinct_numbers(domain.high, largest, percent if domain.percent else number)
    nouns = "patch" if count == 1 else "patches"
    return f"{note}; brightest from {least_words}, {count} {nouns} above it, up to {largest_words}"


def distinct_numbers(smaller: float, larger: float, write_number: Callable[[float], str]) -> tuple[str, str]:
    """Two numbers in words, with enough digits to differ: never "above 10 %, up to 10 %"."""
    texts, digits = (write_number(smaller), write_number(larger)), 3
    while texts[0] == texts[1] and digits < 8:
        is_percent = texts[0].endswith("%")
        low, high = (f"{100 * x:.{digits}g} %" if is_percent else f"{x:.{digits}g}" for x in (smaller, larger))
        texts = low, high
        digits += 1
    return texts


def _sides_note(spec: Spec, maps: list[Map]) -> str:
    """The largest value for a label and the largest against it: "; for it up to +3.2 %, against it up to −1.1 %"."""
    if not spec.for_and_against or moved_by_nothing(maps):
        return ""
    largest, smallest = max(float(map_.grid.max()) for map_ in maps), min(float(map_.grid.min()) for map_ in maps)
    speaks = f"for it up to {signed(largest, spec.in_percent)}" if largest > 0 else "nothing speaks for it"
    opposes = f"against it up to {signed(smallest, spec.in_percent)}" if smallest < 0 else "nothing against it"
    return f"; {speaks}, {opposes}"


def _blanking_note(spec: Spec, maps: list[Map]) -> str:
    """The sizes of the blocks that were blanked, and whether none of them moves what is explained by much."""
    block_sides = sorted({side for map_ in maps if map_.blanked for side in map_.blanked.sides}, reverse=True)
    note = f"; blanked in {sides(block_sides)}, each patch with its part of its block" if block_sides else ""
    if moved_by_nothing(maps):
        least = f"{least_move(spec):g} logits" if spec.explains_label else percent(least_move(spec))
        note += f"; nothing here moves it: no block by {least}"
    return note


def notes(spec: Spec, panels: list[Map]) -> list[str]:
    """Sentences on what is not as trained (cut edges, ablated heads, another scale), what was taught and assumed, and
    on how far the map can be trusted."""
    trace = panels[0].seen
    subjects = {id(panel.subject): panel.seen for panel in panels}.values()
    assumed = {naming.model(seen): seen.assumed for seen in subjects if seen.assumed}
    return [
        *_taught_notes(panels),
        *_cut_notes(trace),
        *_scale_notes(spec, panels),
        *naming.trust_sentences((panel.spec, panel.seen) for panel in panels),
        *(f"Assumed of {name}: {assumption}." for name, assumption in assumed.items()),
    ]


def _taught_notes(panels: list[Map]) -> list[str]:
    """A note if a training loss told the head where to look: then the map is no evidence of what attention learns by
    itself."""
    from playground.analysis.heads import training_task

    spec, trace = panels[0].spec, panels[0].seen
    if trace.vit is None or len(panels) > 1 or not isinstance(spec.head, int) or not spec.way.of_heads:
        return []
    query = spec.query if isinstance(spec.query, str) else "patch"
    task = training_task(trace.vit, panels[0].one.layer, spec.head, query)
    return [f"In training this head was told to {task}."] if task else []


def _cut_notes(trace: Trace) -> list[str]:
    edges, heads = ([cut for cut in trace.cuts.all if bool(cut.replacement) == ablates] for ablates in (False, True))
    texts = ", ".join(cut.text.replace(">", " > ").replace("@", " in ") for cut in edges)
    said = {"zero": "Off", "mean": "At their mean over the tokens,"}
    return [
        *([f"Cut in the whole forward pass: {texts}."] if edges else []),
        *(f"{said[cut.replacement]} in the whole forward pass: heads {cut.named_heads}." for cut in heads),
        *(f"Put into the forward pass: {words}." for words in trace.interventions),
    ]


def _scale_notes(spec: Spec, panels: list[Map]) -> list[str]:
    trace = panels[0].seen
    scale_number = trace.scale_number(spec.scale)
    if scale_number == trace.native_scale == trace.scale:
        return []
    if not spec.way.of_heads and not spec.whole:  # numbers without heads come from the trained pass
        return []
    has_layers = len({panel.spec.layer for panel in panels}) > 1
    where = "in the whole forward pass" if spec.whole else f"in {'each' if has_layers else 'this'} layer alone"
    if scale_number == trace.native_scale:
        return [f"With 1/√dₖ {where}: the forward pass ran with another scale."]
    if scale_number == 1:
        return [f"Without 1/√dₖ {where}."]
    return [f"Scale {scale_number:.3g} instead of {scale(trace, 'on')} {where}."]


# Files ----------------------------------------------------------------------------------------------------------------


def number_facts(spec: Spec, trace: Trace) -> dict[str, str]:
    """Facts about a file's numbers: the label explained, the way to compute them, the meaning of a sign, the unit."""
    names = trace.vit.config.labels if trace.vit and spec.explains_label else ()
    facts = {
        "label": (names[int(spec.label)] if names else spec.label) if spec.explains_label else "",
        "made": spec.way.made.format(method=METHODS[spec.method].partition(",")[0], blank=spec.blank),
        "sign": "+ speaks for it, - against it" if spec.for_and_against else "",
    }
    if spec.way.unit_of_label:
        facts["unit"] = f"logits, {margin(trace)}" if spec.explains_label else "parts of the feature's length"
    return {key: words for key, words in facts.items() if words}
