"""Trains two very small models for the lesson about training, in less than a minute on two slow cores.

Both models see the same boards of the game of pairs and begin with the same random weights. For each patch a model has
to name the colour of the twin, the other patch with the same sign. In one of the models, a second loss on a head's
attention weights also tells this head where to look. So the lesson can compare attention that emerges by itself with
attention that a loss demands.

The small layer that names the colours is not part of the model.
"""

from __future__ import annotations

import ctypes
import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

from playground.analysis import heads
from playground.analysis.heads import Habit
from playground.scenes import compositions
from playground.tracing import trace
from playground.training.loop import Run
from playground.training.losses import normalised_pixels
from playground.training.recipe import Course
from playground.training.timelapse import Moment, Timelapse
from playground.vit import Config, VisionTransformer, parts

PATCH = 16
ALONE, TOLD = "alone", "told"  # the two models
TOLD_HEAD = (1, 0)  # (layer, head)
TOLD_TASK = "look at its twin"
CHANCE = 1 / len(compositions.COLOURS)  # share of right answers by chance
FIELDS = (compositions.BOARD_SIDE, compositions.BOARD_SIDE)  # rows and columns of a board
EVEN_SHARE = 1 / compositions.BOARD_SIDE**2  # share of attention that the twin gets in an even row

MEASURE_EVERY = 10  # steps between two measurements
MOST_SECONDS = 180  # most seconds of computing in a whole run
TEST_BOARDS = 32  # number of boards for the measurements; no such board is in the training data

TWIN = Habit(
    "looks at its twin", "twin", "#A6761D", "cross", "Most of the weight goes to the twin of the patch that asks."
)
HABITS = (TWIN, *heads.HABITS)

SMALL_CONFIG = Config(
    image_size=(compositions.BOARD_SIDE * PATCH, compositions.BOARD_SIDE * PATCH), patch_size=PATCH, depth=2, width=72,
    mlp_width=144, heads=3,
    cls_token=False, pool="avg", classes=0,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pairs(Course):
    steps: int = 240
    rate: float = 2e-3
    matrix_rate: float = 6e-3
    warm_up: int = 20
    average: float = 0.97
    polish: float = 0.0
    apart: bool = True
    workers: int = 0
    longer: float = 4.0  # factor of the initial lengths of queries and keys, so that learning starts early
    told_head: tuple[int, int] | None = None  # the head whose attention weights a loss reads
    config: Config = SMALL_CONFIG
    name: str = "pairs"

    def untrained(self) -> VisionTransformer:
        vit = super().untrained()
        for block in vit.blocks:
            block.attn.qkv.weight.data[: 2 * self.config.width] *= self.longer
        return vit


class PairLosses(nn.Module):
    """The losses: [colour] for naming the colour of each patch's twin, and [told] on one head's attention weights."""

    def __init__(self, recipe: Pairs):
        super().__init__()
        self.says = nn.Linear(recipe.config.width, len(compositions.COLOURS))
        self.told_heads = (parts.GuidedHead(*recipe.told_head, "patch", TOLD_TASK),) if recipe.told_head else ()
        self.right_share = CHANCE  # share of right answers in the latest step, whose boards were all new

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        x, record = _tokens(vit, batch["image"])
        logits, targets = self.says(x).float().flatten(0, 1), batch["twin_colours"].flatten()  # (B · patches, colours)
        self.right_share = (logits.argmax(-1) == targets).float().mean().item()
        losses = {"colour": F.cross_entropy(logits, targets)}
        for layer, head, _, _ in self.told_heads:
            q, k, _ = record[layer]
            scores = (q[:, head] @ k[:, head].mT * vit.config.scale).float()  # (B, patches, patches)
            losses["told"] = F.cross_entropy(scores.flatten(0, 1), batch["twin"].flatten())
        return losses


def _tokens(vit: VisionTransformer, images: Tensor) -> tuple[Tensor, list]:
    """The tokens after the last layer, and every layer's queries, keys and values."""
    record = []
    for x, qkv in vit.layers(*vit.embed(normalised_pixels(images, vit.config))):  # noqa: B007
        record.append(qkv)
    return vit.norm(x), record


@dataclasses.dataclass(frozen=True)
class Learner:
    """The measurements of one of the two models so far."""

    lapse: Timelapse
    right_shares: tuple[float, ...]  # at each moment, the share of right answers
    told_heads: tuple[parts.GuidedHead, ...]

    @property
    def bytes(self) -> int:
        return self.lapse.curve.nbytes + sum(len(moment.trace) for moment in self.lapse.moments)

    @property
    def best(self) -> tuple[float, int, int]:
        """The largest share of attention on the twin, with its layer and head."""
        mass = self.lapse.moments[-1].mass
        layer, head = np.unravel_index(mass.argmax(), mass.shape)
        return float(mass.max()), int(layer), int(head)


Learners = dict[str, Learner]  # name of a model -> its measurements


def recipes(seed: int = 0) -> dict[str, Pairs]:
    """The recipes of the two models. They differ only in the loss that tells a head where to look."""
    untold_recipe = Pairs(seed=seed)
    return {ALONE: untold_recipe, TOLD: dataclasses.replace(untold_recipe, told_head=TOLD_HEAD)}


def train_now(
    recipe_by_name: dict[str, Pairs] | None = None, give_way: Callable[[], object] = lambda: None
) -> Iterator[Learners]:
    """Trains both models, one step each in turn. After each step, yields the latest measurements, which are made every
    ten steps. Leaves nothing on the disk. `give_way` is called between two steps."""
    deadline = time.thread_time() + MOST_SECONDS
    recipe_by_name = recipe_by_name or recipes()
    recipe = recipe_by_name[ALONE]
    with one_core(), ExitStack() as exit_stack:
        models = {
            name: LearningModel(recipe, Path(exit_stack.enter_context(TemporaryDirectory())))
            for name, recipe in recipe_by_name.items()
        }
        yield (learners := {name: model.look() for name, model in models.items()})
        for step in range(recipe.total):
            give_way()
            if time.thread_time() > deadline:
                break
            batch = _batch(compositions.boards(np.random.default_rng([recipe.seed, step]), recipe.batch, PATCH))
            for model in models.values():
                model.learn(batch)
            if (step + 1) % MEASURE_EVERY == 0:
                learners = {name: model.look() for name, model in models.items()}
            yield learners


class LearningModel:
    """One of the two models during training."""

    def __init__(self, recipe: Pairs, folder: Path):
        self.run = Run(recipe, folder, PairLosses, "cpu")
        self.test_boards = unseen_boards(recipe.seed)
        self.moments: list[Moment] = []
        self.right_shares: list[float] = []
        self.curve: list[list[float]] = []

    def learn(self, batch: dict[str, Tensor]) -> None:
        losses = self.run.learn(batch)
        self.curve.append([self.run.step, *(value.item() for value in losses.values())])

    def look(self) -> Learner:
        """Measures the model in its present state."""
        model_trace = trace(self.run.mean, Image.fromarray(self.test_boards.images[0]))
        mass = twin_mass(self.run.mean, self.test_boards)
        self.moments.append(
            Moment(self.run.step, heads.measure_heads(model_trace), mass, model_trace.to_bytes(numbers="int8"))
        )
        self.right_shares.append(self.run.teachers.right_share)
        told_heads = self.run.mean.told_heads
        names = ("colour", "told") if told_heads else ("colour",)
        curve = np.array(self.curve, np.float32).reshape(-1, 1 + len(names))
        lapse = Timelapse(self.run.recipe.name, "", names, curve, tuple(self.moments), EVEN_SHARE)
        return Learner(lapse, tuple(self.right_shares), told_heads)


def unseen_boards(seed: int, count: int = TEST_BOARDS, patch: int = PATCH) -> compositions.Boards:
    """Boards that are not in the training data of this seed's run. The lesson shows the first board."""
    return compositions.boards(np.random.default_rng([seed, 0, 0]), count, patch)


def board_image(seed: int, patch: int = PATCH) -> Image.Image:
    """The board that the lesson shows, with `patch` pixels along the side of a field."""
    return Image.fromarray(unseen_boards(seed, 1, patch).images[0])


def twin_fields(seed: int) -> list[tuple[int, int]]:
    """Two fields of this seed's board with the same sign, as (row, column)."""
    twin = unseen_boards(seed, 1, PATCH).twin[0]
    return [divmod(int(field), FIELDS[1]) for field in (0, twin[0])]


def kinds(moment: Moment) -> list[list[str]]:
    """The name of every head's habit: [layer][head]."""
    habit_names = moment.habits.habit_names()
    return [
        [TWIN.label if mass_on_twin > 0.5 else kind for mass_on_twin, kind in zip(*row, strict=True)]
        for row in zip(moment.mass, habit_names, strict=True)
    ]


@torch.no_grad()
def twin_mass(vit: VisionTransformer, boards: compositions.Boards) -> np.ndarray:
    """(layers, heads): the share of attention that a patch gives to the twin, averaged over patches and boards."""
    _, record = _tokens(vit, torch.from_numpy(boards.images))
    twin = torch.from_numpy(boards.twin)[:, None, :, None]  # (B, 1, patches, 1)
    masses = []
    for q, k, _ in record:
        weights = (q @ k.mT * vit.config.scale).softmax(-1)  # (B, h, patches, patches)
        masses.append(weights.gather(-1, twin.expand(-1, weights.shape[1], -1, -1)).mean((0, 2, 3)))
    return torch.stack(masses).numpy()


def _batch(boards: compositions.Boards) -> dict[str, Tensor]:
    return {name: torch.from_numpy(getattr(boards, name)) for name in ("twin", "twin_colours")} | {
        "image": torch.from_numpy(boards.images)
    }


@contextmanager
def one_core() -> Iterator[None]:
    """Runs this thread's matrix products on one core: small products are slower on two, and a core stays free.

    torch.set_num_threads would also affect threads that start meanwhile, but OpenMP's own setting affects only this
    thread. Nothing changes if torch was built without OpenMP.
    """
    # Before the change, because torch's first call in a thread resets the number of threads
    threads = torch.get_num_threads()
    set_threads = getattr(ctypes.CDLL(torch._C.__file__), "omp_set_num_threads", lambda number: None)
    set_threads(1)
    try:
        yield
    finally:
        set_threads(threads)


def parameter_count() -> int:
    """The number of parameters of one model."""
    return sum(p.numel() for p in Pairs().untrained().parameters())
