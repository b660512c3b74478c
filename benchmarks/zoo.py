"""Counts which of timm's plain ViTs load: python benchmarks/zoo.py
Writes the facts that the app shows for each offered model to assets/models.json: python benchmarks/zoo.py --offers

Builds each model without memory for weights, in timm and in our code, and checks that timm's state dict fits ours
exactly. Needs no network. Prints the count for docs/pages/numbers.md, and the reasons why the other names fail.
"""

import json
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


def main() -> None:
    import timm
    import torch
    from tqdm import tqdm

    from playground.errors import PlaygroundError
    from playground.models import own_pass, timm_models
    from playground.models.layouts import our_weights
    from playground.vit import VisionTransformer

    names, reasons, own_rows = timm.list_models(["vit_*", "deit*"]), Counter(), 0
    for name in tqdm(names, unit="model", disable=not sys.stderr.isatty()):
        with torch.device("meta"):
            timm_vit = timm.create_model(name)
            reason = timm_models.why_not(timm_vit)
            if reason is None:
                our_vit = VisionTransformer(timm_models.timm_config(name))
                our_vit.load_state_dict(our_weights(timm_vit.state_dict()), strict=True, assign=True)
            else:
                with suppress(PlaygroundError):
                    own_pass.attention_calls(timm_vit, torch.empty(1, 3, *timm_vit.patch_embed.img_size))
                    own_rows += 1
        reasons[reason] += 1
    print(f"{own_rows} of those that don't load show their own pass's rows")
    print(f"{reasons.pop(None)} of {len(names)} names load (timm {timm.__version__})")
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


def offers() -> dict[str, dict]:
    """{model: its facts}. The app reads them from a file, because importing timm to list them would take seconds."""
    from timm.models import get_pretrained_cfg

    from playground.models import borrowed, catalogue
    from playground.models.names import plain_name, training_pictures

    facts = {}
    for name, offer in catalogue.short_list().items():
        card = catalogue.card(name)
        hub_id = get_pretrained_cfg(borrowed.DINOV2_ON_THE_HUB if name == "dinov2-small" else name).hf_hub_id
        facts[name] = {
            "title": plain_name(name),
            "good_for": offer["good_for"],
            "suits": training_pictures(name),
            "megabytes": round(card.megabytes),
            "labels": len(card.config.labels),
            "licence": card.licence,
            "hub": hub_id,
        }
    return facts


if __name__ == "__main__":
    if sys.argv[1:] == ["--offers"]:
        from playground.assets import OFFERS

        OFFERS.write_text(json.dumps(offers(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        main()
