"""Parses cuts: texts that say which tokens may not hear which others, and which heads are ablated in a pass.

A cut is one text, the same in Python, in an address, on the command line and in Lab. A cut edge gets a score of −∞
before the softmax; a head is ablated after it:

    7,5>3,2         patch (7, 5) does not hear patch (3, 2), in any layer or head
    7,5>3,2@4.1     the same in head 1 of layer 4 alone
    7,5>3,2@4+5.0+1   the same in heads 0 and 1 of layers 4 and 5
    7,5+7,6>cls     patches (7, 5) and (7, 6) do not hear the class token
    *>3,2+3,3       no token hears patches (3, 2) and (3, 3)
    *>*@4.1         in head 1 of layer 4 every token hears itself alone
    *>3x3           each patch hears only the 3 × 3 patches around it, as a convolution does
    *>3x3+cls       each patch also hears the class token
    zero@4.1        head 1 of layer 4 gives nothing; zero@4.0+1: heads 0 and 1; zero@4: all heads of layer 4
    mean@4.1        head 1 of layer 4 gives every token the head's mean output over all tokens

Every token always hears itself. Other texts need more than one pass: they put values from another picture's pass
(--with-image, with=) into this one, or change a head's output for one later head alone:

    residual@6      the other picture's tokens as they leave layer 6; also mlp, attention, queries, keys, values
    residual@6:7,5+cls   the same for patch (7, 5) and the class token alone
    residual@6:7,5<3,2   patch (7, 5) gets the value of the other picture's patch (3, 2)
    head@4.1        the other picture's output of head 1 of layer 4
    head@4.1>5.3    the same, but only head 3 of layer 5 hears the change
    zero@4.1>5.3    head 3 of layer 5 alone hears nothing of head 1 of layer 4

`read` parses cuts. `read_put` parses the texts with other pictures' values or a later head, and
playground/analysis/interventions.py runs these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.vit_parts import At, like, untouched

MOST_CUTS = 16  # most cuts in one pass
LONGEST_TEXT = 4096  # bound on a text's characters; a text of cut edges may have 8 times as many
ALL = "*"
KERNEL = re.compile(r"(3|5|7)x\1")
Replacement = Literal["zero", "mean"]  # the output of an ablated head
REPLACEMENTS: tuple[Replacement, ...] = get_args(Replacement)
Ablation = Literal["mean", "zero", "shuffle", "noise"]  # the last two only in Python: other tokens' outputs, or noise
#                                                         with the mean and the deviation of each dimension
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)
ABLATION_PATTERN = re.compile(rf"(?P<to>{'|'.join(REPLACEMENTS)})@(?P<layers>[^.@]+)(\.(?P<heads>[^.@]+))?")
PUT_VALUES = ("residual", "mlp", "attention", "queries", "keys", "values", "head")  # values of another picture's pass
NUMBER = r"\d{1,3}"
NUMBER_LIST = rf"(\*|{NUMBER}(\+{NUMBER})*)"
PUT_PATTERN = re.compile(
    rf"(?P<what>{'|'.join(PUT_VALUES)})@(?P<layers>{NUMBER_LIST})(\.(?P<heads>{NUMBER_LIST}))?(:(?P<places>[^:>@]+))?"
    rf"|(?P<gives>zero|head)@(?P<source>{NUMBER}\.{NUMBER})>(?P<to>{NUMBER}\.{NUMBER})"
)
CUT_PATTERN = re.compile(r"(?P<hearers>[^>@]+)>(?P<unheard>[^>@]+)(@(?P<layers>[^.@]+)(\.(?P<heads>[^.@]+))?)?")


@dataclass(frozen=True)
class Shape:
    """The names that a cut may use: the model's tokens, layers and heads, and the grid of patches."""

    prefix: tuple[str, ...]
    grid: tuple[int, int]  # rows, columns
    layers: int
    heads: int

    @property
    def tokens(self) -> int:
        return len(self.prefix) + self.grid[0] * self.grid[1]


@dataclass(frozen=True)
class Cut:
    """A cut. None in a field means all tokens, layers or heads."""

    text: str
    hearers: tuple[int, ...] | None  # numbers of tokens
    unheard: tuple[int, ...] | None  # numbers of tokens
    kernel: int  # 0, or the side of a square: a hearer hears only the square around itself, and `also_heard`
    also_heard: tuple[int, ...]
    layers: tuple[int, ...] | None
    heads: tuple[int, ...] | None
    replacement: str = ""  # one of REPLACEMENTS, what ablated heads give; "" for a cut edge

    @property
    def named_heads(self) -> str:
        """Heads as text: "4.0, 4.3", or "4.*" for all of layer 4."""
        pairs = ((layer, head) for layer in self.layers or (ALL,) for head in self.heads or (ALL,))
        return ", ".join(f"{layer}.{head}" for layer, head in pairs)


@dataclass(frozen=True)
class Cuts:
    """All cuts of one pass."""

    all: tuple[Cut, ...]
    shape: Shape
    head_numbers: tuple[int, ...] | None = None  # of the heads that the trace holds; None: all

    def __bool__(self) -> bool:
        return bool(self.all)

    @property
    def texts(self) -> list[str]:
        return [cut.text for cut in self.all]

    def in_layer(self, layer: int, ablated: bool = False) -> tuple[Cut, ...]:
        """The cuts in this layer: the cuts of edges or, with `ablated`, the ablations of heads."""
        layer_cuts = (cut for cut in self.all if cut.layers is None or layer in cut.layers)
        return tuple(cut for cut in layer_cuts if bool(cut.replacement) == ablated)

    def heard(self, layer: int, queries: Sequence[int] | slice | None = None) -> Tensor | None:
        """The tokens that these queries (default: all) hear in a layer: (h or 1, queries, N) bool; None: all."""
        if not (cuts := self.in_layer(layer)):
            return None
        tokens = torch.arange(self.shape.tokens)
        query_tokens = tokens if queries is None else tokens[queries]
        head_numbers = range(self.shape.heads) if self.head_numbers is None else self.head_numbers
        heads = 1 if all(cut.heads is None for cut in cuts) else len(head_numbers)
        mask = torch.ones(heads, len(query_tokens), len(tokens), dtype=torch.bool)
        for cut in cuts:
            head_indices = [i for i, head in enumerate(head_numbers[:heads]) if cut.heads is None or head in cut.heads]
            mask[head_indices] &= ~self._silenced(cut, query_tokens, tokens)
        return mask | (query_tokens[:, None] == tokens)  # a token always hears itself

    def at(self) -> At:
        """These cuts as the function `at` of a pass (playground/vit.py). Layers with the same cuts share one mask."""
        cached: tuple[tuple[Cut, ...], Tensor | None] = ((), None)

        def at(point: str, x: Tensor) -> Tensor:
            nonlocal cached
            if point.endswith(".attention.heads"):
                return self._ablated(int(point.split(".")[1]), x)
            if not point.endswith(".attention.heard"):
                return x
            layer = int(point.split(".")[1])
            if (cuts := self.in_layer(layer)) != cached[0]:
                mask = self.heard(layer)
                cached = cuts, None if mask is None else mask[None].to(x.device)  # (1, h or 1, N, N)
            return x if cached[1] is None else cached[1]

        return like(untouched, at)

    def _ablated(self, layer: int, head_outputs: Tensor) -> Tensor:
        for cut in self.in_layer(layer, ablated=True):
            head_outputs = with_heads(head_outputs, cut.heads, replacement(head_outputs, cut.replacement))
        return head_outputs

    def _silenced(self, cut: Cut, query_tokens: Tensor, tokens: Tensor) -> Tensor:
        """A mask, (queries, N): True where the cut sets the score to −∞."""
        is_hearer = _is_among(query_tokens, cut.hearers)[:, None]
        if not cut.kernel:
            return is_hearer & _is_among(tokens, cut.unheard)
        prefix_count, columns = len(self.shape.prefix), self.shape.grid[1]
        is_far = _distances(query_tokens, tokens, prefix_count, columns) > cut.kernel // 2
        return is_hearer & (query_tokens >= prefix_count)[:, None] & is_far & ~_is_among(tokens, cut.also_heard)


def replacement(head_outputs: Tensor, to: str) -> Tensor:
    """What a layer's heads give, (B, h, N, d), if all are ablated to one of `Ablation`."""
    mean = head_outputs.mean(-2, keepdim=True)
    if to == "zero":
        return torch.zeros_like(head_outputs)
    if to == "mean":
        return mean.expand_as(head_outputs)
    chance = torch.Generator().manual_seed(0)  # the same at each call
    if to == "shuffle":
        return head_outputs[..., torch.randperm(head_outputs.shape[-2], generator=chance), :]
    noise = torch.randn(head_outputs.shape, generator=chance).to(head_outputs)
    return mean + noise * head_outputs.std(-2, keepdim=True)


def with_heads(head_outputs: Tensor, heads: Sequence[int] | None, new_outputs: Tensor) -> Tensor:
    """The outputs of a layer's heads, (B, h, N, d), of which these heads are replaced; None: all heads."""
    is_replaced = torch.zeros(head_outputs.shape[1], 1, 1, dtype=torch.bool, device=head_outputs.device)
    is_replaced[slice(None) if heads is None else list(heads)] = True
    return torch.where(is_replaced, new_outputs, head_outputs)


def silenced(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Adds −∞ to cut scores, so that their weight is 0. `mask` may also be a bias that is added to scores."""
    if mask is None or mask.dtype is not torch.bool:
        return scores if mask is None else scores + mask.to(scores.device)
    return scores.masked_fill(~mask.to(scores.device), -torch.inf)


def _is_among(tokens: Tensor, members: Sequence[int] | None) -> Tensor:
    if members is None:
        return torch.ones(len(tokens), dtype=torch.bool)
    return torch.isin(tokens, torch.tensor(list(members), dtype=tokens.dtype))


def _distances(query_tokens: Tensor, tokens: Tensor, prefix_count: int, columns: int) -> Tensor:
    """(queries, N): distance in rows or columns of patches, whichever is larger; the prefix counts as far away."""
    (query_rows, query_columns), (token_rows, token_columns) = (
        ((t - prefix_count) // columns, (t - prefix_count) % columns) for t in (query_tokens, tokens)
    )
    distance = torch.maximum((query_rows[:, None] - token_rows).abs(), (query_columns[:, None] - token_columns).abs())
    return distance.masked_fill(tokens < prefix_count, 10**6)


# Reading --------------------------------------------------------------------------------------------------------------

Place = tuple[int, int] | str  # a patch, or a prefix token's name


@dataclass(frozen=True)
class Put:
    """A value that is put into a pass. None in a field means all layers, heads or places."""

    what: str  # one of PUT_VALUES, or "zero"
    layers: tuple[int, ...] | None
    heads: tuple[int, ...] | None = None  # used only for "head" and "zero"
    places: tuple[tuple[Place, Place], ...] | None = None  # (place here, place in the other picture)
    to: tuple[int, int] | None = None  # the only (layer, head) that hears the change


def is_put(text: str) -> bool:
    kind, _, place = text.partition("@")
    return needs_other_picture(text) or (kind in REPLACEMENTS and ">" in place)


def needs_other_picture(text: str) -> bool:
    return text.partition("@")[0] in PUT_VALUES


def read_put(text: str) -> Put:
    match = PUT_PATTERN.fullmatch(text) if len(text) < LONGEST_TEXT else None
    if not match or (not match["to"] and (match["what"] == "head") != bool(match["heads"])):
        raise PlaygroundError(
            f"What is put into a pass is {', '.join(PUT_VALUES[:-1])} with its layer, such as residual@6, or head@4.1; "
            f"with :7,5 or :7,5<3,2 behind it, these tokens alone; or what one head alone hears, head@4.1>5.3 or "
            f"zero@4.1>5.3; given was {text!r:.80}."
        )
    if match["to"]:
        (layer, head), to = (tuple(map(int, match[name].split("."))) for name in ("source", "to"))
        return Put(match["gives"], (layer,), (head,), to=to)  # type: ignore[arg-type]
    layers, heads = (
        None if match[name] in (None, ALL) else _checked_unique(list(map(int, match[name].split("+"))), text)
        for name in ("layers", "heads")
    )
    if match["places"] is None:
        return Put(match["what"], layers, heads)
    pairs = (word.partition("<") for word in match["places"].split("+"))
    places = tuple((_place(target, text), _place(origin or target, text)) for target, _, origin in pairs)
    return Put(match["what"], layers, heads, places)


def _place(word: str, text: str) -> Place:
    if patch := re.fullmatch(r"(\d{1,4}),(\d{1,4})", word):
        return int(patch[1]), int(patch[2])
    if re.fullmatch(r"[a-z]{1,5}\d{0,2}", word):  # the trace checks whether there is such a token
        return word
    raise PlaygroundError(f"A token is row,column or a name such as cls; {word!r:.40} stands in {text!r:.80}.")


def read(texts: Sequence[str] | str, shape: Shape) -> Cuts:
    """Parses a cut; PlaygroundError says what is wrong with the text."""
    if not isinstance(texts, Iterable):
        raise PlaygroundError(f"Cuts are a text or several, such as 7,5>3,2; given was {texts!r:.80}.")
    texts = [texts] if isinstance(texts, str) else list(texts)
    if len(texts) > MOST_CUTS:
        raise PlaygroundError(f"At most {MOST_CUTS} cuts are made at the same time, and these are {len(texts)}.")
    cuts = tuple(_read(text, shape) for text in texts)
    for i, cut in enumerate(cuts):
        if cut.text in texts[:i]:
            raise PlaygroundError(f"The cut {cut.text!r:.80} is there twice.")
    return Cuts(cuts, shape)


def ablation_texts(layers: Mapping[int, Sequence[int]], to: str) -> list[str]:
    """Texts that ablate these heads of these layers. Layers with the same heads share one text."""
    layers_of_heads: dict[str, list[int]] = {}
    for layer in sorted(layers):
        layers_of_heads.setdefault("+".join(map(str, sorted(set(layers[layer])))), []).append(layer)
    return [f"{to}@{'+'.join(map(str, layer_numbers))}.{heads}" for heads, layer_numbers in layers_of_heads.items()]


def _read(text: object, shape: Shape) -> Cut:
    if isinstance(text, str) and len(text) < LONGEST_TEXT and (ablation := ABLATION_PATTERN.fullmatch(text)):
        layers = _numbers(ablation["layers"], shape.layers, "layer", text)
        heads = _numbers(ablation["heads"], shape.heads, "head", text)
        if layers is None and heads is None:
            raise PlaygroundError(f"{text!r:.80} leaves no head that gives anything: name a layer or a head.")
        return Cut(text, None, None, 0, (), layers, heads, ablation["to"])
    if isinstance(text, str) and is_put(text):
        raise PlaygroundError(
            f"{text!r:.80} is made of more than one pass: say it in --cut or a link of a figure, or in Python by "
            "seen.patch(other, …) and seen.paths(…)."
        )
    match = CUT_PATTERN.fullmatch(text) if isinstance(text, str) and len(text) < 8 * LONGEST_TEXT else None
    if not isinstance(text, str) or not match:
        raise PlaygroundError(
            f"A cut is who > whom, such as 7,5>3,2 or *>cls, with @LAYER or @LAYER.HEAD behind it where it is not "
            f"meant everywhere; or heads that give nothing, such as zero@4.1, or their mean, mean@4.1; given was "
            f"{text!r:.80}."
        )
    hearers = _tokens(match["hearers"], shape, text)
    kernel_word, *kept_words = match["unheard"].split("+")
    kernel = int(kernel_word[0]) if KERNEL.fullmatch(kernel_word) else 0
    kept_tokens = _tokens("+".join(kept_words), shape, text) or () if kernel and kept_words else ()
    unheard = None if kernel else _tokens(match["unheard"], shape, text)
    layers = _numbers(match["layers"], shape.layers, "layer", text)
    heads = _numbers(match["heads"], shape.heads, "head", text)
    if not kernel and hearers is not None and hearers == unheard and len(hearers) == 1:
        raise PlaygroundError(f"{text!r:.80} cuts nothing: a patch always hears itself.")
    if not kernel and hearers is None and unheard is None and layers is None and heads is None:
        raise PlaygroundError(f"{text!r:.80} leaves nobody anything to hear in any layer: name a layer or a head.")
    if kernel and hearers is not None and all(token < len(shape.prefix) for token in hearers):
        raise PlaygroundError(f"{text!r:.80} cuts nothing: only patches have neighbours.")
    return Cut(text, hearers, unheard, kernel, kept_tokens, layers, heads)


def _tokens(text: str, shape: Shape, cut_text: str) -> tuple[int, ...] | None:
    if text == ALL:
        return None
    return _checked_unique([_token(word, shape, cut_text) for word in text.split("+")], cut_text)


def _token(word: str, shape: Shape, cut_text: str) -> int:
    if word in shape.prefix:
        return shape.prefix.index(word)
    rows, columns = shape.grid
    if not (patch := re.fullmatch(r"(\d{1,4}),(\d{1,4})", word)):
        prefix_words = "".join(f", or {name}" for name in shape.prefix[:1])
        raise PlaygroundError(f"A cut names patches as row,column{prefix_words}; {word!r:.40} is in {cut_text!r:.80}.")
    row, column = int(patch[1]), int(patch[2])
    if row >= rows or column >= columns:
        raise PlaygroundError(
            f"There is no patch ({row}, {column}), named in {cut_text!r:.80}: rows count from 0 to {rows - 1}, columns "
            f"to {columns - 1}."
        )
    return len(shape.prefix) + row * columns + column


def _numbers(text: str | None, count: int, kind: str, cut_text: str) -> tuple[int, ...] | None:
    if text is None or text == ALL:
        return None
    words = text.split("+")
    for word in words:
        if not re.fullmatch(r"\d{1,3}", word) or int(word) >= count:
            raise PlaygroundError(
                f"There is no {kind} {word!r:.40}, named in {cut_text!r:.80}; they count from 0 to {count - 1}."
            )
    return _checked_unique([int(word) for word in words], cut_text)


def _checked_unique(numbers: list[int], cut_text: str) -> tuple[int, ...]:
    if len(set(numbers)) < len(numbers):
        raise PlaygroundError(f"{cut_text!r:.80} names the same twice.")
    return tuple(sorted(numbers))
