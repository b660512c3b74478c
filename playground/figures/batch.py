"""The command `figure`: makes one or many files from pictures and choices."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from playground.assets import BUNDLED_MODEL
from playground.errors import PlaygroundError
from playground.figures import command_line, layouts
from playground.figures.drawing.spec import Spec, read_head, read_query, read_size
from playground.pictures import images

FIELDS = [name for name in command_line.FLAGS if name not in ("size", "head", "query")]


def add_command(commands: Any, **parser_options: Any) -> None:
    parser = commands.add_parser("figure", help="draw what one patch listens to", **parser_options)
    parser.usage = f"{parser.prog} IMAGE … -o FILE [what is shown] [how it looks]"
    parser.add_argument("images", metavar="IMAGE", nargs="*", help="pictures, folders of them, or the name of a sample")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True,
        help="a .png, .svg, .pdf or .html file; .npz or .csv for its numbers; .txt for its caption; for many, a "
        "folder, or a name with {image} in it",
    )  # fmt: skip
    command_line.add_arguments(parser)
    parser.set_defaults(run=run, parser=parser)  # __main__ suggests one of its flags for a mistyped one


def run(options: argparse.Namespace) -> int:
    """Returns the exit status: 1 if one of many figures could not be made."""
    spec = _spec(options)
    _check(spec, options)
    return _make(_plan(spec, options, pictures_of(options.images, Path(options.output))))


def _spec(options: argparse.Namespace) -> Spec:
    """The options as a Spec without a picture."""
    values = {name: getattr(options, name) for name in FIELDS}
    values["model"] = options.model or ("bundled" if BUNDLED_MODEL.exists() else "untrained")
    if values["model"] == "untrained" and options.model is None:
        print("playground: there is no bundled model here; this one is untrained (see --model)", file=sys.stderr)
    return Spec(**values, size=read_size(options.size), head=read_head(options.head), query=read_query(options.query))


def _is_folder(output: str) -> bool:
    return output.endswith(("/", "\\")) or Path(output).is_dir()


def _check(spec: Spec, options: argparse.Namespace) -> None:
    """Raises for impossible options before anything is traced."""
    if not _is_folder(options.output):
        from playground.figures import files

        files.check_kind(Path(options.output))
    layouts.of(spec).check(spec)
    if Path(options.output).suffix.lower() == ".html":
        from playground.figures import html

        html.check(spec)


def _plan(spec: Spec, options: argparse.Namespace, images: list[str]) -> dict[Path, Spec]:
    """A file for each picture. Raises for duplicate file names, before any file is written."""
    names, output = short_names(images), options.output
    if "pictures" in (spec.rows, spec.columns):  # a grid shows all pictures in one figure
        if name_with_comma := next((name for name in images if "," in name), None):
            raise PlaygroundError(f"A grid lists its pictures with commas between them: rename {name_with_comma}.")
        axis = f"pictures:{','.join(images)}"
        rows, columns = (axis if kind == "pictures" else kind for kind in (spec.rows, spec.columns))
        spec = replace(spec, rows=rows, columns=columns)
        images = images[:1]
    if _is_folder(output):
        output = str(Path(output) / "{image}.png")
    if len(images) > 1 and "{image}" not in output:
        raise PlaygroundError(
            "Several figures can't have one name: put {image} into it, such as -o '{image}.png', or give a folder."
        )
    plan, taken_paths = {}, {_path_key(Path(name)): name for name in images if Path(name).exists()}
    for image in images:
        one = replace(spec, image=image)
        path = Path(output.replace("{image}", names[image]))
        if (conflict := taken_paths.get(_path_key(path))) is not None:
            raise PlaygroundError(f"{path} would be written over {conflict}: choose another -o.")
        taken_paths[_path_key(path)] = f"the figure of {image}"
        plan[path] = replace(one, head=one.look.head) if options.head is None and one.look else one
    return plan


def _path_key(path: Path) -> str:
    """A key that is equal for two names of one file, also on systems where "A" and "a" are the same name."""
    return str(path.resolve()).casefold()


def _make(plan: dict[Path, Spec]) -> int:
    """Makes all figures of one command. Returns the exit status: 1 if one of many could not be drawn."""
    from tqdm import tqdm

    bar = tqdm(plan.items(), desc="drawing", unit="picture", disable=len(plan) == 1 or not sys.stderr.isatty())
    failures = 0
    for path, spec in bar:
        try:
            _write(path, spec)
            bar.write(str(path), file=sys.stdout)
        except PlaygroundError as error:
            if len(plan) == 1:
                raise
            failures += 1
            bar.write(f"playground: {spec.image}: {error}", file=sys.stderr)
    if failures:
        bar.write(f"playground: {failures} of {len(plan)} pictures were skipped", file=sys.stderr)
    return int(failures > 0)


def _write(path: Path, spec: Spec) -> None:
    from playground.figures import files
    from playground.figures.request import from_files

    trace, image, draw_arguments = from_files(spec)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlaygroundError(f"{path.parent} can't be written: {error.strerror or error}.") from None
    files.write_file(path, files.data(path.name, spec, trace, image, **draw_arguments))


# Finds the pictures that a command names, and gives each a short unique name for its figures.


def pictures_of(names: list[str], out: Path | None = None) -> list[str]:
    """Expands names, folders with their subfolders, and patterns to a list of pictures, each of them once; without
    what an earlier run wrote into `out`, a subfolder of theirs."""
    out = None if out is None else out.resolve()
    pictures: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            files = images.in_folder(path)
            if out is not None and path.resolve() in out.parents:
                files = [file for file in files if out not in file.resolve().parents]
            if not files:
                raise PlaygroundError(f"The folder {name} holds no picture.")
            pictures += map(str, files)
        elif "*" in path.name and not path.exists():
            pictures += sorted(str(file) for file in path.parent.glob(path.name)) or [name]
        else:
            pictures.append(name)
    if not pictures:
        raise PlaygroundError("Which picture? Give a file, a folder, or the name of a sample such as meadow.")
    return list({Path(name).resolve(): name for name in reversed(pictures)}.values())[::-1]


def short_names(names: list[str]) -> dict[str, str]:
    """{picture: its file's stem}; where stems are equal, its folder, stem and suffix. Names that differ only in case
    count as equal."""
    counts = Counter(Path(name).stem.casefold() for name in names)

    def short(path: Path) -> str:
        if counts[path.stem.casefold()] == 1:
            return path.stem
        return "-".join(filter(None, [path.resolve().parent.name, path.stem, path.suffix[1:]]))

    return {name: short(Path(name)) for name in names}
