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
import operator
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground import cuts, matching, pack_schema, relevance
from playground.cuts import Cut, Cuts, Shape
from playground.errors import PlaygroundError
from playground.pack import eight_bits, from_eight_bits, pack, unpack, upper_layer
from playground.pictures import images
from playground.relevance import METHODS
from playground.vit import QKV, Config, Heard, Rotation, State, VisionTransformer

if TYPE_CHECKING:
    import pandas as pd

MOST_TOKENS = 16_384
SPREAD = 256  # patches at most, of a measurement that would take too long with all
BLOCK = 2**22  # scores held at one time while a whole matrix is computed: 16 MB
MOST_SCALE = 1e9  # beyond, scores may be infinite
FORMAT = "attention-playground/1"

Query = tuple[int, int] | str | int
Scale = float | str | None


def trace(
    vit: VisionTransformer,
    image: Image.Image,
    *,
    size: tuple[int, int] | None = None,
    scale: Scale = None,
    cut: Sequence[str] | str = (),
) -> Trace:
    """One forward pass over the whole picture. `size` is the input's (height, width): by default the area that the
    model was trained on, with the picture's aspect. `scale` replaces 1/√d_k in every layer. `cut` says who may not
    hear whom: see playground/cuts.py."""
    c = vit.config
    size = images.fit(image.size, c.patch_size, c.image_size) if size is None else _checked_size(size, c.patch_size)
    return trace_input(vit, images.model_input(image, size, c.mean, c.std, c.interpolation), scale=scale, cut=cut)


def trace_input(vit: VisionTransformer, pixels: Tensor, *, scale: Scale = None, cut: Sequence[str] | str = ()) -> Trace:
    """The same of what the model gets, (1, 3, height, width), as it is."""
    c, size = vit.config, _checked_size(pixels.shape[2:], vit.config.patch_size)  # type: ignore[arg-type]
    weight = vit.patch_embed.proj.weight
    grid = (size[0] // c.patch_size, size[1] // c.patch_size)
    made = cuts.read(cut, Shape(c.prefix, grid, c.depth, c.heads))
    with torch.no_grad():
        number = c.scale if scale is None else scale_number(scale, c.scale)
        logits, record = vit.record(pixels.to(weight), None if scale is None else number, _on(weight.device, made))
    _check_numbers(vit, logits, record)
    return Trace(
        model=vit.name,
        size=size,
        patch_size=c.patch_size,
        prefix=c.prefix,
        native_scale=c.scale,
        scale=number,
        record={i: QKV(*(t[0].float() for t in layer)) for i, layer in enumerate(record)},  # whatever the model's dtype
        layers=c.depth,
        logits=logits[0].float().cpu() if vit.classes else None,
        predictions=_predictions(logits[0], c) if vit.classes else (),
        input=pixels,
        vit=vit,
        vit_state=vit.state(),
        cuts=made,
        assumed=", ".join(one.value for one in vit.assumed if one.word != "global_pool"),
    )


def no_numbers(vit: VisionTransformer, where: str) -> PlaygroundError:
    """The sentence about a pass that gave NaN or infinity. A file's name alone: its folder can name a person."""
    name = Path(vit.name).name if vit.name.endswith(".safetensors") else vit.name
    halved = vit.patch_embed.proj.weight.dtype in (torch.float16, torch.bfloat16)
    return PlaygroundError(
        f"{name} computes what is no number (NaN or infinite) {where}: its weights hold such numbers, "
        f"or are far too large. Load {'it in float32, or ' * halved}other weights."
    )


def _check_numbers(vit: VisionTransformer, logits: Tensor, record: Sequence[QKV]) -> None:
    """Every layer adds to its tokens: what is no number in one of them is none in the last one or in the logits."""
    if _is_finite(record[-1]) and logits.float().logsumexp(-1).isfinite().all():  # a logit of −∞ is a share of nothing
        return
    first = next((f"from layer {number} on" for number, of in enumerate(record) if not _is_finite(of)), "as its answer")
    raise no_numbers(vit, first)


def _is_finite(qkv: QKV) -> bool:
    return all(bool(part.abs().amax().isfinite()) for part in qkv)


def _on(device: torch.device, made: Cuts) -> Heard:
    last: tuple[tuple[Cut, ...], Tensor | None] = ((), None)

    def heard(layer: int) -> Tensor | None:
        nonlocal last
        if (cuts := made.in_layer(layer)) != last[0]:  # most are the same in all layers
            found = made.heard(layer)
            last = cuts, None if found is None else found.to(device)
        return last[1]

    return heard


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    model: str
    size: tuple[int, int]  # (height, width) of the input
    patch_size: int
    prefix: tuple[str, ...]
    native_scale: float  # 1/√d_k
    scale: float  # what the pass ran with
    record: dict[int, QKV]  # layer -> (heads, tokens, d) each; v is None in a trace that was read from bytes
    layers: int
    logits: Tensor | None  # (classes,)
    predictions: tuple[tuple[str, float], ...]  # the five likeliest classes
    input: Tensor | None  # (1, 3, height, width)
    vit: VisionTransformer | None
    vit_state: State = ()  # of the model's weights in this pass
    cuts: Cuts = field(default_factory=lambda: Cuts((), Shape((), (1, 1), 1, 1)))  # who did not hear whom in the pass
    stored_norms: dict[int, Tensor] = field(default_factory=dict)  # of a trace that was read from bytes
    picture: Image.Image | None = None  # what `playground.trace` was given, with all its pixels
    picture_name: str = ""  # its file, or a sample's name
    assumed: str = ""  # of the model, by whoever loaded it: "mean 0.5 0.5 0.5, std 0.5 0.5 0.5"

    def __repr__(self) -> str:
        rows, columns = self.grid
        ran = {self.native_scale: "", 1.0: ", run without 1/√d_k"}.get(self.scale, f", run with scale {self.scale:.3g}")
        cut = f", cut {'; '.join(self.cuts.texts)}" if self.cuts else ""
        size = f"{self.layers} layers × {self.heads} heads, {rows} × {columns} patches"
        return f"Trace({self.model}: {size}{ran}{cut})"

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds no network: hundreds of megabytes that others have already, or may not have. What only the
        network can tell of it, the value norms, is worked out before."""
        if self.vit is None:
            return self.__dict__
        whole = torch.contiguous_format  # q and k are parts of one tensor, which would be written twice
        without = {
            layer: QKV(q.clone(memory_format=whole), k.clone(memory_format=whole), None)  # type: ignore[arg-type]
            for layer, (q, k, _) in self.record.items()
        }
        norms = {layer: self.value_norms(layer) for layer in self.record}
        return self.__dict__ | {"vit": None, "vit_state": (), "record": without, "stored_norms": norms}

    def save(self, path: str | os.PathLike[str], numbers: str = "float16") -> Path:
        """Writes the pack that the browser reads: queries, keys and value norms, without network and picture. "int8" is
        half as long as "float16". `Trace.load` reads it."""
        try:
            Path(path).write_bytes(self.to_bytes(numbers=numbers))
        except OSError as error:
            raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None
        return Path(path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Trace:
        """What `save` wrote."""
        try:
            return Trace.from_bytes(Path(path).read_bytes())
        except OSError as error:
            raise PlaygroundError(f"{path} can't be read: {error.strerror or error}.") from None

    def table(self, query: Query | None = None, scale: Scale = None) -> pd.DataFrame:
        """A DataFrame. Of a query: a line for each layer, head and token with its weight. Without one: a line for each
        layer and head with the mean of its rows' entropy in bits, of what they give to prefix tokens, and of how far,
        in patches, what they give to patches goes; of 256 patches at most.

        >>> seen = playground.trace("untrained", "meadow")
        >>> list(seen.table((7, 5)).columns)
        ['layer', 'head', 'token', 'row', 'column', 'weight']
        >>> len(seen.table()) == seen.layers * seen.heads
        True
        """
        import pandas as pd

        rows, columns = self.grid
        if query is None:
            return pd.DataFrame([one for layer in self.record for one in self._of_heads(layer, scale)])
        patches = [(row, column) for row in range(rows) for column in range(columns)]
        names = [*self.prefix, *(f"{row},{column}" for row, column in patches)]
        places = [(pd.NA, pd.NA)] * len(self.prefix) + patches
        tokens = pd.DataFrame({"token": names, "row": [p[0] for p in places], "column": [p[1] for p in places]})
        tokens = tokens.astype({"row": "Int64", "column": "Int64"})
        of_heads = [
            tokens.assign(layer=layer, head=head, weight=weights.numpy())
            for layer in self.record
            for head, weights in enumerate(self.rows(layer, query, scale))
        ]
        order = ["layer", "head", "token", "row", "column", "weight"]
        return pd.concat(of_heads, ignore_index=True)[order]

    def _of_heads(self, layer: int, scale: Scale) -> list[dict[str, float]]:
        asking = self.some_patches(SPREAD)
        weights = self.weights(layer, asking, scale)  # (heads, queries, tokens)
        patches = weights[..., len(self.prefix) :]
        far = distances(self.grid)[[token - len(self.prefix) for token in asking]]  # (queries, patches)
        given = patches.sum(-1)
        return [
            {"layer": layer, "head": head, "entropy": bits, "prefix": away, "distance": length}
            for head, (bits, away, length) in enumerate(
                zip(
                    entropy(weights).mean(-1).tolist(), (1 - given).mean(-1).tolist(),
                    ((patches * far).sum(-1) / given).mean(-1).tolist(), strict=True,
                )
            )
        ]  # fmt: skip

    def of(self, picture: Image.Image, name: str) -> Trace:
        """The same trace, which remembers the picture that it came from: its figures are as sharp as that."""
        return replace(self, picture=picture, picture_name=name)

    @property
    def heads(self) -> int:
        return self._any.q.shape[0]

    @property
    def tokens(self) -> int:
        return self._any.q.shape[1]

    @property
    def head_dim(self) -> int:
        return self._any.q.shape[2]  # d, the d_k of the formula

    @property
    def grid(self) -> tuple[int, int]:
        return self.size[0] // self.patch_size, self.size[1] // self.patch_size

    @property
    def upper_layer(self) -> int:
        return upper_layer(self.layers)

    def scale_number(self, scale: Scale) -> float:
        """`scale` as a number; None is the scale of the pass."""
        return self.scale if scale is None else scale_number(scale, self.native_scale)

    @property
    def image(self) -> Image.Image:
        """The picture as the model saw it, pixel for pixel."""
        c = self._need_config()
        pixels = self._need_input()[0].permute(1, 2, 0) * torch.tensor(c.std) + torch.tensor(c.mean)
        return Image.fromarray((pixels * 255).round().clamp(0, 255).byte().numpy())

    @property
    def shown(self) -> Image.Image:
        """The picture that was traced, with all its pixels where they are remembered."""
        return self.picture or self.image

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
        return _silenced(scores[None], self._heard(layer, head, [token]))[0].softmax(dim=-1)

    def rows(self, layer: int, query: Query, scale: Scale = None) -> Tensor:
        """(heads, tokens): the same for all heads at once."""
        return self.weights(layer, [query], scale)[:, 0]

    def weights(self, layer: int, queries: Sequence[Query] | None = None, scale: Scale = None) -> Tensor:
        """(heads, queries, tokens): the rows of several queries, or of every token. On a fine grid, ask for some
        queries at a time: all rows of 4,096 tokens in twelve heads take 800 MB."""
        layer = self.layer_number(layer)
        q, k, _ = self.record[layer]
        tokens = slice(None) if queries is None else [self.token(query) for query in queries]
        return _answer(softmax_rows(q[:, tokens], k, self.scale_number(scale), self.cuts.heard(layer, tokens)))

    def entropy(self, layer: int, queries: Sequence[Query] | None = None, scale: Scale = None) -> Tensor:
        """(heads, queries): the entropy of these rows in bits, see `entropy` below."""
        return entropy(self.weights(layer, queries, scale))

    def scores(self, layer: int, head: int, query: Query, scale: Scale = None) -> Tensor:
        """(tokens,): q·k·scale, before the softmax."""
        q, k, _ = self._head(layer, head)
        return _answer(k @ q[self.token(query)] * self.scale_number(scale))

    def matrix(self, layer: int, head: int, scale: Scale = None) -> Tensor:
        """(tokens, tokens): every row, one below the other."""
        weights = torch.empty(self.tokens, self.tokens)
        for block, rows in self._blocks(layer, head, scale):
            weights[block] = _answer(rows)
        return weights

    def on_grid(self, row: Tensor) -> Tensor:
        """(…, tokens) -> (…, rows, columns): the patches laid out as in the picture, without the prefix tokens."""
        return row[..., len(self.prefix) :].unflatten(-1, self.grid)

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

    def column_scores(self, layer: int, head: int, query: Query, scale: Scale = None) -> Tensor:
        """(tokens,): each token's q·k·scale with this token's key, before the softmax."""
        q, k, _ = self._head(layer, head)
        return _answer(q @ k[self.token(query)] * self.scale_number(scale))

    def _column(self, layer: int, head: int, token: int, scale: Scale) -> Tensor:
        return torch.cat([_answer(rows[:, token]) for _, rows in self._blocks(layer, head, scale)])

    # What a weight carries --------------------------------------------------------------------------------------------

    def value_norms(self, layer: int) -> Tensor:
        """(heads, tokens): ‖W_O v‖, the length of the vector that each token adds to the query at a weight of 1; with
        the layer's gain if the model has one. weight × value norm is what the token really contributes."""
        layer = self.layer_number(layer)
        v = self.record[layer].v
        if v is None:
            return self.stored_norms[layer]
        block: Any = self._need_vit().blocks[layer]
        out = block.attn.proj.weight  # (D, D)
        if hasattr(block.ls1, "gamma"):
            out = block.ls1.gamma[:, None] * out
        per_head = out.detach().float().unflatten(1, (self.heads, -1)).transpose(0, 1)  # (heads, D, d)
        gram = per_head.transpose(1, 2) @ per_head  # (heads, d, d): ‖W v‖² = vᵀ(WᵀW)v, with no (tokens, D) per head
        return _answer(((v @ gram) * v).sum(-1).clamp(min=0).sqrt())

    def features(self, layer: int | None = None) -> Tensor:
        """(tokens, width): every token after a layer, by default the last. Features are not stored: the network runs
        again up to that layer."""
        layer = self.layer_number(-1 if layer is None else layer)
        vit = self._need_vit()
        with torch.no_grad():
            pixels = self._need_input().to(vit.patch_embed.proj.weight)
            return _answer(vit.features(pixels, layer, self.scale, self.heard_on(pixels.device))[0])

    def similarity(self, query: Query, layer: int | None = None) -> Tensor:
        """(tokens,): cosine between the query's features and every token's."""
        x = self.features(layer)
        return torch.cosine_similarity(x, x[self.token(query)], dim=-1)

    def match(self, other: Trace, layer: int | None = None) -> Tensor:
        """(rows, columns, 2): for each patch the (row, column) of the patch in another picture that its features
        resemble most, if that patch, too, resembles none of this picture more; else (-1, -1). By default after the
        layer two thirds of the way up: what comes later is about labels."""
        there = torch.from_numpy(matching.matches(self._directions(layer), other._directions(layer, self)))
        columns = other.grid[1]
        places = torch.stack([there // columns, there % columns], dim=-1)
        return places.where((there >= 0)[:, None], torch.tensor(-1)).unflatten(0, self.grid)

    def parts(self, k: int = matching.PARTS, other: Trace | None = None, layer: int | None = None) -> Any:
        """(rows, columns): the number of the part that each patch belongs to, 0 for the largest, where the picture is
        cut into k parts by its features. With another picture a pair: both are cut together, so that the same part has
        the same number in both."""
        if not isinstance(k, int | np.integer) or k < 1:
            raise PlaygroundError(f"A picture is cut into a number of parts, such as 6, not {k!r}.")
        each = [self] if other is None else [self, other]
        for seen in each:
            seen._same_model(self)
        grids = parts_of(each, k, layer)
        return grids[0] if other is None else tuple(grids)

    def _same_model(self, first: Trace) -> None:
        if first.model != self.model:
            raise PlaygroundError(
                f"Features of two models have nothing in common: these pictures were traced through {first.model} and "
                f"{self.model}. Trace both through one."
            )

    def _directions(self, layer: int | None, first: Trace | None = None) -> np.ndarray:
        """(patches, width): the features of the patches at length 1, if they are of the model of `first`."""
        if first is not None:
            self._same_model(first)
        features = self.features(self.upper_layer if layer is None else layer)
        return matching.unit(features[len(self.prefix) :].numpy())

    def rollout(self, query: Query | None = None, give_way: Callable[[], object] = lambda: None) -> Tensor:
        """Attention rollout (Abnar & Zuidema, 2020): the product of (A + I)/2 over all layers, A averaged over heads; I
        is the residual connection. (tokens,) for one query, (tokens, tokens) for None. `give_way` is called now and
        then: a server lets others come in between."""
        start = list(range(self.tokens)) if query is None else [self.token(query)]
        reached = torch.zeros(len(start), self.tokens, device=self._any.q.device)
        reached[range(len(start)), start] = 1
        for layer in reversed(range(self.layers)):
            heads = [self._head(layer, head) for head in range(self.heads)]
            spread = torch.zeros_like(reached)
            for block in self._some_queries():
                for number, head in enumerate(heads):
                    heard = self._heard(layer, number, block)
                    spread += reached[:, block] @ softmax_rows(head.q[block], head.k, self.scale_number(None), heard)
                give_way()
            reached = reached / 2 + spread / (2 * self.heads)
        return _answer(reached if query is None else reached[0])

    def relevance(
        self,
        query: Query | None = None,
        label: str | int | None = None,
        method: str = relevance.DEFAULT,
        signed: bool | None = None,
        give_way: Callable[[], object] = lambda: None,
    ) -> Tensor:
        """(tokens,): which tokens, through all layers, move the query's feature, or, where a label is given by its name
        or number, that label's score. Shares whose magnitudes sum to 1; of a label, unless `signed` says otherwise,
        positive where a token speaks for it and negative where it speaks against it. See playground/relevance.py for
        the methods."""
        if (query is None) == (label is None):
            raise PlaygroundError("Relevance is of a query's feature or of a label: give one of the two.")
        if method not in METHODS:
            raise PlaygroundError(f"There is no method {method!r}: choose one of {', '.join(METHODS)}.")
        with_sign = relevance.is_signed(label is not None, method, signed)
        vit, x, rotation = self.entering()
        if label is None:
            answer = relevance.feature(vit, self.token(query), self.tokens)  # type: ignore[arg-type]
        else:
            answer = relevance.label_score(vit, self.label(label), self.tokens)
        relevance.check_memory(vit, self.tokens)
        with torch.no_grad():
            of = relevance.Pass(vit, x.detach(), rotation, self.scale, self.heard_on(x.device), give_way)
        found = _answer(relevance.relevance(of, answer, method, with_sign)[0])
        if not found.isfinite().all():
            raise PlaygroundError(f"The gradients of {self.model} are no numbers here: load the model in float32.")
        return found

    def answers(self, layer: int | None = None) -> Tensor:
        """The logit lens: (tokens, classes), how likely each label is if the last norm and the classifier read this
        token alone, as it leaves a layer. They were trained for what the last layer gives, and, in a model that pools a
        class token, for that token: of others it is what they would say, not what the model says."""
        vit = self._need_vit()
        if not vit.classes:
            raise self._without_labels("no layer of it says one")
        return vit.config.shares(self.alone(layer))

    def alone(self, layer: int | None = None) -> Tensor:
        """(tokens, classes): what the last norm and the classifier make of each token if it were all there is; without
        a classifier, the features that it would be given."""
        vit, x = self._need_vit(), self.features(layer)
        with torch.no_grad():
            each = x[:, None].expand(-1, len(vit.config.prefix) + 1, -1)  # a picture of it alone
            return _answer(vit.classify(each.to(vit.patch_embed.proj.weight)))

    def label(self, label: str | int) -> int:
        """The number of a label that is given by its name or number."""
        c = self._need_config()
        if not self.vit.classes:  # type: ignore[union-attr]
            raise self._without_labels("ask about a patch")
        if isinstance(label, str) and label in c.labels:
            return c.labels.index(label)
        if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < c.classes:
            return label
        known = f": {', '.join(c.labels[:8])} …" if c.labels else f": labels are 0 to {c.classes - 1}"
        raise PlaygroundError(f"{self.model} has no label {label!r:.60}{known}")

    def _without_labels(self, instead: str) -> PlaygroundError:
        why = self.vit.no_answer if self.vit else ""
        return PlaygroundError(
            f"The labels of {self.model} are not shown: {why}." if why else f"{self.model} has no labels: {instead}."
        )

    # As bytes ---------------------------------------------------------------------------------------------------------

    def to_bytes(
        self, layers: list[int] | None = None, heads: list[int] | None = None, numbers: str = "float16"
    ) -> bytes:
        """q and k in float16, or half as long as "int8", and the value norms of some layers and heads, by default all,
        in the format of `playground/pack.py`. `from_bytes` numbers the chosen heads from 0."""
        held = list(self.record) if layers is None else [self.layer_number(layer) for layer in layers]
        some = slice(None) if heads is None else [self._checked_head(head) for head in heads]
        header = {
            "format": FORMAT,
            "model": self.model,
            "scale": self.native_scale,
            "forward_scale": None if self.scale == self.native_scale else self.scale,
            "layers": self.layers,
            "heads": self.heads if heads is None else len(heads),
            "head_dim": self.head_dim,
            "tokens": self.tokens,
            "prefix": list(self.prefix),
            "grid": list(self.grid),
            "size": list(self.size),
            "patch": self.patch_size,
            "held": held,
            **({"cuts": self.cuts.texts} if self.cuts else {}),
            **({"assumed": self.assumed} if self.assumed else {}),
            "predictions": [[label, round(p, 5)] for label, p in self.predictions] or None,
        }
        if heads is not None and list(heads) != list(range(self.heads)):
            header["head_numbers"] = list(heads)
        arrays: dict[str, np.ndarray | bytes] = {}
        for name in ("q", "k"):
            record = [getattr(self._layer(i), name)[some].cpu() for i in held]
            if numbers == "int8":
                parts = zip(*(eight_bits(x.float().numpy()) for x in record), strict=True)
                arrays |= zip((name, f"{name}_low", f"{name}_step"), map(np.stack, parts), strict=True)
            else:
                arrays[name] = np.stack([x.half().numpy() for x in record])
        return pack(header, arrays | {"value_norms": np.stack([self.value_norms(i)[some].numpy() for i in held])})

    @staticmethod
    def from_bytes(data: bytes) -> Trace:
        """Reads what `to_bytes` wrote. The result has attention and value norms, but no network to run again."""
        header, arrays = unpack(data)
        if header.get("format") != FORMAT:
            raise PlaygroundError(f"This pack is of the format {header.get('format')!r}, not {FORMAT!r}.")
        try:
            pack_schema.trace(header, arrays)
            for name in ("q", "k"):
                if f"{name}_low" in arrays:
                    arrays[name] = from_eight_bits(arrays[name], arrays[f"{name}_low"], arrays[f"{name}_step"])
            q, k, norms = (torch.from_numpy(arrays[name].astype(np.float32)) for name in ("q", "k", "value_norms"))
            shape = (len(header["held"]), header["heads"], header["tokens"], header["head_dim"])
            if q.shape != shape or k.shape != shape or norms.shape != shape[:3] or not header["held"]:
                raise ValueError(f"its arrays are not of the shape {shape}")
            native = float(header["scale"])
            numbers = tuple(header.get("head_numbers") or range(header["heads"]))
            patch = int(header["patch"])
            of = (header["size"][0] // patch, header["size"][1] // patch)
            may_be = Shape(tuple(header["prefix"]), of, header["layers"], pack_schema.COUNTS["heads"][1])
            made = cuts.read(header.get("cuts", []), may_be)
            return Trace(
                model=str(header["model"]),
                size=tuple(header["size"]),
                patch_size=int(header["patch"]),
                prefix=tuple(header["prefix"]),
                native_scale=native,
                scale=native if header["forward_scale"] is None else float(header["forward_scale"]),
                record={layer: QKV(q[i], k[i], None) for i, layer in enumerate(header["held"])},  # type: ignore[arg-type]
                layers=int(header["layers"]),
                logits=None,
                predictions=tuple((label, p) for label, p in header["predictions"] or ()),
                input=None,
                vit=None,
                cuts=replace(made, numbers=numbers),
                stored_norms={layer: norms[i] for i, layer in enumerate(header["held"])},
                assumed=header.get("assumed", ""),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise PlaygroundError(f"This pack is damaged: {error}.") from None

    # Tokens, layers and heads -----------------------------------------------------------------------------------------

    def token(self, query: Query) -> int:
        """The token index of a query."""
        rows, columns = self.grid
        if isinstance(query, str):
            if query not in self.prefix:
                known = ", ".join(self.prefix) or "none"
                raise PlaygroundError(f"{self.model} has no token called {query!r}; its prefix tokens are: {known}.")
            return self.prefix.index(query)
        if (token := index(query)) is not None:
            if not 0 <= token < self.tokens:
                raise PlaygroundError(f"There is no token {token}; they count from 0 to {self.tokens - 1}.")
            return token
        try:
            row, column = (int(n) for n in query)  # type: ignore[union-attr]
        except (TypeError, ValueError):
            raise PlaygroundError(
                f"A query is a patch (row, column), the name of a prefix token or a token index, not {query!r}."
            ) from None
        if not (0 <= row < rows and 0 <= column < columns):
            raise PlaygroundError(
                f"There is no patch ({row}, {column}): rows count from 0 to {rows - 1}, columns to {columns - 1}."
            )
        return len(self.prefix) + row * columns + column

    def some_patches(self, most: int) -> list[int]:
        """The token indices of at most `most` patches, evenly spread, for measurements where all would take too
        long."""
        patches = range(len(self.prefix), self.tokens)
        return list(patches[:: math.ceil(len(patches) / most)])

    @property
    def _any(self) -> QKV:
        return next(iter(self.record.values()))

    def layer_number(self, layer: int) -> int:
        """From 0; −1 is the last."""
        number = index(layer)
        counted = number if number is None or number >= 0 else self.layers + number
        if counted is None or counted not in self.record:
            held = f"0 to {self.layers - 1}" if len(self.record) == self.layers else ", ".join(map(str, self.record))
            raise PlaygroundError(f"There is no layer {layer!r} here; this trace of {self.model} holds {held}.")
        return counted

    def _layer(self, layer: int) -> QKV:
        return self.record[self.layer_number(layer)]

    def _head(self, layer: int, head: int) -> QKV:
        record, head = self._layer(layer), self._checked_head(head)
        return QKV(*(None if t is None else t[head] for t in record))  # (tokens, d) each

    def _checked_head(self, head: int) -> int:
        if (number := index(head)) is None or not 0 <= number < self.heads:
            raise PlaygroundError(f"There is no head {head!r}; they count from 0 to {self.heads - 1}.")
        return number

    def _heard(self, layer: int, head: int, queries: list[int] | slice) -> Tensor | None:
        """Whom these tokens hear in one head, (queries, tokens); None: everybody."""
        found = self.cuts.heard(self.layer_number(layer), queries)
        return None if found is None else found[head if len(found) > 1 else 0]

    def heard_on(self, device: torch.device) -> Heard:
        """The cuts of this pass, for one that runs on this device."""
        return _on(device, self.cuts)

    def _blocks(self, layer: int, head: int, scale: Scale) -> Iterator[tuple[slice, Tensor]]:
        """The weights of a head in blocks of rows, to bound memory: (slice, (rows, tokens))."""
        q, k, _ = self._head(layer, head)
        for block in self._some_queries():
            heard = self._heard(layer, head, block)
            yield block, softmax_rows(q[block], k, self.scale_number(scale), heard)

    def _some_queries(self) -> Iterator[slice]:
        """All queries, in slices so short that the rows of one stay below BLOCK scores."""
        step = max(1, BLOCK // self.tokens)
        return (slice(start, min(start + step, self.tokens)) for start in range(0, self.tokens, step))

    def entering(self) -> tuple[VisionTransformer, Tensor, Rotation]:
        """The network, the tokens that enter its first layer, (1, N, D), and their rotation: to go through it again."""
        vit = self._need_vit()
        return vit, *vit.embed(self._need_input().to(vit.patch_embed.proj.weight))

    def _need_input(self) -> Tensor:
        if self.input is None:
            raise PlaygroundError("A trace that was read from bytes has no picture; trace the image again.")
        return self.input

    @property
    def outdated(self) -> bool:
        """Whether the model was trained, or filled with other weights, after this pass."""
        return self.vit is not None and self.vit_state not in ((), self.vit.state())

    def _need_config(self) -> Config:
        if self.vit is None:
            raise PlaygroundError("A trace that was read from bytes can't run its network; trace the image again.")
        return self.vit.config

    def _need_vit(self) -> VisionTransformer:
        self._need_config()
        if self.outdated:
            raise PlaygroundError(
                f"The weights of {self.model} were changed after this pass: what they say now is not of it; trace the "
                "image again."
            )
        return cast("VisionTransformer", self.vit)


def parts_of(traces: Sequence[Trace], k: int, layer: int | None) -> list[Tensor]:
    """(rows, columns) of each: the number of the part that each patch belongs to. All are cut together."""
    found = matching.parts(np.concatenate([seen._directions(layer) for seen in traces]), k)
    cut = torch.from_numpy(found).split([math.prod(seen.grid) for seen in traces])
    return [numbers.unflatten(0, seen.grid) for numbers, seen in zip(cut, traces, strict=True)]


def distances(grid: tuple[int, int]) -> Tensor:
    """(patches, patches): from the middle of each patch to that of each other one, in patches."""
    places = torch.cartesian_prod(*(torch.arange(n, dtype=torch.float32) for n in grid))
    return torch.cdist(places, places)


def _pooled(of_heads: Tensor, how: str) -> Tensor:
    """(heads, tokens) -> (tokens,)"""
    if how not in ("mean", "max"):
        raise PlaygroundError(f'There is no head {how!r}; they count from 0, or are "mean" or "max" of all.')
    return of_heads.mean(0) if how == "mean" else of_heads.amax(0)


def index(number: Any) -> int | None:
    """Of Python's integers, NumPy's and torch's; None for anything else."""
    if isinstance(number, bool | np.bool_) or getattr(number, "dtype", None) is torch.bool:
        return None
    try:
        return operator.index(number)
    except TypeError:
        return None


def softmax_rows(q: Tensor, k: Tensor, scale: float, heard: Tensor | None = None) -> Tensor:
    """(…, queries, d), (…, tokens, d) -> (…, queries, tokens): each row sums to one."""
    return _silenced(q @ k.mT * scale, heard).softmax(dim=-1)


def _silenced(scores: Tensor, heard: Tensor | None) -> Tensor:
    """What is cut has a score of −∞, and so a weight of nothing."""
    return scores if heard is None else scores.masked_fill(~heard.to(scores.device), -math.inf)


def entropy(weights: Tensor) -> Tensor:
    """(…, tokens) -> (…): entropy in bits, from 0 (one token gets all) to log₂ N (all N tokens get the same). 2^entropy
    is the effective number of tokens that the row listens to."""
    return torch.special.entr(weights).sum(-1) / math.log(2)


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


def _checked_size(size: tuple[int, int], patch: int) -> tuple[int, int]:
    try:
        height, width = (int(n) for n in size)
    except (TypeError, ValueError):
        raise PlaygroundError(f"A size is (height, width) in pixels, not {size!r}.") from None
    if height < patch or width < patch or height % patch or width % patch:
        near = tuple(max(1, round(n / patch)) * patch for n in (height, width))
        raise PlaygroundError(
            f"A size of {height} × {width} can't be cut into patches of {patch} × {patch}; the nearest is {near}."
        )
    if (tokens := height * width // patch**2) > MOST_TOKENS:
        raise PlaygroundError(
            f"A size of {height} × {width} makes {tokens:,} patches; at most {MOST_TOKENS:,} are traced."
        )
    return height, width


def _predictions(logits: Tensor, c: Config, top: int = 5) -> tuple[tuple[str, float], ...]:
    if not c.labels:
        return ()
    best = c.shares(logits.float()).topk(min(top, len(c.labels)))
    return tuple((c.labels[i], share) for share, i in zip(best.values.tolist(), best.indices.tolist(), strict=True))


def _answer(x: Tensor) -> Tensor:
    return x.detach().float().cpu()


def relevance_of_first(vit: VisionTransformer, entering: Tensor, rotation: Rotation) -> Tensor:
    """What moves the first token's feature, (B, N), of images that were embedded: without a trace to remember. As many
    go through together as memory is cheap for."""
    answer = relevance.feature(vit, 0, entering.shape[1])
    parts = entering.split(relevance.at_once(vit, entering.shape[1]))
    passes = (relevance.Pass(vit, some, rotation, vit.config.scale) for some in parts)
    return torch.cat([relevance.relevance(of, answer).float() for of in passes])
