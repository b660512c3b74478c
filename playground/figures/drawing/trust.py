"""What a figure of an attribution says of how far it can be trusted: its rank correlation with blanking, and what maps
that know nothing get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.figures.drawing import naming
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.way_words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playground.analysis.faithfulness import Foretold
    from playground.figures.drawing.one_map import Shown
    from playground.tracing import Trace
    from playground.vit import VisionTransformer

NAME = "rank correlation with blanking"


def sentences(spec: Spec, shown: Sequence[Shown]) -> list[str]:
    """One of each model and each picture on which it was measured."""
    return list(dict.fromkeys(_sentence(one.spec, one.seen) for one in shown if one.spec.way.attributes))


def facts(spec: Spec, seen: Trace) -> dict[str, str]:
    """For a file, in numbers."""
    if not spec.way.attributes:
        return {}
    found = _known(spec, seen)
    return {NAME: words("trust", "made", _case(found)).format(**_filled(naming.model(seen), found))}


def of_many(vit: VisionTransformer, method: str) -> dict[str, str]:
    """The same of many pictures' relevance, of which none was blanked."""
    from playground.analysis.faithfulness import of_model

    found = of_model(vit.name, vit, vit.state(), method)
    return {NAME: words("trust", "made", _case(found)).format(**_filled(vit.name, found))}


def _sentence(spec: Spec, seen: Trace) -> str:
    found = _known(spec, seen)
    return words("trust", "figure", _case(found)).format(**_filled(naming.model(seen), found))


def _known(spec: Spec, seen: Trace) -> Foretold | None:
    from playground.analysis.faithfulness import known
    from playground.analysis.occlusion import Asked

    if spec.query is None and not spec.explains_label:  # of a grid each patch asks by itself
        return None
    asked = Asked(label=int(spec.label)) if spec.explains_label else Asked(query=spec.query)
    return known(seen, asked, spec.method if "method" in spec.way.uses else spec.what)


def _case(found: Foretold | None) -> str:
    return "none" if found is None else "" if found.pictures else "here"


def _filled(model: str, found: Foretold | None) -> dict[str, str]:
    if found is None:
        return {"model": model}
    numbers = {name: f"{getattr(found, name):.2f}" for name in ("correlation", "random", "constant")}
    blank = words("blank", "figure", found.by)
    return numbers | {"blocks": str(found.blocks), "blank": blank, "pictures": str(found.pictures), "model": model}
