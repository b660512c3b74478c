"""A Trace: the record of one forward pass, from which every attention weight can be computed.

It stores queries, keys and values, whose size grows linearly with the number of tokens, but not the (tokens, tokens)
weights, whose size grows with its square. A row of weights is computed when needed: softmax(q_i · Kᵀ · scale).

Layers, heads, rows and columns count from 0. A `query` is a patch (row, column), the name of a prefix token ("cls",
"dist", "reg0", …) or a token index. Without `scale`, the scale of the pass is used, here and everywhere: 1/√d_k,
unless `trace` was given another. "on" is 1/√d_k, "off" is 1, and a number is used as it is. All results are float32
tensors on the CPU.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground import cuts, matching, relevance
from playground.cuts import Cuts as Cuts
from playground.cuts import Shape, silenced
from playground.cuts import is_put as is_put
from playground.cuts import needs_other_picture as needs_other_picture
from playground.errors import PlaygroundError
from playground.numbers import index as index  # re-exported for other modules
from playground.pack import LONGEST_WORD, pack, unpack
from playground.pack.record import KEEPS, Numbers, Query, Record, table_of_heads, table_of_query
from playground.pack.record import Keep as Keep
from playground.pack.record import denormalised as denormalised
from playground.pictures import images, jpegs
from playground.relevance import METHODS as METHODS
from playground.relevance import label_number as label_number
from playground.relevance import no_labels as no_labels
from playground.vit import QKV, At, Config, VisionTransformer, untouched
from playground.vit_parts import like, plainly, why_not_weights

if TYPE_CHECKING:
    import pandas as pd

BLOCK_SCORES = 2**22  # scores held at one time while a whole matrix is computed: 16 MB
MOST_PICTURE_SIDE = 1600  # pixels of the picture in a saved trace
MOST_SCALE = 1e9  # with a larger scale, scores may be infinite

Scale = float | str | None


def trace(
    vit: VisionTransformer,
    image: Image.Image,
    *,
    size: tuple[int, int] | None = None,
    scale: Scale = None,
    cut: Sequence[str] | str = (),
    at: At = untouched,
    grad: bool = False,
    keep: Keep = "float32",
) -> Trace:
    """One forward pass over the whole picture. `size` is the input's (height, width): by default the area that the
    model was trained on, with the picture's aspect. `scale` replaces 1/√d_k in every layer. `cut` says who may not
    hear whom: see playground/cuts.py. `at`, `grad` and `keep`: see `trace_input`."""
    c = vit.config
    if size is None:
        size = images.fit(image.size, c.patch_size, c.image_size)
    pixels = images.model_input(image, images.checked_size(size, c.patch_size), c.mean, c.std, c.interpolation)
    return trace_input(vit, pixels, scale=scale, cut=cut, at=at, grad=grad, keep=keep)


@plainly
def trace_input(
    vit: VisionTransformer,
    pixels: Tensor,
    *,
    scale: Scale = None,
    cut: Sequence[str] | str = (),
    at: At = untouched,
    interventions: tuple[str, ...] = (),
    grad: bool = False,
    keep: Keep = "float32",
) -> Trace:
    """A trace of the model's input as it is: (1, 3, height, width). `at(point, tensor)` returns what replaces the
    tensor at any of `vit.points()`; `interventions` says it in words. `grad` keeps the graph. `keep`
    says how queries, keys and values are held: see KEEPS in pack/record.py."""
    c = vit.config
    if keep not in KEEPS:
        raise PlaygroundError(f"keep= is {', '.join(KEEPS)}; given was {keep!r:.40}.")
    keep = "model" if grad else keep  # a copy in another precision would be no part of the graph
    if why := why_not_weights(vit):
        raise PlaygroundError(why)
    size = images.checked_size(pixels.shape[2:], c.patch_size)  # type: ignore[arg-type]
    cuts_made = read_cuts(vit, (size[0] // c.patch_size, size[1] // c.patch_size), cut)
    if pixels.is_inference():
        pixels = pixels.clone()  # one that can be differentiated later
    apply_cuts, at = cuts_made.at(), at if at is untouched else with_shape_check(at, cuts_made.shape)
    kept: list[Tensor] = []

    def intervene(point: str, x: Tensor) -> Tensor:
        x = at(point, apply_cuts(point, x))
        if grad and point.endswith((".queries", ".keys", ".values")):
            kept.append(x[0])  # now, because a slice taken after the pass would have no gradient
            x = kept[-1][None]
        return x

    with torch.set_grad_enabled(grad):
        pass_scale = c.scale if scale is None else scale_number(scale, c.scale)
        with relevance.room(vit, 1, cuts_made.shape.tokens):
            x = pixels.to(vit.patch_embed.proj.weight)
            logits, layers = vit.record(x, None if scale is None else pass_scale, like(at, intervene))
    _check_numbers(vit, logits, layers)
    record = [kept[i : i + 3] for i in range(0, len(kept), 3)] if grad else [[t[0] for t in qkv] for qkv in layers]
    hold = {"float32": Tensor.float, "model": lambda t: t, "host": lambda t: t.float().cpu()}[keep]
    return Trace(
        model=vit.name,
        size=size,
        patch_size=c.patch_size,
        prefix=c.prefix,
        native_scale=c.scale,
        scale=pass_scale,
        record={i: QKV(*map(hold, layer)) for i, layer in enumerate(record)},
        layers=c.depth,
        logits=logits[0].float().cpu() if vit.classes else None,
        predictions=likeliest(c, logits[0].detach()) if vit.classes else (),
        input=pixels,
        vit=vit,
        weight_versions=vit.weight_versions(),
        cuts=cuts_made,
        at=at,
        keep=keep,
        interventions=interventions or ("an intervention at=",) * (at is not untouched),
        assumed=", ".join(assumption.value for assumption in vit.assumed if assumption.word != "global_pool"),
    )


def read_cuts(vit: VisionTransformer, grid: tuple[int, int], cut: Sequence[str] | str) -> Cuts:
    return cuts.read(cut, Shape(vit.config.prefix, grid, vit.config.depth, vit.config.heads))


def with_shape_check(at: At, shape: Shape) -> At:
    """The same function, with a check that it keeps a tensor's shape."""
    masks = {(heads, n, n) for heads in (1, shape.heads) for n in (1, shape.tokens)}

    def checked_at(point: str, x: Tensor) -> Tensor:
        new_x = at(point, x)
        if not isinstance(new_x, Tensor):
            raise PlaygroundError(f"at= gave {type(new_x).__name__} at {point!r}: it gives a tensor, x itself too.")
        if point.endswith(".heard"):
            if new_x.dtype is not torch.bool or new_x.dim() != 4 or tuple(new_x.shape[1:]) not in masks:
                raise PlaygroundError(
                    f"at= gave {new_x.dtype} of {tuple(new_x.shape)} at {point!r}: who hears whom is True or False, "
                    f"of (pictures or 1, heads or 1, {shape.tokens}, {shape.tokens})."
                )
            if not new_x.any(-1).all():
                raise PlaygroundError(f"at= leaves a token nobody to hear at {point!r}: let each hear itself at least.")
        elif new_x.shape != x.shape or new_x.dtype != x.dtype:
            raise PlaygroundError(
                f"at= gave a tensor of {tuple(new_x.shape)} at {point!r}, {new_x.dtype}, where one of "
                f"{tuple(x.shape)} belongs, {x.dtype}."
            )
        return new_x

    return checked_at


def likeliest(c: Config, logits: Tensor, count: int = 5) -> tuple[tuple[str, float], ...]:
    """Labels with their shares, the likeliest first; none if the names of the classes are unknown."""
    best = c.shares(logits.float()).topk(min(count, len(c.labels)))
    return tuple((c.labels[i], share) for share, i in zip(*map(Tensor.tolist, best), strict=True))


def no_numbers(vit: VisionTransformer, where: str) -> PlaygroundError:
    """The error of a pass that gave NaN or infinity. It names a file without its folder, which can name a person."""
    name = Path(vit.name).name if vit.name.endswith(".safetensors") else vit.name
    is_half = vit.patch_embed.proj.weight.dtype in (torch.float16, torch.bfloat16)
    return PlaygroundError(
        f"{name} computes what is no number (NaN or infinite) {where}: its weights hold such numbers, "
        f"or are far too large. Load {'it in float32, or ' * is_half}other weights."
    )


def _check_numbers(vit: VisionTransformer, logits: Tensor, record: Sequence[QKV]) -> None:
    """Raises if the pass gave NaN or infinity. Checks the last layer and the logits: every layer adds to its tokens."""
    if _is_finite(record[-1]) and logits.float().logsumexp(-1).isfinite().all():  # a logit of −∞ is a share of nothing
        return
    place = next((f"from layer {i} on" for i, qkv in enumerate(record) if not _is_finite(qkv)), "as its answer")
    raise no_numbers(vit, place)


def _is_finite(qkv: QKV) -> bool:
    return all(bool(part.abs().amax().isfinite()) for part in qkv)


class Trace(Record):
    """A record (pack/record.py: its fields, and how tokens, layers and heads are named), and what comes of it."""

    def save(self, path: str | os.PathLike[str], numbers: Numbers = "float16", picture: bool = True) -> Path:
        """Writes the file that `Trace.load` and the page read: queries, keys, value norms, and, unless told otherwise,
        the picture as a JPEG of at most 1,600 pixels a side; no network. With numbers="int8" it is half as long."""
        data = self.to_bytes(numbers=numbers)
        if picture and (self.picture or (self.input is not None and self.vit)):
            header, arrays = unpack(data)
            (small := self.shown.convert("RGB")).thumbnail((MOST_PICTURE_SIDE, MOST_PICTURE_SIDE))
            name = Path(self.picture_name).name[:LONGEST_WORD]
            data = pack({**header, "picture_name": name}, {**arrays, "picture": jpegs.as_jpeg(small)})
        try:
            Path(path).write_bytes(data)
        except (OSError, TypeError) as error:
            raise PlaygroundError(f"{path} can't be written: {getattr(error, 'strerror', None) or error}.") from None
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a file that `save` wrote, with its picture."""
        try:
            data = Path(path).read_bytes()
        except (OSError, TypeError) as error:
            raise PlaygroundError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}.") from None
        seen, (header, arrays) = cls.from_bytes(data), unpack(data)
        if "picture" not in arrays:
            return seen
        return seen.of(images.open_image(arrays["picture"].tobytes()), header.get("picture_name", ""))

    # What a token listens to ------------------------------------------------------------------------------------------

    def row(self, layer: int, head: int | str, query: Query, scale: Scale = None) -> Tensor:
        """(tokens,): how much the query takes from each token. Sums to 1. A head of "mean" is the mean of all heads,
        "max" the largest of all, which sums to more.

        >>> seen = playground.trace("untrained", "meadow")
        >>> seen.row(layer=-1, head="mean", query=(7, 5)).sum().item().__round__(4)
        1.0
        """
        if isinstance(head, str):
            return _pooled(self.rows(layer, query, scale), head)
        scores, token = self.scores(layer, head, query, scale), self.token(query)
        return silenced(scores[None], self._heard(layer, head, [token]))[0].softmax(dim=-1)

    def rows(self, layer: int, query: Query, scale: Scale = None) -> Tensor:
        """(heads, tokens): the same for all heads at once."""
        return self.weights(layer, [query], scale)[:, 0]

    def weights(self, layer: int, queries: Sequence[Query] | None = None, scale: Scale = None) -> Tensor:
        """(heads, queries, tokens): the rows of several queries, or of every token. On a fine grid, ask for some
        queries at a time: all rows of 4,096 tokens in twelve heads take 800 MB."""
        layer = self.layer_number(layer)
        if not isinstance(queries, Iterable | None):
            raise PlaygroundError(f"weights and entropy take a list of queries; given was {queries!r:.60}.")
        q, k, _ = self.record[layer]
        tokens = slice(None) if queries is None else [self.token(query) for query in queries]
        q, k = q[:, tokens].float(), k.float()
        return _on_cpu(softmax_rows(q, k, self.scale_number(scale), self._heard_in(layer, tokens)))

    def entropy(self, layer: int, queries: Sequence[Query] | None = None, scale: Scale = None) -> Tensor:
        """(heads, queries): the entropy of these rows in bits, see `entropy` below."""
        return entropy(self.weights(layer, queries, scale))

    @plainly
    def scores(self, layer: int, head: int, query: Query, scale: Scale = None) -> Tensor:
        """(tokens,): q·k·scale, before the softmax."""
        q, k, _ = self._head(layer, head)
        return _on_cpu(k @ q[self.token(query)] * self.scale_number(scale))

    def scale_number(self, scale: Scale) -> float:
        """A scale as a number; None is the scale of the pass."""
        return self.scale if scale is None else scale_number(scale, self.native_scale)

    # Who listens to a token -------------------------------------------------------------------------------------------

    def column(self, layer: int, head: int | str, query: Query, scale: Scale = None) -> Tensor:
        """(tokens,): how much each token takes from this one. Columns don't sum to 1."""
        if isinstance(head, str):
            return _pooled(self.columns(layer, query, scale), head)
        return self._column(layer, head, self.token(query), scale)

    def columns(self, layer: int, query: Query, scale: Scale = None) -> Tensor:
        """(heads, tokens): the same for all heads."""
        token = self.token(query)
        return torch.stack([self._column(layer, head, token, scale) for head in range(self.heads)])

    @plainly
    def column_scores(self, layer: int, head: int, query: Query, scale: Scale = None) -> Tensor:
        """(tokens,): each token's q·k·scale with this token's key, before the softmax."""
        q, k, _ = self._head(layer, head)
        return _on_cpu(q @ k[self.token(query)] * self.scale_number(scale))

    def _column(self, layer: int, head: int, token: int, scale: Scale) -> Tensor:
        return torch.cat([_on_cpu(rows[:, token]) for _, rows in self._blocks(layer, head, scale)])

    def _heard(self, layer: int, head: int, queries: list[int] | slice) -> Tensor | None:
        """Whom these tokens hear in one head, (queries, tokens); None: everybody."""
        masks = self._heard_in(self.layer_number(layer), queries)
        return None if masks is None else masks[head if len(masks) > 1 else 0]

    def _heard_in(self, layer: int, queries: list[int] | slice) -> Tensor | None:
        """The same for all heads, (h or 1, queries, tokens); in a model with biases, what it adds to the scores."""
        layer_mask = self.at_mask(layer)
        mask = self.cuts.heard(layer, queries) if layer_mask is None else layer_mask[:, queries]
        return self.biases[layer][:, queries] if layer in self.biases else mask

    def _blocks(self, layer: int, head: int, scale: Scale) -> Iterator[tuple[slice, Tensor]]:
        """The weights of a head in blocks, to bound memory: (slice, (rows, tokens))."""
        q, k, _ = self._head(layer, head)
        step = max(1, max(BLOCK_SCORES, relevance.most_weights(q.device)) // self.tokens)
        for start in range(0, self.tokens, step):
            block = slice(start, min(start + step, self.tokens))
            yield block, softmax_rows(q[block], k, self.scale_number(scale), self._heard(layer, head, block))

    # All rows at once -------------------------------------------------------------------------------------------------

    def matrix(self, layer: int, head: int, scale: Scale = None) -> Tensor:
        """(tokens, tokens): every row, one below the other."""
        weights = torch.empty(self.tokens, self.tokens)
        for block, rows in self._blocks(layer, head, scale):
            weights[block] = _on_cpu(rows)
        return weights

    @plainly
    def rollout(self, query: Query | None = None, give_way: Callable[[], object] = lambda: None) -> Tensor:
        """Attention rollout (Abnar & Zuidema, 2020): the product of (A + I)/2 over all layers, A averaged over heads; I
        is the residual connection. (tokens,) for one query, (tokens, tokens) for None. `give_way` is called now and
        then: a server lets others come in between."""
        start_tokens = list(range(self.tokens)) if query is None else [self.token(query)]
        shares = torch.zeros(len(start_tokens), self.tokens, device=self._any_layer.q.device)
        shares[range(len(start_tokens)), start_tokens] = 1
        for layer in reversed(range(self.layers)):
            head_sums = torch.zeros_like(shares)
            for head in range(self.heads):
                for block, weights in self._blocks(layer, head, None):
                    head_sums += shares[:, block] @ weights
                    give_way()
            shares = shares / 2 + head_sums / (2 * self.heads)
        return _on_cpu(shares if query is None else shares[0])

    def table(self, query: Query | None = None, scale: Scale = None) -> pd.DataFrame:
        """A DataFrame. For a query: a line for each layer, head and token, with the weight. Without a query: a line for
        each layer and head, with means over the rows of at most 256 patches: the entropy in bits, the share on prefix
        tokens, and the distance in patches of the weight on patches.

        >>> seen = playground.trace("untrained", "meadow")
        >>> list(seen.table((7, 5)).columns)
        ['layer', 'head', 'token', 'row', 'column', 'weight']
        >>> len(seen.table()) == seen.layers * seen.heads
        True
        """
        if query is None:
            return table_of_heads(self, scale, distances(self.grid))
        return table_of_query(self, query, scale)

    def on_grid(self, row: Tensor) -> Tensor:
        """(…, tokens) -> (…, rows, columns): the patches laid out as in the picture, without the prefix tokens."""
        row = torch.as_tensor(row)
        if row.shape[-1:] != (self.tokens,):
            raise PlaygroundError(f"A row has {self.tokens} tokens; given was {tuple(row.shape)}.")
        return row[..., len(self.prefix) :].unflatten(-1, self.grid)

    # What needs another pass of the network ---------------------------------------------------------------------------

    @plainly
    def features(self, layer: int | None = None) -> Tensor:
        """(tokens, width): every token after a layer, by default the last. Features are not stored: the network runs
        again up to that layer."""
        layer = self.layer_number(-1 if layer is None else layer)
        vit = self._need_vit()
        with torch.no_grad():
            pixels = self._need_input().to(vit.patch_embed.proj.weight)
            return _on_cpu(vit.features(pixels, layer, self.scale, self.intervening())[0])

    def similarity(self, query: Query, layer: int | None = None) -> Tensor:
        """(tokens,): cosine between the query's features and every token's."""
        x = self.features(layer)
        return torch.cosine_similarity(x, x[self.token(query)], dim=-1)

    def match(self, other: Trace, layer: int | None = None) -> Tensor:
        """(rows, columns, 2): for each patch the (row, column) of the patch in another picture whose features are most
        similar, if each of the two is most similar to the other; else (-1, -1). By default after the layer two thirds
        of the way up: later layers are about labels."""
        matched = matching.matches(self._directions(layer, self), checked_trace(other)._directions(layer, self))
        return torch.from_numpy(matching.places(matched, other.grid[1])).unflatten(0, self.grid)

    @overload
    def parts(self, k: int = ..., other: None = None, layer: int | None = None) -> Tensor: ...

    @overload
    def parts(self, k: int, other: Trace, layer: int | None = None) -> tuple[Tensor, Tensor]: ...

    def parts(self, k: int = matching.PARTS, other: Trace | None = None, layer: int | None = None) -> Any:
        """(rows, columns): the number of each patch's part, 0 the largest. The features of each patch and its
        neighbours decide the k parts. With another picture: a pair of arrays, in which a part has the same number."""
        grids = parts_of([self] if other is None else [self, other], k, layer)
        return grids[0] if other is None else tuple(grids)

    def _directions(self, layer: int | None, first_trace: Trace) -> np.ndarray:
        """(patches, width): the features of the patches at length 1, if they are of the model of `first_trace`."""
        if first_trace.model != self.model:
            raise PlaygroundError(
                f"Features of two models have nothing in common: these pictures were traced through "
                f"{first_trace.model} and {self.model}. Trace both through one."
            )
        features = self.features(self.upper_layer if layer is None else layer)
        return matching.unit_vectors(features[len(self.prefix) :].numpy())

    @plainly
    def relevance(
        self,
        query: Query | None = None,
        label: str | int | None = None,
        method: relevance.Method = relevance.DEFAULT_METHOD,
        signed: bool | None = None,
        give_way: Callable[[], object] = lambda: None,
    ) -> Tensor:
        """(tokens,): which tokens, through all layers, move the query's feature, or, where a label is given by its name
        or number, that label's score. Shares whose magnitudes sum to 1; of a label, unless `signed` says otherwise,
        positive where a token speaks for it and negative where it speaks against it. See playground/relevance.py for
        the methods."""
        with torch.no_grad():
            vit, x, rotation = self.entering()
            blank = vit.embed(torch.zeros_like(self._need_input()).to(x), self.intervening())[0]
        forward_pass = relevance.Pass(vit, x, rotation, self.scale, self.intervening(), blank, give_way)
        token = None if query is None else self.token(query)
        return _on_cpu(relevance.of_picture(forward_pass, token, label, method, signed))

    def answers(self, layer: int | None = None) -> Tensor:
        """The logit lens: (tokens, classes), how likely each label is if the last norm and the classifier read this
        token alone, as it leaves a layer. Both were trained on the last layer and, in a model that pools a class token,
        on that token: for other layers and tokens this is not the model's answer."""
        vit = self._need_vit()
        if not vit.classes:
            raise relevance.no_labels(vit, "no layer of it says one")
        return vit.config.shares(self.alone(layer))

    @plainly
    def alone(self, layer: int | None = None) -> Tensor:
        """(tokens, classes): the logits of the last norm and the classifier if each token were the only one; without a
        classifier, the features that it would read."""
        vit, x = self._need_vit(), self.features(layer)
        with torch.no_grad():
            single = x[:, None].expand(-1, len(vit.config.prefix) + 1, -1)  # one sequence for each token
            return _on_cpu(vit.classify(single.to(vit.patch_embed.proj.weight)))

    def label(self, label: str | int) -> int:
        """The number of a label that is given by its name or number."""
        return relevance.label_number(self._network, label)


def parts_of(traces: Sequence[Trace], k: int, layer: int | None) -> list[Tensor]:
    """(rows, columns) of each: the number of the part that each patch belongs to. All are cut together."""
    if index(k) is None or k < 1:
        raise PlaygroundError(f"A picture is cut into a number of parts, such as 6, not {k!r}.")
    patches = [(checked_trace(trace)._directions(layer, traces[0]), trace.grid) for trace in traces]
    part_numbers = matching.parts_of(patches, int(k))
    return [torch.from_numpy(array).unflatten(0, trace.grid) for array, trace in zip(part_numbers, traces, strict=True)]


def checked_trace(other: object) -> Trace:
    if not isinstance(other, Trace):
        raise PlaygroundError(f"The other pass is what playground.trace gives; given was {type(other).__name__}.")
    return other


def distances(grid: tuple[int, int]) -> Tensor:
    """(patches, patches): from the middle of each patch to that of each other one, in patches."""
    places = torch.cartesian_prod(*(torch.arange(n, dtype=torch.float32) for n in grid))
    return torch.cdist(places, places)


def _pooled(head_rows: Tensor, pooling: str) -> Tensor:
    """(heads, tokens) -> (tokens,)"""
    if pooling not in ("mean", "max"):
        raise PlaygroundError(f'There is no head {pooling!r}; they count from 0, or are "mean" or "max" of all.')
    return head_rows.mean(0) if pooling == "mean" else head_rows.amax(0)


@plainly
def softmax_rows(q: Tensor, k: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    """(…, queries, d), (…, tokens, d) -> (…, queries, tokens): each row sums to one."""
    return silenced(q @ k.mT * scale, mask).softmax(dim=-1)


def entropy(weights: Tensor) -> Tensor:
    """(…, tokens) -> (…): entropy in bits, from 0 (one token gets all) to log₂ N (all N tokens get the same). 2^entropy
    is the effective number of tokens that the row listens to."""
    return torch.special.entr(weights).sum(-1) / math.log(2)


def relative_change(after: Tensor, before: Tensor) -> Tensor:
    """(…, D) -> (…): ‖x' − x‖ / ‖x‖."""
    return (after - before).norm(dim=-1) / before.norm(dim=-1).clamp(min=1e-12)


def scale_number(scale: float | str, native: float) -> float:
    """ "on", "off" or a number -> the number; `native` is the model's 1/√d_k."""
    if scale == "on":
        return native
    if scale == "off":
        return 1.0
    try:
        number = float(scale)
    except (TypeError, ValueError):
        number = math.nan
    if not abs(number) < MOST_SCALE:
        raise PlaygroundError(f'A scale is "on" (1/√d_k), "off" (1) or a number below 10⁹, not {scale!r}.')
    return number


def _on_cpu(x: Tensor) -> Tensor:
    return x.detach().float().cpu()
