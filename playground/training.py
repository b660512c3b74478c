"""Trains two very small models side by side, in half a minute on two slow cores: one is told where to look, the other
has to find it out.

Both see the same boards of the game of pairs and begin with the same random weights. Every sign lies on two fields of
a board, in two colours, at random places. For each field, a model has to name the colour of its twin, the other field
with the same sign; nothing else on the board tells it. In one of the models a second loss compares the attention
weights of one head with the place of the twin. So attention that emerges can be compared with attention that is
demanded. The small layer that names the colours is not part of the model.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor, nn

from playground.tracing import trace
from playground.vit import QKV, Config, VisionTransformer, attention_by_hand

ALONE, TOLD = "alone", "told"  # the two models
TOLD_HEAD = (1, 0)  # (layer, head) that is told where to look

SIGNS = "♠♣♥★●▲■☂☀☎♞♪⚓⚑✈✿❄☺⚡✚♛♟✉▼"  # each board shows some of them
COLOURS = ("#C0392B", "#C58A00", "#3C8D40", "#1F8A99", "#4A5FC1", "#A2459E")
SIDE = 6  # fields along a side of a board
PATCH = 16  # pixels along a side of a field, which is a patch
LARGE_FIELD = 96  # pixels along a side of a field on which a sign is drawn, before it is reduced
CHANCE = 1 / len(COLOURS)  # share of right answers by chance
EVEN_SHARE = 1 / SIDE**2  # share of attention that the twin gets in an even row

STEPS, BATCH, WARM_UP = 240, 32, 20
RATE, MATRIX_RATE, DECAY = 2e-3, 6e-3, 0.05  # highest learning rates, of AdamW and of Muon; weight decay
LONGER = 4.0  # factor of the initial lengths of queries and keys: no row is even at first, so learning starts early
MEASURE_EVERY = 10  # steps
TEST_BOARDS = 32  # boards to measure with, on which nothing trains

CONFIG = Config(
    image_size=(SIDE * PATCH, SIDE * PATCH), patch_size=PATCH, depth=2, width=72, mlp_width=144, heads=3,
    cls_token=False, pool="avg", classes=0,
)  # fmt: skip


# The boards


@dataclass(frozen=True)
class Boards:
    """B boards of F fields."""

    images: np.ndarray  # (B, H, W, 3) uint8
    twin: np.ndarray  # (B, F): the number of the field with the same sign
    twin_colours: np.ndarray  # (B, F): the colour of the twin


def boards(random: np.random.Generator, count: int, patch: int = PATCH) -> Boards:
    """Draws boards with `patch` pixels along a side of each field."""
    sign, twin, colour = np.empty((3, count, SIDE * SIDE), np.int64)
    for board in range(count):
        one, other = random.permutation(SIDE * SIDE).reshape(2, -1)  # one[i] and other[i] are a pair
        sign[board, one] = sign[board, other] = random.permutation(len(SIGNS))[: len(one)]
        twin[board, one], twin[board, other] = other, one
        colour[board, one] = random.integers(len(COLOURS), size=len(one))
        colour[board, other] = (colour[board, one] + random.integers(1, len(COLOURS), size=len(one))) % len(COLOURS)
    tiles = _tiles(patch)[sign, colour].reshape(count, SIDE, SIDE, patch, patch, 3)
    images = tiles.transpose(0, 1, 3, 2, 4, 5).reshape(count, SIDE * patch, SIDE * patch, 3)
    return Boards(images, twin, np.take_along_axis(colour, twin, 1))


@cache
def _tiles(patch: int) -> np.ndarray:
    """Every sign in white on every colour: (signs, colours, patch, patch, 3) uint8."""
    paper = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in COLOURS])
    ink = np.stack([np.asarray(_sign(sign, patch)) / 255 for sign in SIGNS])[:, None, :, :, None]
    return (255 * ink + (1 - ink) * paper[:, None, None]).round().astype(np.uint8)


def _sign(sign: str, patch: int) -> Image.Image:
    """The sign in white on black, four fifths as large as its field."""
    file = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    left, top, right, bottom = ImageFont.truetype(file, LARGE_FIELD).getbbox(sign)
    font = ImageFont.truetype(file, 0.8 * LARGE_FIELD * LARGE_FIELD / max(right - left, bottom - top))
    left, top, right, bottom = font.getbbox(sign)
    field = Image.new("L", (LARGE_FIELD, LARGE_FIELD))
    origin = ((LARGE_FIELD - left - right) / 2, (LARGE_FIELD - top - bottom) / 2)
    ImageDraw.Draw(field).text(origin, sign, font=font, fill=255)
    return field.resize((patch, patch), Image.Resampling.BOX)


def unseen_boards(seed: int, count: int = TEST_BOARDS, patch: int = PATCH) -> Boards:
    """Boards on which no model of this seed is trained. People are shown the first of them."""
    return boards(np.random.default_rng([seed, 0, 0]), count, patch)


def board_image(seed: int, patch: int = PATCH) -> Image.Image:
    return Image.fromarray(unseen_boards(seed, 1, patch).images[0])


def twin_fields(seed: int) -> list[tuple[int, int]]:
    """Two fields of that board with the same sign, as (row, column)."""
    return [divmod(int(field), SIDE) for field in (0, unseen_boards(seed, 1).twin[0, 0])]


# The models


@dataclass(frozen=True)
class Moment:
    """What was measured of a model after a step."""

    step: int
    right: float  # share of right answers in the latest step, whose boards were all new
    twin: np.ndarray  # (layers, heads): the share of attention that the twin gets, over all fields of the test boards
    trace: bytes  # of the board that people are shown; Trace.from_bytes reads it

    @property
    def best(self) -> tuple[float, int, int]:
        """The largest share of attention on the twin, with its layer and head."""
        layer, head = np.unravel_index(self.twin.argmax(), self.twin.shape)
        return float(self.twin.max()), int(layer), int(head)


Moments = dict[str, list[Moment]]  # of each of the two models, by its name


class Learner:
    """A model, the layer that names the colours, and what changes their parameters."""

    def __init__(self, seed: int, is_told: bool, config: Config = CONFIG):
        self.vit, self.is_told, self.right = VisionTransformer(config, seed), is_told, CHANCE
        for block in self.vit.blocks:
            block.attn.qkv.weight.data[: 2 * config.width] *= LONGER
            block.attn.mix = attention_by_hand  # on a CPU, its backward pass is three times as fast as the fused one's
        self.says = nn.Linear(config.width, len(COLOURS))
        nn.init.zeros_(self.says.weight)
        nn.init.zeros_(self.says.bias)
        self.parameters = [*self.vit.parameters(), *self.says.parameters()]
        matrices = [p for block in self.vit.blocks for p in block.parameters() if p.dim() == 2]
        others = [p for p in self.parameters if not any(p is matrix for matrix in matrices)]
        muon = torch.optim.Muon(matrices, MATRIX_RATE, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw")
        self.optimisers = {muon: MATRIX_RATE, torch.optim.AdamW(others, RATE, weight_decay=0): RATE}

    def losses(self, board: Boards) -> dict[str, Tensor]:
        x, record = tokens(self.vit, board.images)
        logits = self.says(x).flatten(0, 1)  # (B · F, colours)
        colours = torch.from_numpy(board.twin_colours).flatten()
        self.right = float((logits.argmax(-1) == colours).float().mean())
        losses = {"colour": F.cross_entropy(logits, colours)}
        if self.is_told:
            layer, head = TOLD_HEAD
            q, k, _ = record[layer]
            scores = q[:, head] @ k[:, head].mT * self.vit.config.scale  # (B, F, F)
            losses["told"] = F.cross_entropy(scores.flatten(0, 1), torch.from_numpy(board.twin).flatten())
        return losses

    def learn(self, board: Boards, pace: float) -> None:
        """One step, with `pace` times the highest learning rates."""
        loss = torch.stack(list(self.losses(board).values())).sum()
        for parameter in self.parameters:
            parameter.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for optimiser, rate in self.optimisers.items():
            optimiser.param_groups[0]["lr"] = pace * rate
            optimiser.step()

    @torch.no_grad()
    def look(self, step: int, board: Boards) -> Moment:
        seen = trace(self.vit, Image.fromarray(board.images[0])).to_bytes(numbers="int8")
        return Moment(step, self.right, twin_shares(self.vit, board), seen)


def tokens(vit: VisionTransformer, images: np.ndarray) -> tuple[Tensor, tuple[QKV, ...]]:
    """(B, H, W, 3) bytes -> the tokens after the last layer, (B, F, D), and every layer's queries, keys and values."""
    mean, std = torch.tensor(vit.config.mean), torch.tensor(vit.config.std)
    embedded = vit.embed(((torch.from_numpy(images) / 255 - mean) / std).permute(0, 3, 1, 2))
    xs, record = zip(*vit.layers(*embedded), strict=True)
    return vit.norm(xs[-1]), record


def twin_shares(vit: VisionTransformer, board: Boards) -> np.ndarray:
    """(layers, heads): the share of attention that a field gives to its twin, averaged over fields and boards."""
    _, record = tokens(vit, board.images)
    weights = torch.stack([(q @ k.mT * vit.config.scale).softmax(-1) for q, k, _ in record])  # (layers, B, h, F, F)
    twin = torch.from_numpy(board.twin)[None, :, None, :, None].expand(*weights.shape[:-1], 1)
    return weights.gather(-1, twin).mean((1, 3, 4)).numpy()


# The training


def train(seed: int = 0, steps: int = STEPS, config: Config = CONFIG) -> Iterator[tuple[int, Moments]]:
    """Trains both models, one step each in turn. Yields the number of steps done, and what was measured so far."""
    with one_core():
        learners = {name: Learner(seed, name == TOLD, config) for name in (ALONE, TOLD)}
        unseen = unseen_boards(seed)
        moments = {name: [learner.look(0, unseen)] for name, learner in learners.items()}
        yield 0, moments
        for step in range(steps):
            board = boards(np.random.default_rng([seed, step]), BATCH)
            pace = min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * step / steps)) / 2
            for learner in learners.values():
                learner.learn(board, pace)
            if (step + 1) % MEASURE_EVERY == 0:
                for name, learner in learners.items():
                    moments[name].append(learner.look(step + 1, unseen))
            yield step + 1, moments


@contextmanager
def one_core() -> Iterator[None]:
    """Runs this thread's matrix products on one core: small products are slower on two, and a core stays free.

    torch.set_num_threads would also affect threads that start meanwhile; OpenMP's own setting affects this thread only.
    Nothing changes if torch was built without OpenMP.
    """
    threads = torch.get_num_threads()  # before the change: torch's first call in a thread resets the number of threads
    set_threads = getattr(ctypes.CDLL(torch._C.__file__), "omp_set_num_threads", lambda number: None)
    set_threads(1)
    try:
        yield
    finally:
        set_threads(threads)
