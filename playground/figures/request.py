"""The traces that a figure needs: of which picture, by which model, at which size and with which scale.

The command line and the server use this module, each with a function of its own that runs the network.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path, PurePath

from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.drawing.naming import published_spec
from playground.figures.drawing.spec import Spec
from playground.figures.layouts import grid
from playground.figures.layouts.compare import NOTHING_TO_COMPARE
from playground.models.loading import load
from playground.pictures.images import fit, open_image
from playground.samples import named
from playground.tracing import Trace, trace
from playground.vit import Config, VisionTransformer

# (whether to trace the other picture or model, size, scale) -> a trace
Run = Callable[[bool, tuple[int, int] | None, str], Trace]
Turn = Callable[[Trace, float], AbstractContextManager[object]]  # (a trace, number of further passes) -> a turn
SHOWN_SIDE = 2048  # pixels: a picture with a longer side is first reduced to this, as on the page
MOST_FINENESS = 4  # the input may have this many times the native patches along each side


def no_turn(picture_trace: Trace, passes: float) -> AbstractContextManager[object]:
    return nullcontext()


def traces(
    spec: Spec, image: Image.Image, other_image: Image.Image | None, run: Run, turn: Turn = no_turn
) -> tuple[Trace, dict[str, Trace | Image.Image]]:
    """(the trace, the other arguments of `figures.draw`). `other_image`: the second picture of the layout
    "compare", if there is one. `run` traces the figure's first picture and model, or the second ones; `turn` waits for
    the queue before further passes."""
    layout = layouts.of(spec)

    def pass_of(size: tuple[int, int] | None, scale: str) -> Trace:
        seen = run(False, size, scale)
        return with_interventions(
            spec, seen, lambda: run(True, equally_fine_size(seen, image, other_image), scale), turn
        )  # type: ignore[arg-type]

    scale = spec.scale if spec.whole and not layout.alters_scale else "on"
    seen = pass_of(spec.size, scale)
    kind = layout.beside(spec)
    if kind == "pass":
        return seen, {"other": pass_of(seen.size, layout.prepared(spec).scale)}
    if kind != "other":
        return seen, {}
    size = None if spec.other_model else equally_fine_size(seen, image, other_image)
    return seen, {"other": run(True, size, scale), "other_image": other_image}


def with_interventions(spec: Spec, picture_trace: Trace, other: Callable[[], Trace], turn: Turn = no_turn) -> Trace:
    """The trace after the figure's interventions. `other` traces the other picture, with patches as fine as these."""
    if not spec.puts:
        return picture_trace
    from playground.analysis import interventions

    if spec.takes_another and spec.other_image is None:
        raise PlaygroundError(
            f"{spec.cut} takes something of another picture's pass: name that picture, too (--with-image)."
        )
    other_name = PurePath(published_spec(spec).other_image or "").stem
    other_trace = replace(other(), picture_name=other_name) if spec.takes_another else None
    with turn(picture_trace, interventions.PASSES * len(spec.puts)):
        return interventions.run_texts(picture_trace, spec.puts, other_trace)


def from_files(spec: Spec) -> tuple[Trace, Image.Image, dict[str, Trace | Image.Image]]:
    """(the trace, the picture, the other arguments of `figures.draw`), from files and samples."""
    kind = layouts.of(spec).beside(spec)
    if kind == "other" and spec.other_image is None and spec.other_model is None:
        raise PlaygroundError(NOTHING_TO_COMPARE)
    if kind == "many":
        return _grid_traces(spec)
    image = open_picture(spec.image)
    other_image = open_picture(spec.other_image) if spec.other_image else image

    def run(other: bool, size: tuple[int, int] | None, scale: str) -> Trace:
        vit = _model(spec.other_model, None, ()) if other and spec.other_model else model(spec)
        if size is None and not other and spec.look:
            size = tuple(side * vit.config.patch_size for side in spec.look.grid)
        number = None if scale == "on" else scale
        return trace(vit, other_image if other else image, size=size, scale=number, cut=() if other else spec.cuts)

    picture_trace, draw_arguments = traces(spec, image, other_image, run)
    return picture_trace, image, draw_arguments


def _grid_traces(spec: Spec) -> tuple[Trace, Image.Image, dict]:
    """Traces each picture in each model once."""
    traces: dict[tuple[str, str], tuple[Trace, Image.Image]] = {}
    for name, model_name in grid.needed_traces(spec):
        picture_spec = replace(spec, image=name, model=model_name)
        image, vit = open_picture(name), model(picture_spec)
        size = spec.size or (
            tuple(side * vit.config.patch_size for side in picture_spec.look.grid) if picture_spec.look else None
        )
        scale = spec.scale if spec.whole else "on"
        scale_value = None if scale == "on" else scale
        picture_trace = trace(vit, image, size=size, scale=scale_value, cut=spec.cuts)
        traces[name, model_name] = (
            with_interventions(spec, picture_trace, partial(_trace_of_other, spec, picture_trace, image)),
            image,
        )
    first = next(iter(traces.values()))
    return *first, {"more": traces}


def _trace_of_other(spec: Spec, picture_trace: Trace, image: Image.Image) -> Trace:
    other = open_picture(spec.other_image)  # type: ignore[arg-type]
    return trace(
        picture_trace._need_vit(), other, size=equally_fine_size(picture_trace, image, other), scale=picture_trace.scale
    )


def fineness(config: Config, image: Image.Image, size: tuple[int, int]) -> int | None:
    """How many times the native side the input's side is; None if this is no whole number up to FINEST."""
    for ratio in range(1, MOST_FINENESS + 1):
        if fit(image.size, config.patch_size, tuple(side * ratio for side in config.image_size)) == tuple(size):
            return ratio
    return None


def equally_fine_size(picture_trace: Trace, image: Image.Image, other: Image.Image) -> tuple[int, int]:
    """The input size at which the model sees `other`, of whatever shape, in patches as fine as those of `image`."""
    config = picture_trace.vit.config
    ratio = fineness(config, image, picture_trace.size)
    native_size = picture_trace.size if ratio is None else tuple(side * ratio for side in config.image_size)
    return fit(other.size, config.patch_size, native_size)


def open_picture(name: str) -> Image.Image:
    """Opens a file, or a sample by its name."""
    sample = named(name)
    image = open_image(sample.path if sample and not Path(name).exists() else name)
    image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return image


def model(spec: Spec) -> VisionTransformer:
    return _model(spec.model, spec.weights, tuple(spec.trained.items()))


@lru_cache(maxsize=2)
def _model(name: str, weights: str | None, training_items: tuple[tuple[str, str | None], ...]) -> VisionTransformer:
    return load(name, weights=weights, **dict(training_items))  # type: ignore[arg-type]
