"""Metadata about a file's origin: enough to make the file again, and to check whether the result is the same."""

from __future__ import annotations

import re
from dataclasses import replace

from playground.figures import layouts
from playground.figures.command_line import repeat_command, unused_reasons
from playground.figures.drawing import captions, naming
from playground.figures.drawing.naming import published_spec, weights
from playground.figures.drawing.one_map import Other, Subject
from playground.figures.drawing.spec import Spec, query_words
from playground.models import source
from playground.tracing import Trace
from playground.version import __version__


def facts(spec: Spec, subject: Subject | None, other: Other = None) -> dict[str, str]:
    """Facts about the figure's origin, in reading order: {"model": "bundled", "layer": "4", …}."""
    layout, made_by = layouts.of(spec), {"made by": f"Attention Playground {__version__}"}
    if subject is None:
        return {"layout": spec.layout, **layout.facts, **made_by}
    trace = subject.seen
    entries = {**_subject_facts(subject), "layout": spec.layout}
    unused_fields = unused_reasons(spec)  # options that the command leaves out are no facts either
    choices = {"layer": spec.layer, "head": spec.head, "query": spec.query and query_words(spec.query)}
    entries |= {
        _NAMES.get(field, field): str(value)
        for field, value in choices.items()
        if field not in unused_fields and value is not None
    }
    axes = {axis: getattr(published_spec(spec), axis) for axis in ("rows", "columns") if axis not in unused_fields}
    entries |= {axis: values for axis, values in axes.items() if values}
    if "what" not in unused_fields:
        entries["shows"] = spec.what if "direction" in unused_fields else f"{spec.what}, {spec.direction}"
        entries |= captions.number_facts(spec, trace) | naming.trust_facts(spec, trace)
    if trace.cuts:
        entries["cut"] = "; ".join(trace.cuts.texts)
    if trace.interventions:
        entries["put into the pass"] = "; ".join(trace.interventions)
    entries["scale"] = _scale(replace(spec, scale="on") if "scale" in unused_fields else layout.prepared(spec), subject)
    if isinstance(other, Subject) and layout.beside(spec) == "other":
        entries |= {f"other {key}": value for key, value in _subject_facts(other).items()}
        if (layer := layout.panels(spec, subject, other)[-1].spec.layer) != spec.layer:
            entries["other layer"] = str(layer)
    if isinstance(other, dict):
        entries |= _grid_facts(list(other.values()))
    if spec.anonymous:
        entries = {key: value for key, value in entries.items() if "sha256:" not in value}
    return entries | made_by


def _subject_facts(subject: Subject) -> dict[str, str]:
    """Facts about the picture and the model."""
    trace = subject.seen
    return {
        "model": trace.model,
        "weights": weights(trace),
        **_loading_facts(trace),
        "image": subject.name,
        "pixels": f"sha256:{naming.hash_of_image(subject.image)}",
        "input": f"{trace.size[0]}x{trace.size[1]}",
    }


def _grid_facts(subjects: list[Subject]) -> dict[str, str]:
    """Facts about the second and further pictures and models, numbered."""
    pictures = {subject.name: f"sha256:{naming.hash_of_image(subject.image)}" for subject in subjects}
    models = {subject.seen.model: weights(subject.seen) for subject in subjects}
    entries = {}
    for number, (name, digest) in list(enumerate(pictures.items(), start=1))[1:]:
        entries |= {f"image {number}": name, f"pixels {number}": digest}
    for number, (name, digest) in list(enumerate(models.items(), start=1))[1:]:
        entries |= {f"model {number}": name, f"weights {number}": digest}
    return entries


def _loading_facts(trace: Trace) -> dict[str, str]:
    """The options given when the model was loaded, and what was assumed about it."""
    loaded_as = source.load_arguments(trace.vit)
    options = "; ".join(f"{word} {text}" for word, text in loaded_as.given_options.texts.items()) if loaded_as else ""
    return {key: value for key, value in (("said of it", options), ("assumed of it", trace.assumed)) if value}


_NAMES = {"query": "patch"}


def _scale(spec: Spec, subject: Subject) -> str:
    number = captions.scale(subject.seen, spec.scale).replace("no scale", "none")
    if subject.seen.scale_number(spec.scale) == subject.seen.native_scale == subject.seen.scale:
        return number
    return f"{number}, {'whole forward pass' if spec.whole else 'this layer only'}"


def footer(spec: Spec, subject: Subject | None, other: Other) -> str:
    if not spec.footer:
        return ""
    figure_facts = facts(spec, subject, other)
    if subject is None:
        return figure_facts["made by"]
    texts = {key: re.sub(r"(sha256:.{8})\w*", r"\1", value) for key, value in figure_facts.items()}
    phrases = [f"{texts['model']} ({texts['weights']})", f"{texts['image']} ({texts['pixels']})"]
    if "other model" in texts:
        phrases += [
            f"{texts['other model']} ({texts['other weights']})",
            f"{texts['other image']} ({texts['other pixels']})",
        ]
    phrases += [f"{key} {texts[key]}" for key in ("layer", "head", "patch", "scale") if key in texts]
    return " · ".join([*phrases, texts["made by"]])


# The metadata under the names that each file format prescribes.


def provenance(spec: Spec, facts: dict[str, str], name: str = "figure.png") -> dict[str, str]:
    """A title, all facts in a line, and the command that makes the file `name` again, if there is one."""
    entries = {
        "Title": layouts.of(spec).title(published_spec(spec)),
        "Description": "; ".join(f"{key}: {value}" for key, value in facts.items()),
        "Command": repeat_command(spec, name),
        "Software": f"Attention Playground {__version__}",
    }
    # a file's name may hold surrogates, which no file format can store
    return {key: value.encode("utf-8", "replace").decode() for key, value in entries.items() if value}


def metadata(spec: Spec, facts: dict[str, str], kind: str, name: str) -> dict[str, str | None]:
    """The metadata for a file of this kind, without a date, so that the same figure gives the same file."""
    entries = provenance(spec, facts, name)
    if kind == "pdf":
        info = {"Title": entries["Title"], "Subject": entries["Description"], "Keywords": entries.get("Command")}
        return info | {"Creator": entries["Software"], "CreationDate": None}
    if kind == "svg":
        info = {"Title": entries["Title"], "Description": entries["Description"], "Source": entries.get("Command")}
        return info | {"Creator": entries["Software"], "Date": None}
    return dict(entries) if kind == "png" else {}
