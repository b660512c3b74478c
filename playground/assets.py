"""Where the things lie that ship with the playground. Each is made by a command of this repository."""

from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"
BUNDLED = ASSETS / "bundled.safetensors"  # python -m playground train
SAMPLES = ASSETS / "samples"  # python -m playground.samples
PACKS = ASSETS / "packs"  # python -m playground.serving.prepared
OFFERS = ASSETS / "models.json"  # python benchmarks/zoo.py --offers
TIMELAPSE = ASSETS / "timelapse.bin"  # python -m playground.training.timelapse
