"""Converts a spec into the command line that makes its figure, and a command line into a spec; lists the options that a
figure does not use."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from playground.assets import PROGRAM
from playground.figures import layouts
from playground.figures.drawing.naming import published_spec
from playground.figures.drawing.option_words import Words, read_length, read_numbers, write_length
from playground.figures.drawing.spec import AXES, CHOICES, METHODS, POOLINGS, PURPOSES, Spec, query_words
from playground.figures.drawing.view import FIGURE_CHOICES
from playground.figures.drawing.ways import WAYS, Way
from playground.figures.layouts import LAYOUTS, Layout
from playground.models.given import ACTIVATIONS, OPTION_NAMES, POOLS

LOOK_FIELDS = ("colours", "ceiling", "log", "smooth", "draw")  # choices of the microscope that only change a map's look
VIEW_FLAGS = {choice.field: choice.flag for choice in FIGURE_CHOICES}
GROUPS = {  # title of a part of the help -> {field of Spec: its flag}
    "what is shown": {
        "layout": "--layout",
        "model": "--model",
        "weights": "--weights",
        **{word: f"--{word.replace('_', '-')}" for word in OPTION_NAMES},
        "size": "--size",
        **{name: flag for name, flag in VIEW_FLAGS.items() if name not in LOOK_FIELDS},
        "method": "--method",
        "signed": "--signed",
        "other_image": "--with-image",
        "other_model": "--with-model",
        "other_queries": "--with-patch",
        "rows": "--rows",
        "columns": "--columns",
        "sweep": "--sweep",
    },
    "how it looks": {
        "purpose": "--for",
        "width": "--width",
        "font": "--font",
        "letters": "--letters",
        "theme": "--theme",
        "transparent": "--transparent",
        **{name: flag for name, flag in VIEW_FLAGS.items() if name in LOOK_FIELDS},
        "over": "--over",
        "mass": "--mass",
        "mask": "--mask",
        "caption": "--caption",
        "bar": "--bar",
        "marker": "--marker",
        "prefix": "--prefix",
        "words": "--words",
        "footer": "--footer",
        "dpi": "--dpi",
    },
    "the file": {
        "anonymous": "--anonymous",
        "view": "--view",
        "bare": "--bare",
        "pack": "--pack",
    },
}
TRAINING_HELP = {  # field of Spec -> help of its flag. They say how a model was built, if its file does not
    "mean": "by which its pictures were normalised, such as 0.485,0.456,0.406",
    "std": "the deviation by which they were, such as 0.229,0.224,0.225",
    "num_heads": "how many heads share its width",
    "act_layer": f"the activation of its MLPs: {', '.join(ACTIVATIONS)}",
    "global_pool": f"what its labels are read from: {', '.join(POOLS)} (of the last two no labels are shown)",
}
FLAGS = {name: flag for group in GROUPS.values() for name, flag in group.items()}
ALIASES = {  # field of Spec -> a second flag, spelled as the argument in Python
    "layer": "--layers", "head": "--heads", "query": "--query", "purpose": "--purpose",
    "other_image": "--other-image", "other_queries": "--other-queries", "other_model": "--other-model",
}  # fmt: skip
HELP = {
    **{choice.field: choice.help for choice in FIGURE_CHOICES},
    "model": "a name (see `models`), a file, a folder or a repository on the hub (default: the bundled one)",
    "weights": "a .safetensors or .pth file with timm's names, instead of a download",
    **{word: f"of --model or --weights: {words}" for word, words in TRAINING_HELP.items()},
    "size": "HxW, the model's input in pixels (default: its native area)",
    "method": "of {what:relevance}: "
    + "; ".join(f"{name}: {words}" for name, words in METHODS.items())
    + " (default: gradient)",
    "signed": "of {what:relevance}: what speaks for it and what speaks against it in two colours (default: where a "
    "--label is explained)",
    "other_image": "compare with this picture",
    "other_model": "compare with this model",
    "purpose": "; ".join(f"{name}: {p.words}" for name, p in PURPOSES.items()),
    "width": "instead of --for: 5.5in, 89mm, 8.5cm or 397pt",
    "font": "a family of fonts that is on this machine (default: Source Sans)",
    "letters": "a, b, c … before the panels' headings",
    "theme": "light or dark",
    "transparent": "no background; the theme chooses the ink",
    "caption": "what is seen, in a sentence (default: yes; no venue of a conference has one: -o x.tex writes it)",
    "bar": "the colour bar (default: yes)",
    "marker": "the outline of the query (default: yes)",
    "prefix": "what the class token and registers take (default: said)",
    "words": "of the caption: plain says looks at, paper says attends to",
    "footer": "a line that says where the figure comes from",
    "anonymous": "for a double-blind review: no file's name, digest or command in the figure or its file",
    "dpi": "dots per inch of a PNG (default: 192 for slides, 300 for papers, 96 in motion)",
    "other_queries": "more patches in the same picture, each in a colour of its own: 3,4-10,12",
    "over": "what lies beneath the heat: photo: the photograph in its colours; grey: in grey; none: the bare map "
    "(default: photo; of a wall or a large grid none)",
    "mass": "an outline around the fewest patches that hold this share, such as 0.6",
    "mask": "only those patches; the rest of the picture is left out",
    "rows": "of the layout grid: layers:2,5,8, heads:0-3, pictures (those named first), models:bundled,dinov2-small, "
    "patches:9,7-3,4 or scales:on,off",
    "columns": "the same for its columns",
    "sweep": "an animation: layers, scale, or patches:0,0-7,5-13,13",
    "bare": "of an .html: the picture alone, which still answers to cursor and keys: for a slide",
    "pack": "of an .html: float16, or int8: half as large; how far its weights are off is said (default: float16)",
    "view": "what else an .html begins with, as in a link: locked=true&grid=true",
}
METAVARS = {
    "model": "NAME", "weights": "FILE", "mean": "R,G,B", "std": "R,G,B", "num_heads": "N", "act_layer": "NAME",
    "global_pool": "NAME", "size": "HxW", "layer": "N", "head": "N", "query": "ROW,COLUMN", "scale": "S",
    "other_image": "IMAGE", "other_model": "NAME", "ceiling": "SHARE", "depth": "N", "dpi": "N",
    "width": "LENGTH", "font": "NAME", "sweep": "WHAT", "rows": "WHAT", "columns": "WHAT",
    "other_queries": "PLACES", "mass": "SHARE",
    "view": "TEXT", "cut": "CUTS", "label": "NAME", "text": "WORDS",
}  # fmt: skip
TRISTATE_FIELDS = ("signed", "log")  # True, False, or None: what suits the figure
DEFAULTS = {field.name: field.default for field in fields(Spec)}


def _flag_with_value(flag: str, value: str) -> str:
    """A flag and its value as a user types them; a switch is typed --flag or --no-flag."""
    return {"True": flag, "False": flag.replace("--", "--no-")}.get(value) or f"{flag} {value}"


TYPED_WORDS = Words(FLAGS.__getitem__, _flag_with_value)


def add_arguments(parser: argparse.ArgumentParser) -> dict[str, argparse._ArgumentGroup]:
    """Adds a flag for each field of Spec. Returns the groups of the help by title, so that a caller can add more."""
    groups = {title: parser.add_argument_group(title) for title in GROUPS}
    for title, flags in GROUPS.items():
        for name in flags:
            _add_argument(groups[title], name)
    return groups


def _add_argument(group: argparse._ArgumentGroup, name: str) -> None:
    flags = [FLAGS[name], *([ALIASES[name]] if name in ALIASES else [])]
    default, kwargs = DEFAULTS[name], {"dest": name, "help": TYPED_WORDS.put_into(_help(name)).replace("%", "%%")}
    if isinstance(default, bool) or name in TRISTATE_FIELDS:
        action = "store_true" if default is False else argparse.BooleanOptionalAction
        group.add_argument(*flags, action=action, default=default, **kwargs)
    elif name == "layout":
        group.add_argument(*flags, choices=tuple(LAYOUTS), default=default, **kwargs)
    elif name in CHOICES:
        choices = [option for option in CHOICES[name] if option is not None]
        group.add_argument(*flags, choices=choices, type=type(choices[0]), default=default, **kwargs)
    else:
        value_type = {"dpi": int, "ceiling": float, "mass": float, "width": read_length}.get(name, str)
        default = None if name in ("model", "head") else default  # set later: the bundled model, the sample's head
        group.add_argument(*flags, metavar=METAVARS[name], type=value_type, default=default, **kwargs)


def _help(name: str) -> str:
    if name == "layout":
        return "; ".join(f"{layout.name}: {layout.words}" for layout in LAYOUTS.values())
    return HELP[name]


def add_training_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that say how a model was built and trained, for commands that make no figure."""
    for word in OPTION_NAMES:
        parser.add_argument(FLAGS[word], metavar=METAVARS[word], help=HELP[word])


def training_arguments(options: argparse.Namespace) -> dict[str, str | None]:
    """The arguments of `load` besides the model's name and its file of weights."""
    return {word: getattr(options, word) for word in OPTION_NAMES}


def command(spec: Spec, output: str | Path = "figure.png") -> str:
    """The command that makes this figure again, with the options that differ from the defaults."""
    if not spec.model and layouts.of(spec).of_pictures:
        raise ValueError("This Spec names no model: its command would trace the picture in another one.")
    words = [*PROGRAM.split(), "figure", *([_path(spec.image)] if spec.image else [])]
    suffix = Path(output).suffix.lower()
    unused_fields = (
        {} if suffix == ".html" else unused_reasons(spec, suffix)
    )  # in an .html a reader can choose everything
    for name, flag in FLAGS.items():
        if name in unused_fields:
            continue
        text = _value_as_typed(spec, name)
        if isinstance(DEFAULTS[name], bool) or name in TRISTATE_FIELDS:
            words += [] if getattr(spec, name) == DEFAULTS[name] else [text]
        elif text is not None and (text != str(_default(spec, name)) or name == "model"):
            words += [flag, text]
    return shlex.join([*words, "-o", str(output)])


def repeat_command(spec: Spec, output: str | Path) -> str | None:
    """The command that makes this figure again; None if no command can, or if the figure is anonymous."""
    is_repeatable = spec.repeatable and (spec.image or not layouts.of(spec).of_pictures)
    return command(published_spec(spec), output) if is_repeatable and not spec.anonymous else None


def _default(spec: Spec, name: str) -> object:
    return spec.look.head if name == "head" and spec.look else DEFAULTS[name]


def _value_as_typed(spec: Spec, name: str) -> str | None:
    value = getattr(spec, name)
    if isinstance(value, bool):
        return _flag_with_value(FLAGS[name], str(value))
    if name == "layer":
        return _held_numbers_as_typed(spec.layer, spec.layers)
    if name == "head":
        return str(spec.head) if spec.heads is None else _held_numbers_as_typed(spec.head, spec.heads)
    if value is None:
        return None
    if name == "size":
        return f"{value[0]}x{value[1]}"
    if name == "other_image":
        return _path(value)
    if name == "width":
        return write_length(value)
    return query_words(value) if name == "query" else str(value)


def _path(name: str) -> str:
    """The file's name; with ./ before it if it looks like a flag."""
    return f"./{name}" if name.startswith("-") else name


def _held_numbers_as_typed(start: int | None, held_numbers: tuple[int, ...] | str | None) -> str | None:
    """The value of --layer or --head for an .html: the number that the file opens with, then the others in the file."""
    if held_numbers is None:
        return None if start is None else str(start)
    if held_numbers == "all":
        return "all" if start is None else f"{start},all"
    if tuple(held_numbers) == (start,):
        return f"{start}-{start}"  # --head 3 would mean all heads, opening with head 3
    return ",".join([str(start), *_ranges(sorted(set(held_numbers) - {start}))])


def _ranges(numbers: list[int]) -> list[str]:
    """Numbers as texts with ranges: 1, 2, 3, 7 as "1-3" and "7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def spec_of_html(spec: Spec, layer: str | None, head: str | None) -> Spec:
    """The spec of an .html from --layer and --head: the file opens with the first number and holds all named numbers.
    A single layer means only that layer; a single head means all heads."""
    first_layer, layers = _read_held_numbers(layer, "layer")
    if head in POOLINGS:
        return replace(spec, layer=first_layer, layers=layers, head=head)
    first_head, heads = _read_held_numbers(head, "head")  # None: head 0, or the head chosen for the sample
    return replace(
        spec, layer=first_layer, layers=layers, head=first_head or 0, heads=None if heads == "all" else heads
    )


def _read_held_numbers(text: str | int | None, option: str) -> tuple[int | None, tuple[int, ...] | str | None]:
    """(the first number, all that are named): "4" is (4, None), "4-4" (4, (4,)), "4,all" (4, "all")."""
    parts = [] if text is None else str(text).split(",")
    number_text = ",".join(part for part in parts if part != "all")
    numbers = read_numbers(number_text, None, f"{{{option}}} takes", option) if number_text else []
    opening_number = numbers[0] if numbers else None
    if "all" in parts:
        return opening_number, "all"
    return opening_number, tuple(sorted(numbers)) if numbers and str(text) != str(opening_number) else None


# Options that a figure does not use. The command line refuses them, and a figure's own command leaves them out. The
# reasons are templates: option_words.py replaces {layout:compare} by the option as the reader writes it.

LAYOUT_OPTIONS = tuple(dict.fromkeys(option for layout in LAYOUTS.values() for option in layout.uses))
WAY_OPTIONS = tuple(dict.fromkeys(option for way in WAYS.values() for option in way.uses))


def _or(names: Iterable[str], conjunction: str = "or") -> str:
    *first_names, last_name = names
    return f"{', '.join(first_names)} {conjunction} {last_name}" if first_names else last_name


def _belongs_to(option: str, field_name: str, table: Mapping[str, Layout] | Mapping[str, Way]) -> str:
    return (
        f"it belongs to {_or(f'{{{field_name}:{member.name}}}' for member in table.values() if option in member.uses)}"
    )


@dataclass(frozen=True)
class Use:
    fields: tuple[str, ...]
    applies: Callable[[Spec], bool]  # whether this figure uses these options
    reason: str  # why this figure does not use them


USES = (
    Use(("view", "bare", "pack", "layers", "heads"), lambda s: False,
        "it belongs to an interactive figure: leave it out, or write an .html"),
    Use(("scale",), lambda s: not layouts.of(s).one_pass or s.whole, "it looks at one pass: add {whole:True}"),
    Use(("other_queries",), lambda s: s.asks, "what is the same whoever asks has no patches"),
    Use(("other_queries",), lambda s: not s.for_and_against, "for and against have two colours already"),
    Use(("over", "mask", "draw", "smooth", "log"), lambda s: s.other_queries is None,
        "several patches have colours of their own"),
    Use(("over",), lambda s: s.draw == "heat", "it belongs to {draw:heat}"),
    Use(("mass", "mask"), lambda s: s.shares_a_whole, "it needs weights"),
    Use(("mask",), lambda s: s.mass is not None or s.draw == "light", "it shows what {mass} outlines: add {mass}"),
    Use(
        ("prefix", "bar", "smooth", "over", "mass", "mask", "log", "draw", "ceiling", "colours"),
        lambda s: not s.way.coloured, "the colours of features are no numbers on a scale",
    ),
    Use(
        ("query", "marker"), lambda s: s.asks or s.explains_label or layouts.of(s).asks,
        f"{_or((way.name for way in WAYS.values() if not way.asks_a_patch), 'and')} show all patches alike",
    ),
    Use(("query", "marker"), lambda s: not s.explains_label or layouts.of(s).asks,
        "a label is explained, not a patch"),
    *(
        Use((field,), lambda s, axis=axis: axis not in f"{s.rows} {s.columns}", f"the grid's {axis} say it")
        for axis, field in AXES.items() if axis != "pictures" and axis != "models"
    ),
    Use(("layer",), lambda s: not s.way.through_layers or (_has(s, "depth") and s.depth == "follow"),
        "it goes through all layers"),
    Use(("layer",), lambda s: s.sweep != "layers", "the sweep goes through all layers"),
    Use(("scale",), lambda s: s.sweep != "scale", "the sweep goes through the scales"),
    Use(("query",), lambda s: not (s.sweep or "").startswith("patches"), "the sweep names its patches"),
    Use(("head", "direction"), lambda s: s.way.of_heads, "it belongs to what has heads: another {what}"),
    Use(
        ("scale",), lambda s: s.way.of_heads or s.whole or layouts.of(s).alters_scale,
        "what has no heads comes out of the whole pass: add {whole:True}",
    ),
    Use(("whole",), lambda s: s.scale != "on" or layouts.of(s).alters_scale,
        "every pass runs with 1/√dₖ: add {scale}"),
    Use(("purpose",), lambda s: s.width is None, "{width} says how wide the figure is"),
    Use(("footer",), lambda s: not s.anonymous, "{anonymous:True} says nothing of where it comes from"),
    Use(("log",), lambda s: s.shares_a_whole, "what may be negative has no logarithm"),
    Use(("draw",), lambda s: s.shares_a_whole,
        "what is no share of a whole is always heat"),
    Use(("smooth",), lambda s: s.draw == "heat", "it belongs to {draw:heat}"),
)  # fmt: skip


def _has(spec: Spec, option: str) -> bool:
    return option in layouts.of(spec).uses


DRAWING_OPTIONS = ("theme", "transparent", "font", "letters", "dpi", "footer", "bar", "marker", "over")
PRESENTATION_OPTIONS = (
    "purpose", "width", "words", "caption", "colours", "ceiling", "log", "smooth", "draw", "mass", "mask", "prefix",
)  # fmt: skip
NUMBER_SUFFIXES = (".npz", ".csv", ".json")
TEXT_SUFFIXES = (*NUMBER_SUFFIXES, ".txt", ".tex")


def unused_reasons(spec: Spec, suffix: str = "") -> dict[str, str]:
    """{field of Spec: why it is unused}, for the fields that would change nothing in a file with this suffix."""
    layout = layouts.of(spec)
    file_reasons = (
        dict.fromkeys(DRAWING_OPTIONS, f"a {suffix} has neither colours nor type") if suffix in TEXT_SUFFIXES else {}
    )
    file_reasons |= (
        dict.fromkeys(PRESENTATION_OPTIONS, f"a {suffix} has the numbers themselves")
        if suffix in NUMBER_SUFFIXES
        else {}
    )
    prepared = layout.prepared(spec)
    figure_reasons = {field: use.reason for use in reversed(USES) if not use.applies(prepared) for field in use.fields}
    used_options = {*layout.uses, *(("other_image",) if spec.takes_another else ())}
    layout_reasons = {
        option: _belongs_to(option, "layout", LAYOUTS) for option in LAYOUT_OPTIONS if option not in used_options
    }
    way_reasons = {
        option: _belongs_to(option, "what", WAYS) for option in WAY_OPTIONS if option not in prepared.way.uses
    }
    return file_reasons | way_reasons | figure_reasons | layout_reasons | layout.unused
