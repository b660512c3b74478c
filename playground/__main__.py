"""The command line: python -m playground figure | models | download | train."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import playground
from playground.errors import PlaygroundError

EXAMPLES = """examples:
  python -m playground figure cat.jpg --patch 7,5 -o cat.png
  python -m playground figure cat.jpg --model vit_small_patch16_224.dino --layer 8 --head 3 --patch cls -o cat.pdf
  python -m playground models "*dinov2*"
  python -m playground download vit_small_patch16_224.dino
  python -m playground train --out runs/bundled
  python -m playground train --data ~/cifar-10-batches-bin
"""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except PlaygroundError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m playground",
        description="See whom every patch of an image listens to in a Vision Transformer.",
        epilog=EXAMPLES,
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=playground.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    figure = commands.add_parser("figure", help="draw what one patch listens to", epilog=EXAMPLES, formatter_class=raw)
    figure.add_argument("image", metavar="IMAGE", help="a JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF file")
    figure.add_argument("-o", "--output", metavar="FILE", required=True, help="a .png, .svg or .pdf file to write")
    figure.add_argument(
        "--model", metavar="NAME", default=None, help="see `models` (the bundled one, or an untrained one)"
    )
    figure.add_argument(
        "--weights", metavar="FILE", help="a .safetensors file with timm's names, instead of a download"
    )
    figure.add_argument("--layer", type=int, metavar="N", help="counting from 0 (default: the last)")
    figure.add_argument("--head", type=int, default=0, metavar="N", help="counting from 0 (default: 0)")
    figure.add_argument(
        "--patch", metavar="ROW,COLUMN", help="counting from 0, or cls, dist, reg0 … (default: the middle)"
    )
    figure.add_argument("--scale", default="on", metavar="S", help="on (1/√d_k), off (1) or a number; this layer only")
    figure.add_argument("--size", metavar="HxW", help="size of the model's input in pixels (default: its native area)")
    figure.add_argument("--dpi", type=int, default=200, metavar="N", help="dots per inch of a .png (default: 200)")
    figure.set_defaults(run=_figure)

    models = commands.add_parser(
        "models", help="list the models that load, with size, licence and what they are good for"
    )
    models.add_argument(
        "pattern", nargs="?", metavar="PATTERN", help="such as dino or '*dinov2*' (default: a short list)"
    )
    models.set_defaults(run=_models)

    download = commands.add_parser("download", help="fetch weights now, so that they work without a network later")
    download.add_argument("names", nargs="+", metavar="MODEL")
    download.set_defaults(run=_download)

    train = commands.add_parser("train", help="train the bundled model again, from nothing; or one on your pictures")
    train.add_argument(
        "--data", metavar="DIR", help="CIFAR-10's binary files, or one folder of pictures per class, instead of scenes"
    )
    train.add_argument(
        "--out", metavar="DIR", help="where everything goes (default: runs/bundled, or runs/ the data's name)"
    )
    train.add_argument(
        "--steps", type=int, metavar="N", help="of learning (default: 7500; with --data 30 × all pictures)"
    )
    train.add_argument("--seed", type=int, default=0, metavar="N", help="the same gives the same weights (default: 0)")
    train.add_argument(
        "--workers", type=int, metavar="N", help="processes that draw the pictures; the result is the same"
    )
    train.add_argument("--device", metavar="D", help="cpu, cuda, mps … (default: a GPU where there is one)")
    train.set_defaults(run=_train)
    return parser


def _figure(options: argparse.Namespace) -> None:
    from playground import figures, zoo

    if Path(options.output).suffix.lower() not in figures.SUFFIXES:
        raise PlaygroundError(f"-o must end in {', '.join(figures.SUFFIXES)}; given was {options.output}.")
    if not 10 <= options.dpi <= 2400:
        raise PlaygroundError(f"--dpi goes from 10 to 2400; given was {options.dpi}.")
    image = playground.open_image(options.image)
    name = options.model or ("bundled" if zoo.BUNDLED.exists() else "untrained")
    if name == "untrained" and options.model is None:
        print("playground: there is no bundled model here; this one is untrained (see --model)", file=sys.stderr)
    vit = playground.load(name, weights=options.weights)
    seen = playground.trace(vit, image, size=_size(options.size))
    layer = seen.layers - 1 if options.layer is None else options.layer
    query = _query(options.patch, seen.grid)
    figure = figures.attention_row(seen, image, layer, options.head, query, options.scale)
    figures.save(figure, Path(options.output), options.dpi)
    print(options.output)


def _query(text: str | None, grid: tuple[int, int]) -> tuple[int, int] | str:
    if text is None:
        return grid[0] // 2, grid[1] // 2
    parts = text.split(",")
    if len(parts) == 2 and all(part.strip().lstrip("-").isdecimal() for part in parts):
        return int(parts[0]), int(parts[1])
    return text


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise PlaygroundError(f"--size is HEIGHTxWIDTH in pixels, such as 448x672; given was {text}.")
    return int(parts[0]), int(parts[1])


def _models(options: argparse.Namespace) -> None:
    from tqdm import tqdm

    from playground import zoo

    names = list(zoo.CURATED) if options.pattern is None else zoo.matching(options.pattern)
    rows = []
    for name in tqdm(names, desc="looking", unit="model", leave=False, disable=not sys.stderr.isatty()):
        if card := zoo.card(name):
            rows.append(card)
    if options.pattern is None:
        print(f"{'bundled':50} ships with the playground" + ("" if zoo.BUNDLED.exists() else " (not in this copy)"))
        print(f"{'untrained':50} a small one with random weights")
        print(f"{'ViT-Ti/16, -S/16, -B/16, -L/16, -H/14':50} the paper's architectures, with random weights\n")
    if not rows:
        raise PlaygroundError(f"No model that loads is called {options.pattern!r}; try a part of a name, such as dino.")
    print(f"{'name':50} {'layers':>6} {'heads':>5} {'patch':>5} {'input':>7} {'MB':>6}  {'licence':14} good for")
    for card in rows:
        side = f"{card.config.image_size[0]}²"
        print(
            f"{card.name:50} {card.config.depth:6} {card.config.heads:5} {card.config.patch_size:5} {side:>7} "
            f"{card.megabytes:6,.0f}  {card.licence:14} {card.good_for}".rstrip()
        )
    if options.pattern is None:
        print("\nEvery other plain ViT of timm loads as well: python -m playground models '*'")


def _download(options: argparse.Namespace) -> None:
    from playground import zoo

    for name in options.names:
        zoo.timm_config(name)  # all names are checked before the first byte comes
    for i, name in enumerate(options.names, start=1):
        print(f"[{i}/{len(options.names)}] {name}", file=sys.stderr)
        playground.load(name, device="cpu")
        print(f"{name} is on this machine")


def _train(options: argparse.Namespace) -> None:
    from playground import runs

    out = None if options.out is None else Path(options.out)
    choices = runs.Choices(out, options.steps, options.seed, options.workers, options.device)
    if options.data is None:
        runs.on_scenes(choices)
    else:
        runs.on_pictures(Path(options.data).expanduser(), choices)


if __name__ == "__main__":
    sys.exit(main())
