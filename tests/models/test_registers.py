"""A register at test time: a planted neuron writes a very long vector into one patch. The neuron is found, and its
output is moved to a register token."""

from dataclasses import replace

import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.errors import PlaygroundError, PlaygroundWarning
from playground.models import registers
from playground.models.registers import moving, outliers, register_neurons, tukey_bound, with_register
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
    assert outliers(patches).nonzero().tolist() == [[token - 1]]

    assert register_neurons(vit, [trace_before.input])[0] == (LAYER, NEURON)
    changed = with_register(vit, [trace_before.input])
    assert [(i, block.mlp.neurons) for i, block in enumerate(changed.blocks) if hasattr(block.mlp, "neurons")] == [
        (LAYER, [NEURON])
    ], "one neuron is enough, and no more are moved"
    trace_after = playground.trace(changed, picture)
    assert (trace_after.model, trace_after.prefix) == ("untrained+registers", ("cls", "reg0"))
    assert trace_after.grid == trace_before.grid
    prefix, patches = split_lengths(trace_after)
    assert float(patches.max()) <= tukey_bound(patches), "no patch stands apart any more"
    assert float(prefix[1]) > 3 * float(patches.max()), "the register holds it"
    second_trace = playground.trace(vit, picture)
    assert second_trace.prefix == trace_before.prefix
    assert torch.equal(second_trace.features(), trace_before.features()), "the model that was given is as it was"


@torch.no_grad()
def test_the_pass_equals_one_by_hand_in_which_the_neuron_speaks_to_a_token_of_zeros(planted, picture):
    vit, _ = planted
    trace = playground.trace(moving(vit, [(LAYER, NEURON)]), picture)
    x, rotation = vit.embed(trace.input)
    x = torch.cat([x[:, :1], torch.zeros(1, 1, SMALL.width), x[:, 1:]], dim=1)
    for layer, block in enumerate(vit.blocks):
        x = x + block.attn(block.norm1(x), None, rotation)[0]
        hidden = torch.nn.functional.gelu(block.mlp.fc1(block.norm2(x)))
        if layer == LAYER:
            largest = max(hidden[0, :, NEURON].tolist())
            hidden[0, :, NEURON] = torch.tensor([largest if token == 1 else 0 for token in range(hidden.shape[1])])
        x = x + block.mlp.fc2(hidden)
    torch.testing.assert_close(trace.features(), x[0], atol=1e-4, rtol=1e-4)


def test_load_adds_the_register_and_its_name_loads_it_again(planted, picture, monkeypatch, tmp_path):
    vit, _ = planted
    picture.save(tmp_path / "a.png")
    monkeypatch.setattr(registers, "SAMPLES", tmp_path)
    assert playground.load(vit, registers=1).config.prefix == ("cls", "reg0")
    with pytest.raises(PlaygroundError, match="0, or 1 for one register at test time; given was 2"):
        playground.load(vit, registers=2)
    with pytest.raises(PlaygroundError, match="nothing that a register could take"):
        playground.load("untrained+registers")


def test_outliers_that_stay_are_counted(planted, picture, monkeypatch):
    vit, _ = planted
    monkeypatch.setattr(registers, "register_neurons", lambda vit, pictures: [(0, 1)])
    with pytest.warns(PlaygroundWarning, match="1 patches of 1 pictures still stand apart"):
        with_register(vit, [playground.trace(vit, picture).input])


def test_relevance_goes_through_the_moved_neurons(planted, picture):
    """The gradient in the relevance equals the gradient that autograd computes."""
    vit = moving(planted[0], [(LAYER, NEURON), (0, 3)])
    trace = playground.trace(vit, picture)
    _, x, rotation = trace.entering()
    x = x.detach().requires_grad_()
    for tokens, _ in vit.layers(x, rotation):  # noqa: B007
        pass
    vit.classify(tokens)[0, 4].backward()
    expected = (x.grad * x).sum(-1)[0].detach()
    relevance = trace.relevance(label=4, method="gradient")
    torch.testing.assert_close(relevance, expected / expected.abs().sum(), atol=1e-6, rtol=1e-4)


def test_models_without_outliers_and_with_counted_places_are_refused(small, small_trace):
    with pytest.raises(PlaygroundError, match="No patch of these 1 pictures stands apart"):
        register_neurons(small, [small_trace.input])
    with pytest.raises(PlaygroundError, match="counts all tokens"):
        with_register(VisionTransformer(replace(SMALL, positions="sinusoidal")), [small_trace.input])
