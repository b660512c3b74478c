"""Records a forward pass: queries, keys and values of each layer. Its bytes hold the norms of the values instead."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground import cuts
from playground.cuts import Cuts, Shape
from playground.errors import PlaygroundError, needed
from playground.numbers import index
from playground.pack import (
    COUNT_BOUNDS,
    FORMAT,
    Arrays,
    check_trace,
    eight_bits,
    from_eight_bits,
    pack,
    unpack,
    upper_layer,
)
from playground.vit import QKV, At, Rotation, VisionTransformer, untouched
from playground.vit_parts import WeightVersions, like, value_norms

if TYPE_CHECKING:
    import pandas as pd

Numbers = Literal["float16", "int8"]  # how a pack holds queries and keys
Keep = Literal["float32", "model", "host"]
KEEPS = get_args(Keep)  # on the pass's device in float32, there in the model's precision, or in main memory in float32
Query = tuple[int, int] | str | int  # a patch (row, column), the name of a prefix token, or a token index


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    model: str
    size: tuple[int, int]  # (height, width) of the input
    patch_size: int
    prefix: tuple[str, ...]
    native_scale: float  # 1/√d_k
    scale: float  # the scale of the scores in the pass
    record: dict[int, QKV]  # layer -> q, k and v, (heads, tokens, d) each; v is None in a trace read from bytes
    layers: int
    logits: Tensor | None  # (classes,)
    predictions: tuple[tuple[str, float], ...]  # the five likeliest classes
    input: Tensor | None  # (1, 3, height, width)
    vit: VisionTransformer | None
    weight_versions: WeightVersions = ()  # versions of the weights, by which `outdated` detects later changes
    cuts: Cuts = field(default_factory=lambda: Cuts((), Shape((), (1, 1), 1, 1)))  # edges cut in the pass
    keep: Keep = "float32"  # how `record` is held
    at: At = untouched  # the pass's interventions as a function, see playground/vit.py
    interventions: tuple[str, ...] = ()  # the interventions in words: "heads 4.0, 7.3 off"
    stored_norms: dict[int, Tensor] = field(default_factory=dict)  # value norms of a trace without a network of ours
    biases: dict[int, Tensor] = field(default_factory=dict)  # layer -> what the model's own pass adds to the scores
    picture: Image.Image | None = None  # the image given to `playground.trace`, in full size
    picture_name: str = ""  # the image's file, or a sample's name
    foretold: dict[Any, Any] = field(default_factory=dict)  # results of analysis/faithfulness.py about this trace
    assumed: str = ""  # options of `load` that were assumed: "mean 0.5 0.5 0.5, std 0.5 0.5 0.5"

    def __repr__(self) -> str:
        rows, columns = self.grid
        usual = {1.0: ", run without 1/√d_k", self.native_scale: ""}
        scale_words = usual.get(self.scale, f", run with scale {self.scale:.3g}")
        cut_words = f", cut {'; '.join(self.cuts.texts)}" if self.cuts else ""
        cut_words += "".join(f", {words}" for words in self.interventions)
        size = f"{self.layers} layers × {self.heads} heads, {rows} × {columns} patches"
        return f"{type(self).__name__}({self.model}: {size}{scale_words}{cut_words})"

    def of(self, picture: Image.Image, name: str) -> Self:
        """The same trace with the full-size picture, for sharp figures."""
        return replace(self, picture=picture, picture_name=name)

    @property
    def heads(self) -> int:
        return self._any_layer.q.shape[0]

    @property
    def tokens(self) -> int:
        return self._any_layer.q.shape[1]

    @property
    def head_dim(self) -> int:
        return self._any_layer.q.shape[2]  # d, the d_k of the formula

    @property
    def _any_layer(self) -> QKV:
        return next(iter(self.record.values()))

    @property
    def grid(self) -> tuple[int, int]:
        return self.size[0] // self.patch_size, self.size[1] // self.patch_size

    @property
    def upper_layer(self) -> int:
        return upper_layer(self.layers)

    @property
    def image(self) -> Image.Image:
        """The picture as the model saw it, at its resolution."""
        c = self._network.config
        return denormalised(self._need_input()[0], c.mean, c.std)

    @property
    def shown(self) -> Image.Image:
        """The full-size picture if the trace has it, else `image`."""
        return self.picture or self.image

    def value_norms(self, layer: int) -> Tensor:
        """(heads, tokens): ‖W_O v‖, the length of the vector that each token adds at a weight of 1, with LayerScale. At
        another weight, the length is weight × value norm."""
        return self._norms([self.layer_number(layer)])[0]

    def _norms(self, layers: Sequence[int]) -> list[Tensor]:
        """The value norms of each layer. Checks once that the model's weights are still those of the pass."""
        if all(self.record[layer].v is None for layer in layers):
            if not self.stored_norms.keys() >= set(layers):
                raise PlaygroundError(f"Of {self.model} no length of a value is known: W_O is not, or is not all.")
            return [self.stored_norms[layer] for layer in layers]
        blocks: Any = self._need_vit().blocks
        return [value_norms(blocks[layer], self.record[layer].v).detach().float().cpu() for layer in layers]

    # Tokens, layers and heads -----------------------------------------------------------------------------------------

    def token(self, query: Query) -> int:
        """The token index of a query."""
        rows, columns = self.grid
        if isinstance(query, str):
            if query not in self.prefix:
                names = ", ".join(self.prefix) or "none"
                raise PlaygroundError(f"{self.model} has no token called {query!r}; its prefix tokens are: {names}.")
            return self.prefix.index(query)
        if (token := index(query)) is not None:
            if not 0 <= token < self.tokens:
                raise PlaygroundError(f"There is no token {token}; they count from 0 to {self.tokens - 1}.")
            return token
        try:
            row, column = (operator.index(n) for n in query)  # type: ignore[union-attr]
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
        """The token indices of at most `most` evenly spread patches."""
        patches = range(len(self.prefix), self.tokens)
        return list(patches[:: math.ceil(len(patches) / most)])

    def layer_number(self, layer: int) -> int:
        """Checks the number of a layer and returns its index from 0; −1 means the last layer."""
        number = index(layer)
        layer_index = number if number is None or number >= 0 else self.layers + number
        if layer_index is None or layer_index not in self.record:
            layers = f"0 to {self.layers - 1}" if len(self.record) == self.layers else ", ".join(map(str, self.record))
            raise PlaygroundError(f"There is no layer {layer!r} here; this trace of {self.model} holds {layers}.")
        return layer_index

    def head_number(self, head: int) -> int:
        if (number := index(head)) is None or not 0 <= number < self.heads:
            raise PlaygroundError(f"There is no head {head!r}; they count from 0 to {self.heads - 1}.")
        return number

    def _head(self, layer: int, head: int) -> QKV:
        record, head = self.record[self.layer_number(layer)], self.head_number(head)
        return QKV(*(None if t is None else t[head].float() for t in record))  # (tokens, d) each

    # Running the network again ----------------------------------------------------------------------------------------

    def entering(self) -> tuple[VisionTransformer, Tensor, Rotation]:
        """(the network, the tokens that enter its first layer, the rotation of their positions). Tokens: (1, N, D)."""
        vit = self._need_vit()
        return vit, *vit.embed(self._need_input().to(vit.patch_embed.proj.weight), self.intervening())

    def at_mask(self, layer: int) -> Tensor | None:
        """The mask of a layer, (heads or 1, N, N); None if `at` leaves it unchanged."""
        if self.at is untouched:
            return None
        point, full_mask = f"layers.{layer}.attention.heard", torch.ones(1, 1, 1, 1, dtype=torch.bool)
        cut_mask = self.cuts.at()(point, full_mask)
        mask = self.at(point, cut_mask.to(self._any_layer.q.device))
        is_unchanged = mask.shape == cut_mask.shape and mask.cpu().equal(cut_mask)
        return None if is_unchanged else mask[0].cpu().expand(-1, self.tokens, self.tokens)

    def intervening(self) -> At:
        """The cuts and `at` of the pass in one function, for another pass."""
        cut, at = self.cuts.at(), self.at
        return like(at, lambda point, x: at(point, cut(point, x)))

    @property
    def outdated(self) -> bool:
        """Whether the model's weights changed after this pass."""
        return self.vit is not None and self.weight_versions not in ((), self.vit.weight_versions())

    @property
    def _network(self) -> VisionTransformer:
        if self.vit is None:
            raise PlaygroundError(
                "A trace that was read from bytes, of given attention, or of a model's own pass, can't run its "
                "network; trace the image again, through a model that playground.load takes."
            )
        return self.vit

    def _need_vit(self) -> VisionTransformer:
        vit = self._network
        if self.outdated:
            raise PlaygroundError(
                f"The weights of {self.model} were changed after this pass: what they say now is not of it; trace the "
                "image again."
            )
        return vit

    def _need_input(self) -> Tensor:
        if self.input is None:
            raise PlaygroundError("A trace that was read from bytes has no picture; trace the image again.")
        return self.input

    # As bytes ---------------------------------------------------------------------------------------------------------

    def to_bytes(
        self, layers: Sequence[int] | None = None, heads: Sequence[int] | None = None, numbers: Numbers = "float16"
    ) -> bytes:
        """Packs q, k and the value norms of the given layers and heads, by default of all, in the format of
        playground/pack/. `numbers` is "float16", or "int8" for half the length. `from_bytes` numbers the packed heads
        from 0."""
        if any(self.at_mask(layer) is not None for layer in self.record):
            raise PlaygroundError(
                "at= decides who hears whom (attention.heard), which bytes can't say: write it as cut=."
            )
        if self.biases:
            raise PlaygroundError(
                f"{self.model} adds a number for each pair of places to its scores, which bytes can't say: its rows "
                "are in figures and numbers."
            )
        if numbers not in get_args(Numbers):
            raise PlaygroundError(f"Queries and keys are written as float16 or int8; given was {numbers!r:.40}.")
        try:
            layer_numbers = [self.layer_number(layer) for layer in (self.record if layers is None else layers)]
            heads = None if heads is None else [self.head_number(head) for head in heads]
        except TypeError:
            raise PlaygroundError(f"Layers and heads are lists of numbers; given were {layers!r}, {heads!r}.") from None
        if not layer_numbers or heads == [] or len(set(layer_numbers)) < len(layer_numbers):
            raise PlaygroundError(f"A pack holds some layers and heads, each once; given were {layers!r}, {heads!r}.")
        head_index = slice(None) if heads is None else heads
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
            "held": layer_numbers,
            **({"cuts": self.cuts.texts} if self.cuts else {}),
            **({"interventions": list(self.interventions)} if self.interventions else {}),
            **({"assumed": self.assumed} if self.assumed else {}),
            "predictions": [[label, round(p, 5)] for label, p in self.predictions] or None,
        }
        if heads is not None and heads != list(range(self.heads)):
            header["head_numbers"] = heads
        arrays: dict[str, np.ndarray | bytes] = {}
        for name in ("q", "k"):
            tensors = [getattr(self.record[layer], name)[head_index].cpu() for layer in layer_numbers]
            if numbers == "int8":
                parts = zip(*(eight_bits(x.float().numpy()) for x in tensors), strict=True)
                arrays |= zip((name, f"{name}_low", f"{name}_step"), map(np.stack, parts), strict=True)
            else:
                arrays[name] = np.stack([x.half().numpy() for x in tensors])
        if self.vit is not None or self.stored_norms.keys() >= set(layer_numbers):
            arrays["value_norms"] = np.stack([norms[head_index].numpy() for norms in self._norms(layer_numbers)])
        return pack(header, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote. The result has attention and value norms, but no network to run again."""
        header, arrays = unpack(data)
        if header.get("format") != FORMAT:
            raise PlaygroundError(f"This pack is of the format {header.get('format')!r}, not {FORMAT!r}.")
        try:
            return cls(**_fields(header, arrays))
        except (KeyError, ValueError, TypeError) as error:
            raise PlaygroundError(f"This pack is damaged: {error}.") from None


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    check_trace(header, arrays)
    for name in ("q", "k"):
        if f"{name}_low" in arrays:
            arrays[name] = from_eight_bits(arrays[name], arrays[f"{name}_low"], arrays[f"{name}_step"])
    q, k = (torch.from_numpy(arrays[name].astype(np.float32)) for name in ("q", "k"))
    norms = torch.from_numpy(arrays["value_norms"].astype(np.float32)) if "value_norms" in arrays else ()
    layer_numbers, native_scale, patch = header["held"], float(header["scale"]), header["patch"]
    prefix, (height, width) = tuple(header["prefix"]), header["size"]
    shape_bounds = Shape(prefix, (height // patch, width // patch), header["layers"], COUNT_BOUNDS["heads"][1])
    head_numbers = tuple(header.get("head_numbers") or range(header["heads"]))
    return {
        "model": header["model"],
        "size": (height, width),
        "patch_size": patch,
        "prefix": prefix,
        "native_scale": native_scale,
        "scale": native_scale if header["forward_scale"] is None else float(header["forward_scale"]),
        "record": {layer: QKV(q[i], k[i], None) for i, layer in enumerate(layer_numbers)},  # type: ignore[arg-type]
        "layers": header["layers"],
        "logits": None,
        "predictions": tuple((label, p) for label, p in header["predictions"] or ()),
        "input": None,
        "vit": None,
        "cuts": replace(cuts.read(header.get("cuts", []), shape_bounds), head_numbers=head_numbers),
        "stored_norms": dict(zip(layer_numbers, norms, strict=False)),
        "interventions": tuple(header.get("interventions", ())),
        "assumed": header.get("assumed", ""),
    }


def denormalised(pixels: Tensor, mean: Any, std: Any) -> Image.Image:
    """The picture of a model's input (3, H, W)."""
    shares = pixels.detach().cpu().permute(1, 2, 0) * torch.as_tensor(std).float() + torch.as_tensor(mean).float()
    return Image.fromarray((shares * 255).round().clamp(0, 255).byte().numpy())


# A trace as a pandas table: `Trace.table`

MOST_QUERIES = 256  # most patches whose rows `table_of_heads` measures


def table_of_query(trace: Any, query: Any, scale: Any) -> pd.DataFrame:
    """One row for each layer, head and token. `trace` is a Trace."""
    pd = needed("pandas", "pandas")
    rows, columns = trace.grid
    patches = [(row, column) for row in range(rows) for column in range(columns)]
    names = [*trace.prefix, *(f"{row},{column}" for row, column in patches)]
    places = [(pd.NA, pd.NA)] * len(trace.prefix) + patches
    tokens = pd.DataFrame({"token": names, "row": [p[0] for p in places], "column": [p[1] for p in places]})
    tokens = tokens.astype({"row": "Int64", "column": "Int64"})
    head_tables = [
        tokens.assign(layer=layer, head=head, weight=weights.numpy())
        for layer in trace.record
        for head, weights in enumerate(trace.rows(layer, query, scale))
    ]
    return pd.concat(head_tables, ignore_index=True)[["layer", "head", "token", "row", "column", "weight"]]


def table_of_heads(trace: Any, scale: Any, distances: Tensor) -> pd.DataFrame:
    """One row for each layer and head. `distances`, (patches, patches): the distance between each two patches."""
    pd = needed("pandas", "pandas")
    queries = trace.some_patches(MOST_QUERIES)
    distances = distances[[token - len(trace.prefix) for token in queries]]  # (queries, patches)
    layer_tables = []
    for layer in trace.record:
        weights = trace.weights(layer, queries, scale)  # (heads, queries, tokens)
        patches = weights[..., len(trace.prefix) :]
        patch_share = patches.sum(-1)
        columns = {
            "layer": layer,
            "head": range(trace.heads),
            "entropy": trace.entropy(layer, queries, scale).mean(-1),
            "prefix": (1 - patch_share).mean(-1),
            "distance": ((patches * distances).sum(-1) / patch_share).mean(-1),
        }
        layer_tables.append(
            pd.DataFrame({name: x.tolist() if torch.is_tensor(x) else x for name, x in columns.items()})
        )
    return pd.concat(layer_tables, ignore_index=True)
