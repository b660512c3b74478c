"""Facts about timm's plain ViTs that their weights don't show: python -m workshop.timm_table

The page that opens a checkpoint runs without timm. This script writes the facts that the page needs into
`microscope/weights/timmtable.js`.
"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import fill
from typing import Any

from playground.vit import Config

TABLE = Path(__file__).resolve().parent.parent / "playground" / "microscope" / "weights" / "timmtable.js"
# Fields of Config that weights do not show: `architecture.shown` takes them from the named model
FIELDS_NOT_IN_WEIGHTS = (
    "image_size", "eps", "activation", "positions", "pool", "norm_place", "interpolation", "mean", "std", "multi_label",
)  # fmt: skip
USUAL_HEAD_WIDTH = 64
HEADER = """\
// Facts about timm's plain ViTs that no weight shows and that differ from the defaults in architecture.js.
// `head`: numbers of a head. Written by python -m workshop.timm_table.

export const TIMM = [
"""


def unusual_fields(config: Config) -> dict[str, Any]:
    """The fields that differ from the paper's ViT."""
    head_width, default_config = config.width // config.heads, Config()
    differences = {
        name: getattr(config, name)
        for name in FIELDS_NOT_IN_WEIGHTS
        if getattr(config, name) != getattr(default_config, name)
    }
    return {**({"head": head_width} if head_width != USUAL_HEAD_WIDTH else {}), **differences}


def javascript_table(configs: dict[str, Config]) -> str:
    """The table as JavaScript. Names with the same facts share a row."""
    rows: dict[str, list[str]] = {}
    for name, config in configs.items():
        rows.setdefault(json.dumps(unusual_fields(config)), []).append(name)
    lines = (
        f"{{ is: {fields_json}, names: `{' '.join(sorted(names))}` }}," for fields_json, names in sorted(rows.items())
    )
    wrap_options = {"width": 118, "initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
    return HEADER + "".join(f"{fill(line, **wrap_options)}\n" for line in lines) + "];\n"


def plain_configs() -> dict[str, Config]:
    """Every architecture of timm that our VisionTransformer can represent. Takes minutes."""
    import timm
    import torch

    from playground.models.timm_models import PLAIN_MODULES, read_config, why_not

    configs = {}
    for name in (name for module in PLAIN_MODULES for name in timm.list_models(module=module)):
        with torch.device("meta"):
            model = timm.create_model(name)
        if not why_not(model):
            configs[name] = read_config(model, name)
    return configs


if __name__ == "__main__":
    TABLE.write_text(javascript_table(plain_configs()), encoding="utf-8")
