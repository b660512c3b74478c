"""from_attention: a trace of weights, or of queries and keys, is the one that they came from."""

import re
import shlex

import pytest
import torch

import playground
from playground.__main__ import main
from playground.errors import PlaygroundError


@pytest.fixture(scope="module")
def seen():
    return playground.trace("untrained", "meadow")


@pytest.fixture(scope="module")
def parts(seen):
    """(weights, q, k, the lengths of values): (layers, heads, tokens, …) each."""
    layers = range(seen.layers)
    q, k = (torch.stack([getattr(seen.record[layer], name) for layer in layers]) for name in "qk")
    return torch.stack([seen.weights(layer) for layer in layers]), q, k, seen.record


@pytest.mark.parametrize("kind", ["weights", "weights of a tuple", "half", "queries and keys", "shared keys"])
def test_rows_columns_and_rollout_are_those_of_the_model(seen, parts, kind):
    weights, q, k, _ = parts
    given = {
        "weights": {"weights": weights},
        "weights of a tuple": {"weights": tuple(layer[None] for layer in weights)},
        "half": {"weights": weights.bfloat16()},
        "queries and keys": {"q": q, "k": k},
        "shared keys": {"q": q, "k": k[:, ::2]},
    }[kind]
    mine = playground.from_attention(**given, grid=seen.grid, prefix=seen.prefix)
    assert mine.prefix == seen.prefix
    if kind == "shared keys":
        row = (q[3, 1, 20] @ k[3, 0].T * seen.scale).softmax(-1)
        assert torch.allclose(mine.row(3, 1, 20), row, atol=1e-6)
        return
    slack = 2e-3 if kind == "half" else 1e-6
    for name, asked in (("row", (3, 1, (7, 5))), ("column", (-1, 0, (2, 9))), ("rollout", ((4, 4),))):
        assert torch.allclose(getattr(mine, name)(*asked), getattr(seen, name)(*asked), atol=slack), name


def test_it_goes_through_a_file_and_into_figures_numbers_and_the_living_page(seen, parts, tmp_path):
    weights, *_, record = parts
    values = [record[layer].v for layer in range(seen.layers)]
    for options in ({}, {"v": values}):
        mine = playground.from_attention(
            weights, grid=seen.grid, prefix=len(seen.prefix), image=seen.shown, title="Another", **options
        )
        again = playground.Trace.load(mine.save(tmp_path / "mine.trace"))
        assert torch.allclose(again.row(3, 1, (7, 5)), mine.row(3, 1, (7, 5)), atol=2e-3)
        for name in ("mine.html", "mine.png", "mine.csv", "mine.txt"):
            assert playground.save(mine, tmp_path / name, layer=3, head=1, query=(7, 5)).stat().st_size
    assert torch.allclose(mine.value_norms(2), values[2].norm(dim=-1))
    assert torch.allclose(again.value_norms(2), mine.value_norms(2))


def test_the_command_line_draws_a_saved_file_beneath_which_lies_a_picture(seen, parts, tmp_path, capsys):
    mine = playground.from_attention(parts[0][2:4], grid=seen.grid, prefix=len(seen.prefix), title="Another")
    file = str(mine.save(tmp_path / "mine.trace"))
    numbers = tmp_path / "row.csv"
    figure = ("figure", "meadow", "--model", file, "--layer", "1", "--head", "2", "--patch", "7,5")
    assert main([*figure, "-o", str(numbers)]) == 0
    command = shlex.split(re.search(r"python -m playground (.*)", numbers.read_text())[1])
    again = tmp_path / "again.csv"
    assert main([*(file if word.endswith(".trace") else word for word in command[:-1]), str(again)]) == 0
    assert again.read_text().splitlines()[3:] == numbers.read_text().splitlines()[3:]
    for option, words in {
        "--what=contribution": "can't run its network", "--cut=7,5>3,2": "finished pass", "--size=32x32": "finished",
    }.items():  # fmt: skip
        assert main([*figure, option, "-o", str(numbers)]) != 0
        assert words in capsys.readouterr().err


def test_what_needs_the_network_says_so(seen, parts):
    mine = playground.from_attention(parts[0], grid=seen.grid, prefix=len(seen.prefix))
    for question in (lambda: mine.features(), lambda: mine.relevance((7, 5))):
        with pytest.raises(PlaygroundError, match="given attention"):
            question()
    with pytest.raises(PlaygroundError, match="no length of a value"):
        mine.value_norms(0)


def test_absent_pairs_stay_absent_also_in_a_file(tmp_path):
    weights = torch.zeros(1, 1, 6, 6)
    weights[..., torch.arange(6), torch.arange(6)] = 0.25
    weights[..., torch.arange(6), (torch.arange(6) + 1) % 6] = 0.75
    mine = playground.from_attention(weights, grid=(2, 3))
    assert torch.allclose(mine.matrix(0, 0), weights[0, 0], atol=1e-6)
    again = playground.Trace.load(mine.save(tmp_path / "six.trace"))
    assert (again.matrix(0, 0)[weights[0, 0] == 0] < 1e-20).all()


def row_sums(value):
    return torch.full((2, 3, 12, 12), value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "give one of the two"),
        ({"weights": row_sums(1 / 12), "q": 1, "k": 1}, "give one of the two"),
        ({"q": row_sums(1.0)}, "give one of the two"),
        ({"weights": (None, None)}, "attn_implementation='eager'"),
        ({"weights": row_sums(1 / 12)[..., :11]}, r"\(heads, 12, 12\) for each layer"),
        ({"weights": row_sums(1 / 12), "prefix": 1}, "have 13 tokens"),
        ({"weights": row_sums(0.5)}, "rows sum to 6"),
        ({"weights": row_sums(float("nan"))}, "NaN"),
        ({"weights": ()}, "given were 0"),
        ({"q": row_sums(1.0), "k": row_sums(1.0)[:1]}, "2 layers and keys of 1"),
        ({"q": row_sums(1.0), "k": row_sums(1.0)[:, :2]}, "don't fit together"),
        ({"weights": row_sums(1 / 12), "names": ["cls"]}, "given were 1"),
    ],
)
def test_what_can_not_be_taken_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        playground.from_attention(**{"grid": (3, 4)} | given)
