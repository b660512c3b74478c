"""The command `figure`: makes one or many files from pictures and choices, and a manifest if there are many."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from playground import figures
from playground.assets import BUNDLED_MODEL
from playground.errors import PlaygroundError
from playground.figures import command_line, layouts
from playground.figures.drawing import naming
from playground.figures.drawing.spec import POOLINGS, Spec, read_numbers, read_query, read_size
from playground.figures.files import write_file
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
    if not layouts.of(spec).of_pictures:
        print(_write(Path(options.output), spec))
        return 0
    return _Batch(options, spec, _plan(spec, options, pictures_of(options.images, Path(options.output)))).make()


def _spec(options: argparse.Namespace) -> Spec:
    """The options as a Spec without a picture. For a drawn figure, layer and head are left out too, because the options
    may name several."""
    values = {name: getattr(options, name) for name in FIELDS}
    values["model"] = options.model or ("bundled" if BUNDLED_MODEL.exists() else "untrained")
    if values["model"] == "untrained" and options.model is None and layouts.LAYOUTS[options.layout].of_pictures:
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
    suffixes = *figures.SUFFIXES, *figures.NUMBER_SUFFIXES, ".txt", HTML
    if not _is_folder(options.output) and Path(options.output).suffix.lower() not in suffixes:
        raise PlaygroundError(f"-o must end in {', '.join(suffixes)}; given was {options.output}.")
    layouts.of(spec).check(spec)
    if not layouts.of(spec).of_pictures and options.images:
        raise PlaygroundError(f"The layout {spec.layout} shows random rows: it takes no picture.")
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
    short_names = unique_names(images)
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
                path = name(image=short_names[image], layer=layer, head=head)
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


def _write(path: Path, spec: Spec, *subject, **draw_arguments) -> Path:
    """Writes a figure as a picture, as numbers, or as its caption."""
    from playground.figures import files

    kind = path.suffix.lower()
    if kind == ".txt":
        return files.write_caption(path, spec, *subject, **draw_arguments)
    if kind in figures.NUMBER_SUFFIXES:
        return files.write_numbers(path, spec, *subject, **draw_arguments)
    return files.write(figures.draw(spec, *subject, **draw_arguments), path)


@dataclass
class _Batch:
    """Makes all figures of one command, with one model."""

    options: argparse.Namespace
    spec: Spec
    jobs: list[Job]
    written: list[Path] = field(default_factory=list)
    skipped: int = 0  # number of files that existed already
    bar: object = None
    printed: set[str] = field(default_factory=set)  # messages printed in this run; none is printed twice

    def make(self) -> int:
        from tqdm import tqdm

        is_quiet = len(self.jobs) == 1 or not sys.stderr.isatty()
        self.bar = tqdm(self.jobs, desc="drawing", unit="picture", disable=is_quiet)
        self._make_folders()
        manifest, failures = Manifest.of([path for job in self.jobs for path in job.files]), 0
        try:
            for job in self.bar:
                try:
                    self._make_job(job, manifest)
                except PlaygroundError as error:
                    if len(self.jobs) == 1:
                        raise
                    failures += 1
                    self.complain(f"playground: {job.spec.image}: {error}")
        except KeyboardInterrupt:
            self._say_what_is_finished()
            raise
        if self.skipped:
            print(f"playground: {self.skipped} files were there and are kept", file=sys.stderr)
        if failures:
            print(f"playground: {failures} of {len(self.jobs)} pictures were skipped", file=sys.stderr)
        return int(failures > 0)

    def _make_folders(self) -> None:
        """Makes missing folders and says so, so that a mistyped name is noticed at once."""
        for folder in sorted({path.parent for job in self.jobs for path in job.files}):
            if not folder.exists():
                try:
                    folder.mkdir(parents=True)
                except OSError as error:
                    raise PlaygroundError(f"{folder} can't be written: {error.strerror or error}.") from None
                self.complain(f"playground: made the folder {folder}")

    def _say_what_is_finished(self) -> None:
        total = sum(len(job.files) for job in self.jobs)
        last_words = f", the last is {self.written[-1]}" if self.written else ""
        print(
            f"\nplayground: stopped; {len(self.written)} of {total} figures are finished{last_words}. "
            "The same command with --skip-existing goes on.",
            file=sys.stderr,
        )

    def _make_job(self, job: Job, manifest: Manifest) -> None:
        files = {path: spec for path, spec in job.files.items() if not (self.options.skip_existing and path.exists())}
        self.skipped += len(job.files) - len(files)
        if not files:
            return
        from playground.figures.request import from_files

        trace, image, draw_arguments = from_files(job.spec)
        for path, spec in files.items():
            file = self._make_file(path, spec, trace, image, draw_arguments)
            self.written.append(file)
            self.say(str(file))
            manifest.add(file, spec, trace, image, draw_arguments)
        self._warn(trace, draw_arguments.get("other", trace))

    def _make_file(self, path: Path, spec: Spec, trace, image, draw_arguments: dict) -> Path:
        if _is_html(self.options.output):
            return self._write_html(path, spec, trace, image)
        return _write(path, spec, trace, image, **draw_arguments)

    def _write_html(self, path: Path, spec: Spec, trace, image) -> Path:
        from playground.figures import html

        spec = html.filled_spec(naming.published_spec(spec), trace, image)
        megabytes = html.write(path, spec, trace, image) / 1e6
        self.complain(f"{path}: {megabytes:.2f} MB with {len(html.layers(spec, trace))} of {trace.layers} layers")
        if rounding_note := html.rounding_note(spec, trace):
            self.complain(f"{path}: {rounding_note}")
        return path

    def say(self, text: str) -> None:
        self.bar.write(text, file=sys.stdout)

    def complain(self, text: str) -> None:
        self.bar.write(text, file=sys.stderr)

    def _complain_once(self, text: str) -> None:
        if text not in self.printed:
            self.printed.add(text)
            self.complain(f"playground: {text}")

    def _warn(self, *traces) -> None:
        for name in sorted({naming.model(trace) for trace in traces if naming.is_random(trace)}):
            self._complain_once(f"{name}: nothing of what this figure shows was learned")


# The manifest of a run of many figures: manifest.json beside them, updated after each file.


MANIFEST_NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    path: Path | None  # None: a single figure has no manifest
    entries: dict[str, dict]  # a file's path, relative to the manifest's folder -> what the file shows

    @staticmethod
    def of(files: list[Path]) -> Manifest:
        """The manifest of a run that will write these files. It keeps entries of earlier runs whose files still
        exist."""
        if len(files) < 2:
            return Manifest(None, {})
        path = Path(os.path.commonpath([file.parent.resolve() for file in files])) / MANIFEST_NAME
        return Manifest(path, {name: entry for name, entry in _read(path).items() if (path.parent / name).exists()})

    def add(self, file: Path, spec: Spec, trace, image, draw_arguments: dict) -> None:
        if self.path is None:
            return
        from playground.figures import layouts
        from playground.figures.command_line import repeat_command
        from playground.figures.compose import subjects
        from playground.figures.provenance import facts

        command = repeat_command(layouts.settled(spec, trace), file.name)
        name = file.resolve().relative_to(self.path.parent).as_posix()
        entry = facts(*subjects(spec, trace, image, **draw_arguments))
        self.entries[name] = entry | ({"command": command} if command else {})
        write_file(self.path, (json.dumps(self.entries, indent=1, ensure_ascii=False) + "\n").encode())


def _read(path: Path) -> dict[str, dict]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


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


def unique_names(names: list[str]) -> dict[str, str]:
    """{picture: a short unique name}. A name is the file's stem; to equal names the file's suffix is added, then its
    folder, then a number. Names that differ only in case count as equal."""
    short_names = {name: Path(name).stem for name in names}
    for lengthen in (_with_suffix, _with_folder, None):
        counts = Counter(stem.casefold() for stem in short_names.values())
        repeated_names = [name for name, stem in short_names.items() if counts[stem.casefold()] > 1]
        for number, name in enumerate(repeated_names, start=1):
            short_names[name] = lengthen(name) if lengthen else f"{short_names[name]}-{number}"
    return short_names


def _with_suffix(name: str) -> str:
    path = Path(name)
    return f"{path.stem}-{path.suffix.lstrip('.')}" if path.suffix else path.stem


def _with_folder(name: str) -> str:
    path = Path(name).resolve()
    return f"{path.parent.name}-{_with_suffix(name)}"
