"""Trains the bundled models again, from nothing: python -m workshop photographs DIR, python -m workshop train"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playground.errors import PlaygroundError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m workshop", description=__doc__.split(":")[0])
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    photographs = commands.add_parser(
        "photographs", help="fetch the photographs that the bundled model learned from, out of Debian's packages"
    )
    photographs.add_argument("folder", metavar="DIR", type=Path, help="for train --photographs DIR")
    photographs.set_defaults(run=_photographs)
    train = commands.add_parser("train", help="train a model; Ctrl-C keeps what there is")
    train.add_argument(
        "--photographs", metavar="DIR", type=Path,
        help="the bundled model, which nobody tells where to look (PHOTOGRAPHS.md); without: the one that is told, on "
        "drawn scenes",
    )  # fmt: skip
    train.add_argument("--out", metavar="DIR", type=Path, help="where everything goes (default: runs/ and the name)")
    train.add_argument("--steps", type=int, metavar="N", help="of the course (default: as the bundled models had)")
    train.add_argument("--seed", type=int, default=0, metavar="N", help="the same gives the same weights (default: 0)")
    train.add_argument("--workers", type=int, metavar="N", help="processes that draw; the result is the same")
    train.add_argument("--device", metavar="D", help="cpu, cuda, mps … (default: a GPU where there is one)")
    train.set_defaults(run=_train)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except PlaygroundError as error:
        print(f"workshop: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _photographs(options: argparse.Namespace) -> None:
    from workshop.gather import gather

    pictures, objects = gather(options.folder)
    print(f"{options.folder} holds {pictures} photographs and {objects} cut-out things")


def _train(options: argparse.Namespace) -> None:
    from workshop.terminal import Choices, train_on_photographs, train_on_scenes

    choices = Choices(options.out, options.steps, options.seed, options.workers, options.device)
    if options.photographs:
        train_on_photographs(options.photographs, choices)
    else:
        train_on_scenes(choices)


if __name__ == "__main__":
    sys.exit(main())
