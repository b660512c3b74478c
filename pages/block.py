"""Block: what stands around attention in a layer, and the whole model."""

from playground.ui import lesson
from playground.ui.lessons import block, block_answer, block_mlp, block_norms, block_read, block_stream, block_whole

here = lesson.begin("block", block.TEXT.idea, block.SETTINGS)
match lesson.steps(block.STEPS):
    case "whole":
        block_whole.whole(here)
    case "stream":
        block_stream.stream(here)
    case "mlp":
        block_mlp.mlp(here)
    case "norms":
        block_norms.norms()
    case "answer":
        block_answer.answer(here)
    case "read":
        block_read.read(here)
lesson.end()
