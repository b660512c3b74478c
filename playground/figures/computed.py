"""How the numbers of each way to look are computed: one function for each record of ways.py. The browser's are in
microscope/core/ways.js."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.figures.spec import Spec

if TYPE_CHECKING:
    from torch import Tensor

    from playground.analysis.occlusion import Step
    from playground.tracing import Trace


@dataclass(frozen=True)
class Asked:
    seen: Trace
    spec: Spec
    layer: int
    head: int
    scale: str | None  # None: that of the pass
    asker: Trace | None = None  # of another picture whose patch asks

    @property
    def by_row(self) -> bool:
        return self.spec.direction == "row"

    @property
    def explained(self) -> dict:
        return {"label": int(self.spec.label)} if self.spec.label else {"query": self.spec.query}


@dataclass(frozen=True)
class Answer:
    numbers: Tensor  # (tokens,)
    blanked: Step | None = None  # of an occlusion: which blocks were


def weight(a: Asked) -> Tensor:
    return (a.seen.row if a.by_row else a.seen.column)(a.layer, a.head, a.spec.query, a.scale)


def value(a: Asked) -> Tensor:
    norms = a.seen.value_norms(a.layer)[a.head]
    return weight(a) * (norms if a.by_row else norms[a.seen.token(a.spec.query)])


def score(a: Asked) -> Tensor:
    return (a.seen.scores if a.by_row else a.seen.column_scores)(a.layer, a.head, a.spec.query, a.scale)


def similarity(a: Asked) -> Tensor:
    if a.asker is None:
        return a.seen.similarity(a.spec.query, a.layer)
    import torch

    asked = a.asker.features(a.layer)[a.asker.token(a.spec.query)]
    return torch.cosine_similarity(a.seen.features(a.layer), asked[None], dim=-1)


def norm(a: Asked) -> Tensor:
    return a.seen.features(a.layer).norm(dim=-1)


def rollout(a: Asked) -> Tensor:
    return a.seen.rollout(a.spec.query)


def relevance(a: Asked) -> Tensor:
    return a.seen.relevance(**a.explained, method=a.spec.method, signed=a.spec.for_and_against)


def occlusion(a: Asked) -> Answer:
    """No token of the prefix can be blanked."""
    import torch

    from playground.analysis import occlusion

    *_, last = occlusion.occlusion(occlusion.Measured(a.seen, occlusion.Asked(**a.explained), a.spec.blank))
    return Answer(torch.cat([torch.zeros(len(a.seen.prefix)), last.map.flatten()]), last)


def label(a: Asked) -> Tensor:
    shares = a.seen.answers(a.layer)  # (tokens, labels)
    return shares[:, a.seen.label(int(a.spec.label)) if a.spec.label else int(a.seen.logits.argmax())]


def text(a: Asked) -> Tensor:
    from playground.analysis.text import likeness
    from playground.models import text_tower

    return likeness(a.seen, text_tower.direction(a.seen.vit, a.spec.text), a.layer)


NUMBERS: dict[str, Callable[[Asked], Tensor | Answer]] = {
    one.__name__: one for one in (weight, value, score, similarity, norm, rollout, relevance, occlusion, label, text)
}


def answer(asked: Asked) -> Answer:
    numbers = NUMBERS[asked.spec.what](asked)
    return numbers if isinstance(numbers, Answer) else Answer(numbers)


def pooled(asked: list[Asked], how: str) -> Answer:
    """The mean or the largest of these heads."""
    import torch

    every = torch.stack([answer(one).numbers for one in asked])  # (heads, tokens)
    return Answer(every.mean(0) if how == "mean" else every.amax(0))
