"""Metadata about a file's origin: the Spec as facts, the command that makes the file again, and digests."""

from __future__ import annotations

from playground.figures import layouts
from playground.figures.command_line import needless, repeat_command
from playground.figures.drawing import captions, naming
from playground.figures.drawing.maps import Other, Subject
from playground.figures.drawing.naming import published_spec, weights
from playground.figures.drawing.spec import Spec, query_words
from playground.figures.layouts import compare
from playground.models import source
from playground.models.names import plain_name
from playground.samples import find
from playground.version import __version__

MADE_BY = f"Attention Playground {__version__}"


def facts(spec: Spec, subject: Subject, other: Other = None) -> dict[str, str]:
    """Facts about the figure's origin, in reading order: {"model": "bundled", "layer": "4", …}."""
    layout, unused = layouts.of(spec), needless(spec)
    trace, public = subject.seen, published_spec(spec)
    entries = {**_subject_facts(subject), "layout": spec.layout}
    choices = {"layer": spec.layer, "head": spec.head, "query": spec.query and query_words(spec.query)}
    choices |= {"rows": public.rows, "columns": public.columns}
    said = {name: str(value) for name, value in choices.items() if value is not None and name not in unused}
    entries |= {"patch" if name == "query" else name: text for name, text in said.items()}
    if "what" not in unused:
        entries["shows"] = spec.what if "direction" in unused else f"{spec.what}, {spec.direction}"
        entries |= captions.number_facts(spec, trace) | naming.trust_facts(spec, trace)
    if trace.cuts:
        entries["cut"] = "; ".join(trace.cuts.texts)
    if trace.interventions:
        entries["put into the pass"] = "; ".join(trace.interventions)
    entries["scale"] = _scale(spec, subject)
    if isinstance(other, Subject) and layout.beside == "other":
        entries |= {f"other {key}": value for key, value in _subject_facts(other).items()}
        if (layer := compare.requests(spec, subject, other)[1].spec.layer) != spec.layer:
            entries["other layer"] = str(layer)
    if isinstance(other, dict):
        for number, one in enumerate(list(other.values())[1:], start=2):
            entries |= {f"{key} {number}": value for key, value in _subject_facts(one).items()}
    return entries | {"made by": MADE_BY}


def _subject_facts(subject: Subject) -> dict[str, str]:
    """Facts about the picture and the model."""
    trace, loaded_as = subject.seen, source.load_arguments(subject.seen.vit)
    options = loaded_as.given_options if loaded_as else {}
    texts = {word: ",".join(map(repr, x)) if isinstance(x, tuple) else x for word, x in options.items()}
    said = "; ".join(f"{word} {text}" for word, text in texts.items())
    return {
        "model": trace.model,
        "weights": weights(trace),
        **{key: value for key, value in (("said of it", said), ("assumed of it", trace.assumed)) if value},
        "image": subject.name,
        **({"picture by": sample.credit} if (sample := find(subject.name)) else {}),
        "pixels": f"sha256:{naming.hash_of_image(subject.image)}",
        "input": f"{trace.size[0]}x{trace.size[1]}",
    }


def _scale(spec: Spec, subject: Subject) -> str:
    number = captions.scale(subject.seen, spec.scale).replace("no scale", "none")
    if subject.seen.scale_number(spec.scale) == subject.seen.native_scale == subject.seen.scale:
        return number
    return f"{number}, {'whole forward pass' if spec.whole else 'this layer only'}"


FIELDS = {  # kind of file -> what it calls a title, facts, a command and a program
    "png": ("Title", "Description", "Command", "Software"),
    "svg": ("Title", "Description", "Source", "Creator"),
    "pdf": ("Title", "Subject", "Keywords", "Creator"),
}
UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def metadata(spec: Spec, facts: dict[str, str], kind: str, name: str) -> dict[str, str | None]:
    """A title, all facts in a line, and the command that makes the file `name` again, if there is one; without a date,
    so that equal figures give equal files."""
    title = f"{captions.capital(spec.way.title)} in {plain_name(published_spec(spec).model)}: {layouts.of(spec).words}"
    values = title, "; ".join(f"{key}: {value}" for key, value in facts.items()), repeat_command(spec, name), MADE_BY
    # a file's name may hold surrogates, which no file format can store
    texts = [value and value.encode("utf-8", "replace").decode() for value in values]
    return {field: text for field, text in zip(FIELDS.get(kind, ()), texts, strict=False) if text} | UNDATED.get(
        kind, {}
    )
