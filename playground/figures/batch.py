"""The command `figure`: from pictures and choices to files, one or many."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from playground import figures
from playground.errors import PlaygroundError
from playground.figures import command_line, naming
from playground.figures.spec import Spec

FIELDS = [name for name in command_line.FLAGS if name not in ("size", "layer", "head", "query")]
PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic"}
HTML = ".html"


def add_command(commands, **look) -> None:
    parser = commands.add_parser("figure", help="draw what one patch listens to", **look)
    parser.add_argument("images", metavar="IMAGE", nargs="*", help="pictures, folders of them, or the name of a sample")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True,
        help="a .png, .svg, .pdf or .html file; a .gif, .webp or .png of a sweep; for many, a folder, or a name with "
        "{image}, {layer}, {head} in it",
    )  # fmt: skip
    command_line.add_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Gives the exit status: 1 when one of many could not be made."""
    spec = _spec(options)
    _check(spec, options)
    images = _pictures(options.images) if spec.layout != "curves" else [""]
    many = _Many(options, spec, len(images) > 1 or _is_folder(options.output))
    failed = 0
    for name in many.track(images):
        try:
            for path in many.make(name):
                many.say(str(path))
        except PlaygroundError as error:
            if len(images) == 1:
                raise
            failed += 1
            many.complain(f"playground: {name}: {error}")
    if failed:
        print(f"playground: {failed} of {len(images)} pictures were skipped", file=sys.stderr)
    return int(failed > 0)


def _spec(options: argparse.Namespace) -> Spec:
    """Without a picture; of a drawn figure also without layer and head, which may be several."""
    from playground import zoo

    given = {name: getattr(options, name) for name in FIELDS}
    given["model"] = options.model or ("bundled" if zoo.BUNDLED.exists() else "untrained")
    if given["model"] == "untrained" and options.model is None and options.layout != "curves":
        print("playground: there is no bundled model here; this one is untrained (see --model)", file=sys.stderr)
    size, query = command_line.read_size(options.size), command_line.read_query(options.query)
    spec = Spec(**given, size=size, query=query)
    return command_line.holding(spec, options.layer, options.head) if _is_html(options.output) else spec


def _is_html(output: str) -> bool:
    return Path(output).suffix.lower() == HTML


def _is_folder(output: str) -> bool:
    return output.endswith(("/", "\\")) or Path(output).is_dir()


def _check(spec: Spec, options: argparse.Namespace) -> None:
    """What can't be is said before anything is traced."""
    allowed = figures.MOVING if spec.sweep else (*figures.SUFFIXES, HTML)
    if not _is_folder(options.output) and Path(options.output).suffix.lower() not in allowed:
        raise PlaygroundError(f"-o must end in {', '.join(allowed)}; given was {options.output}.")
    if spec.layout == "curves" and options.images:
        raise PlaygroundError("The layout curves shows random rows: it takes no picture.")
    if _is_html(options.output):
        from playground.figures import html

        html.check(spec)
    elif spec.view:
        raise PlaygroundError("--view says what an interactive figure begins with: leave it out, or write an .html.")


def _pictures(names: list[str]) -> list[str]:
    """Folders opened, and patterns that the shell has left as they are."""
    found: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            inside = sorted(str(file) for file in path.iterdir() if file.suffix.lower() in PICTURES)
            if not inside:
                raise PlaygroundError(f"The folder {name} holds no picture.")
            found += inside
        elif "*" in path.name and not path.exists():
            found += sorted(str(file) for file in path.parent.glob(path.name)) or [name]
        else:
            found.append(name)
    if not found:
        raise PlaygroundError("Which picture? Give a file, a folder, or the name of a sample such as meadow.")
    return found


@dataclass
class _Many:
    """All figures of a run: they share the model, and each picture is traced once."""

    options: argparse.Namespace
    spec: Spec
    several: bool
    bar: object = None
    warned: set[str] = field(default_factory=set)

    def track(self, images: list[str]):
        from tqdm import tqdm

        hidden = len(images) == 1 or not sys.stderr.isatty()
        self.bar = tqdm(images, desc="drawing", unit="picture", disable=hidden)
        return self.bar

    def say(self, text: str) -> None:
        self.bar.write(text, file=sys.stdout)

    def complain(self, text: str) -> None:
        self.bar.write(text, file=sys.stderr)

    def make(self, name: str) -> list[Path]:
        if self.spec.layout == "curves":
            return [figures.write(figures.draw(self.spec), self.options.output)]
        from playground.figures.request import from_files

        spec = replace(self.spec, image=name)
        if self.options.head is None and spec.look:
            spec = replace(spec, head=spec.look.head)
        seen, image, others = from_files(spec)
        made = (
            [self._interactive(spec, seen, image)]
            if _is_html(self.options.output)
            else self._drawn(spec, seen, image, others)
        )
        self._warn(seen, others.get("other", seen))
        return made

    def _drawn(self, spec: Spec, seen, image, others: dict) -> list[Path]:
        layers, heads = self._chosen(spec, seen)
        layers = layers[:1] if spec.layout in ("wall", "atlas") or spec.sweep == "layers" else layers
        heads = heads[:1] if spec.layout in ("heads", "wall", "atlas") else heads
        path = self._namer(spec.image, layers, heads)
        return [
            self._one(path(layer, head), replace(spec, layer=layer, head=head), seen, image, others)
            for layer in layers
            for head in heads
        ]

    def _one(self, path: Path, spec: Spec, seen, image, others: dict) -> Path:
        if spec.sweep:
            return figures.animate(path, spec, seen, image, self._frames, **others)
        return figures.write(figures.draw(spec, seen, image, **others), path)

    def _frames(self, frames):
        from tqdm import tqdm

        return tqdm(frames, desc="frames", unit="frame", leave=False, disable=not sys.stderr.isatty())

    def _interactive(self, spec: Spec, seen, image) -> Path:
        from playground.figures import html

        path = self._namer(spec.image, [], [])(0, 0)
        spec = naming.published(spec)
        spec = html.filled(spec, seen, image)
        megabytes = html.write(path, spec, seen, image) / 1e6
        self.complain(f"{path}: {megabytes:.2f} MB with {len(html.layers(spec, seen))} of {seen.layers} layers")
        return path

    def _warn(self, *traces) -> None:
        for name in {naming.model(seen) for seen in traces if naming.is_random(seen)} - self.warned:
            self.warned.add(name)
            self.complain(f"playground: {name}: nothing of what this figure shows was learned")

    def _chosen(self, spec: Spec, seen) -> tuple[list[int], list[int]]:
        layers = [spec.settled(seen).layer] if self.options.layer is None else self._numbers("layer", seen.layers)
        return layers, [spec.head] if self.options.head is None else self._numbers("head", seen.heads)

    def _numbers(self, what: str, most: int) -> list[int]:
        return command_line.read_numbers(getattr(self.options, what), most, f"--{what}")

    def _namer(self, image: str, layers: list[int], heads: list[int]) -> Callable[[int, int], Path]:
        """Where each figure goes: into a folder, named after what it shows, or where the given name's fields say."""
        given, stem = self.options.output, Path(image).stem
        parts = ["{image}", *["layer-{layer}"] * (len(layers) > 1), *["head-{head}"] * (len(heads) > 1)]
        if _is_folder(given):
            Path(given).mkdir(parents=True, exist_ok=True)
            kind = ".webp" if self.spec.sweep else ".png"
            given = str(Path(given) / ("-".join(parts) + kind))
        needs = ["{image}"] * self.several + ["{layer}"] * (len(layers) > 1) + ["{head}"] * (len(heads) > 1)
        if missing := [field for field in needs if field not in given]:
            raise PlaygroundError(
                f"Several figures can't have one name: put {' and '.join(missing)} into it, such as -o "
                f"'{'-'.join(parts)}.png', or give a folder."
            )

        def path(layer: int, head: int) -> Path:
            return Path(given.replace("{image}", stem).replace("{layer}", str(layer)).replace("{head}", str(head)))

        return path
