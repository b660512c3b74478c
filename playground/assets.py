"""Paths of the files that ship with the playground: beside the package in a checkout, inside it when installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
HOME = PACKAGE / "app" if (PACKAGE / "app").is_dir() else PACKAGE.parent  # the wheel has the folder app/

IS_INSTALLED = PACKAGE.parent != HOME
PROGRAM = "attention-playground" if IS_INSTALLED else "python -m playground"  # the command's name in messages

APP = HOME / "app.py"
ASSETS = HOME / "assets"
# Behind each file stands the command that makes it:
BUNDLED_MODEL = ASSETS / "bundled.safetensors"  # python -m workshop train --photographs DIR
TAUGHT_MODEL = ASSETS / "bundled-taught.safetensors"  # python -m workshop train
SHIPPED_MODELS = {"bundled": BUNDLED_MODEL, "bundled-taught": TAUGHT_MODEL}  # models by name
SAMPLES = ASSETS / "samples"  # python -m workshop.samples
DRAWINGS = ASSETS / "drawings"  # python -m workshop.samples
PACKS = ASSETS / "packs"  # python -m workshop.packs
OFFERS = ASSETS / "models.json"  # python benchmarks/zoo.py --offers
TIMELAPSE = ASSETS / "timelapse.bin"  # python -m workshop.timelapse RUN
TAUGHT_CURVES = ASSETS / "timelapse-taught.bin"  # python -m workshop.timelapse RUN --curves
APPETITE = ASSETS / "appetite.json"  # python -m workshop.appetite
MEASURED = ASSETS / "measured.json"  # of the bundled model: python benchmarks/bundled.py --write-card
PLACE = ASSETS / "place.json"  # what places explain of heads: python benchmarks/place.py PHOTOGRAPHS
# python -m playground faithfulness PHOTOGRAPHS --side 112 (benchmarks/striking.py), SCENES (workshop/drawn_masks.py)
FAITHFULNESS = ASSETS / "faithfulness.csv"
