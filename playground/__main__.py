"""The command line: python -m playground figure | models | download | train."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from playground.errors import PlaygroundError
from playground.figures import request
from playground.version import __version__

EXAMPLES = """examples:
  python -m playground figure cat.jpg --patch 7,5 -o cat.png
  python -m playground figure cat.jpg --model vit_small_patch16_224.dino --layer 8 --head 3 --patch cls -o cat.pdf
  python -m playground figure meadow --layout convolution --patch 9,7 --theme dark -o slide.svg
  python -m playground figure meadow --patch 9,7 --sweep layers -o meadow.webp
  python -m playground figure photos/ --layer all --for column -o 'out/{image}-{layer}.pdf'
  python -m playground models "*dinov2*"
  python -m playground download vit_small_patch16_224.dino
  python -m playground train --out runs/bundled
  python -m playground train --data ~/cifar-10-batches-bin
"""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
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
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    request.add_command(commands, epilog=EXAMPLES, formatter_class=raw)

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
        "--steps",
        type=int,
        metavar="N",
        help="of the course (default: as many as the bundled model had; with --data 30 × all pictures)",
    )
    train.add_argument("--seed", type=int, default=0, metavar="N", help="the same gives the same weights (default: 0)")
    train.add_argument(
        "--workers", type=int, metavar="N", help="processes that draw the pictures; the result is the same"
    )
    train.add_argument("--device", metavar="D", help="cpu, cuda, mps … (default: a GPU where there is one)")
    train.set_defaults(run=_train)
    return parser


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
        zoo.load(name, device="cpu")
        print(f"{name} is on this machine")


def _train(options: argparse.Namespace) -> None:
    from playground.training import terminal

    out = None if options.out is None else Path(options.out)
    choices = terminal.Choices(out, options.steps, options.seed, options.workers, options.device)
    if options.data is None:
        terminal.on_scenes(choices)
    else:
        terminal.on_pictures(Path(options.data).expanduser(), choices)


if __name__ == "__main__":
    sys.exit(main())
