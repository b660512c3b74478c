"""The traces that a figure needs. The command line and the server each give a function that runs the network."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.drawing.naming import published_spec
from playground.figures.drawing.spec import Spec
from playground.figures.layouts import grid
from playground.figures.layouts.compare import NOTHING_TO_COMPARE
from playground.models.loading import load
from playground.pictures.images import fit, open_image
from playground.samples import find
from playground.tracing import Trace, trace
from playground.vit import VisionTransformer

# (whether to trace the other picture or model, size, scale) -> a trace
Run = Callable[[bool, tuple[int, int] | None, str], Trace]
Turn = Callable[[Trace, float], AbstractContextManager[object]]  # (a trace, number of further passes) -> a turn
SHOWN_SIDE = 2048  # pixels: a picture with a longer side is first reduced to this, as on the page
MOST_FINENESS = 4  # the input may have this many times the native patches along each side


def traces(
    spec: Spec, image: Image.Image, other_image: Image.Image, run: Run, turn: Turn = lambda seen, passes: nullcontext()
) -> tuple[Trace, dict[str, Any]]:
    """(the trace, the other arguments of `figures.draw`). `other_image`: the second picture of the layout
    "compare", if there is one. `run` traces the figure's first picture and model, or the second ones; `turn` waits for
    the queue before further passes."""
    scale = spec.scale if spec.whole else "on"
    seen = run(False, spec.size, scale)
    if spec.puts:
        from playground.analysis import interventions

        if spec.takes_another and spec.other_image is None:
            raise PlaygroundError(
                f"{spec.cut} takes something of another picture's pass: name that picture, too (--with-image)."
            )
        other = None
        if spec.takes_another:
            other_name = PurePath(published_spec(spec).other_image or "").stem
            other = replace(run(True, equally_fine_size(seen, image, other_image), scale), picture_name=other_name)
        with turn(seen, interventions.PASSES * len(spec.puts)):
            seen = interventions.run_texts(seen, spec.puts, other)
    if layouts.of(spec).beside != "other":
        return seen, {}
    size = None if spec.other_model else equally_fine_size(seen, image, other_image)
    return seen, {"other": run(True, size, scale), "other_image": other_image}


def from_files(spec: Spec) -> tuple[Trace, Image.Image, dict[str, Any]]:
    """(the trace, the picture, the other arguments of `figures.draw`), from files and samples."""
    kind = layouts.of(spec).beside
    if kind == "other" and spec.other_image is None and spec.other_model is None:
        raise PlaygroundError(NOTHING_TO_COMPARE)
    if kind == "many":
        one = replace(spec, layout="head", rows=None, columns=None)
        cells = {key: from_files(replace(one, image=key[0], model=key[1]))[:2] for key in grid.needed_traces(spec)}
        return *next(iter(cells.values())), {"more": cells}
    image = open_picture(spec.image)
    other_image = open_picture(spec.other_image) if spec.other_image else image

    def run(other: bool, size: tuple[int, int] | None, scale: str) -> Trace:
        if (file := (other and spec.other_model) or spec.model).endswith(".trace"):
            return finished_trace(Path(file), spec)
        vit = _model(spec.other_model, None) if other and spec.other_model else model(spec)
        if size is None and not other and spec.look:
            size = tuple(side * vit.config.patch_size for side in spec.look.grid)
        number = None if scale == "on" else scale
        return trace(vit, other_image if other else image, size=size, scale=number, cut=() if other else spec.cuts)

    picture_trace, draw_arguments = traces(spec, image, other_image, run)
    return picture_trace, image, draw_arguments


def finished_trace(file: Path, spec: Spec) -> Trace:
    """A trace that `Trace.save` wrote, named instead of a model: the picture is only shown beneath it."""
    seen = Trace.load(file)
    if spec.size not in (None, seen.size) or spec.cut or spec.weights or (spec.whole and spec.scale != "on"):
        raise PlaygroundError(
            f"{file.name} is one finished pass: it is not run again at another size, with cuts, other weights or "
            "another scale in all layers."
        )
    return seen


def equally_fine_size(seen: Trace, image: Image.Image, other: Image.Image) -> tuple[int, int]:
    """The input size at which the model sees `other`, of whatever shape, in patches as fine as those of `image`: a
    whole number of times its native ones, or else the size of `image`."""
    config = seen._network.config
    sizes = [tuple(side * ratio for side in config.image_size) for ratio in range(1, MOST_FINENESS + 1)]
    usual = next((size for size in sizes if fit(image.size, config.patch_size, size) == tuple(seen.size)), seen.size)
    return fit(other.size, config.patch_size, usual)


def open_picture(name: str) -> Image.Image:
    """Opens a file, or a sample by its name."""
    sample = find(name)
    image = open_image(sample.path if sample and not Path(name).exists() else name)
    image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return image


def model(spec: Spec) -> VisionTransformer:
    return _model(spec.model, spec.weights)


@lru_cache(maxsize=2)
def _model(name: str, weights: str | None) -> VisionTransformer:
    return load(name, weights=weights)
