"""The command line: parses arguments. The commands themselves lie in other modules.

`attention-playground`, or `python -m playground` in a checkout, starts the app unless a command follows:
figure | faithfulness | numbers | site | models | download | prepare | doctor | completion.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from playground.errors import PlaygroundError, PlaygroundWarning, warn
from playground.version import __version__

EXAMPLES = """examples:
  PROGRAM
  PROGRAM figure meadow --patch 9,7 -o meadow.png
  PROGRAM figure portrait --model vit_small_patch16_224.dino --layer 8 --head 3 --patch cls -o face.pdf
  PROGRAM figure meadow --layout convolution --patch 9,7 --theme dark -o slide.svg
  PROGRAM figure meadow flock --width column -o "out/{image}.pdf"
  PROGRAM models "*dinov2*"
  PROGRAM download vit_small_patch16_224.dino
"""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors have two lines: what was wrong, and which flag was probably meant."""

    def error(self, message: str) -> NoReturn:
        if choice_match := re.search(r"invalid choice: '([^']*)'", message):  # the valid choices follow this text
            message += _nearest(choice_match[1], re.findall(r"'([^']+)'", message[choice_match.end() :]))
        raise SystemExit(_complain(f"{message.rstrip('.')}.", f"{self.prog} --help lists everything."))

    def parse_args(self, arguments: Any = None, namespace: Any = None) -> Any:
        options, unknown_words = self.parse_known_args(arguments, namespace)
        if unknown_words:
            command = getattr(options, "parser", self)
            flag = next((word for word in unknown_words if word.startswith("-")), unknown_words[0]).split("=")[0]
            if not flag.startswith("-"):
                command.error(f"{unknown_words[0]} is one word too many: a value with spaces stands in quotes")
            command.error(f"There is no {flag}" + _nearest(flag, command._option_string_actions))
        return options


def _nearest(word: str, choices: Iterable[str]) -> str:
    matches = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.5)
    return f"; the nearest is {matches[0]}" if matches else ""


def _complain(*lines: str) -> int:
    for line in lines:
        print(f"playground: {line}", file=sys.stderr)
    return 2


_usual_format = warnings.formatwarning


def _warning_text(message: Warning | str, category: type[Warning], *location: Any, **options: Any) -> str:
    """The text of a warning: of a PlaygroundWarning without file and line number."""
    if issubclass(category, PlaygroundWarning):
        return f"playground: {message}\n"
    return _usual_format(message, category, *location, **options)


def main(arguments: list[str] | None = None) -> int:
    warnings.formatwarning = _warning_text
    if Path("playground.py").exists():
        warn(f"{Path.cwd()} has a playground.py: `import playground` takes that one here. Give it another name.")
    try:
        options = _parser().parse_args(arguments)
        return options.run(options) or 0
    except PlaygroundError as error:
        return _complain(str(error))
    except ModuleNotFoundError as error:
        if str(error.name).startswith("playground"):
            raise
        return _complain(f"This needs {error.name}, which is not installed: pip install 'attention-playground[app]'.")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    from playground.figures import batch  # a slow import, done here so that main handles Ctrl-C during it
    from playground.figures.command_line import PROGRAM, WEIGHTS_HELP

    raw_format = argparse.RawDescriptionHelpFormatter
    examples = EXAMPLES.replace("PROGRAM", PROGRAM)
    parser = Parser(
        prog=PROGRAM,
        description="See whom every patch of an image listens to in a Vision Transformer. "
        "Without a command, the app starts and opens in the browser.",
        epilog=examples,
        formatter_class=raw_format,
    )
    parser.add_argument("--version", action="version", version=__version__)
    app = parser.add_argument_group("the app")
    app.add_argument("--port", type=int, metavar="N", help="where it listens (default: the first free one from 8501)")
    app.add_argument("--host", default="localhost", help="0.0.0.0 lets other machines in (default: localhost)")
    app.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="a name by which browsers call it; may be given more than once (PLAYGROUND_HOSTS)",
    )  # fmt: skip
    app.add_argument("--no-browser", action="store_true", help="only start the server")
    app.add_argument("--models", metavar="DIR", help="offer the model files in this folder too (PLAYGROUND_MODELS_DIR)")
    parser.set_defaults(run=_app)
    commands = parser.add_subparsers(metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int | None], help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help)
        added.set_defaults(run=run, parser=added)
        return added

    batch.add_command(commands, epilog=examples, formatter_class=raw_format)

    added = command("faithfulness", _faithfulness, "a table of how far each method's maps can be trusted")
    added.add_argument("images", metavar="FOLDER", nargs="+", help="pictures; FOLDER_masks has masks of the same names")
    added.add_argument("--models", metavar="MODEL", nargs="+", default=["bundled"], help="(default: bundled)")
    out_help = "a .csv, with a line for a picture and a method; a stopped run goes on"
    added.add_argument("--out", metavar="FILE", required=True, help=out_help)
    side_help = "the input has at most the pixels of a square of this side (default: 224): about 320 passes a picture"
    added.add_argument("--side", type=int, default=224, metavar="PIXELS", help=side_help)

    added = command("numbers", _numbers, "the numbers of many pictures, into a .zarr; a stopped run goes on")
    added.add_argument("images", metavar="FOLDER", help="a folder of pictures")
    added.add_argument("-o", "--output", metavar="FILE", required=True, help="a .zarr store")
    model_help = "a name, a file, a folder or a repository on the hub (default: bundled)"
    added.add_argument("--model", metavar="NAME", default="bundled", help=model_help)
    added.add_argument("--weights", metavar="FILE", help=WEIGHTS_HELP)
    what_help = "weights:8, features, entropy, distance, labels, with spaces between (default: entropy distance)"
    added.add_argument("--what", default="entropy distance", metavar="WHAT", help=what_help)
    added.add_argument("--size", metavar="HxW", help="the model's input in pixels (default: its own)")
    added.add_argument("--batch", type=int, metavar="N", help="pictures at a time (default: 8; on a GPU what fits)")
    added.add_argument("--device", metavar="D", help="cpu, cuda, mps … (default: the best there is)")

    added = command("site", _site, "write the playground as a folder of plain files, for a host without Python")
    added.add_argument("out", metavar="OUT", type=Path, help="an empty folder, or one that this has written")
    base_help = "where it will lie: /playground/, or https://example.org/ so that links have previews (default: /)"
    added.add_argument("--base", default="/", metavar="PATH", help=base_help)
    host_help = "write what this host wants too, and say what to do next"
    added.add_argument("--for", dest="host", choices=("space", "pages", "netlify"), default="", help=host_help)
    weights_help = 'whose weights go along: bundled, dinov2-small, both with a comma, or "" (default: what is here)'
    added.add_argument("--models", metavar="NAMES", help=weights_help)

    stick_help = "also write START.html, which opens by a double click, and start.py, for a room without a network"
    added.add_argument("--stick", action="store_true", help=stick_help)
    scorm_help = "also write OUT-scorm.zip, for a learning platform: it hears which exercises are done"
    added.add_argument("--scorm", action="store_true", help=scorm_help)

    added = command("models", _models, "list the models that load, with size, licence and what they are good for")
    added.add_argument("pattern", nargs="?", metavar="PATTERN", help="dino or '*dinov2*' (default: a short list)")

    added = command("download", _download, "fetch weights or photographs now, for a place without a network")
    added.add_argument(
        "names", nargs="+", metavar="NAME", help="dinov2-small, photographs, cifar-10, or a model's name"
    )

    command("prepare", _prepare, "trace the samples now, so that each is shown at once when it is chosen")
    command("doctor", _doctor, "look whether every file is whole and every version was tested; exit status 1 if not")

    added = command(
        "completion",
        lambda options: _completion(options.shell, parser),
        "print what a shell needs to complete commands and flags",
    )
    added.add_argument("shell", choices=("bash", "zsh", "fish"))
    return parser


# The code of each command is imported only when the command runs, so that --help does not wait for torch.


def _app(options: argparse.Namespace) -> None:
    from playground.ui.launch import launch

    if options.models is not None:
        from playground.models.weights_file import PICKLED

        folder = Path(options.models).expanduser()
        if not folder.is_dir():
            raise PlaygroundError(f"There is no folder {options.models} to take models from.")
        if checkpoints := sorted(file.name for file in folder.iterdir() if file.suffix in PICKLED):
            print(f"Not offered, for a server opens .safetensors only: {', '.join(checkpoints)}. Convert with")
            print("safetensors.torch.save_file(weights, FILE, metadata={'arch': NAME OF TIMM}).", flush=True)
        os.environ["PLAYGROUND_MODELS_DIR"] = str(folder.resolve())
    launch(options.host, options.port, not options.no_browser, options.allow_host)


def _faithfulness(options: argparse.Namespace) -> None:
    from playground.figures import faithfulness

    faithfulness.write(options)


def _models(options: argparse.Namespace) -> None:
    from playground.models.catalogue import list_models

    list_models(options.pattern)


def _download(options: argparse.Namespace) -> None:
    from playground.models.catalogue import download

    download(options.names)


def _numbers(options: argparse.Namespace) -> None:
    from playground.figures.drawing.spec import read_size
    from playground.figures.many import trace_many
    from playground.models.hub import bar
    from playground.models.loading import load

    vit = load(options.model, weights=options.weights, device=options.device)
    size = read_size(options.size)
    all_numbers = trace_many(options.images, vit, options.what.split(), batch=options.batch, size=size)
    try:
        print(all_numbers.write(options.output, bar()))
    except KeyboardInterrupt:
        _complain("stopped. The same command goes on from here.")
        raise


def _completion(shell: str, parser: argparse.ArgumentParser) -> None:
    import shtab

    parser.prog = "attention-playground"  # also in a checkout: a shell completes one word, not `python -m playground`
    print(shtab.complete(parser, shell))


def _site(options: argparse.Namespace) -> None:
    from playground.figures.command_line import PROGRAM
    from playground.serving import models, site_files
    from playground.ui import site
    from playground.ui.site import course, hosts

    if options.models is None:
        names = [name for name in site_files.MODELS if models.is_here(name)]
        for name in set(site_files.MODELS) - set(names):
            print(f"Without {name}, which is not on this machine: `{PROGRAM} download {name}` fetches it.")
    else:
        names = [name.strip() for name in options.models.split(",") if name.strip()]
    out = site.write(options.out.expanduser(), options.base, names, host=options.host)
    if options.stick:
        course.stick(out)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1e6:.0f} MB; to look at it: python -m http.server --directory {out}")
    if options.host:
        print(f"to publish it: {hosts.NEXT[options.host].format(out=out)}")
    if options.scorm:
        package = course.scorm(out.resolve())
        print(f"{package.name}: {package.stat().st_size / 1e6:.0f} MB, SCORM 1.2")


def _prepare(options: argparse.Namespace) -> None:
    from playground.models.hub import bar
    from playground.serving.prepared import prepare

    prepared_names = prepare(bar())
    print(f"prepared: {', '.join(prepared_names)}" if prepared_names else "every sample was prepared already")


def _doctor(_: argparse.Namespace) -> int:
    from playground.serving import doctor

    findings = doctor.examine()
    for finding in findings:
        print(f"{finding.state:6} {finding.says}")
    wrong_count = sum(finding.state == doctor.WRONG for finding in findings)
    if wrong_count:
        print(f"{wrong_count} of {len(findings)} wrong.")
    return 1 if wrong_count else 0


if __name__ == "__main__":
    sys.exit(main())
