import threading

import pytest
import torch
from conftest import SMALL, scramble
from torch.utils._python_dispatch import TorchDispatchMode

import playground
from playground.errors import PlaygroundError
from playground.pack import unpack
from playground.tracing import Trace
from playground.vit import Config, VisionTransformer

QUERIES = ["cls", "reg1", (0, 0), (7, 5), 66]


def weights_by_loops(trace: Trace, layer: int, scale: float) -> torch.Tensor:
    """Every weight of a layer, with loops: (heads, tokens, tokens)."""
    q, k, _ = trace.record[layer]
    weights = torch.empty(trace.heads, trace.tokens, trace.tokens)
    for h in range(trace.heads):
        for i in range(trace.tokens):
            scores = torch.stack([torch.dot(q[h, i], k[h, j]) * scale for j in range(trace.tokens)])
            weights[h, i] = scores.exp() / scores.exp().sum()
    return weights


@pytest.mark.parametrize("scale", [None, "on", "off", 0, 0.3, -1.0])
def test_rows_columns_and_matrices_agree_and_equal_the_loops(small_trace, scale):
    number = {None: 12**-0.5, "on": 12**-0.5, "off": 1.0}.get(scale, scale)
    expected = weights_by_loops(small_trace, 1, number)
    for query in QUERIES:
        token = small_trace.token(query)
        torch.testing.assert_close(small_trace.rows(1, query, scale), expected[:, token], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(small_trace.columns(1, query, scale), expected[:, :, token], atol=1e-5, rtol=1e-4)
        for head in range(small_trace.heads):
            torch.testing.assert_close(small_trace.row(1, head, query, scale), small_trace.rows(1, query, scale)[head])
            torch.testing.assert_close(
                small_trace.column(1, head, query, scale), small_trace.columns(1, query, scale)[head]
            )
            torch.testing.assert_close(
                small_trace.matrix(1, head, scale)[token], small_trace.row(1, head, query, scale)
            )


def test_the_default_scale_is_the_one_that_the_pass_ran_with(small, picture):
    unscaled_trace = playground.trace(small, picture, scale="off")
    for method in (unscaled_trace.row, unscaled_trace.scores, unscaled_trace.column, unscaled_trace.column_scores):
        assert torch.equal(method(1, 2, (3, 4)), method(1, 2, (3, 4), "off"))
        assert not torch.equal(method(1, 2, (3, 4)), method(1, 2, (3, 4), "on"))
    assert torch.equal(unscaled_trace.entropy(1), unscaled_trace.entropy(1, scale="off"))


def test_the_whole_network_without_its_scale_is_another_trace_with_other_logits(small, picture, small_trace):
    unscaled_trace = playground.trace(small, picture, scale="off")
    assert (unscaled_trace.scale, unscaled_trace.native_scale, small_trace.scale) == (1.0, 12**-0.5, 12**-0.5)
    torch.testing.assert_close(
        unscaled_trace.row(0, 1, (4, 4)), small_trace.row(0, 1, (4, 4), scale="off")
    )  # same input of layer 0
    assert (
        unscaled_trace.row(2, 1, (4, 4)) - small_trace.row(2, 1, (4, 4), scale="off")
    ).abs().max() > 1e-3  # later inputs differ
    with torch.no_grad():
        torch.testing.assert_close(unscaled_trace.logits, small(unscaled_trace.input, scale=1.0)[0])


def test_the_heads_rows_times_values_through_w_o_are_the_attention_s_output(picture):
    vit = scramble(VisionTransformer(Config(**{**vars(SMALL), "layer_scale": True})))
    trace = playground.trace(vit, picture)
    with torch.no_grad():
        x, _ = vit.embed(trace.input)
        block = vit.blocks[0]
        expected = block.ls1(block.attn(block.norm1(x), None, None)[0])[0, trace.token((1, 2))]
        head_outputs = torch.cat([trace.row(0, h, (1, 2)) @ trace.record[0].v[h] for h in range(4)])
        torch.testing.assert_close(block.ls1(block.attn.proj(head_outputs)), expected, atol=1e-5, rtol=1e-4)
    scaled_weights = block.ls1.gamma[:, None] * block.attn.proj.weight[:, :12]
    torch.testing.assert_close(
        trace.value_norms(0)[0], (trace.record[0].v[0] @ scaled_weights.T).norm(dim=-1).detach(), atol=1e-5, rtol=1e-4
    )


def test_similarity_is_the_cosine_of_the_features(small_trace, small):
    with torch.no_grad():
        x = small.features(small_trace.input, 1)[0]
    torch.testing.assert_close(small_trace.features(1), x, atol=1e-5, rtol=0)
    token = small_trace.token((5, 5))
    expected = x @ x[token] / (x.norm(dim=-1) * x[token].norm())
    torch.testing.assert_close(small_trace.similarity((5, 5), layer=1), expected, atol=1e-5, rtol=0)
    assert small_trace.similarity("cls")[0] == pytest.approx(1, abs=1e-5)


def test_rollout_is_the_product_of_the_averaged_layers_with_the_residual(small_trace):
    product = torch.eye(small_trace.tokens)
    for layer in range(small_trace.layers):
        average = torch.stack([small_trace.matrix(layer, h) for h in range(small_trace.heads)]).mean(0)
        product = (0.5 * average + 0.5 * torch.eye(small_trace.tokens)) @ product
    torch.testing.assert_close(small_trace.rollout(), product, atol=1e-5, rtol=0)
    torch.testing.assert_close(small_trace.rollout((3, 3)), product[small_trace.token((3, 3))], atol=1e-5, rtol=0)


def test_a_rectangular_picture_keeps_its_shape_and_its_order_of_patches(small, picture):
    trace = playground.trace(small, picture, size=(32, 96))
    assert (trace.grid, trace.tokens) == ((4, 12), 51)
    assert trace.token((1, 0)) == 3 + 12
    row = trace.row(0, 0, (1, 1))
    assert trace.on_grid(row)[2, 5] == row[trace.token((2, 5))]
    assert playground.trace(small, picture.crop((0, 0, 120, 60))).grid[1] > small.native_grid[1]


def test_the_picture_of_a_trace_is_what_the_model_saw(small_trace, picture):
    from playground.pictures.images import displayed

    assert small_trace.image.tobytes() == displayed(picture, (64, 64)).tobytes()


class LargestTensor(TorchDispatchMode):
    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for t in result if isinstance(result, tuple | list) else [result]:
            if isinstance(t, torch.Tensor):
                self.largest = max(self.largest, t.untyped_storage().nbytes() // t.element_size())
        return result


def test_nothing_of_the_size_tokens_squared_exists_until_it_is_asked_for(picture):
    vit = VisionTransformer(
        Config(image_size=(32, 32), patch_size=8, depth=2, width=24, mlp_width=48, heads=2, classes=3)
    )
    vit.eval()
    with LargestTensor() as largest_tensor:
        trace = playground.trace(vit, picture, size=(512, 512))  # 4,097 tokens
        trace.rows(1, (20, 30))
        trace.scores(1, 0, "cls")
        trace.value_norms(0)
        trace.similarity((2, 2))
    assert largest_tensor.largest < trace.tokens**2 / 10
    with LargestTensor() as largest_tensor:
        trace.column(1, 1, (3, 3))
        trace.rollout((3, 3))
    assert largest_tensor.largest < trace.tokens**2 / 3  # one block of rows of one head


def test_eight_threads_tracing_different_pictures_get_what_one_thread_gets(small, picture):
    pictures = [picture.rotate(20 * i) for i in range(8)]
    single_traces = [playground.trace(small, p) for p in pictures]
    threaded_traces = [None] * 8

    def work(i):
        for _ in range(5):
            threaded_traces[i] = playground.trace(small, pictures[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for single_trace, threaded_trace in zip(single_traces, threaded_traces, strict=True):
        assert torch.equal(single_trace.logits, threaded_trace.logits)
        for layer in range(single_trace.layers):
            assert torch.equal(single_trace.record[layer].q, threaded_trace.record[layer].q)
            assert torch.equal(single_trace.rows(layer, (2, 3)), threaded_trace.rows(layer, (2, 3)))


# Serialization to bytes


def test_a_trace_goes_through_bytes_and_back(small_trace):
    loaded_trace = Trace.from_bytes(small_trace.to_bytes())
    assert (loaded_trace.grid, loaded_trace.heads, loaded_trace.layers, loaded_trace.prefix, loaded_trace.model) == (
        small_trace.grid, small_trace.heads, small_trace.layers, small_trace.prefix, small_trace.model,
    )  # fmt: skip
    for layer in range(3):
        for scale in (None, "off"):
            assert (loaded_trace.rows(layer, (6, 1), scale) - small_trace.rows(layer, (6, 1), scale)).abs().max() < 1e-2
        torch.testing.assert_close(loaded_trace.value_norms(layer), small_trace.value_norms(layer))
    assert loaded_trace.to_bytes() == small_trace.to_bytes()


def test_a_pack_can_hold_some_layers_and_says_which(small_trace):
    loaded_trace = Trace.from_bytes(small_trace.to_bytes(layers=[2]))
    assert list(loaded_trace.record) == [2]
    with pytest.raises(PlaygroundError, match=r"There is no layer 0 here; .* holds 2"):
        loaded_trace.row(0, 0, "cls")
    with pytest.raises(PlaygroundError, match="trace the image again"):
        loaded_trace.similarity("cls")


def test_the_scale_of_the_whole_pass_travels_with_the_pack(small, picture, small_trace):
    unscaled_trace = playground.trace(small, picture, scale="off")
    assert unpack(unscaled_trace.to_bytes())[0]["forward_scale"] == 1.0
    assert unpack(small_trace.to_bytes())[0]["forward_scale"] is None
    assert Trace.from_bytes(unscaled_trace.to_bytes()).scale == 1.0


# Errors


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.row(0, 0, (8, 0)), r"There is no patch \(8, 0\): rows count from 0 to 7"),
        (lambda s: s.row(0, 0, (-1, 0)), "There is no patch"),
        (lambda s: s.row(3, 0, "cls"), "There is no layer 3 here"),
        (lambda s: s.row(-9, 0, "cls"), "There is no layer -9"),
        (lambda s: s.row(0, 4, "cls"), "There is no head 4; they count from 0 to 3"),
        (lambda s: s.row(0, 0, "dist"), "no token called 'dist'; its prefix tokens are: cls, reg0, reg1"),
        (lambda s: s.row(0, 0, 67), "There is no token 67; they count from 0 to 66"),
        (lambda s: s.row(0, 0, None), "A query is a patch"),
        (lambda s: s.row(0, 0, (1, 2, 3)), "A query is a patch"),
        (lambda s: s.row(0, 0, "cls", scale="half"), 'A scale is "on"'),
        (lambda s: s.row(0, 0, "cls", scale=float("nan")), 'A scale is "on"'),
        (lambda s: s.similarity("cls", layer=9), "There is no layer 9"),
    ],
)
def test_a_wrong_question_is_refused_in_a_sentence(small_trace, ask, message):
    with pytest.raises(PlaygroundError, match=message):
        ask(small_trace)


@pytest.mark.parametrize("size", [(60, 64), (0, 64), (-8, 8), (64,), "big", None, (8_000, 8_000)])
def test_a_size_that_can_t_be_is_explained(small, picture, size):
    if size is None:
        assert playground.trace(small, picture, size=None).size == (64, 64)
        return
    with pytest.raises(PlaygroundError, match="size"):
        playground.trace(small, picture, size=size)
