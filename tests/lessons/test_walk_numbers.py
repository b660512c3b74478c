"""The browser's walk through a layer on random tokens, against PyTorch: vit.py's layer and the teaching layer with the
same weights."""

import json
import math
import subprocess
from functools import cache

import numpy as np
import pytest
import torch
from test_javascript import ROOT, node

from playground.lessons.shapes import EXAMPLE_SIZES, NUMBER_FIELDS
from playground.lessons.walk import TeachingAttention, teaching_steps, vit_steps
from playground.vit import Block, Config

EXAMPLES = {name: dict(zip(NUMBER_FIELDS, sizes, strict=True)) for name, sizes in EXAMPLE_SIZES.items()}
EXAMPLES["wider"] = {"batch": 2, "tokens": 5, "dim": 7, "chan": 12, "heads": 3}
each_example = pytest.mark.parametrize("name", EXAMPLES)
RESULT_NAMES = ("x", "Q", "K", "V", "scores", "weights", "A V", "answer", "sum")
LAYER_SCRIPT = """
import { layerSteps, randomLayer } from "./playground/microscope/lessons/walknumbers.js";
const sizes = JSON.parse(process.env.SIZES);
const layer = randomLayer(sizes);
const made = { ...layer, ...layerSteps(sizes, layer) };
for (const name of ["x", "qkv", "proj", ...JSON.parse(process.env.NAMES)])
  process.stdout.write(Buffer.from(made[name].buffer));
"""
WALK_SCRIPT = """
import { walkOfNumbers } from "./playground/microscope/lessons/walknumbers.js";
const says = JSON.parse(await new Response(process.stdin).text());
const { numbers, tokens, steps, values } = walkOfNumbers(JSON.parse(process.env.SIZES), says);
const lengths = steps.map(({ groups }) => groups.map(({ section }) => values(section).length));
console.log(JSON.stringify({ numbers, tokens, steps, lengths }));
"""


def run_script(script: str, name: str, text: str = "") -> bytes:
    process = subprocess.run(
        [node(), "--input-type=module", "-e", script], cwd=ROOT, input=text.encode(), capture_output=True,
        env={"SIZES": json.dumps(EXAMPLES[name]), "NAMES": json.dumps(RESULT_NAMES)},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr.decode()
    return process.stdout


@cache
def computed(name: str) -> dict[str, torch.Tensor]:
    """The browser's tokens, weights and results by name. Of more than 100 tokens only the first 64 are queries."""
    _, tokens, dim, chan, heads = EXAMPLES[name].values()
    rows = tokens if tokens <= 100 else 64
    shapes = {
        "x": (tokens, dim), "qkv": (3 * chan, dim), "proj": (chan, chan), "x again": (tokens, dim), "Q": (rows, chan),
        "K": (tokens, chan), "V": (tokens, chan), "scores": (heads, rows, tokens), "weights": (heads, rows, tokens),
        "A V": (rows, chan), "answer": (rows, chan), "sum": (rows, chan),
    }  # fmt: skip
    numbers = torch.from_numpy(np.frombuffer(run_script(LAYER_SCRIPT, name), np.float32).copy())
    parts = numbers.split([math.prod(shape) for shape in shapes.values()])
    return {result_name: part.view(shape) for (result_name, shape), part in zip(shapes.items(), parts, strict=True)}


def layer_of(name: str) -> Block | TeachingAttention:
    """The layer in PyTorch with the browser's weights; norms scale by 1, and biases are 0."""
    _, _, dim, chan, heads = EXAMPLES[name].values()
    with torch.no_grad():
        layer = (
            Block(Config(width=dim, heads=heads, mlp_width=1)) if dim == chan else TeachingAttention(dim, chan, heads)
        )
        for parameter_name, weight in layer.named_parameters():
            weight.fill_(float("norm1" in parameter_name and parameter_name.endswith("weight")))
        attention = layer.attn if isinstance(layer, Block) else layer
        attention.qkv.weight.copy_(computed(name)["qkv"])
        attention.proj.weight.copy_(computed(name)["proj"])
    return layer.eval()


@each_example
@torch.no_grad()
def test_the_last_step_is_the_layer_s_own_output(name):
    tensors, layer = computed(name), layer_of(name)
    x = tensors["x"][None]
    expected = x + layer.attn(layer.norm1(x), None, None)[0] if isinstance(layer, Block) else layer(x)
    torch.testing.assert_close(tensors["sum"], expected[0, : len(tensors["sum"])], atol=1e-4, rtol=1e-4)


@each_example
@torch.no_grad()
def test_each_step_equals_plain_einsums(name):
    _, _, dim, chan, heads = EXAMPLES[name].values()
    tensors, rows = computed(name), len(computed(name)["Q"])
    layer_input = torch.nn.functional.layer_norm(tensors["x"], (dim,), eps=1e-6) if dim == chan else tensors["x"]
    q, k, v = (torch.einsum("nd,cd->nc", layer_input, w) for w in tensors["qkv"].split(chan))
    tolerance = {"atol": 1e-4, "rtol": 1e-4}
    for letter, expected in zip("QKV", (q[:rows], k, v), strict=True):
        torch.testing.assert_close(tensors[letter], expected, **tolerance)
    d = chan // heads
    for head in range(heads):
        columns = slice(head * d, (head + 1) * d)
        scores = torch.einsum("nc,mc->nm", q[:rows, columns], k[:, columns]) / math.sqrt(d)
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        torch.testing.assert_close(tensors["scores"][head], scores, **tolerance)
        torch.testing.assert_close(tensors["weights"][head], weights, **tolerance)
        torch.testing.assert_close(
            tensors["A V"][:, columns], torch.einsum("nm,mc->nc", weights, v[:, columns]), **tolerance
        )
    torch.testing.assert_close(
        tensors["answer"], torch.einsum("nc,oc->no", tensors["A V"], tensors["proj"]), **tolerance
    )


SHAPES = {  # an example's name -> the shapes of the tokens, of Q, K and V, of Q, K and V by heads, of the scores
    "sentence": ((1, 4, 512), (1, 4, 512), (1, 8, 4, 64), (1, 8, 4, 4)),
    "one-head": ((13, 100, 49), (13, 100, 64), (13, 1, 100, 64), (13, 1, 100, 100)),
    "four-heads": ((13, 100, 49), (13, 100, 64), (13, 4, 100, 16), (13, 4, 100, 100)),
    "vit-b": ((1, 197, 768), (1, 197, 768), (1, 12, 197, 64), (1, 12, 197, 197)),
}


def browser_walk(name: str) -> dict:
    steps = {
        "vit": [step.as_record() for step in vit_steps()],
        "teaching": [step.as_record() for step in teaching_steps()],
    }
    return json.loads(run_script(WALK_SCRIPT, name, json.dumps(steps)))


@pytest.mark.parametrize("name", SHAPES)
def test_the_steps_of_each_example_have_these_shapes(name):
    walk = browser_walk(name)
    x, projected, by_heads, score_shape = map(list, SHAPES[name])
    assert [step["shape"] for step in walk["steps"]] == [
        x,
        projected,
        by_heads,
        score_shape,
        score_shape,
        by_heads,
        projected,
        projected,
        projected,
    ]
    for step, lengths in zip(walk["steps"], walk["lengths"], strict=True):
        assert lengths == [group["panels"] * group["rows"] * group["columns"] for group in step["groups"]]
        assert {group["rows"] for group in step["groups"]} == {len(walk["tokens"])}
    assert len(walk["tokens"]) == (64 if name == "vit-b" else EXAMPLES[name]["tokens"])


def test_the_skip_connection_carries_v_where_a_layer_changes_the_width():
    skip_names = {name: browser_walk(name)["steps"][-1]["groups"][0]["name"] for name in ("wider", "sentence")}
    assert skip_names == {"wider": "V", "sentence": "x"}
