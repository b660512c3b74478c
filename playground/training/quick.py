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
from playground.training.losses import pixels
from playground.training.recipe import Course
from playground.training.timelapse import Moment, Timelapse
from playground.vit import Config, VisionTransformer, parts

PATCH = 16
ALONE, TOLD = "alone", "told"  # the two models
TOLD_HEAD = (1, 0)  # (layer, head)
TOLD_TO = "look at its twin"
GUESS = 1 / len(compositions.COLOURS)  # share of right answers by chance
FIELDS = (compositions.SIDE, compositions.SIDE)  # rows and columns of a board
EVEN = 1 / compositions.SIDE**2  # share of attention that the twin gets in an even row

EVERY = 10  # steps between two measurements
MOST_SECONDS = 180  # most seconds of computing in a whole run
TESTED = 32  # number of boards for the measurements; no such board is in the training data

TWIN = Habit(
    "looks at its twin", "twin", "#A6761D", "cross", "Most of the weight goes to the twin of the patch that asks."
)
HABITS = (TWIN, *heads.HABITS)

SMALL = Config(
    image_size=(compositions.SIDE * PATCH, compositions.SIDE * PATCH), patch_size=PATCH, depth=2, width=72,
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
    told: tuple[int, int] | None = None  # the head whose attention weights a loss reads
    config: Config = SMALL
    name: str = "pairs"

    def untrained(self) -> VisionTransformer:
        vit = super().untrained()
        for block in vit.blocks:
            block.attn.qkv.weight.data[: 2 * self.config.width] *= self.longer
        return vit


class Colours(nn.Module):
    """The losses: [colour] for naming the colour of each patch's twin, and [told] on one head's attention weights."""

    def __init__(self, recipe: Pairs):
        super().__init__()
        self.says = nn.Linear(recipe.config.width, len(compositions.COLOURS))
        self.told = (parts.GuidedHead(*recipe.told, "patch", TOLD_TO),) if recipe.told else ()
        self.right = GUESS  # share of right answers in the latest step, whose boards were all new

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        x, record = _tokens(vit, batch["image"])
        logits, targets = self.says(x).float().flatten(0, 1), batch["wanted"].flatten()  # (B · patches, colours)
        self.right = (logits.argmax(-1) == targets).float().mean().item()
        losses = {"colour": F.cross_entropy(logits, targets)}
        for layer, head, _, _ in self.told:
            q, k, _ = record[layer]
            scores = (q[:, head] @ k[:, head].mT * vit.config.scale).float()  # (B, patches, patches)
            losses["told"] = F.cross_entropy(scores.flatten(0, 1), batch["twin"].flatten())
        return losses


def _tokens(vit: VisionTransformer, images: Tensor) -> tuple[Tensor, list]:
    """The tokens after the last layer, and every layer's queries, keys and values."""
    record = []
    for x, qkv in vit.layers(*vit.embed(pixels(images, vit.config))):  # noqa: B007
        record.append(qkv)
    return vit.norm(x), record


@dataclasses.dataclass(frozen=True)
class Learner:
    """The measurements of one of the two models so far."""

    lapse: Timelapse
    right: tuple[float, ...]  # at each moment, the share of right answers
    told: tuple[parts.GuidedHead, ...]

    @property
    def bytes(self) -> int:
        return self.lapse.curve.nbytes + sum(len(moment.trace) for moment in self.lapse.moments)

    @property
    def best(self) -> tuple[float, int, int]:
        """The largest share of attention on the twin, with its layer and head."""
        mass = self.lapse.moments[-1].mass
        layer, head = np.unravel_index(mass.argmax(), mass.shape)
        return float(mass.max()), int(layer), int(head)


Learned = dict[str, Learner]  # name of a model -> its measurements


def recipes(seed: int = 0) -> dict[str, Pairs]:
    """The recipes of the two models. They differ only in the loss that tells a head where to look."""
    untold_recipe = Pairs(seed=seed)
    return {ALONE: untold_recipe, TOLD: dataclasses.replace(untold_recipe, told=TOLD_HEAD)}


def train_now(
    recipe_by_name: dict[str, Pairs] | None = None, between: Callable[[], object] = lambda: None
) -> Iterator[Learned]:
    """Trains both models, one step each in turn. After each step, yields the latest measurements, which are made every
    ten steps. Leaves nothing on the disk. `between` is called between two steps."""
    deadline = time.thread_time() + MOST_SECONDS
    recipe_by_name = recipe_by_name or recipes()
    recipe = recipe_by_name[ALONE]
    with one_core(), ExitStack() as exit_stack:
        models = {
            name: Learning(recipe, Path(exit_stack.enter_context(TemporaryDirectory())))
            for name, recipe in recipe_by_name.items()
        }
        yield (learners := {name: learner.look() for name, learner in models.items()})
        for step in range(recipe.total):
            between()
            if time.thread_time() > deadline:
                break
            batch = _batch(compositions.boards(np.random.default_rng([recipe.seed, step]), recipe.batch, PATCH))
            for learner in models.values():
                learner.learn(batch)
            if (step + 1) % EVERY == 0:
                learners = {name: learner.look() for name, learner in models.items()}
            yield learners


class Learning:
    """One of the two models during training."""

    def __init__(self, recipe: Pairs, folder: Path):
        self.run = Run(recipe, folder, Colours, "cpu")
        self.tests = unseen(recipe.seed)
        self.moments: list[Moment] = []
        self.right: list[float] = []
        self.curve: list[list[float]] = []

    def learn(self, batch: dict[str, Tensor]) -> None:
        losses = self.run.learn(batch)
        self.curve.append([self.run.step, *(value.item() for value in losses.values())])

    def look(self) -> Learner:
        """Measures the model in its present state."""
        model_trace = trace(self.run.mean, Image.fromarray(self.tests.images[0]))
        mass = on_the_twin(self.run.mean, self.tests)
        self.moments.append(
            Moment(self.run.step, heads.measure_heads(model_trace), mass, model_trace.to_bytes(numbers="int8"))
        )
        self.right.append(self.run.teachers.right)
        told = self.run.mean.told
        names = ("colour", "told") if told else ("colour",)
        curve = np.array(self.curve, np.float32).reshape(-1, 1 + len(names))
        lapse = Timelapse(self.run.recipe.name, "", names, curve, tuple(self.moments), EVEN)
        return Learner(lapse, tuple(self.right), told)


def unseen(seed: int, count: int = TESTED, patch: int = PATCH) -> compositions.Boards:
    """Boards that are not in the training data of this seed's run. The lesson shows the first board."""
    return compositions.boards(np.random.default_rng([seed, 0, 0]), count, patch)


def image(seed: int, patch: int = PATCH) -> Image.Image:
    """The board that the lesson shows, with `patch` pixels along the side of a field."""
    return Image.fromarray(unseen(seed, 1, patch).images[0])


def pair(seed: int) -> list[tuple[int, int]]:
    """Two fields of this seed's board with the same sign, as (row, column)."""
    twin = unseen(seed, 1, PATCH).twin[0]
    return [divmod(int(field), FIELDS[1]) for field in (0, twin[0])]


def kinds(moment: Moment) -> list[list[str]]:
    """The name of every head's habit: [layer][head]."""
    habit_names = moment.habits.habit_names()
    return [
        [TWIN.label if mass_on_twin > 0.5 else kind for mass_on_twin, kind in zip(*row, strict=True)]
        for row in zip(moment.mass, habit_names, strict=True)
    ]


@torch.no_grad()
def on_the_twin(vit: VisionTransformer, boards: compositions.Boards) -> np.ndarray:
    """(layers, heads): the share of attention that a patch gives to the twin, averaged over patches and boards."""
    _, record = _tokens(vit, torch.from_numpy(boards.images))
    twin = torch.from_numpy(boards.twin)[:, None, :, None]  # (B, 1, patches, 1)
    masses = []
    for q, k, _ in record:
        weights = (q @ k.mT * vit.config.scale).softmax(-1)  # (B, h, patches, patches)
        masses.append(weights.gather(-1, twin.expand(-1, weights.shape[1], -1, -1)).mean((0, 2, 3)))
    return torch.stack(masses).numpy()


def _batch(boards: compositions.Boards) -> dict[str, Tensor]:
    return {name: torch.from_numpy(getattr(boards, name)) for name in ("twin", "wanted")} | {
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


def planned(recipe: Pairs | None = None) -> int:
    """The number of measurements in a finished run."""
    return 1 + (recipe or Pairs()).steps // EVERY


def weights() -> int:
    """The number of parameters of one model."""
    return sum(p.numel() for p in Pairs().untrained().parameters())
