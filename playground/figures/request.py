"""The command `figure`: from pictures and choices to files, one or many."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from playground import figures
from playground.errors import PlaygroundError
from playground.figures import command_line
from playground.figures.spec import WITHOUT_HEADS, Spec

FIELDS = [name for name in command_line.FLAGS if name not in ("size", "layer", "head", "query")]
PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif"}
SHOWN_SIDE = 2048  # a larger picture is made smaller first, as on the page: no model looks at more
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
    spec, output = _spec(options), Path(options.output)
    _check_suffix(spec, output, folder=_is_folder(options.output))
    _check_suffix_of_layout(spec, output, options)
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
    """Without a picture, and with the first layer and head where there are several."""
    from playground import zoo

    given = {name: getattr(options, name) for name in FIELDS}
    given["model"] = options.model or ("bundled" if zoo.BUNDLED.exists() else "untrained")
    if given["model"] == "untrained" and options.model is None and options.layout != "curves":
        print("playground: there is no bundled model here; this one is untrained (see --model)", file=sys.stderr)
    size, query = command_line.read_size(options.size), command_line.read_query(options.query)
    return Spec(**given, size=size, query=query)


def _is_folder(output: str) -> bool:
    return output.endswith(("/", "\\")) or Path(output).is_dir()


def _check_suffix(spec: Spec, output: Path, folder: bool) -> None:
    allowed = figures.MOVING if spec.sweep else (*figures.SUFFIXES, HTML)
    if not folder and output.suffix.lower() not in allowed:
        raise PlaygroundError(f"-o must end in {', '.join(allowed)}; given was {output}.")


def _check_suffix_of_layout(spec: Spec, output: Path, options: argparse.Namespace) -> None:
    if spec.layout == "curves" and options.images:
        raise PlaygroundError("The layout curves shows random rows: it takes no picture.")
    if output.suffix.lower() == HTML and spec.layout != "head":
        raise PlaygroundError("An interactive figure has no layout: leave --layout out, or write a .png, .svg or .pdf.")


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


@lru_cache(maxsize=2)
def _model(name: str, weights: str | None):
    from playground.zoo import load

    return load(name, weights=weights)


def open_picture(name: str):
    """A file, or a sample by its name."""
    from playground.images import open_image
    from playground.samples import named

    sample = named(name)
    image = open_image(sample.path if sample and not Path(name).exists() else name)
    image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return image


@dataclass
class _Many:
    """All figures of a run: they share the model, and each picture is traced once."""

    options: argparse.Namespace
    spec: Spec
    several: bool
    bar: object = None

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
        spec, image = replace(self.spec, image=name), open_picture(name)
        seen, others = traces(spec, image)
        layers, heads = self._chosen(seen)
        if Path(self.options.output).suffix.lower() == HTML:
            return [self._interactive(spec, seen, image, layers, heads)]
        layers = layers[:1] if spec.layout in ("wall", "atlas") or spec.sweep == "layers" else layers
        heads = heads[:1] if spec.layout in ("heads", "wall", "atlas") else heads
        path = self._namer(name, layers, heads)
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

    def _chosen(self, seen) -> tuple[list[int], list[int]]:
        first = Spec().settled(seen).layer
        layers = [first] if self.options.layer is None else self._numbers("layer", seen.layers)
        return layers, self._numbers("head", seen.heads)

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

    def _interactive(self, spec: Spec, seen, image, layers: list[int], heads: list[int]) -> Path:
        from playground.figures import html

        if spec.what in WITHOUT_HEADS:
            raise PlaygroundError(
                f"An interactive figure has no network to ask for {spec.what}: choose another --what."
            )
        view = {
            "layer": layers[0],
            "head": heads[0],
            "query": spec.settled(seen).query,
            "scale": spec.scale,
            "what": spec.what,
        }
        view |= {"direction": spec.direction, "colours": spec.colours, "smooth": spec.smooth, "k": spec.kernel}
        view |= {} if spec.ceiling is None else {"ceiling": spec.ceiling}
        choice = {"name": Path(spec.image).name, "view": view}
        choice["heads"] = None if str(self.options.head).isdecimal() else heads  # one head: the one to begin with
        choice["layers"] = html.light(seen, image, layers[0], **choice) if self.options.layer is None else layers
        path = self._namer(spec.image, [], [])(0, 0)
        held = f"{len(choice['layers'])} of {seen.layers} layers"
        self.complain(f"{path}: {html.size(seen, image, **choice) / 1e6:.2f} MB with {held}")
        html.write(path, seen, image, **choice)
        return path


def traces(spec: Spec, image):
    """(the trace, what `figures.draw` takes beside it)."""
    from playground.tracing import trace

    vit = _model(spec.model, spec.weights)
    altered = spec.scale
    if spec.layout == "scale" and spec.whole:
        altered = "off" if spec.scale == "on" else spec.scale
        seen = trace(vit, image, size=spec.size)
        return seen, {"other": trace(vit, image, size=seen.size, scale=altered)}
    scale = altered if spec.whole else None
    seen = trace(vit, image, size=spec.size, scale=scale)
    if spec.layout != "compare":
        return seen, {}
    if spec.other_image is None and spec.other_model is None:
        raise PlaygroundError("What is it to be compared with? Add --with-image FILE or --with-model NAME.")
    other_vit = _model(spec.other_model, None) if spec.other_model else vit
    other_image = open_picture(spec.other_image) if spec.other_image else image
    return seen, {"other": trace(other_vit, other_image, scale=scale), "other_image": other_image}
