"""The command `figure`: makes one or many files from pictures and choices."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from playground.assets import BUNDLED_MODEL
from playground.errors import PlaygroundError
from playground.figures import command_line, layouts
from playground.figures.drawing import naming
from playground.figures.drawing.spec import POOLINGS, Spec, read_numbers, read_query, read_size
from playground.pictures import images

FIELDS = [name for name in command_line.FLAGS if name not in ("size", "layer", "head", "query")]
HTML = ".html"


def add_command(commands, **parser_options) -> None:
    parser = commands.add_parser("figure", help="draw what one patch listens to", **parser_options)
    parser.usage = f"{parser.prog} IMAGE … -o FILE [what is shown] [how it looks]"
    parser.add_argument("images", metavar="IMAGE", nargs="*", help="pictures, folders of them, or the name of a sample")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True,
        help="a .png, .svg, .pdf or .html file; .npz, .csv or .json for its numbers; .txt for its caption; for many, a "
        "folder, or a name with {image}, {layer}, {head} in it",
    )  # fmt: skip
    groups = command_line.add_arguments(parser)
    groups["the file"].add_argument(
        "--skip-existing", action="store_true", help="keep the files that are there: a run that was stopped goes on"
    )
    parser.set_defaults(run=run, parser=parser)  # __main__ suggests one of its flags for a mistyped one


def run(options: argparse.Namespace) -> int:
    """Returns the exit status: 1 if one of many figures could not be made."""
    spec = _spec(options)
    _check(spec, options)
    return _make(options, _plan(spec, options, pictures_of(options.images, Path(options.output))))


def _spec(options: argparse.Namespace) -> Spec:
    """The options as a Spec without a picture. For a drawn figure, layer and head are left out too, because the options
    may name several."""
    values = {name: getattr(options, name) for name in FIELDS}
    values["model"] = options.model or ("bundled" if BUNDLED_MODEL.exists() else "untrained")
    if values["model"] == "untrained" and options.model is None:
        print("playground: there is no bundled model here; this one is untrained (see --model)", file=sys.stderr)
    size, query = read_size(options.size), read_query(options.query)
    spec = Spec(**values, size=size, query=query)
    return command_line.spec_of_html(spec, options.layer, options.head) if _is_html(options.output) else spec


def _is_html(output: str) -> bool:
    return Path(output).suffix.lower() == HTML


def _is_folder(output: str) -> bool:
    return output.endswith(("/", "\\")) or Path(output).is_dir()


def _check(spec: Spec, options: argparse.Namespace) -> None:
    """Raises for impossible options before anything is traced."""
    if not _is_folder(options.output):
        from playground.figures import files

        files.check_kind(Path(options.output))
    layouts.of(spec).check(spec)
    if _is_html(options.output):
        from playground.figures import html

        html.check(spec)


# Planning the files ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """All figures of one picture, which is traced once."""

    spec: Spec
    files: dict[Path, Spec]


def _plan(spec: Spec, options: argparse.Namespace, images: list[str]) -> list[Job]:
    """A job for each picture. Raises for duplicate file names, before any file is written."""
    names = short_names(images)
    if "pictures" in (spec.rows, spec.columns):  # a grid shows all pictures in one figure
        if name_with_comma := next((name for name in images if "," in name), None):
            raise PlaygroundError(f"A grid lists its pictures with commas between them: rename {name_with_comma}.")
        axis = f"pictures:{','.join(images)}"
        spec = replace(spec, **{field: axis for field in ("rows", "columns") if getattr(spec, field) == "pictures"})
        images = images[:1]
    has_several = len(images) > 1 or _is_folder(options.output)
    jobs, taken_paths = [], {_path_key(Path(name)): name for name in images if Path(name).exists()}
    for image in images:
        job_spec = replace(spec, image=image)
        job_spec = replace(job_spec, head=job_spec.look.head) if options.head is None and job_spec.look else job_spec
        layers, heads = _layers_and_heads(job_spec, options)
        name = _namer(options, has_several, len(layers) > 1, len(heads) > 1)
        files = {}
        for layer in layers:
            for head in heads:
                path = name(image=names[image], layer=layer, head=head)
                if (conflict := taken_paths.get(_path_key(path))) is not None:
                    raise PlaygroundError(f"{path} would be written over {conflict}: choose another -o.")
                taken_paths[_path_key(path)] = f"the figure of {image}"
                files[path] = job_spec if _is_html(options.output) else replace(job_spec, layer=layer, head=head)
        jobs.append(Job(job_spec, files))
    return jobs


def _path_key(path: Path) -> str:
    """A key that is equal for two names of one file, also on systems where "A" and "a" are the same name."""
    return str(path.resolve()).casefold()


def _layers_and_heads(spec: Spec, options: argparse.Namespace) -> tuple[list, list]:
    """(layers, heads): each pair of them gets a figure. None stands for the picture's and model's default layer."""
    if _is_html(options.output):
        return [spec.layer], [spec.head]
    layers, heads = [None], [spec.head]
    if options.layer is not None or options.head is not None:
        from playground.figures.request import model

        config = model(spec).config
        if options.layer is not None:
            layers = read_numbers(options.layer, config.depth, "layer")
        if options.head in POOLINGS:
            heads = [options.head]
        elif options.head is not None:
            heads = read_numbers(options.head, config.heads, "head")
    return layers, heads


def _namer(options: argparse.Namespace, has_several: bool, has_layers: bool, has_heads: bool):
    """Returns a function that gives each figure's path. If -o is a folder, a file is named after its picture, layer and
    head; otherwise {image}, {layer} and {head} are filled into the name after -o."""
    output = options.output
    name_parts = ["{image}", *["layer-{layer}"] * has_layers, *["head-{head}"] * has_heads]
    if _is_folder(output):
        output = str(Path(output) / f"{'-'.join(name_parts)}.png")
    needed_fields = ["{image}"] * has_several + ["{layer}"] * has_layers + ["{head}"] * has_heads
    if missing_fields := [field for field in needed_fields if field not in output]:
        raise PlaygroundError(
            f"Several figures can't have one name: put {' and '.join(missing_fields)} into it, such as -o "
            f"'{'-'.join(name_parts)}.png', or give a folder."
        )
    if "{layer}" in output and options.layer is None:
        raise PlaygroundError("-o names a {layer}: say which with --layer.")
    return lambda **fields: Path(re.sub(r"\{(image|layer|head)\}", lambda match: str(fields[match[1]]), output))


# Making the figures ---------------------------------------------------------------------------------------------------


def _make(options: argparse.Namespace, jobs: list[Job]) -> int:
    """Makes all figures of one command. Returns the exit status: 1 if one of many pictures could not be drawn."""
    from tqdm import tqdm

    bar = tqdm(jobs, desc="drawing", unit="picture", disable=len(jobs) == 1 or not sys.stderr.isatty())
    complain = partial(bar.write, file=sys.stderr)
    total, written, kept, failures, untrained = sum(len(job.files) for job in jobs), 0, 0, 0, set[str]()
    try:
        for job in bar:
            missing = {path: spec for path, spec in job.files.items() if not (options.skip_existing and path.exists())}
            kept += len(job.files) - len(missing)
            try:
                for file in _figures_of(job, missing, complain, untrained):
                    written += 1
                    bar.write(str(file), file=sys.stdout)
            except PlaygroundError as error:
                if len(jobs) == 1:
                    raise
                failures += 1
                complain(f"playground: {job.spec.image}: {error}")
    except KeyboardInterrupt:
        complain(f"\nplayground: stopped; {written} of {total} figures are finished. --skip-existing goes on.")
        raise
    if kept:
        complain(f"playground: {kept} files were there and are kept")
    if failures:
        complain(f"playground: {failures} of {len(jobs)} pictures were skipped")
    return int(failures > 0)


def _figures_of(
    job: Job, missing: dict[Path, Spec], complain: Callable[[str], None], untrained: set[str]
) -> Iterator[Path]:
    """Traces the picture once, and yields each file when it is written. `untrained`: models already complained of."""
    if not missing:
        return
    from playground.figures import files
    from playground.figures.request import from_files

    trace, image, draw_arguments = from_files(job.spec)
    for path, spec in missing.items():
        if not path.parent.exists():  # said, so that a mistyped name is noticed at once
            try:
                path.parent.mkdir(parents=True)
            except OSError as error:
                raise PlaygroundError(f"{path.parent} can't be written: {error.strerror or error}.") from None
            complain(f"playground: made the folder {path.parent}")
        yield files.write_file(path, files.data(path.name, spec, trace, image, **draw_arguments))
        if path.suffix.lower() == HTML:
            from playground.figures import html

            held = len(html.layers(html.filled_spec(spec, trace, image), trace))
            complain(f"{path}: {path.stat().st_size / 1e6:.2f} MB with {held} of {trace.layers} layers")
    for one in filter(naming.is_random, dict.fromkeys((trace, draw_arguments.get("other") or trace))):
        if (name := naming.model(one)) not in untrained:
            untrained.add(name)
            complain(f"playground: {name}: nothing of what this figure shows was learned")


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
    return list({_absolute_path(name): name for name in reversed(pictures)}.values())[::-1]


def _absolute_path(name: str) -> str:
    return str(Path(name).resolve()) if Path(name).exists() else name


def short_names(names: list[str]) -> dict[str, str]:
    """{picture: its file's stem}; where stems are equal, its folder, stem and suffix. Names that differ only in case
    count as equal."""
    counts = Counter(Path(name).stem.casefold() for name in names)

    def short(path: Path) -> str:
        if counts[path.stem.casefold()] == 1:
            return path.stem
        return "-".join(filter(None, [path.resolve().parent.name, path.stem, path.suffix[1:]]))

    return {name: short(Path(name)) for name in names}
