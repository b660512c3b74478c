import math
import re

import pytest
import torch
from lessons.playing import exercises_of

from playground.analysis.by_hand import arrows_from_text, weights
from playground.lessons.by_hand import first_arrows
from playground.lessons.registry import LESSONS


def softmax(row: list[float]) -> list[float]:
    total = sum(math.exp(score) for score in row)
    return [math.exp(score) / total for score in row]


def test_arrows_survive_the_way_through_an_address():
    arrows = torch.arange(18).view(9, 2) - 9
    assert torch.equal(arrows_from_text("_".join(map(str, arrows.flatten().tolist()))), arrows / 10)
    for text in ("", "1_2", "_".join(["1"] * 19), "_".join(["99"] * 18), "_".join(["x"] * 18), "_".join(["٣"] * 18)):
        assert arrows_from_text(text) is None


def test_at_first_token_a_attends_much_to_b_and_b_little_to_a():
    rows = weights(arrows_from_text(first_arrows(), tokens=18))
    arrows = arrows_from_text(first_arrows(), tokens=18).tolist()
    for i, j in ((0, 1), (1, 0)):
        row = softmax([sum(a * b for a, b in zip(arrows[i], key, strict=True)) / math.sqrt(2) for key in arrows[9:]])
        assert rows[i, j].item() == pytest.approx(row[j])
    assert rows[0, 1] > 0.4 > 0.05 > rows[1, 0]
    exercises = exercises_of("by_hand", next(iter(LESSONS["by_hand"].steps)))
    said = re.search(r"A gives B ([\d.]+) %, and B gives A ([\d.]+) %", str(exercises["by_hand_one_way"]))
    assert list(map(float, said.groups())) == pytest.approx(
        [100 * rows[0, 1].item(), 100 * rows[1, 0].item()], rel=0.05
    )


@pytest.mark.parametrize("keys", ["the same", "at a right angle"])
def test_a_row_is_even_whenever_its_scores_are_equal(keys):
    arrows = torch.zeros(18, 2)
    arrows[:9] = torch.tensor([1.5, 2.0])
    arrows[9:] = torch.tensor([0.7, -1.1])
    if keys == "at a right angle":
        arrows[9:] += torch.linspace(-1, 1, 9)[:, None] * torch.tensor([2.0, -1.5])
    assert weights(arrows)[0].tolist() == pytest.approx([1 / 9] * 9)
