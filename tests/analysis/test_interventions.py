"""Interventions against loops over timm's own model, written by hand, and against TransformerLens' definitions."""

import copy
from dataclasses import replace

import pytest
import timm
import torch
from conftest import SMALL, scramble
from PIL import Image

import playground
from playground import PlaygroundError, cuts, relevance
from playground.vit import VisionTransformer

CLOSE = {"atol": 2e-5, "rtol": 2e-4}


@pytest.fixture(scope="module")
def timm_vit():
    """timm's own ViT with scrambled weights, whose attention is computed step by step."""
    model = timm.create_model(
        "vit_tiny_patch16_224", img_size=64, depth=4, embed_dim=48, num_heads=4, num_classes=7, init_values=0.1
    )
    scramble(model)
    for block in model.blocks:
        block.attn.fused_attn = False
    return model


@pytest.fixture(scope="module")
def our_vit(timm_vit):
    vit = playground.load(copy.deepcopy(timm_vit), mean=(0.5,) * 3, std=(0.5,) * 3)
    return vit


@pytest.fixture(scope="module")
def two_traces(our_vit):
    random = torch.Generator().manual_seed(1)
    pixels = [torch.randn(1, 3, 64, 64, generator=random) for _ in range(2)]
    return [playground.trace(our_vit, pixel_values=image) for image in pixels]


def timm_pass(model, pixels, intervene=lambda layer, name, x: x):
    """timm's pass, a step at a time: (logits, {(layer, name): tensor}). `change` is called at each named step."""
    tensors = {}

    def step(layer, name, x):
        tensors[layer, name] = x = intervene(layer, name, x)
        return x

    with torch.no_grad():
        x = model.patch_embed(pixels)
        x = torch.cat([model.cls_token.expand(len(x), -1, -1), x], dim=1) + model.pos_embed
        for layer, block in enumerate(model.blocks):
            attn = block.attn
            B, N, D = x.shape
            q, k, v = attn.qkv(block.norm1(x)).reshape(B, N, 3, attn.num_heads, -1).permute(2, 0, 3, 1, 4)
            q, k, v = step(layer, "queries", q), step(layer, "keys", k), step(layer, "values", v)
            z = step(layer, "z", (q @ k.mT * attn.scale).softmax(-1) @ v)
            x = x + step(layer, "attention", block.ls1(attn.proj(z.transpose(1, 2).reshape(B, N, D))))
            x = step(layer, "middle", x)
            hidden = step(layer, "hidden", block.mlp.act(block.mlp.fc1(block.norm2(x))))
            x = x + step(layer, "mlp", block.ls2(block.mlp.fc2(hidden)))
            x = step(layer, "residual", x)
        return model.head(model.norm(x)[:, 0]), tensors


def test_without_a_change_the_loop_is_timm_s_forward(timm_vit, two_traces):
    logits, _ = timm_pass(timm_vit, two_traces[0].input)
    torch.testing.assert_close(logits, timm_vit(two_traces[0].input), **CLOSE)
    torch.testing.assert_close(logits[0], two_traces[0].logits, **CLOSE)


@pytest.mark.parametrize("to", ["zero", "mean"])
def test_ablated_heads_give_zeros_or_their_mean_as_in_the_loop(timm_vit, two_traces, to):
    def change(layer, name, x):
        if (layer, name) == (1, "z"):
            x = x.clone()
            x[:, 2] = 0 if to == "zero" else x[:, 2].mean(1, keepdim=True)
        if (layer, name) == (2, "z"):
            x = x.clone()
            x[:, 0] = 0 if to == "zero" else x[:, 0].mean(1, keepdim=True)
        return x

    logits, _ = timm_pass(timm_vit, two_traces[0].input, change)
    ablated_trace = two_traces[0].ablate(heads=[(1, 2), (2, 0)], to=to)
    torch.testing.assert_close(ablated_trace.logits, logits[0], **CLOSE)
    assert (ablated_trace.logits - two_traces[0].logits).abs().max() > 0.01
    assert f"{to}@1.2; {to}@2.0" in repr(ablated_trace)


def test_shuffle_and_noise_and_some_tokens(timm_vit, two_traces):
    seen, tokens = two_traces[0], [(1, 1), "cls"]
    outputs = {}

    def put(layer, name, x):
        outputs[layer, name] = x
        if (layer, name) == (1, "z"):
            x = x.clone()
            places = [seen.token(token) for token in tokens]
            x[:, 2, places] = x[:, 2].mean(1, keepdim=True).expand(-1, x.shape[2], -1)[:, places]
        return x

    logits, _ = timm_pass(timm_vit, seen.input, put)
    torch.testing.assert_close(seen.ablate([(1, 2)], tokens=tokens).logits, logits[0], **CLOSE)
    given = outputs[1, "z"][0, 2]  # (N, d)
    shuffled, noise = (cuts.replacement(given, to) for to in ("shuffle", "noise"))
    torch.testing.assert_close(shuffled.sort(0).values, given.sort(0).values)
    assert not torch.equal(shuffled, given)
    wide = torch.randn(4000, 3) * torch.tensor([1.0, 2.0, 5.0]) + torch.tensor([0.0, 3.0, -1.0])
    made = cuts.replacement(wide, "noise")
    torch.testing.assert_close(made.mean(0), wide.mean(0), atol=0.3, rtol=0)
    torch.testing.assert_close(made.std(0), wide.std(0), rtol=0.1, atol=0)
    for to, words in (("shuffle", "with outputs of other tokens"), ("noise", "as noise")):
        assert f"heads 1.2 {words}" in repr(seen.ablate([(1, 2)], to=to))
    assert noise.shape == given.shape


def test_the_mean_of_a_folder_is_over_its_pictures_and_their_tokens(timm_vit, two_traces, our_vit, tmp_path):
    random = torch.Generator().manual_seed(5)
    for number in range(3):
        pixels = (torch.rand(64, 64, 3, generator=random) * 255).byte().numpy()
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
    from playground.pictures.images import model_input, open_image

    c = our_vit.config
    inputs = [model_input(open_image(file), (64, 64), c.mean, c.std, c.interpolation) for file in tmp_path.iterdir()]
    mean = torch.stack([timm_pass(timm_vit, picture)[1][1, "z"][0, 2].mean(0) for picture in inputs]).mean(0)  # (d,)

    def change(layer, name, x):
        if (layer, name) == (1, "z"):
            x = x.clone()
            x[:, 2] = mean
        return x

    logits, _ = timm_pass(timm_vit, two_traces[0].input, change)
    ablated_trace = two_traces[0].ablate(heads=[(1, 2)], to="mean", mean_of=tmp_path)
    torch.testing.assert_close(ablated_trace.logits, logits[0], **CLOSE)


@pytest.mark.parametrize("what", ["residual", "mlp", "attention", "queries", "keys", "values", "head:3"])
@pytest.mark.parametrize("positions", [None, (2, 3), [(0, 0), "cls"]], ids=str)
def test_patched_values_are_those_of_the_other_pass(timm_vit, two_traces, what, positions):
    seen, other_seen = two_traces
    _, other_tensors = timm_pass(timm_vit, other_seen.input)
    queries = [positions] if isinstance(positions, tuple) else positions
    tokens = list(range(17)) if queries is None else [seen.token(query) for query in queries]

    def change(layer, name, x):
        if layer not in (1, 2) or name != ("z" if what == "head:3" else what):
            return x
        x, replacement = x.clone(), other_tensors[layer, name]
        if what == "head:3":
            x[:, 3, tokens] = replacement[:, 3, tokens]
        else:
            x[..., tokens, :] = replacement[..., tokens, :]
        return x

    logits, _ = timm_pass(timm_vit, seen.input, change)
    patched_trace = seen.patch(other_seen, layers=[1, 2], positions=positions, what=what)
    torch.testing.assert_close(patched_trace.logits, logits[0], **CLOSE)
    assert (patched_trace.logits - seen.logits).abs().max() > 1e-4


@pytest.mark.parametrize("from_other", [False, True])
def test_paths_equal_the_passes_of_wang(timm_vit, two_traces, from_other):
    """Wang et al. (2023): freeze all heads but the sender, store the receiver's input, then run with that input."""
    seen, other_seen = two_traces
    _, clean_tensors = timm_pass(timm_vit, seen.input)
    replacement = timm_pass(timm_vit, other_seen.input)[1][0, "z"][:, 1] if from_other else 0

    def freeze(layer, name, x):
        if name != "z":
            return x
        x = clean_tensors[layer, "z"].clone()
        if layer == 0:
            x[:, 1] = replacement
        return x

    _, patched_tensors = timm_pass(timm_vit, seen.input, freeze)

    def receive(layer, name, x):
        if layer == 2 and name in ("queries", "keys", "values"):
            x = x.clone()
            x[:, 3] = patched_tensors[2, name][:, 3]
        return x

    logits, _ = timm_pass(timm_vit, seen.input, receive)
    paths = seen.paths(source=(0, 1), to=(2, 3), other=other_seen if from_other else None)
    torch.testing.assert_close(paths.through.logits, logits[0], **CLOSE)
    assert (paths.through.logits - seen.logits).abs().max() > 1e-5
    margin_loss = paths.margin(2)
    other_labels = [label for label in range(7) if label != 2]
    margins = [
        class_logits[2] - class_logits[other_labels].max()
        for class_logits in (seen.logits, paths.whole.logits, logits[0])
    ]
    assert margin_loss.whole == pytest.approx(float(margins[0] - margins[1]), abs=1e-4)
    assert margin_loss.through == pytest.approx(float(margins[0] - margins[2]), abs=1e-4)


def test_occlusion_is_a_loop_over_blocks(timm_vit, two_traces):
    seen = two_traces[0]
    logits_before = timm_vit(seen.input)[0].detach()
    occlusion_map = seen.occlude(blocks=2, label=4)
    for row in (0, 2):
        for column in (0, 2):
            blanked_pixels = seen.input.clone()
            blanked_pixels[:, :, row * 16 : row * 16 + 32, column * 16 : column * 16 + 32] = seen.input.mean((2, 3))[
                ..., None, None
            ]
            logits_after = timm_vit(blanked_pixels)[0].detach()
            margins = [
                class_logits[4] - max(class_logits[i] for i in range(7) if i != 4)
                for class_logits in (logits_before, logits_after)
            ]
            expected = (margins[0] - margins[1]).expand(2, 2)
            torch.testing.assert_close(occlusion_map[row : row + 2, column : column + 2], expected, atol=2e-4, rtol=0)


def test_our_points_correspond_to_transformer_lens_s(timm_vit, two_traces, our_vit):
    """hook_q, hook_k, hook_v, hook_z, hook_attn_out, hook_resid_mid, mlp.hook_post, hook_mlp_out and hook_resid_post of
    a TransformerLens block correspond to our queries, keys, values, heads, attention, residual.middle, mlp.hidden, mlp
    and residual; hook_resid_pre is the residual of the layer before, or the embedding."""
    tensors = {}

    def keep(point, x):
        tensors[point] = x
        return x

    playground.trace(our_vit, pixel_values=two_traces[0].input, at=keep)
    assert list(tensors) == our_vit.points()
    _, clean_tensors = timm_pass(timm_vit, two_traces[0].input)
    names = {"attention.queries": "queries", "attention.keys": "keys", "attention.values": "values"}
    names |= {"attention.heads": "z", "attention": "attention", "mlp": "mlp", "residual": "residual"}
    names |= {"residual.middle": "middle", "mlp.hidden": "hidden"}
    for layer in range(4):
        for ours_name, their_name in names.items():
            torch.testing.assert_close(
                tensors[f"layers.{layer}.{ours_name}"], clean_tensors[layer, their_name], **CLOSE
            )


@pytest.mark.parametrize("point", ["middle", "hidden"])
def test_what_is_put_between_attention_and_mlp_or_inside_the_mlp_goes_on_as_in_the_loop(timm_vit, two_traces, point):
    def half(x):
        return torch.cat([x[:, :5], x[:, 5:] / 2], dim=1)

    logits, _ = timm_pass(
        timm_vit, two_traces[0].input, lambda layer, name, x: half(x) if (layer, name) == (1, point) else x
    )
    our_point = {"middle": "layers.1.residual.middle", "hidden": "layers.1.mlp.hidden"}[point]
    changed = two_traces[0].again({our_point: half})
    torch.testing.assert_close(changed.logits, logits[0], **CLOSE)
    assert (changed.logits - two_traces[0].logits).abs().max() > 1e-3


def test_of_a_long_sequence_the_hidden_numbers_of_all_tokens_come_at_once_where_somebody_asks(small, picture):
    shapes = []

    def first_patch_off(x):
        shapes.append(tuple(x.shape))
        return torch.cat([x[:, :3], x[:, 3:4] * 0, x[:, 4:]], dim=1)

    plain = playground.trace(small, picture, size=(272, 272))  # 1,159 tokens
    changed = plain.again({"layers.1.mlp.hidden": first_patch_off})
    assert shapes == [(1, plain.tokens, 96)]
    expected = small.blocks[1].mlp.fc2.bias
    moved = {}
    changed.again({"layers.1.mlp": lambda x: moved.setdefault("mlp", x)})
    torch.testing.assert_close(moved["mlp"][0, 3], expected.detach(), **CLOSE)
    torch.testing.assert_close(changed.features(0), plain.features(0))
    assert (
        (changed.features(1) - plain.features(1))[:3].abs().max()
        < 1e-5
        < (changed.features(1) - plain.features(1))[3].abs().max()
    )


def test_what_is_computed_from_a_changed_pass_is_changed_too(timm_vit, two_traces):
    def change(layer, name, x):
        return x * 0.3 if (layer, name) == (1, "mlp") else x

    seen = two_traces[0].again({"layers.1.mlp": lambda x: x * 0.3}, "a third of an MLP")
    _, changed_tensors = timm_pass(timm_vit, two_traces[0].input, change)
    for layer in range(4):
        torch.testing.assert_close(seen.features(layer), changed_tensors[layer, "residual"][0], **CLOSE)
        q, k = changed_tensors[layer, "queries"][0], changed_tensors[layer, "keys"][0]
        torch.testing.assert_close(seen.weights(layer), (q @ k.mT * seen.scale).softmax(-1), **CLOSE)
    twice_changed_trace = seen.ablate([(2, 1)], to="zero")
    assert twice_changed_trace.interventions == ("a third of an MLP", "heads 2.1 off")
    assert type(playground.Trace.from_bytes(twice_changed_trace.to_bytes())) is playground.Trace
    assert (
        playground.Trace.from_bytes(twice_changed_trace.to_bytes()).interventions == twice_changed_trace.interventions
    )


CONFIG_CHANGES = [
    {"qk_norm": True}, {"positions": "rotary"}, {"gated_mlp": True, "activation": "silu"}, {"layer_scale": True},
]  # fmt: skip


@pytest.mark.parametrize("config_changes", [{}, *CONFIG_CHANGES], ids=str)
@pytest.mark.parametrize("keeps_layers", [True, False], ids=["kept", "recomputed"])
@pytest.mark.parametrize("method", ["gradient", "chefer", "legrad"])
def test_the_relevance_of_a_changed_pass_equals_autograd_s(picture, config_changes, method, keeps_layers, monkeypatch):
    monkeypatch.setattr(relevance, "MOST_KEPT_BYTES", 2**27 * keeps_layers)
    vit = scramble(VisionTransformer(replace(SMALL, **config_changes)))
    gains = {
        point: torch.rand(1, generator=torch.Generator().manual_seed(i)) + 0.5 for i, point in enumerate(vit.points())
    }

    def at(point, x):
        if point.endswith("heard"):
            return x
        if point == "layers.1.attention.heads":
            return x * torch.tensor([1.0, 0.0, 0.5, 1.0])[:, None, None]
        return x * gains[point] if "embedding" not in point else x

    trace = playground.trace(vit, picture, at=at, cut="2,3>4,4@1")
    relevance_row = trace.relevance(label=4, method=method)
    unchanged_row = playground.trace(vit, picture, cut="2,3>4,4@1").relevance(label=4, method=method)
    torch.testing.assert_close(relevance_row, relevance_by_autograd(vit, trace, at, method), atol=1e-5, rtol=1e-3)
    assert (unchanged_row - relevance_row).abs().max() > 1e-4


def relevance_by_autograd(vit, trace, at, method):
    """Reference with all N × N weights in memory, computed from each layer's queries and keys, and differentiated."""
    maps, cut_at = [], trace.cuts.at()
    _, x, rotation = trace.entering()
    x = leaf = x.detach().requires_grad_()

    def mix(q, k, v, scale, heard):
        scores = q @ k.mT * scale
        maps.append((scores if heard is None else scores.masked_fill(~heard, -torch.inf)).softmax(-1))
        maps[-1].retain_grad()
        return maps[-1] @ v

    answers = []
    for block in vit.blocks:
        block.attn.mix = mix
    for x, _ in vit.layers(x, rotation, at=lambda point, t: at(point, cut_at(point, t))):  # noqa: B020
        answers.append(vit.classify(x)[0, 4])
    if method == "gradient":
        answers[-1].backward()
        moves = (leaf.grad * leaf).sum(-1)[0]
        return (moves / moves.abs().sum()).detach()
    if method == "legrad":
        relevance_sum = 0
        for map_, answer in zip(maps, answers, strict=True):
            (gradient,) = torch.autograd.grad(answer, map_, retain_graph=True)
            relevance_sum = relevance_sum + gradient[0].clamp(min=0).sum((0, 1))
        return relevance_sum / relevance_sum.sum()
    answers[-1].backward()
    relevance_row = torch.zeros(trace.tokens)
    relevance_row[0] = 1
    class_row = relevance_row.clone()
    for map_ in reversed(maps):
        relevance_row = relevance_row + relevance_row @ (map_ * map_.grad)[0].clamp(min=0).mean(0).detach()
    return (relevance_row - class_row) / (relevance_row - class_row).sum()


def test_gradients_flow_from_logits_to_the_recorded_values_and_to_pixels(our_vit, two_traces):
    pixels = two_traces[0].input.clone().requires_grad_()
    trace = playground.trace(our_vit, pixel_values=pixels, grad=True)
    value_gradients, pixel_gradients = torch.autograd.grad(trace.logits[3], [trace.record[1].v, pixels])
    leaf = {}

    def keep(point, x):
        if point == "layers.1.attention.values":
            leaf["v"] = x = x.detach().requires_grad_()
        return x

    logits, _ = our_vit.record(pixels, at=keep)
    (expected,) = torch.autograd.grad(logits[0, 3], leaf["v"])
    torch.testing.assert_close(value_gradients, expected[0], **CLOSE)
    assert pixel_gradients.shape == pixels.shape
    assert pixel_gradients.abs().sum() > 0
    assert not two_traces[0].logits.requires_grad


def test_rows_follow_a_mask_that_an_intervention_sets(two_traces):
    masks = {f"layers.{layer}.attention.heard": lambda x: torch.ones(1, 1, 17, 17).tril().bool() for layer in range(4)}
    seen = two_traces[0].again(masks, "causal")
    assert seen.row(2, 1, 5)[6:].abs().max() == 0
    assert seen.weights(2)[..., 0, 0].min() == 1
    with pytest.raises(PlaygroundError, match=r"bytes can't say"):
        seen.to_bytes()


MISTAKES = [
    (lambda s, o: playground.trace(s.vit, pixel_values=torch.zeros(2, 3, 32, 32)), r"holds 2 pictures"),
    (lambda s, o: s.ablate([(9, 0)]), r"There is no layer 9 here; this trace of vit_tiny_patch16_224 holds 0 to 3"),
    (lambda s, o: s.ablate([]), r"No head is ablated"),
    (lambda s, o: s.ablate([(0, 0)], to="one"), r"ablated to= mean, zero, shuffle, noise; given was 'one'"),
    (lambda s, o: s.ablate([(0, 0)], to="zero", mean_of="x"), r"mean_of= is a folder"),
    (lambda s, o: s.ablate([(0, 0)], to="mean", mean_of="nowhere"), r"There is no folder nowhere"),
    (lambda s, o: s.foretells((1, 1), method="magic"), r"There is no method 'magic'"),
    (lambda s, o: s.foretells((1, 1), by="magic"), r"not by 'magic'"),
    (lambda s, o: s.foretells((1, 1), label=3), r"give one of the two"),
    (lambda s, o: s.foretells(label="unicorn"), r"has no label 'unicorn'"),
    (lambda s, o: s.patch(o, layers=7), r"There is no layer 7"),
    (lambda s, o: s.patch(o, layers=1, what="hats"), r"What is patched is residual, mlp"),
    (lambda s, o: s.patch(o, layers=1, what="head:9"), r"There is no head 9"),
    (lambda s, o: s.patch(o, layers=[], what="mlp"), r"name a layer"),
    (lambda s, o: s.patch(o, layers=1, positions=[]), r"name a position"),
    (lambda s, o: s.patch(o, layers=1, positions=(9, 9)), r"There is no patch \(9, 9\)"),
    (lambda s, o: s.paths((2, 0), (1, 0)), r"Nothing of layer 2 reaches a head of layer 1"),
    (lambda s, o: s.occlude(blocks=2), r"give one of the two"),
    (lambda s, o: s.occlude(blocks=0, query="cls"), r"the side of a block, 1 to 4 patches"),
    (lambda s, o: s.occlude(label="unicorn"), r"has no label 'unicorn'"),
    (lambda s, o: s.occlude(query="cls", by="magic"), r"not by 'magic'"),
    (lambda s, o: s.again({"layers.1.atention.values": abs}), r"did you mean 'layers.1.attention.values'"),
    (lambda s, o: s.again({"layers.1.mlp": 3}), r"belongs a function"),
    (lambda s, o: s.again({"layers.1.mlp": lambda x: x[:, :4]}), r"gave a tensor of \(1, 4, 48\) at 'layers.1.mlp'"),
    (lambda s, o: s.again({"layers.1.mlp": lambda x: None}), r"gave NoneType at 'layers.1.mlp'"),
    (lambda s, o: s.again({"layers.1.mlp": lambda x: x * torch.nan}), r"no number \(NaN or infinite\) from layer 2 on"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_every_mistake_gets_a_sentence(two_traces, number):
    intervene, sentence = MISTAKES[number]
    with pytest.raises(PlaygroundError, match=sentence):
        intervene(*two_traces)
