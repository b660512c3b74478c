"""Block: what stands around attention in a layer, and the whole model."""

from playground.ui import lesson
from playground.ui.lessons import block

here = lesson.begin(
    "block",
    "Attention is one part of a layer. Around it stand two sums, two norms and a small network, the MLP. One idea at "
    "a time:",
    block.SETTINGS,
)
match lesson.steps(block.STEPS):
    case "whole":
        block.whole(here)
    case "stream":
        block.stream(here)
    case "mlp":
        block.mlp(here)
    case "norms":
        block.norms()
    case "answer":
        block.answer(here)
lesson.end()
