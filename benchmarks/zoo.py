"""Which of timm's plain-ViT names load: python benchmarks/zoo.py

Every name's shapes are built twice, by timm and by us, and timm's state dict must fit ours exactly (no memory, no
network). Prints the count that the README states, and the reasons for the rest.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


def main() -> None:
    import timm
    import torch
    from tqdm import tqdm

    from playground import zoo
    from playground.vit import VisionTransformer

    names, reasons = timm.list_models(["vit_*", "deit*"]), Counter()
    for name in tqdm(names, unit="model", disable=not sys.stderr.isatty()):
        with torch.device("meta"):
            peer = timm.create_model(name)
            reason = zoo.why_not(peer)
            if reason is None:
                ours = VisionTransformer(zoo.timm_config(name))
                ours.load_state_dict(zoo.from_eva(peer.state_dict()), strict=True, assign=True)
        reasons[reason] += 1
    print(f"{reasons.pop(None)} of {len(names)} names load (timm {timm.__version__})")
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


if __name__ == "__main__":
    main()
