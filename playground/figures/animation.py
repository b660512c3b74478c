"""Figures that move, for slides that can't run HTML: GIF, animated WebP or APNG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image, ImageOps

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.compose import draw
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.prints import CONVOLUTION, THEMES, bar
from playground.figures.drawing.spec import Spec
from playground.figures.files import pixels, png_text, write_file
from playground.figures.provenance import provenance

if TYPE_CHECKING:
    from playground.tracing import Trace

MOVING_SUFFIXES = (".gif", ".webp", ".png")
# Milliseconds that a frame is shown: of a layer, of the first or last scale, of a scale between these, of a patch
LAYER_MS, HOLD_MS, STEP_MS, PATCH_MS = 900, 1400, 90, 170
SCALE_STEPS = 12  # frames from the trained scale to no scale


def animate(
    path: str | Path,
    spec: Spec,
    trace: Trace,
    image: Image.Image,
    track: Callable[[Iterable], Iterable] = iter,
    **draw_arguments,
) -> Path:
    """Writes the sweep that `spec.sweep` asks for. `track` wraps the iterable of frames, to show progress like tqdm."""
    path = Path(path)
    if path.suffix.lower() not in MOVING_SUFFIXES:
        raise PlaygroundError(f"A sweep is written as {', '.join(MOVING_SUFFIXES)}; {path} ends in {path.suffix!r}.")
    timed_frames = frames(layouts.settled(spec, trace), trace)
    images, facts = [], {}
    for frame, _ in track(timed_frames):
        figure = draw(frame, trace, image, **draw_arguments)
        facts = facts or provenance(figure.spec, figure.facts, path.name)
        images.append(pixels(figure))
    height, paper = max(frame.height for frame in images), THEMES[spec.theme].paper  # captions may differ in lines
    images = [ImageOps.pad(frame, (frame.width, height), color=paper, centering=(0, 0)) for frame in images]
    data = _encode(path.suffix.lower(), images, [ms for _, ms in timed_frames], spec, facts)
    return write_file(path, data)


def frames(spec: Spec, trace: Trace) -> list[tuple[Spec, int]]:
    """The frames of the sweep: for each frame its spec and its milliseconds."""
    sweep_kind, _, places = (spec.sweep or "").partition(":")
    check(spec, sweep_kind)
    if sweep_kind == "layers" and not places:
        return [(replace(spec, layer=layer), LAYER_MS) for layer in range(trace.layers)]
    if sweep_kind == "scale" and not places:
        return _scale_frames(spec, trace)
    if sweep_kind == "patches" and places:
        return _path_frames(spec, trace, places)
    raise PlaygroundError(f"A sweep is layers, scale, or patches:0,0-7,5-13,13; not {spec.sweep!r}.")


def check(spec: Spec, kind: str) -> None:
    """Raises an error with the reason if this sweep would change nothing."""
    layout = layouts.of(spec)
    way = layout.prepared(spec).way
    moves = {
        "layers": "layer" not in layout.fixed and not way.through_layers,
        "scale": "scale" not in layout.fixed and way.of_heads and not (spec.whole or layout.alters_scale),
        "patches": layouts.marks_query(spec),
    }
    if not moves.get(kind, True):
        raise PlaygroundError(f"What this figure shows does not change with the {kind}: choose another sweep.")


def _scale_frames(spec: Spec, trace: Trace) -> list[tuple[Spec, int]]:
    """Frames whose scale grows from the trained one to 1 in equal ratios, and shrinks back."""
    scales = [trace.native_scale ** (1 - i / SCALE_STEPS) for i in range(1, SCALE_STEPS)]
    middle_frames = [(replace(spec, scale=f"{scale:.4g}"), STEP_MS) for scale in scales]
    return [
        (replace(spec, scale="on"), HOLD_MS),
        *middle_frames,
        (replace(spec, scale="off"), HOLD_MS),
        *middle_frames[::-1],
    ]


def _path_frames(spec: Spec, trace: Trace, places: str) -> list[tuple[Spec, int]]:
    patches = patches_on_path(places)
    for place in patches:
        trace.token(place)  # raises if the patch is off the grid
    durations = [PATCH_MS] * len(patches)
    durations[0] = durations[-1] = 4 * PATCH_MS
    return [(replace(spec, query=place), ms) for place, ms in zip(patches, durations, strict=True)]


def patches_on_path(places: str) -> list[tuple[int, int]]:
    """The patches on the straight lines between the corners in a text such as "0,0-7,5-13,13"."""
    try:
        corners = [(int(row), int(column)) for row, column in (place.split(",") for place in places.split("-"))]
    except ValueError:
        raise PlaygroundError(
            f"A path is patches with - between them, such as 0,0-7,5-13,13; not {places!r}."
        ) from None
    patches = corners[:1]
    for start, end in pairwise(corners):
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
        patches += [
            tuple(round(a + (b - a) * i / steps) for a, b in zip(start, end, strict=True)) for i in range(1, steps + 1)
        ]
    return patches


def _encode(kind: str, images: list[Image.Image], durations: list[int], spec: Spec, facts: dict[str, str]) -> bytes:
    images = [frame.convert("RGB") for frame in images]
    options = {"duration": durations, "loop": 0}
    if kind == ".gif":
        images = _one_palette(images, spec)
        options |= {"comment": "\n".join(f"{key}: {value}" for key, value in facts.items()).encode()}
    elif kind == ".webp":
        options |= {"quality": 88, "method": 4, "xmp": _xmp(facts)}
    else:
        options |= {"pnginfo": png_text(facts)}
    buffer = io.BytesIO()
    first_image, *more_images = images
    first_image.save(
        buffer,
        {".gif": "GIF", ".webp": "WEBP", ".png": "PNG"}[kind],
        save_all=True,
        append_images=more_images,
        **options,
    )
    return buffer.getvalue()


def _one_palette(images: list[Image.Image], spec: Spec) -> list[Image.Image]:
    """Converts all frames to one palette of 256 colours, so that parts that don't move don't flicker. The palette holds
    the colours of the colour bar, so that weights look the same in every frame."""
    theme = THEMES[spec.theme]
    theme_colours = [theme.paper, theme.ink, theme.muted, CONVOLUTION, "#ffffff", "#000000"]
    bar_colours = np.asarray(bar(spec, Domain(0, 1, "")))[0, :: 256 // 58] / 255
    fixed_colours = np.array([*map(to_rgb, theme_colours), *bar_colours])
    samples = images[:: max(1, len(images) // 6)]
    sample_size = (samples[0].width // 2, samples[0].height // 2)
    sample_sheet = Image.new("RGB", (sample_size[0], sample_size[1] * len(samples)))
    for i, frame in enumerate(samples):
        sample_sheet.paste(frame.resize(sample_size), (0, i * sample_size[1]))
    learned_colours = sample_sheet.quantize(256 - len(fixed_colours), Image.Quantize.MEDIANCUT).getpalette()[
        : 3 * (256 - len(fixed_colours))
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette([*np.rint(fixed_colours * 255).astype(int).ravel().tolist(), *learned_colours])
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in images]


def _xmp(facts: dict[str, str]) -> bytes:
    from xml.sax.saxutils import escape

    names = {"Title": "title", "Description": "description", "Command": "source", "Software": "creator"}
    elements = "".join(f"<dc:{names[key]}>{escape(value)}</dc:{names[key]}>" for key, value in facts.items())
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/">{elements}</rdf:Description></rdf:RDF></x:xmpmeta>'
    ).encode()
