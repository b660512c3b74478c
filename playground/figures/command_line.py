"""A spec as the command that makes its figure again, and back."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import fields
from pathlib import Path

from playground.errors import PlaygroundError
from playground.figures.spec import CHOICES, LAYOUTS, PURPOSES, Spec, query_words
from playground.figures.view import DRAWN

FLAGS = {  # a field of Spec -> its flag, in the order of the help
    "layout": "--layout",
    "model": "--model",
    "weights": "--weights",
    "size": "--size",
    **{choice.field: choice.flag for choice in DRAWN},
    "other_image": "--with-image",
    "other_model": "--with-model",
    "purpose": "--for",
    "theme": "--theme",
    "transparent": "--transparent",
    "colour_map": "--map",
    "caption": "--caption",
    "bar": "--bar",
    "marker": "--marker",
    "prefix": "--prefix",
    "footer": "--footer",
    "dpi": "--dpi",
    "sweep": "--sweep",
}
HELP = {
    **{choice.field: choice.help for choice in DRAWN},
    "layout": "; ".join(f"{name}: {words}" for name, words in LAYOUTS.items()),
    "model": "see `models` (default: the bundled one, or an untrained one)",
    "weights": "a .safetensors file with timm's names, instead of a download",
    "size": "HxW, the model's input in pixels (default: its native area)",
    "other_image": "compare with this picture",
    "other_model": "compare with this model",
    "purpose": "; ".join(f"{name}: {p.words}" for name, p in PURPOSES.items()),
    "theme": "light or dark",
    "transparent": "no background; the theme chooses the ink",
    "colour_map": ", ".join(CHOICES["colour_map"]),
    "caption": "what is seen, in a sentence (default: yes)",
    "bar": "the colour bar (default: yes)",
    "marker": "the outline of the query (default: yes)",
    "prefix": "what the class token and registers take (default: said)",
    "footer": "a line that says where the figure comes from",
    "dpi": "dots per inch of a PNG (default: 192 for slides, 300 for papers, 96 in motion)",
    "sweep": "an animation: layers, scale, or patches:0,0-7,5-13,13",
}
METAVARS = {
    "model": "NAME", "weights": "FILE", "size": "HxW", "layer": "N", "head": "N", "query": "ROW,COLUMN", "scale": "S",
    "other_image": "IMAGE", "other_model": "NAME", "ceiling": "SHARE", "dpi": "N", "sweep": "WHAT",
}  # fmt: skip
DEFAULTS = {field.name: field.default for field in fields(Spec)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name, flag in FLAGS.items():
        default, options = DEFAULTS[name], {"dest": name, "help": HELP[name].replace("%", "%%")}
        if isinstance(default, bool):
            plain = argparse.BooleanOptionalAction if default else "store_true"
            parser.add_argument(flag, action=plain, default=default, **options)
        elif name in CHOICES:
            kind = type(default)
            parser.add_argument(flag, choices=CHOICES[name], type=kind, default=default, **options)
        else:
            kind = {"dpi": int, "ceiling": float}.get(name, str)
            alias = [f"{flag}s"] if name in ("layer", "head") else []
            default = None if name == "model" else default
            parser.add_argument(flag, *alias, metavar=METAVARS[name], type=kind, default=default, **options)


def command(spec: Spec, output: str | Path = "figure.png") -> str:
    """The line that makes this figure again: what differs from the defaults."""
    parts = ["python", "-m", "playground", "figure", *([spec.image] if spec.image else [])]
    for name, flag in FLAGS.items():
        value = getattr(spec, name)
        if value == DEFAULTS[name] and name != "model":
            continue
        if isinstance(value, bool):
            parts.append(flag if value else flag.replace("--", "--no-"))
        else:
            parts += [flag, _written(name, value)]
    if spec.layout == "curves":
        parts = [part for part in parts if part not in ("--model", spec.model)]
    return shlex.join([*parts, "-o", str(output)])


def _written(name: str, value) -> str:
    if name == "size":
        return f"{value[0]}x{value[1]}"
    return query_words(value) if name == "query" else str(value)


def read_query(text: str | None) -> tuple[int, int] | str | None:
    parts = (text or "").split(",")
    if len(parts) == 2 and all(part.strip().lstrip("-").isdecimal() for part in parts):
        return int(parts[0]), int(parts[1])
    return text


def read_size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise PlaygroundError(f"--size is HEIGHTxWIDTH in pixels, such as 448x672; given was {text}.")
    return int(parts[0]), int(parts[1])


def read_numbers(text: str | int | None, most: int, flag: str) -> list[int]:
    """ "all", "3", "0-3" or "2,5"."""
    if str(text) == "all":
        return list(range(most))
    numbers: list[int] = []
    for part in str(text).split(","):
        ends = part.split("-")
        if not (1 <= len(ends) <= 2 and all(end.strip().isdecimal() for end in ends)):
            raise PlaygroundError(
                f"{flag} takes a number counting from 0, several as 2,5 or 0-3, or all; not {text!r}."
            )
        numbers += range(int(ends[0]), int(ends[-1]) + 1)
    return numbers
