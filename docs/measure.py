"""Measures the numbers of the paper's draft, writes them into docs/numbers.json, and fills docs/paper.in.md with them,
which gives docs/paper.md.

python docs/measure.py             measures (some minutes) and writes both files
python docs/measure.py --write     only counts again, keeps the measured times, and writes both files
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # with more threads, the time spent waiting for a busy core would be measured

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

HERE = ROOT / "docs"
COMPARED_WITH_TIMM = {  # a family -> timm's name, and changes that make the model smaller
    "AugReg": ("vit_tiny_patch16_224", {}),
    "DeiT, distilled": ("deit_tiny_distilled_patch16_224", {}),
    "DINO": ("vit_small_patch8_224.dino", {}),
    "DINOv2 with registers": ("vit_small_patch14_reg4_dinov2", {"img_size": 224}),
    "DINOv3": ("vit_small_patch16_dinov3", {}),
    "CLIP": ("vit_base_patch32_clip_224.laion2b", {}),
    "SigLIP": ("vit_base_patch16_siglip_224", {}),
}
SPEED_MODEL, ROW_MODEL, SIDE, BATCHES = "vit_small_patch16_224", "ViT-S/16", 640, 5


def measurements() -> dict[str, str]:
    import calls
    import engine

    import playground

    speed = engine.in_own_process("against_timm", SPEED_MODEL)
    ours, theirs = (engine.in_own_process("one_large_image", package, SIDE) for package in ("ours", "theirs"))
    seconds, ratios = calls.ratios_of(*calls.many_calls(), BATCHES)
    return {
        "machine": f"one thread of {platform.machine()}, Python {platform.python_version()}",
        "version": playground.__version__,
        **parity(),
        "speed_model": SPEED_MODEL, "speed_ours": f"{1e3 * speed['ours']:.0f}",
        "speed_theirs": f"{1e3 * speed['theirs']:.0f}",
        "speed_ratio": f"{speed['ratio']:.2f}",
        "large_tokens": f"{(SIDE // 16) ** 2 + 1:,}",
        "memory_ours": f"{ours['peak'] / 1e9:.2f}", "memory_theirs": f"{theirs['peak'] / 1e9:.2f}",
        "memory_ratio": f"{theirs['peak'] / ours['peak']:.1f}",
        "large_ours": f"{ours['seconds']:.1f}", "large_theirs": f"{theirs['seconds']:.1f}",
        "large_ratio": f"{theirs['seconds'] / ours['seconds']:.1f}",
        "row_ms": f"{1e3 * engine.in_own_process('one_row', ROW_MODEL):.2f}",
        "row_tokens": f"{(engine.LARGE_SIDE // 16) ** 2 + 1:,}",
        "many_tokens": "257", "many_batch": str(calls.BATCH),
        "many_table": "\n".join(
            ["| what | × timm's forward |", "|---|---|", f"| timm's forward of a batch: {1e3 * seconds:.0f} ms | 1 |"]
            + [f"| {', '.join(kinds)} | {ratio:.2f} |" for kinds, ratio in zip(calls.MANY, ratios, strict=True)]
        ),
        **counts(),
    }  # fmt: skip


def counts() -> dict[str, str]:
    from playground.figures.layouts import LAYOUTS
    from playground.ui.pages import LESSONS

    lines = (ROOT / "playground" / "vit.py").read_text(encoding="utf-8").splitlines()
    return {"lessons": str(len(LESSONS)), "layouts": str(len(LAYOUTS)), "vit_lines": str(len(lines))}


def parity() -> dict[str, str]:
    lines, largest = ["| family | logits | attention |", "|---|---|---|"], [0.0, 0.0]
    for family, (name, changes) in COMPARED_WITH_TIMM.items():
        differences = differences_from_timm(name, changes)
        lines.append(f"| {family} | {differences[0]:.1e} | {differences[1]:.1e} |")
        largest = [max(pair) for pair in zip(largest, differences, strict=True)]
    return {
        "parity_table": "\n".join(lines), "families": str(len(COMPARED_WITH_TIMM)), "worst_logits": f"{largest[0]:.1e}",
        "worst_rows": f"{largest[1]:.1e}",
    }  # fmt: skip


def differences_from_timm(name: str, changes: dict) -> tuple[float, float]:
    """(the largest difference of logits, relative to their largest; of a weight)"""
    import timm
    import torch

    import playground
    from playground import vit as ours

    model = timm.create_model(name, depth=3, **changes).eval()
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for key, p in model.named_parameters():
            is_gain = p.dim() == 1 and not key.endswith("bias")
            p.copy_(torch.randn(p.shape, generator=random) * (0.05 if p.dim() > 1 else 0.3) + is_gain)
    vit = playground.load(model)  # runs the model once, so before the hooks
    their_rows: list[torch.Tensor] = []
    for block in model.blocks:
        block.attn.fused_attn = False
        block.attn.attn_drop.register_forward_hook(lambda module, inputs, out: their_rows.append(out[0].detach()))
    pixels = torch.randn(1, 3, *vit.config.image_size, generator=random)
    with torch.no_grad():
        their_logits = model(pixels)
        logits, record = vit.record(pixels)
        our_rows = [(qkv.q[0] @ qkv.k[0].mT * vit.config.scale).softmax(-1) for qkv in record]
    assert isinstance(vit, ours.VisionTransformer)
    assert len(our_rows) == len(their_rows) == 3
    weight_difference = max((a - b).abs().max().item() for a, b in zip(our_rows, their_rows, strict=True))
    return ((their_logits - logits).abs().max() / their_logits.abs().max()).item(), weight_difference


def paper_text(numbers: dict[str, str]) -> str:
    text = (HERE / "paper.in.md").read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda match: numbers[match[1]], text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    file = HERE / "numbers.json"
    numbers = json.loads(file.read_text(encoding="utf-8")) | counts() if parser.parse_args().write else measurements()
    file.write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "paper.md").write_text(paper_text(numbers), encoding="utf-8")


if __name__ == "__main__":
    main()
