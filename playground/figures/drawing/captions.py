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
from playground.figures.drawing.maps import Domain, Map, clipped, is_even, least_move, moved_by_nothing
from playground.figures.drawing.one_map import Shown
from playground.figures.drawing.prints import PART_COLOURS, has_outline, outline
from playground.figures.drawing.spec import METHODS, Spec
from playground.figures.drawing.way_words import words
from playground.models.names import plain_name
from playground.numbers import percent

if TYPE_CHECKING:
    from playground.tracing import Trace


def say(key: str, *cases: str, **filled: object) -> str:
    """The words for `key` in way_words.py, for the first of the `cases` that has its own, filled in."""
    return words(key, "figure", *filter(None, cases)).format(**filled)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def asked(query) -> str:
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


def places(shown: list[Shown]) -> str:
    """The places of all panels, in words: "layer 4: head 0, head 3 and the mean of all heads"."""
    every = list(dict.fromkeys(place(one.spec) for one in shown))
    if len(every) == 1:
        return every[0]
    layers = {one.spec.layer for one in shown}
    if len(layers) == 1 and all(one.spec.way.of_heads for one in shown):
        return f"{say('layer', layer=layers.pop())}: {_and([head(one.spec) for one in shown])}"
    return _and(every)


def _and(listed: list[str]) -> str:
    return say("and").join(filter(None, [", ".join(listed[:-1]), listed[-1]]))


def headings(shown: list[Shown]) -> list[tuple[str, str]]:
    """(heading, "") for each panel: what differs between the panels, such as layer, head or patch."""
    specs = [one.spec for one in shown]
    candidates = {
        "layer": [say("layer", layer=spec.layer) for spec in specs],
        "head": [head(spec) for spec in specs],
        "query": [asked(spec.query) for spec in specs],
        "what": [method(spec) for spec in specs],
    }
    changing = [names for names in candidates.values() if len(set(names)) > 1] or [candidates["what"]]
    return [(", ".join(names), "") for names in zip(*changing, strict=True)]


def method(spec: Spec) -> str:
    """The heading of a map."""
    name = spec.way.words("title")
    return say("column", name=name) if spec.way.of_heads and spec.direction == "column" else name


def scale(seen: Trace, given: str | None) -> str:
    """ "1/√32" or "no scale", or the number."""
    number = seen.scale_number(given)
    if abs(number - seen.native_scale) < 1e-9:
        return f"1/√{seen.head_dim}"
    return say("no_scale") if number == 1 else f"{number:.3g}"


def scaled(seen: Trace, given: str | None) -> str:
    """ "scale 1/√32" or "no scale", over a map."""
    name = scale(seen, given)
    return name if name == say("no_scale") else say("scale", scale=name)


def breadth(map_: Map, all_tokens: int) -> str:
    """How many tokens a row listens to, by its entropy, in words."""
    even = "even" if is_even(map_, all_tokens) else ""
    return "" if map_.breadth is None else say("breadth", even, count=_count(map_.breadth))


def _count(b: float) -> str:
    return f"{b:.1f}" if b < 10 else f"{b:.0f}"


def number(x: float) -> str:
    """Two digits or more, and never 1.1e+02."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.2g}" if abs(x) >= 1e-4 or x == 0 else f"{x:.1e}"


def signed(value: float, share: bool) -> str:
    """ "+4.1 %" or "−0.13"."""
    return f"{'−' if value < 0 else '+'}{(percent if share else number)(abs(value))}"


def from_to(low: float, high: float) -> str:
    """ "0.34 to 1.9 %", or one number where both are written the same."""
    less, more = percent(low), percent(high)
    return more if less == more else say("to").join((less.removesuffix(" %"), more))


def outside(map_: Map, spec: Spec) -> str:
    """The shares of the prefix tokens in a row of weights: "CLS 0.4 %, registers 1.2 %"."""
    if spec.head == "max" and spec.way.rows:
        return ""
    if not (map_.prefix and spec.prefix and spec.way.whole and spec.direction == "row"):
        return ""
    shares = {"CLS": 0.0, "DIST": 0.0, "registers": 0.0}
    for name, share in map_.prefix:
        shares["registers" if name.startswith("reg") else name.upper()] += share
    written = partial(signed, share=True) if spec.for_and_against else percent
    present = {"registers" if name.startswith("reg") else name.upper() for name, _ in map_.prefix}
    return ", ".join(f"{_registers(name)} {written(share)}" for name, share in shares.items() if name in present)


def _registers(name: str) -> str:
    return say("registers") if name == "registers" else name


def taken(map_: Map) -> float:
    return sum(abs(share) for _, share in map_.prefix)


def caption(spec: Spec, shown: list[Shown], span: Domain, where: str) -> str:
    """A caption of a few sentences: what is shown, in which model, and `where` in the model."""
    return sentences(spec, shown, span, made_with(shown[0].seen, spec, where))


def sentences(spec: Spec, shown: list[Shown], span: Domain, made: str) -> str:
    seen, maps = shown[0].seen, [one.map for one in shown]
    first = f"{made}: {_says(spec, _counted(spec.query), shown)}"
    elsewhere = [one.spec.query for one in shown if one.seen is not seen and one.spec.query != spec.query]
    if elsewhere:
        first += say("same_place", who=asked(elsewhere[0]))
    if len(maps) == 1 and maps[0].breadth is not None:
        even = "even" if is_even(maps[0], seen.tokens) else ""
        first += say("listened", even, count=_count(maps[0].breadth), tokens=seen.tokens)
    first += held(maps)
    first += peak(maps, span) + blocks(maps) + for_and_against(spec, maps) + unmoved(spec, maps)
    sentences = [f"{capital(first)}.", *_brightness(spec, span), *taught(shown), *altered(spec, shown)]
    return " ".join([*sentences, *outlined(spec, maps)])


def _brightness(spec: Spec, span: Domain) -> list[str]:
    """Says where brightness is logarithmic, and where each map has its own exposure."""
    if span.log:
        return [say("logarithmic", "own" if span.own else "")]
    return [say("exposed_alone")] if span.own and not spec.mask else []


def peak(maps: list[Map], span: Domain | None) -> str:
    """How many patches are brighter than the colour scale's top, and the largest value."""
    count = sum(len(clipped(one, span)) for one in maps) if span else 0
    return brighter(span, count, max(float(one.grid.max()) for one in maps), "patches") if span else ""


def blocks(maps: list[Map]) -> str:
    """Which blocks an occlusion has blanked, of one map or of several."""
    blanked = sorted({side for one in maps if one.blanked for side in one.blanked.sides}, reverse=True)
    return say("blanked", blocks=sides(blanked)) if blanked else ""


def sides(of_blocks: Sequence[int]) -> str:
    """ "blocks of 4 × 4 and 2 × 2, the smaller where more moved" """
    *others, last = (f"{side} × {side}" for side in of_blocks)
    return say("blocks", "" if others else "one", others=", ".join(others), last=last)


def for_and_against(spec: Spec, maps: list[Map]) -> str:
    """The share on each side, and its largest patch: "; 48 % for it, most patch 3, 4 (+3.2 %); 52 % against it, …"."""
    if not spec.for_and_against or moved_by_nothing(maps):
        return ""
    sides_in_words = []
    for side, sign in (("for", 1), ("against", -1)):
        largest = max(float((sign * one.grid).max()) for one in maps)
        if largest <= 0:
            sides_in_words.append(say("side", f"{side}.none"))
            continue
        written = signed(sign * largest, spec.in_percent)
        if len(maps) > 1:
            sides_in_words.append(say("side", f"{side}.several", most=written))
            continue
        share = float(maps[0].grid[sign * maps[0].grid > 0].sum()) if spec.in_percent else 0.0
        patch = "{}, {}".format(*divmod(int((sign * maps[0].grid).argmax()), maps[0].grid.shape[1]))
        part = f"{percent(abs(share))} " if share else ""
        sides_in_words.append(say("side", side, share=part, patch=patch, most=written))
    return f"; {'; '.join(sides_in_words)}"


def unmoved(spec: Spec, maps: list[Map]) -> str:
    """The sentence for a map in which no block moves the feature much: its pattern means nothing."""
    if not moved_by_nothing(maps):
        return ""
    least = least_move(spec)
    return say("unmoved", least=say("logits", size=f"{least:g}") if spec.explains_label else percent(least))


def brighter(span: Domain, count: int, largest: float, what: str) -> str:
    if not count:
        return ""
    least, most = told_apart(span.high, largest, percent if span.percent else number)
    return say("brighter", f"{what}.one" if count == 1 else what, least=least, count=count, most=most)


def told_apart(less: float, more: float, written: Callable[[float], str]) -> tuple[str, str]:
    """Two numbers in words, with enough digits to differ: never "above 10 %, up to 10 %"."""
    texts, digits = (written(less), written(more)), 3
    while texts[0] == texts[1] and digits < 8:
        percents = texts[0].endswith("%")
        texts = tuple(f"{100 * x:.{digits}g} %" if percents else f"{x:.{digits}g}" for x in (less, more))
        digits += 1
    return texts


def taught(shown: list[Shown]) -> list[str]:
    """Says where a loss told the head where to look: such a head is no evidence of what a transformer finds by
    itself."""
    from playground.analysis.heads import told

    spec, seen = shown[0].spec, shown[0].seen
    is_one = len(shown) == 1 and isinstance(spec.head, int) and spec.layer is not None and spec.way.of_heads
    if seen.vit is None or not is_one:
        return []
    what = told(seen.vit, spec.layer, spec.head, spec.query if isinstance(spec.query, str) else "patch")
    return [say("told", what=what)] if what else []


def held(maps: list[Map]) -> str:
    """Says how much of the features' variance their colours show."""
    if maps[0].colours is None:
        return ""
    shares = [one.held for one in maps]
    alike = "alike" if len({*shares}) < len(shares) else ""
    return say("held", alike, share=from_to(min(shares), max(shares)))


def grid_caption(spec: Spec, shown: list[Shown], span: Domain, along: dict[str, str]) -> str:
    """The caption of a grid: what all panels share, and what changes `along` rows and columns."""
    first, maps = shown[0], [one.map for one in shown]
    fixed = [] if "models" in along.values() else [naming.model(first.seen)]
    layers = {one.spec.layer for one in shown}
    fixed += [say("layer", layer=first.spec.layer)] if len(layers) == 1 and not spec.way.through_layers else []
    if "heads" not in along.values() and spec.way.of_heads:
        fixed.append(head(first.spec))
    who = _counted(first.spec.query) if len({one.spec.query for one in shown}) == 1 else say("outlined_patch")
    made, says = ", ".join(fixed), _says(spec, who, shown)
    sentence = f"{made}: {says}" if made else says
    changing = [f"{say(where)}: {say(axis)}" for where, axis in along.items()]
    more = f"{peak(maps, span)}{blocks(maps)}{for_and_against(spec, maps)}{unmoved(spec, maps)}"
    sentence = f"{capital(sentence)}{held(maps)}; {', '.join(changing)}{more}."
    where = [] if "scales" in along.values() else altered(first.spec, shown)
    return " ".join([sentence, *_brightness(spec, span), *where, *outlined(spec, maps)])


def _counted(query) -> str:
    """The query in words; a patch with the note that its numbers are row and column."""
    return say("counted", who=asked(query)) if isinstance(query, tuple | list) else asked(query)


@dataclass(frozen=True)
class About:
    """Values for the curly brackets in the words of a way to look."""

    spec: Spec
    seen: Trace
    who: str = ""  # the query, in words
    several: bool = False  # whether there are several pictures or passes: each has its own likeliest label


FILLED: dict[str, Callable[[About], str]] = {  # a name in curly brackets in way_words.py -> its value
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


def _filled(template: str, about: About) -> str:
    names = {name for _, name, _, _ in Formatter().parse(template) if name}
    return template.format(**{name: FILLED[name](about) for name in names})


def _says(spec: Spec, who: str, shown: list[Shown], many: bool = False) -> str:
    cases = ["signed"] * spec.for_and_against + ["label"] * spec.explains_label
    if spec.way.of_heads and spec.direction == "column":
        cases += [f"column.{spec.words}", "column"]
    elif many:
        cases += [f"many.{spec.words}", "many"]
    several = len({id(one.subject) for one in shown}) > 1
    return _filled(spec.way.words("caption", *cases, spec.words), About(spec, shown[0].seen, who, several))


def explained(spec: Spec, seen: Trace) -> dict[str, str]:
    """Facts about a file's numbers: the label that they explain, how they were made, what a sign means, their unit."""
    about, cases = About(spec, seen), ["label"] * spec.explains_label
    names = seen.vit.config.labels if seen.vit and spec.explains_label else ()
    facts = {
        "label": (names[int(spec.label)] if names else spec.label) if spec.explains_label else "",
        "made": _filled(spec.way.words("made", *cases), about),
        "sign": say("sign") if spec.for_and_against else "",
        "unit": _filled(spec.way.words("unit", *cases), about),
    }
    return {key: words for key, words in facts.items() if words}


def margin(seen: Trace) -> str:
    yes_or_no = seen.vit is not None and seen.vit.config.multi_label
    return say("margin", "own" if yes_or_no else "")


def _label(about: About) -> str:
    """The label in words, with its name if it has one. "The likeliest" has no name if pictures or passes differ in
    it."""
    given, seen = about.spec.label, about.seen
    if (about.several and not given) or seen.vit is None or seen.logits is None:
        return say("label", called=given) if given else say("likeliest")
    names, number = seen.vit.config.labels, int(given or seen.logits.argmax())
    name = f"“{names[number]}”" if names else str(number)
    return say("label", called=name) if given else say("likeliest", "called", called=name)


def outlined(spec: Spec, maps: list[Map]) -> list[str]:
    """Says which share of the patches' weight lies inside the outline as it is drawn."""
    if not has_outline(spec):
        return []
    shares = [share_within(outline(one.grid, spec), one.grid) for one in maps]
    return [say("outlined", "mask" if spec.mask else "", share=from_to(min(shares), max(shares)))]


def queries_caption(spec: Spec, shown: list[Shown], span: Domain) -> str:
    full = f"{number(100 * span.high)} %" if span.percent else number(span.high)
    maps = [one.map for one in shown]
    many = _says(spec, say("patches", "many", count=len(shown)), shown, many=True)
    sentence = capital(f"{made_with(shown[0].seen, spec, place(spec))}: {many}.")
    return " ".join([sentence, say("strongest", size=full), *outlined(spec, maps), *altered(spec, shown)])


def made_with(seen: Trace, spec: Spec, where: str) -> str:
    """The model and the place in it. Some captions already say "through all layers": then the place is left out."""
    says_it = where in spec.way.words("caption")
    return ", ".join(filter(None, [naming.model(seen), "" if says_it else where]))


def altered(spec: Spec, shown: list[Shown]) -> list[str]:
    """Says what is counterfactual, a cut edge or a scale that the network was not trained with, and how far the map
    can be trusted."""
    return _cut(shown[0].seen) + _scaled(spec, shown) + naming.trusted((one.spec, one.seen) for one in shown)


def assumed(traces: Iterable[Trace]) -> list[str]:
    """Says what was assumed about these models because nothing states it."""
    assumptions = {naming.model(seen): seen.assumed for seen in traces if seen.assumed}
    return [say("assumed", model=name, what=what) for name, what in assumptions.items()]


def _cut(seen: Trace) -> list[str]:
    edges = ", ".join(one.text.replace(">", " > ").replace("@", say("in")) for one in seen.cuts.all if not one.to)
    heads = [say("ablated", one.to, heads=one.named_heads) for one in seen.cuts.all if one.to]
    return [say("cut", edges=edges)] * bool(edges) + heads + [say("put", words=words) for words in seen.interventions]


def _scaled(spec: Spec, shown: list[Shown]) -> list[str]:
    seen = shown[0].seen
    number = seen.scale_number(spec.scale)
    if number == seen.native_scale == seen.scale:
        return []
    if not spec.way.of_heads and not spec.whole:  # made of the pass, which ran with the trained scale
        return []
    several = len({one.spec.layer for one in shown}) > 1
    where = say("scaled_in", "pass" if spec.whole else "each" if several else "")
    if number == seen.native_scale:
        return [say("scaled", "native", where=where)]
    without = "off" if number == 1 else ""
    return [say("scaled", without, where=where, scale=f"{number:.3g}", native=scale(seen, "on"))]


def prefix_line(spec: Spec, maps: list[Map]) -> str:
    """The shares of the prefix tokens, which maps don't show: of one map, or from the least to the most of several."""
    if not maps or not outside(maps[0], spec):
        return ""
    if len(maps) == 1:
        return say("outside", "one", tokens=outside(maps[0], spec))
    names = {"registers" if name.startswith("reg") else name.upper() for name, _ in maps[0].prefix}
    who = say("and").join(map(_registers, sorted(names, key=str.isupper, reverse=True)))
    low, high = min(map(taken, maps)), max(map(taken, maps))
    several = len(names) > 1 or "registers" in names
    return say("outside", "several" if several else "", names=who, share=from_to(low, high))


def title(spec: Spec, where: str = "") -> str:
    """The title in a file's metadata."""
    model = plain_name(spec.model)
    whose = (
        say("label", "of", called=spec.label, model=model)
        if spec.explains_label
        else asked(spec.query)
        if spec.asks
        else model
    )
    return say("title", what=capital(method(spec)), whose=whose, where=where or place(spec))
