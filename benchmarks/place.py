"""Measures place or content (playground/figures/place.py) of the models that come along, for the lesson *Heads*.

    python benchmarks/place.py PHOTOGRAPHS     # a folder of photographs that differ, such as striking.py fetches

Writes assets/place.json: of each model, the share of each head's scores that place alone explains, on the grid that the
app shows.
"""

import argparse
import json
from pathlib import Path

import playground
from playground.assets import PLACE
from playground.pictures.images import in_folder
from playground.serving.models import OUR_MODELS, PATCH_AND_INPUT, PHOTOGRAPH_MODEL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photographs", type=Path)
    pictures = in_folder(parser.parse_args().photographs)
    shares = {}
    for name in (*OUR_MODELS, PHOTOGRAPH_MODEL):
        size = PATCH_AND_INPUT.get(name, (8, (112, 112)))[1]
        shares[name] = [
            [round(x, 3) for x in layer] for layer in playground.place_share(pictures, name, size=size).tolist()
        ]
        print(name, shares[name])
    PLACE.write_text(json.dumps({"photographs": len(pictures), "shares": shares}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
