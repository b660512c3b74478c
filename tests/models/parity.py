"""Compares our VisionTransformer with timm's model of the same weights: logits, and the attention of every layer."""

import torch

from playground.vit import VisionTransformer


def attentions(reference: torch.nn.Module, image: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """timm's own logits, and the weights after timm's softmax, one tensor for each layer."""
    layer_weights: list[torch.Tensor] = []
    for block in reference.blocks:
        block.attn.fused_attn = False  # the fused kernel never holds the weights
    hooks = [
        b.attn.attn_drop.register_forward_hook(lambda m, i, out: layer_weights.append(out)) for b in reference.blocks
    ]
    logits = reference(image)
    for hook in hooks:
        hook.remove()
    return logits, layer_weights


def assert_equal(reference: torch.nn.Module, our_vit: VisionTransformer, size: tuple[int, int]) -> None:
    image = torch.randn(2, 3, *size, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected, weights = attentions(reference, image)
        logits, record = our_vit.record(image)
    assert weights[0].amax(dim=-1).mean() > 3 / weights[0].shape[-1], "the reference's attention is almost uniform"
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
    assert len(record) == len(weights)
    for (q, k, _), expected_weights in zip(record, weights, strict=True):
        our_weights = (q @ k.mT * our_vit.config.scale).softmax(dim=-1)
        torch.testing.assert_close(our_weights, expected_weights, atol=1e-5, rtol=0)
