"""Half precision and other devices: every method runs there, and its numbers are float32 in main memory."""

import copy
import inspect
import re
from functools import cache
from pathlib import Path

import every_method
import pytest
import torch
from conftest import RICH, disc, scramble
from every_method import METHODS
from pretended_card import OnCard, on_card, pretended_card

import playground
from playground.vit import VisionTransformer

TOLERANCE = {torch.bfloat16: 0.15, torch.float16: 0.03, torch.float64: 1e-3}  # of ‖x − x in float32‖ / ‖x in float32‖
FAR_IN_A_HALF = 0.25  # "match" compares likenesses, where bfloat16 has three digits: most patches find the same one


@pytest.fixture(scope="module")
def traces_in(tmp_path_factory):
    """traces_in(dtype) gives (a trace, another picture's, the folder of both) in a model of this precision."""
    folder = tmp_path_factory.mktemp("some") / "pictures"
    folder.mkdir()
    disc().save(folder / "a.png")
    disc().rotate(90).save(folder / "b.png")
    vit = scramble(VisionTransformer(RICH))

    @cache
    def traces(dtype):
        model = copy.deepcopy(vit).to(dtype)
        return *(playground.trace(model, folder / name, keep="model") for name in ("a.png", "b.png")), folder

    return traces


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_in_another_precision_gives_nearly_the_numbers_of_float32(name, dtype, traces_in):
    result, expected = (METHODS[name](*traces_in(one)) for one in (dtype, torch.float32))
    assert result.dtype == expected.dtype != dtype
    if not expected.is_floating_point():
        assert (result != expected).float().mean() <= FAR_IN_A_HALF * (dtype is torch.bfloat16)
        return
    assert expected.isfinite().all()
    distance = (result - expected).norm() / expected.norm()
    assert distance <= TOLERANCE[dtype], f"{distance:.3g}"


def test_every_public_method_is_among_them():
    public = {name for name, member in inspect.getmembers(playground.Trace, callable) if not name.startswith("_")}
    called = set(re.findall(r"\.(\w+)\(", Path(every_method.__file__).read_text(encoding="utf-8")))
    assert public - called == every_method.NAMES_AND_PLACES


def test_many_pictures_in_a_half_give_float32(small, picture):
    (numbers,) = playground.trace_many([picture], small.bfloat16(), ("weights:1", "features", "entropy", "distance"))
    assert {array.dtype.name for array in numbers.arrays.values()} == {"float32"}


@pytest.mark.parametrize("where", ["the model", "the model and its pixels"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_on_a_card_mixes_no_devices(name, where, traces_in):
    *of_cpu, folder = traces_in(torch.float32)
    expected = METHODS[name](*of_cpu, folder)
    with pretended_card():
        vit = on_card(of_cpu[0].vit)
        pixels = [trace.input if where == "the model" else trace.input.to("cuda").requires_grad_() for trace in of_cpu]
        traces = [playground.trace(vit, pixel_values=x, keep="model") for x in pixels]
        result = METHODS[name](*traces, folder)
    assert type(result) is torch.Tensor, "it does not lie in main memory"
    torch.testing.assert_close(result, expected, atol=1e-4, rtol=1e-3)


def test_a_pretended_card_refuses_what_a_card_refuses():
    ours, card = torch.arange(3.0), OnCard(torch.arange(3.0))
    with pretended_card():
        for mix in (
            lambda: card + ours,
            lambda: torch.cat([card, ours]),
            lambda: torch.where(ours > 1, card, card),
            lambda: ours[card.long()],
            lambda: ours @ card,
        ):
            with pytest.raises(AssertionError, match="mixes tensors of the card and of main memory"):
                mix()
        with pytest.raises(RuntimeError):
            card.numpy()
        for goes in (card + ours[1], card[ours.long()], card + ours.to(card), ours.to("cuda") * card, 2 * card):
            assert isinstance(goes, OnCard)
        assert torch.equal(ours, (card * 1).cpu())


@pytest.mark.parametrize("keep", ["model", "host"])
def test_a_trace_kept_in_the_model_s_precision_or_in_main_memory_has_the_same_rows(small, picture, keep):
    small = small.bfloat16()
    expected, trace = playground.trace(small, picture), playground.trace(small, picture, keep=keep)
    assert {t.dtype for t in trace.record[1]} == {torch.bfloat16 if keep == "model" else torch.float32}
    for name, call in {
        "row": lambda seen: seen.row(1, 2, (3, 4)),
        "weights": lambda seen: seen.weights(2),
        "column": lambda seen: seen.column(1, 2, (3, 4)),
        "rollout": lambda seen: seen.rollout((3, 4)),
        "value norms": lambda seen: seen.value_norms(1),
        "contribution": lambda seen: seen.contribution(1, 2, (3, 4)),
        "ablate": lambda seen: seen.ablate([(1, 2)]).row(2, 0, (3, 4)),
        "bytes": lambda seen: playground.Trace.from_bytes(seen.to_bytes()).row(1, 2, (3, 4)),
    }.items():
        assert torch.equal(call(trace), call(expected)), name
    assert trace.ablate([(1, 2)]).keep == keep
    with pytest.raises(playground.PlaygroundError, match="keep= is float32, model, host; given was 'card'"):
        playground.trace(small, picture, keep="card")


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="there is no Apple GPU")
def test_a_pass_on_an_apple_gpu_gives_the_cpu_s_rows(small, picture):
    reference = playground.trace(small, picture)
    trace = playground.trace(small.to("mps"), picture)
    assert trace.vit.patch_embed.proj.weight.device.type == "mps"
    torch.testing.assert_close(trace.row(1, 2, (3, 4)), reference.row(1, 2, (3, 4)), atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(trace.relevance((3, 4)), reference.relevance((3, 4)), atol=1e-3, rtol=1e-2)
    (numbers,) = playground.trace_many([picture], small, ("entropy", "distance"))
    assert numbers.arrays["entropy"].shape == (3, 4, 67)
