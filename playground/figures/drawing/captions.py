"""The words of a figure: headings, captions, and facts that the picture can't show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from playground.figures.drawing import naming
from playground.figures.drawing.light import share_within
from playground.figures.drawing.maps import (
    Domain,
    Map,
    clipped_patches,
    is_even,
    least_move,
    moved_by_nothing,
    patch_of,
)
from playground.figures.drawing.one_map import ShownMap
from playground.figures.drawing.places import told, told_sentence
from playground.figures.drawing.prints import PART_COLOURS, has_outline, outline
from playground.figures.drawing.spec import METHODS, Spec
from playground.figures.drawing.way_words import words
from playground.models.names import plain_name
from playground.numbers import percent

if TYPE_CHECKING:
    from playground.tracing import Trace


def say(key: str, *cases: str, **filled: object) -> str:
    """The words for `key` in way_words.py, in the first of `cases` that has words, with curly brackets filled in."""
    return words(key, "figure", *filter(None, cases)).format(**filled)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def query_phrase(query) -> str:
    """The query, in words."""
    if isinstance(query, tuple | list):
        return say("patch", row=query[0], column=query[1])
    return _token(query) if isinstance(query, str) else say("token", number=query)


def _token(name: str) -> str:
    if name.startswith("reg") and name[3:].isdecimal():
        return say("register", number=name[3:])
    return say(name) or name


def picture(name: str) -> str:
    return Path(name).name or say("picture")


def place(spec: Spec) -> str:
    """ "layer 4, head 0", or "after layer 4" for a way to look that has no heads."""
    if spec.way.through_layers:
        return say("through_layers")
    if not spec.way.of_heads:
        return say("layer", "after", layer=spec.layer)
    return f"{say('layer', layer=spec.layer)}, {head(spec)}"


def head(spec: Spec) -> str:
    return say("head", str(spec.head), head=spec.head)


def places(panels: list[ShownMap]) -> str:
    """The places of all panels, in words: "layer 4: head 0, head 3 and the mean of all heads"."""
    all_places = list(dict.fromkeys(place(panel.spec) for panel in panels))
    if len(all_places) == 1:
        return all_places[0]
    layers = {panel.spec.layer for panel in panels}
    if len(layers) == 1 and all(panel.spec.way.of_heads for panel in panels):
        return f"{say('layer', layer=layers.pop())}: {_joined([head(panel.spec) for panel in panels])}"
    return _joined(all_places)


def _joined(phrases: list[str]) -> str:
    return say("and").join(filter(None, [", ".join(phrases[:-1]), phrases[-1]]))


def headings(panels: list[ShownMap]) -> list[tuple[str, str]]:
    """(heading, no line beneath it) for each panel. A heading names what differs between panels, such as the layer."""
    specs = [panel.spec for panel in panels]
    candidates = {
        "layer": [say("layer", layer=spec.layer) for spec in specs],
        "head": [head(spec) for spec in specs],
        "query": [query_phrase(spec.query) for spec in specs],
        "what": [method(spec) for spec in specs],
    }
    changing_names = [names for names in candidates.values() if len(set(names)) > 1] or [candidates["what"]]
    return [(", ".join(names), "") for names in zip(*changing_names, strict=True)]


def method(spec: Spec) -> str:
    """The name of the way to look, as a map's heading."""
    name = spec.way.words("title")
    return say("column", name=name) if spec.way.of_heads and spec.direction == "column" else name


def scale(trace: Trace, scale_words: str | None) -> str:
    """ "1/√32" or "no scale", or the number."""
    number = trace.scale_number(scale_words)
    if abs(number - trace.native_scale) < 1e-9:
        return f"1/√{trace.head_dim}"
    return say("no_scale") if number == 1 else f"{number:.3g}"


def scale_heading(trace: Trace, scale_words: str | None) -> str:
    """ "scale 1/√32" or "no scale", over a map."""
    name = scale(trace, scale_words)
    return name if name == say("no_scale") else say("scale", scale=name)


def breadth(map_: Map, all_tokens: int) -> str:
    """How many tokens a row listens to, by its entropy, in words."""
    even_case = "even" if is_even(map_, all_tokens) else ""
    return "" if map_.breadth is None else say("breadth", even_case, count=_count(map_.breadth))


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
    return high_words if low_words == high_words else say("to").join((low_words.removesuffix(" %"), high_words))


def prefix_shares(map_: Map, spec: Spec) -> str:
    """The shares of the prefix tokens in a row of weights: "CLS 0.4 %, registers 1.2 %"."""
    if spec.head == "max" and spec.way.rows:
        return ""
    if not (map_.prefix and spec.prefix and spec.way.whole and spec.direction == "row"):
        return ""
    shares = {"CLS": 0.0, "DIST": 0.0, "registers": 0.0}
    for name, share in map_.prefix:
        shares["registers" if name.startswith("reg") else name.upper()] += share
    write_share = partial(signed, is_share=True) if spec.for_and_against else percent
    present = {"registers" if name.startswith("reg") else name.upper() for name, _ in map_.prefix}
    return ", ".join(f"{_registers(name)} {write_share(share)}" for name, share in shares.items() if name in present)


def _registers(name: str) -> str:
    return say("registers") if name == "registers" else name


def prefix_total(map_: Map) -> float:
    return sum(abs(share) for _, share in map_.prefix)


def caption(spec: Spec, panels: list[ShownMap], domain: Domain, where: str) -> str:
    """A caption of a few sentences: what is shown, in which model, and `where` in the model."""
    return sentences(spec, panels, domain, model_and_place(panels[0].seen, spec, where))


def sentences(spec: Spec, panels: list[ShownMap], domain: Domain, model_and_place_words: str) -> str:
    trace, maps = panels[0].seen, [panel.map for panel in panels]
    text = f"{model_and_place_words}: {_statement(spec, _query_in_words(spec.query), panels)}"
    other_queries = [panel.spec.query for panel in panels if panel.seen is not trace and panel.spec.query != spec.query]
    if other_queries:
        text += say("same_place", who=query_phrase(other_queries[0]))
    if len(maps) == 1 and maps[0].breadth is not None:
        even_case = "even" if is_even(maps[0], trace.tokens) else ""
        text += say("listened", even_case, count=_count(maps[0].breadth), tokens=trace.tokens)
    text += variance_note(maps)
    text += peak_note(maps, domain) + blocks_note(maps) + both_sides_note(spec, maps) + unmoved_note(spec, maps)
    notes = [
        *told_notes(panels),
        *_brightness_notes(spec, domain),
        *taught_notes(panels),
        *alteration_notes(spec, panels),
    ]
    return " ".join([f"{capital(text)}.", *notes, *outline_notes(spec, maps)])


def told_notes(panels: list[ShownMap]) -> list[str]:
    """The sentence about a single row of weights. An even row has no places."""
    panel, map_ = panels[0], panels[0].map
    if len(panels) > 1 or map_.breadth is None or is_even(map_, panel.seen.tokens):
        return []
    row, column = patch_of(panel.seen, panel.spec.query) or (0, -1)
    name, largest = max([("", float(map_.grid.max())), *map_.prefix], key=lambda token: token[1])
    columns = panel.seen.grid[1]
    return [told_sentence(told(map_.grid, row * columns + column), columns, largest, name and _token(name))]


def _brightness_notes(spec: Spec, domain: Domain) -> list[str]:
    """Notes on a logarithmic brightness, or on separate exposures."""
    if domain.log:
        return [say("logarithmic", "own" if domain.own else "")]
    return [say("exposed_alone")] if domain.own and not spec.mask else []


def peak_note(maps: list[Map], domain: Domain | None) -> str:
    """A phrase on how many patches are brighter than the colour scale's top, and on the largest value."""
    count = sum(len(clipped_patches(map_, domain)) for map_ in maps) if domain else 0
    return clipped_note(domain, count, max(float(map_.grid.max()) for map_ in maps), "patches") if domain else ""


def blocks_note(maps: list[Map]) -> str:
    """A sentence on the sizes of the blocks that were blanked, over all maps; "" if none were."""
    block_sides = sorted({side for map_ in maps if map_.blanked for side in map_.blanked.sides}, reverse=True)
    return say("blanked", blocks=sides(block_sides)) if block_sides else ""


def sides(block_sides: Sequence[int]) -> str:
    """The sides of blocks in words: "blocks of 4 × 4 and 2 × 2, the smaller where more moved"."""
    *larger_blocks, smallest_block = (f"{side} × {side}" for side in block_sides)
    return say("blocks", "" if larger_blocks else "one", others=", ".join(larger_blocks), last=smallest_block)


def both_sides_note(spec: Spec, maps: list[Map]) -> str:
    """Both sides' shares and largest patches: "; 48 % for it, most patch 3, 4 (+3.2 %); 52 % against it, …"."""
    if not spec.for_and_against or moved_by_nothing(maps):
        return ""
    sides_in_words = []
    for side, sign in (("for", 1), ("against", -1)):
        largest = max(float((sign * map_.grid).max()) for map_ in maps)
        if largest <= 0:
            sides_in_words.append(say("side", f"{side}.none"))
            continue
        largest_words = signed(sign * largest, spec.in_percent)
        if len(maps) > 1:
            sides_in_words.append(say("side", f"{side}.several", most=largest_words))
            continue
        share = float(maps[0].grid[sign * maps[0].grid > 0].sum()) if spec.in_percent else 0.0
        patch = "{}, {}".format(*divmod(int((sign * maps[0].grid).argmax()), maps[0].grid.shape[1]))
        share_words = f"{percent(abs(share))} " if share else ""
        sides_in_words.append(say("side", side, share=share_words, patch=patch, most=largest_words))
    return f"; {'; '.join(sides_in_words)}"


def unmoved_note(spec: Spec, maps: list[Map]) -> str:
    """A sentence if no blanked part of the picture moves what is explained by much, else "": the map means nothing."""
    if not moved_by_nothing(maps):
        return ""
    least = least_move(spec)
    return say("unmoved", least=say("logits", size=f"{least:g}") if spec.explains_label else percent(least))


def clipped_note(domain: Domain, count: int, largest: float, noun: str) -> str:
    if not count:
        return ""
    least_words, largest_words = distinct_numbers(domain.high, largest, percent if domain.percent else number)
    return say("brighter", f"{noun}.one" if count == 1 else noun, least=least_words, count=count, most=largest_words)


def distinct_numbers(smaller: float, larger: float, write_number: Callable[[float], str]) -> tuple[str, str]:
    """Two numbers in words, with enough digits to differ: never "above 10 %, up to 10 %"."""
    texts, digits = (write_number(smaller), write_number(larger)), 3
    while texts[0] == texts[1] and digits < 8:
        is_percent = texts[0].endswith("%")
        texts = tuple(f"{100 * x:.{digits}g} %" if is_percent else f"{x:.{digits}g}" for x in (smaller, larger))
        digits += 1
    return texts


def taught_notes(panels: list[ShownMap]) -> list[str]:
    """A note if a training loss told the head where to look: then the map is no evidence of what attention learns by
    itself."""
    from playground.analysis.heads import training_task

    spec, trace = panels[0].spec, panels[0].seen
    is_one_head = len(panels) == 1 and isinstance(spec.head, int) and spec.layer is not None and spec.way.of_heads
    if trace.vit is None or not is_one_head:
        return []
    task = training_task(trace.vit, spec.layer, spec.head, spec.query if isinstance(spec.query, str) else "patch")
    return [say("told", what=task)] if task else []


def variance_note(maps: list[Map]) -> str:
    """Says how much of the features' variance the colours show."""
    if maps[0].colours is None:
        return ""
    shares = [map_.variance_share for map_ in maps]
    alike_case = "alike" if len({*shares}) < len(shares) else ""
    return say("held", alike_case, share=range_words(min(shares), max(shares)))


def grid_caption(spec: Spec, panels: list[ShownMap], domain: Domain, axis_by_side: dict[str, str]) -> str:
    """The caption of a grid: what all panels share, then what changes along rows and columns (`axis_by_side`)."""
    first_panel, maps = panels[0], [panel.map for panel in panels]
    parts = [] if "models" in axis_by_side.values() else [naming.model(first_panel.seen)]
    layers = {panel.spec.layer for panel in panels}
    parts += [say("layer", layer=first_panel.spec.layer)] if len(layers) == 1 and not spec.way.through_layers else []
    if "heads" not in axis_by_side.values() and spec.way.of_heads:
        parts.append(head(first_panel.spec))
    queries = {panel.spec.query for panel in panels}
    query = _query_in_words(first_panel.spec.query) if len(queries) == 1 else say("outlined_patch")
    context, statement = ", ".join(parts), _statement(spec, query, panels)
    sentence = f"{context}: {statement}" if context else statement
    changes = [f"{say(side)}: {say(axis)}" for side, axis in axis_by_side.items()]
    remarks = f"{peak_note(maps, domain)}{blocks_note(maps)}{both_sides_note(spec, maps)}{unmoved_note(spec, maps)}"
    sentence = f"{capital(sentence)}{variance_note(maps)}; {', '.join(changes)}{remarks}."
    scale_notes = [] if "scales" in axis_by_side.values() else alteration_notes(first_panel.spec, panels)
    return " ".join([sentence, *_brightness_notes(spec, domain), *scale_notes, *outline_notes(spec, maps)])


def _query_in_words(query) -> str:
    """The query in words; a patch with the note that its numbers are row and column."""
    return say("counted", who=query_phrase(query)) if isinstance(query, tuple | list) else query_phrase(query)


@dataclass(frozen=True)
class StatementContext:
    """What PLACEHOLDERS computes its values from."""

    spec: Spec
    seen: Trace
    who: str = ""  # the query, in words
    several: bool = False  # whether there are several pictures or passes, each with its own likeliest label


PLACEHOLDERS: dict[str, Callable[[StatementContext], str]] = {  # a name in curly brackets in way_words.py -> its value
    "who": lambda a: a.who,
    "text": lambda a: a.spec.text,
    "parts": lambda a: str(len(PART_COLOURS)),
    "blank": lambda a: say("blank", a.spec.blank),
    "blanked": lambda a: a.spec.blank,
    "method": lambda a: METHODS[a.spec.method].replace(
        "speaks for it", "speaks for it" if a.spec.explains_label else "adds to it"
    ),
    "bare_method": lambda a: METHODS[a.spec.method].partition(",")[0],
    "label": lambda a: _label(a),
    "explained": lambda a: _label(a) if a.spec.label else say("feature", who=a.who),
    "margin": lambda a: margin(a.seen),
}


def _filled_in(template: str, about: StatementContext) -> str:
    names = {name for _, name, _, _ in Formatter().parse(template) if name}
    return template.format(**{name: PLACEHOLDERS[name](about) for name in names})


def _statement(spec: Spec, query: str, panels: list[ShownMap], is_many: bool = False) -> str:
    cases = ["signed"] * spec.for_and_against + ["label"] * spec.explains_label
    if spec.way.of_heads and spec.direction == "column":
        cases += [f"column.{spec.words}", "column"]
    elif is_many:
        cases += [f"many.{spec.words}", "many"]
    has_several = len({id(panel.subject) for panel in panels}) > 1
    about = StatementContext(spec, panels[0].seen, query, has_several)
    return _filled_in(spec.way.words("caption", *cases, spec.words), about)


def number_facts(spec: Spec, trace: Trace) -> dict[str, str]:
    """Facts about a file's numbers: the label explained, the way to compute them, the meaning of a sign, the unit."""
    about, cases = StatementContext(spec, trace), ["label"] * spec.explains_label
    names = trace.vit.config.labels if trace.vit and spec.explains_label else ()
    facts = {
        "label": (names[int(spec.label)] if names else spec.label) if spec.explains_label else "",
        "made": _filled_in(spec.way.words("made", *cases), about),
        "sign": say("sign") if spec.for_and_against else "",
        "unit": _filled_in(spec.way.words("unit", *cases), about),
    }
    return {key: words for key, words in facts.items() if words}


def margin(trace: Trace) -> str:
    is_multi_label = trace.vit is not None and trace.vit.config.multi_label
    return say("margin", "own" if is_multi_label else "")


def _label(about: StatementContext) -> str:
    """The label in words, with its name if it has one. The name of the likeliest label is left out if there are several
    pictures or passes, because each may have another one."""
    label, trace = about.spec.label, about.seen
    if (about.several and not label) or trace.vit is None or trace.logits is None:
        return say("label", called=label) if label else say("likeliest")
    names, number = trace.vit.config.labels, int(label or trace.logits.argmax())
    name = f"“{names[number]}”" if names else str(number)
    return say("label", called=name) if label else say("likeliest", "called", called=name)


def outline_notes(spec: Spec, maps: list[Map]) -> list[str]:
    """Says which share of the patches' weight lies inside the outline as it is drawn."""
    if not has_outline(spec):
        return []
    shares = [share_within(outline(map_.grid, spec), map_.grid) for map_ in maps]
    return [say("outlined", "mask" if spec.mask else "", share=range_words(min(shares), max(shares)))]


def queries_caption(spec: Spec, panels: list[ShownMap], domain: Domain) -> str:
    brightest = f"{number(100 * domain.high)} %" if domain.percent else number(domain.high)
    maps = [panel.map for panel in panels]
    statement = _statement(spec, say("patches", "many", count=len(panels)), panels, is_many=True)
    sentence = capital(f"{model_and_place(panels[0].seen, spec, place(spec))}: {statement}.")
    notes = [*outline_notes(spec, maps), *alteration_notes(spec, panels)]
    return " ".join([sentence, say("strongest", size=brightest), *notes])


def model_and_place(trace: Trace, spec: Spec, where: str) -> str:
    """The model and the place in it, without the place if the caption says it already."""
    is_stated = where in spec.way.words("caption")
    return ", ".join(filter(None, [naming.model(trace), "" if is_stated else where]))


def alteration_notes(spec: Spec, panels: list[ShownMap]) -> list[str]:
    """Notes on counterfactuals (cut edges, ablated heads, an untrained scale), and how far the map can be trusted."""
    trust = naming.trust_sentences((panel.spec, panel.seen) for panel in panels)
    return _cut_notes(panels[0].seen) + _scale_notes(spec, panels) + trust


def assumption_notes(traces: Iterable[Trace]) -> list[str]:
    """Says what was assumed about these models because nothing states it."""
    assumptions = {naming.model(trace): trace.assumed for trace in traces if trace.assumed}
    return [say("assumed", model=name, what=assumption) for name, assumption in assumptions.items()]


def _cut_notes(trace: Trace) -> list[str]:
    edges = ", ".join(
        cut.text.replace(">", " > ").replace("@", say("in")) for cut in trace.cuts.all if not cut.replacement
    )
    heads = [say("ablated", cut.replacement, heads=cut.named_heads) for cut in trace.cuts.all if cut.replacement]
    return [say("cut", edges=edges)] * bool(edges) + heads + [say("put", words=words) for words in trace.interventions]


def _scale_notes(spec: Spec, panels: list[ShownMap]) -> list[str]:
    trace = panels[0].seen
    number = trace.scale_number(spec.scale)
    if number == trace.native_scale == trace.scale:
        return []
    if not spec.way.of_heads and not spec.whole:  # numbers without heads come from the trained pass
        return []
    has_layers = len({panel.spec.layer for panel in panels}) > 1
    place_words = say("scaled_in", "pass" if spec.whole else "each" if has_layers else "")
    if number == trace.native_scale:
        return [say("scaled", "native", where=place_words)]
    off_case = "off" if number == 1 else ""
    return [say("scaled", off_case, where=place_words, scale=f"{number:.3g}", native=scale(trace, "on"))]


def prefix_line(spec: Spec, maps: list[Map]) -> str:
    """The shares of the prefix tokens, which maps don't show; for several maps, the range of each."""
    if not maps or not prefix_shares(maps[0], spec):
        return ""
    if len(maps) == 1:
        return say("outside", "one", tokens=prefix_shares(maps[0], spec))
    names = {"registers" if name.startswith("reg") else name.upper() for name, _ in maps[0].prefix}
    token_names = say("and").join(map(_registers, sorted(names, key=str.isupper, reverse=True)))
    low, high = min(map(prefix_total, maps)), max(map(prefix_total, maps))
    has_several = len(names) > 1 or "registers" in names
    return say("outside", "several" if has_several else "", names=token_names, share=range_words(low, high))


def title(spec: Spec, where: str = "") -> str:
    """The title in a file's metadata."""
    model = plain_name(spec.model)
    subject_name = (
        say("label", "of", called=spec.label, model=model)
        if spec.explains_label
        else query_phrase(spec.query)
        if spec.asks
        else model
    )
    return say("title", what=capital(method(spec)), whose=subject_name, where=where or place(spec))
