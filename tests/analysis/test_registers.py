"""Registers at test time: a planted neuron writes a very long vector into one patch. The neuron is found, and its
output is moved to a register token."""

from dataclasses import replace

import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.analysis.token_norms import outlier_bound, register_neurons, with_register
from playground.errors import PlaygroundError
from playground.vit import VisionTransformer

LAYER, NEURON = 1, 17


@pytest.fixture(params=["learned", "rotary"])
def planted(request, picture):
    """Plants a neuron in a middle layer that fires for one patch only and writes a vector of length 300."""
    vit = scramble(VisionTransformer(replace(SMALL, registers=0, positions=request.param)))
    trace = playground.trace(vit, picture)
    block = vit.blocks[LAYER]
    with torch.no_grad():
        entry_vit, x, rotation = trace.entering()
        for layer in range(LAYER):
            x, _ = entry_vit.blocks[layer](x, trace.scale, rotation)
        after_attention = x + block.attn(block.norm1(x), trace.scale, rotation)[0]
        mlp_input = block.norm2(after_attention)[0]  # (N, D)
        mean = mlp_input[1:].mean(0)
        token = 1 + int((mlp_input[1:] - mean).norm(dim=-1).argmax())  # the patch least like the mean
        direction = mlp_input[token] - mean
        projections = mlp_input @ direction
        next_best = projections[torch.arange(len(projections)) != token].max()
        block.mlp.fc1.weight[NEURON] = 8 * direction / (projections[token] - next_best)
        # the activation is 4 at `token`, and at most −4 elsewhere
        block.mlp.fc1.bias[NEURON] = -4 * (projections[token] + next_best) / (projections[token] - next_best)
        column = torch.randn(SMALL.width, generator=torch.Generator().manual_seed(1))
        block.mlp.fc2.weight[:, NEURON] = 75 * column / column.norm()
    return vit, token


def split_lengths(trace):
    norms = trace.features(LAYER).norm(dim=-1)
    prefix_length = len(trace.prefix)
    return norms[:prefix_length], norms[prefix_length:]


def test_the_neuron_that_writes_the_long_vector_is_found_and_its_output_is_moved(planted, picture):
    vit, token = planted
    trace_before = playground.trace(vit, picture)
    _, patches = split_lengths(trace_before)
    assert 1 + int(patches.argmax()) == token
    assert float(patches.max()) > 2 * outlier_bound(patches.numpy())

    neurons = register_neurons(vit, [picture], most=1)
    assert neurons == [(LAYER, NEURON)]
    trace_after = playground.trace(with_register(vit, neurons), picture)
    assert trace_after.prefix == ("cls", "reg0")
    assert trace_after.grid == trace_before.grid
    prefix, patches = split_lengths(trace_after)
    assert float(patches.max()) <= outlier_bound(patches.numpy()), "no patch stands apart any more"
    assert float(prefix[1]) > 3 * float(patches.max()), "the register holds it"
    second_trace = playground.trace(vit, picture)
    assert second_trace.prefix == trace_before.prefix
    assert torch.equal(second_trace.features(), trace_before.features()), "the model that was given is as it was"


def test_relevance_goes_through_the_moved_neurons(planted, picture):
    """The gradient in the relevance equals the gradient that autograd computes."""
    vit = with_register(planted[0], [(LAYER, NEURON), (0, 3)])
    trace = playground.trace(vit, picture)
    _, x, rotation = trace.entering()
    x = x.detach().requires_grad_()
    for tokens, _ in vit.layers(x, rotation):  # noqa: B007
        pass
    vit.classify(tokens)[0, 4].backward()
    expected = (x.grad * x).sum(-1)[0].detach()
    relevance = trace.relevance(label=4, method="gradient")
    torch.testing.assert_close(relevance, expected / expected.abs().sum(), atol=1e-6, rtol=1e-4)


def test_a_model_without_outliers_is_an_error(small, picture):
    with pytest.raises(PlaygroundError, match="No patch of these pictures stands apart"):
        register_neurons(small, [picture])


@pytest.mark.parametrize(
    ("use_neurons", "sentence"),
    [
        (lambda vit, image: register_neurons(vit, [image], most=0), "1 to 50 are moved, not 0"),
        (lambda vit, image: with_register(vit, [(3, 1)]), "no neuron 1 in layer 3"),
        (lambda vit, image: with_register(vit, [(0, 96)]), "no neuron 96 in layer 0"),
    ],
)
def test_neurons_that_do_not_exist_are_errors(small, picture, use_neurons, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        use_neurons(small, picture)
