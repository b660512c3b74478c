"""The flags of a figure, and the command line that makes a figure again."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from playground.assets import PROGRAM
from playground.figures import layouts
from playground.figures.drawing.naming import published_spec
from playground.figures.drawing.spec import CHOICES, METHODS, Spec, query_words
from playground.figures.layouts import LAYOUTS

WEIGHTS_HELP = (
    "a .safetensors or .pth file with that model's weights; a .json of the same name beside it says what no weight "
    "tells, such as mean and std"
)
GROUPS: dict[str, dict[str, tuple[str, str]]] = {  # title of a part of the help -> {field of Spec: (help, metavar)}
    "what is shown": {
        "layout": ("; ".join(f"{layout.name}: {layout.words}" for layout in LAYOUTS.values()), ""),
        "model": (
            "a name (see `models`), a file, a folder or a repository on the hub (default: the bundled one); or what "
            "Trace.save wrote, a .trace", "NAME",
        ),
        "weights": (WEIGHTS_HELP, "FILE"),
        "size": ("HxW, the model's input in pixels (default: its native area)", "HxW"),
        "layer": (
            "counting from 0 (default: two thirds of the way up); an .html holds it alone, and without it all if they "
            "are few bytes", "N",
        ),
        "head": ("counting from 0, or mean or max of all (default: the sample's, or 0)", "N"),
        "query": (
            "ROW,COLUMN counting from 0, or cls, dist, reg0 … (default: the sample's, or the middle)", "ROW,COLUMN",
        ),
        "scale": ("on (1/√d_k), off (1) or a number (default: on)", "S"),
        "whole": ("run the whole forward pass with that scale, not this layer alone", ""),
        "cut": (
            "what is cut in the whole pass: who may not hear whom, such as 7,5>3,2 or *>cls@4.1 or *>3x3; or a head "
            "that gives nothing, zero@4.1, or its mean, mean@4.1; or what stands in the pass of --with-image, "
            "residual@6, values@3:7,5 or head@4.1; or what one head alone hears of another, zero@4.1>5.3; several: A;B",
            "CUTS",
        ),
        "what": ("what is drawn (default: weight)", ""),
        "direction": ("row: whom the patch listens to; column: who listens to it", ""),
        "label": (
            "whose relevance, occlusion or logit lens: a label's name or number (default: the patch's feature; of the "
            "logit lens the likeliest label)", "NAME",
        ),
        "text": ("of --what text: the words that patches are compared with, such as 'a cat'", "WORDS"),
        "method": (
            f"of --what relevance: {'; '.join(f'{name}: {words}' for name, words in METHODS.items())} (default: "
            f"{Spec.method})", "",
        ),
        "blank": (
            "of --what occlusion: blanked patches become the mean colour, noise, or what is around (default: mean)", "",
        ),
        "other_image": ("compare with this picture", "IMAGE"),
        "other_model": ("compare with this model", "NAME"),
        "rows": (
            "of the layout grid: layers:2,5,8, heads:0-3, pictures (those named first), models:bundled,dinov2-small, "
            "patches:9,7-3,4 or scales:on,off", "WHAT",
        ),
        "columns": ("the same for its columns", "WHAT"),
    },
    "how it looks": {
        "width": ("slide (16:9), column (85 mm), page (178 mm), or millimetres (default: slide)", "WIDTH"),
        "theme": ("light or dark", ""),
        "colours": ("heat, over the photograph; or a colour map of matplotlib's, such as grey or viridis", "NAME"),
        "ceiling": (
            "holds the exposure: the value that is drawn brightest, such as 0.05 (default: of the brightest patches)",
            "SHARE",
        ),
        "caption": ("what is seen, in a sentence (default: yes)", ""),
        "dpi": ("dots per inch of a PNG (default: 192 for slides, 300 for papers)", "N"),
    },
    "the file": {
        "all_layers": ("of an .html: all of them, however many bytes", ""),
        "view": ("what else an .html begins with, as in a link: locked=true&beside=wall", "TEXT"),
        "bare": ("of an .html: the picture alone, which still answers to cursor and keys: for a slide", ""),
    },
}  # fmt: skip
# field of Spec -> its flag
OTHER_NAMES = {"query": "patch", "other_image": "with-image", "other_model": "with-model"}
FLAGS = {name: f"--{OTHER_NAMES.get(name, name.replace('_', '-'))}" for names in GROUPS.values() for name in names}
DEFAULTS = {field.name: field.default for field in fields(Spec)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds a flag for each field of Spec."""
    for title, names in GROUPS.items():
        group = parser.add_argument_group(title)
        for name, (help_text, metavar) in names.items():
            default: Any = DEFAULTS[name]
            options: dict[str, Any] = {"dest": name, "help": help_text, "default": default}
            if isinstance(default, bool):
                options["action"] = argparse.BooleanOptionalAction if default else "store_true"
            elif name == "layout" or name in CHOICES:
                options["choices"] = tuple(LAYOUTS if name == "layout" else CHOICES[name])
            else:
                options |= {"metavar": metavar, "type": {"dpi": int, "layer": int, "ceiling": float}.get(name, str)}
            if name in ("model", "head"):  # set later: the bundled model, the sample's head
                options["default"] = None
            group.add_argument(FLAGS[name], **options)


def needless(spec: Spec) -> set[str]:
    """The fields of Spec that say nothing about this figure."""
    layout = layouts.of(spec)
    way, fields_ = spec.way, set(layout.fixed)
    if not way.of_heads:
        fields_ |= {"head", "direction"}
    if way.through_layers and not layout.asks:  # the reach of a stack of convolutions ends at the layer
        fields_ |= {"layer"}
    if not (layout.beside == "other" or spec.takes_another):
        fields_ |= {"other_image", "other_model"}
    if not layouts.marks_query(spec):
        fields_ |= {"query"}
    if spec.rows or spec.columns:
        axes = f"{spec.rows} {spec.columns}"
        named = {"heads": "head", "layers": "layer", "patches": "query", "scales": "scale"}
        fields_ |= {field for axis, field in named.items() if axis in axes}
    return fields_


def command(spec: Spec, output: str | Path = "figure.png") -> str:
    """The command that makes this figure again, with the options that differ from the defaults."""
    if not spec.model:
        raise ValueError("This Spec names no model: its command would trace the picture in another one.")
    words = [*PROGRAM.split(), "figure", *([_path(spec.image)] if spec.image else [])]
    omitted = set() if Path(output).suffix.lower() == ".html" else needless(spec) | {"view", "bare", "all_layers"}
    for name, flag in FLAGS.items():
        if name in omitted:
            continue
        value, default = getattr(spec, name), DEFAULTS[name]
        if isinstance(default, bool):
            words += [] if value == default else [flag if value else flag.replace("--", "--no-")]
            continue
        text = _typed(spec, name)
        default = spec.look.head if name == "head" and spec.look else default
        if text is not None and (text != str(default) or name == "model"):
            words += [flag, text]
    return shlex.join([*words, "-o", str(output)])


def repeat_command(spec: Spec, output: str | Path) -> str | None:
    """The command that makes this figure again; None if no command can."""
    return command(published_spec(spec), output) if spec.repeatable and spec.image else None


def _typed(spec: Spec, name: str) -> str | None:
    """The value of a field as a person types it."""
    value = getattr(spec, name)
    if value is None:
        return None
    if name == "size":
        return f"{value[0]}x{value[1]}"
    if isinstance(value, float):
        return f"{value:.9g}"
    if name == "other_image":
        return _path(value)
    return query_words(value) if name == "query" else str(value)


def _path(name: str) -> str:
    """The file's name; with ./ before it if it looks like a flag."""
    return f"./{name}" if name.startswith("-") else name
