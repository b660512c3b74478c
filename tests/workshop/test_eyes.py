"""benchmarks/eyes.py chooses a head on some photographs and measures it on others."""

import importlib.util
from pathlib import Path

import pytest
import torch

FILE = Path(__file__).parent.parent.parent / "benchmarks" / "eyes.py"


@pytest.fixture(scope="module")
def eyes():
    spec = importlib.util.spec_from_file_location("benchmarks_eyes", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables(first: list[float], second: list[float], third: list[float]) -> list[torch.Tensor]:
    """Tables of three photographs with one pair each: the share that each of three heads gives to the partner."""
    return [torch.tensor([[[share, 0.0]] for share in shares]) for shares in (first, second, third)]


def test_one_head_answers_a_photograph_and_it_is_best_on_the_others(eyes):
    numbers, best_heads = eyes.best_on_other_photographs(tables([0.5, 0.2, 0.3], [0.1, 0.8, 0.2], [0.0, 0.6, 0.7]))
    assert best_heads == [1, 2, 1]
    assert numbers[:, 0].tolist() == pytest.approx([0.2, 0.2, 0.6])


def test_a_photograph_s_own_pairs_never_choose_its_head(eyes):
    usual_tables = tables([0.1, 0.2, 0.1], [0.1, 0.8, 0.2], [0.0, 0.6, 0.7])
    other_tables = tables([1.0, 0.2, 0.1], [0.1, 0.8, 0.2], [0.0, 0.6, 0.7])
    assert eyes.best_on_other_photographs(usual_tables)[1][0] == eyes.best_on_other_photographs(other_tables)[1][0] == 1


def test_the_share_leaves_out_the_query_and_its_neighbours(eyes):
    query_mask, partner_mask = torch.zeros(2, 5, 5, dtype=torch.bool)
    query_mask[0, 0], partner_mask[4, 4] = True, True
    weights = torch.zeros(25, 25)
    weights[0, 0], weights[0, 1], weights[0, 24], weights[0, 12] = 0.5, 0.3, 0.1, 0.1
    assert eyes.partner_share_and_finds(weights, query_mask, partner_mask)[0].tolist() == pytest.approx([0.5])
    assert eyes.partner_share_and_finds(torch.eye(25), query_mask, partner_mask)[0].tolist() == [0.0]
