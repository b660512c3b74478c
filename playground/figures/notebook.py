"""Python's ways to show a trace: `figure`, a matplotlib figure; `save`, a figure or its numbers as a file; `show`, the
interactive microscope in Jupyter; `widget`, the same in step with Python."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_type_hints

import numpy as np
from PIL import Image

from playground.analysis.occlusion import Filling
from playground.errors import PlaygroundError, needed
from playground.figures import compose, files, layouts
from playground.figures import html as export
from playground.figures.bundle import widget_module
from playground.figures.drawing.sheet import Drawing
from playground.figures.drawing.spec import HEAT, VALUES, Spec, query_name
from playground.figures.drawing.ways import FIRST_WAY
from playground.figures.layouts import grid
from playground.models import source
from playground.relevance import DEFAULT_METHOD, Method
from playground.tracing import Query, Scale, Trace, index

FRAME_HEIGHT = 600  # pixels: the whole page is visible at the width of a notebook's cell
Theme = Literal["light", "dark"]
Direction = Literal["row", "column"]


FIELD_TYPES = get_type_hints(Spec)


class FigureOptions(TypedDict, total=False):
    """What `save` takes: fields of Spec (drawing/spec.py), which says what each means. For type checkers
    `save(…, colors="viridis")` is an error before anything runs."""

    layout: str
    what: str
    direction: Direction
    label: str | int
    text: str
    method: Method
    blank: Filling
    rows: str | None
    columns: str | None
    width: str | float
    theme: Theme
    colours: str
    ceiling: float | None
    caption: bool
    dpi: int | None
    all_layers: bool
    view: str
    bare: bool


OPTIONS = FigureOptions.__annotations__


@dataclass(frozen=True)
class LivingPage:
    """A page in a sandboxed frame, which can neither see nor change the notebook around it."""

    page: str = field(repr=False)
    title: str
    still: Drawing = field(repr=False)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The page; and where scripts don't run, as in an untrusted notebook, a still picture with words."""
        still = base64.b64encode(self.still._repr_png_()).decode()
        return {"text/plain": self.title, "text/html": self._repr_html_(), "image/png": still}

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{html.escape(self.page)}" '
            f'sandbox="allow-scripts allow-downloads" allow="fullscreen" '
            f'style="display: block; width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
        )


def show(
    seen: Trace,
    layer: int | None = None,
    head: int = 0,
    query: Query | None = None,
    scale: Scale = None,
    *,
    all_layers: bool = False,
    theme: Theme = "light",
    bare: bool = False,
) -> LivingPage:
    """The living microscope in Jupyter, with no server: the photograph, a sentence, two switches, moments; the rest is
    in *Lab*. It starts at this layer, head and patch, or where the picture shows most. It holds all layers where the
    page stays small with them, else this one; `all_layers`: all in any case. `bare`: the picture alone."""
    look = {"theme": theme, "bare": bare, "all_layers": all_layers}
    spec = _spec(seen, layer, head, query, scale, look, scale_of_pass="on")
    spec = export.with_layers_that_fit(spec, seen)
    page = export.page(spec, seen, seen.picture)
    still = export.still_figure(export.filled_spec(spec, seen), seen, seen.picture)
    return LivingPage(page, f"{seen.model}: whom each patch listens to", still)


def widget(seen: Trace, layer: int | None = None, head: int = 0, query: Query | None = None) -> Any:
    """The living microscope in step with Python, in Jupyter, VS Code, marimo or Colab: its `layer`, `head` and `query`
    follow what is chosen and pointed at there, it shows what you set them to, and `observe` calls you at each change.
    It holds all layers of the trace, which is its `seen`.

    >>> lens = playground.widget(playground.trace("untrained", "meadow"), layer=4, query=(7, 5))
    >>> lens.query = "cls"  # the picture follows
    >>> lens.seen.row(lens.layer, lens.head, lens.query).shape
    torch.Size([197])
    """
    spec = _spec(seen, layer, head, query, None, {}, scale_of_pass="on")
    is_light = export.with_layers_that_fit(spec, seen).all_layers
    spec = export.filled_spec(spec, seen)
    picture = export.small_jpeg(export.picture_of(seen, seen.picture))
    numbers = seen.to_bytes(numbers="float16" if is_light else "int8")
    view = {"layer": spec.layer, "head": spec.head, "query": spec.query}
    return _lens_class()(seen=seen, numbers=numbers, picture=picture, title=seen.picture_name, **view)


@cache
def _lens_class() -> Any:
    anywidget, traitlets = (needed(name, "attention-playground[widget]") for name in ("anywidget", "traitlets"))

    class Lens(anywidget.AnyWidget):  # type: ignore[name-defined, misc]
        _esm = widget_module()
        seen = traitlets.Any()
        layer, head, query = (traitlets.Any().tag(sync=True) for _ in range(3))
        numbers, picture = (traitlets.Bytes().tag(sync=True) for _ in range(2))
        title = traitlets.Unicode().tag(sync=True)

        @traitlets.validate("layer", "head", "query")  # type: ignore[untyped-decorator]
        def _checked(self, proposal: Any) -> Any:
            check = {"layer": self.seen.layer_number, "head": self.seen.head_number}
            check["query"] = lambda query: query_name(query, self.seen)
            return check[proposal["trait"].name](proposal["value"])

    return Lens


def figure(
    seen: Trace,
    layer: int | None = None,
    head: int | str = 0,
    query: Query | None = None,
    scale: Scale = None,
    *,
    layout: str = "head",
    what: str = FIRST_WAY,
    values: Any = None,
    direction: Direction = "row",
    label: str | int = "",
    text: str = "",
    method: Method = DEFAULT_METHOD,
    blank: Filling = "mean",
    other: Trace | Sequence[Trace] | None = None,
    rows: str | None = None,
    columns: str | None = None,
    width: str | float = "slide",
    theme: Theme = "light",
    colours: str = HEAT,
    ceiling: float | None = None,
    caption: bool = True,
    dpi: int | None = None,
) -> Drawing:
    """A matplotlib figure to go on editing. Its options are those of the command `figure`, under the same names
    (`attention-playground figure --help` says what each does). `values`, (rows, columns) or (patches,), are drawn on
    the picture instead of the trace's numbers. `other` is what the layout compare sets beside `seen`, and for the
    layout grid the other traces of rows="pictures" or columns="models". No scale means the one that the pass ran with;
    another one is taken for this layer alone, and the caption says so."""
    options = {name: value for name, value in locals().items() if name in OPTIONS}
    if values is not None:
        spec = _spec(seen, layer, head, query, scale, options | {"what": VALUES.name})
        return compose.draw(replace(spec, repeatable=False), seen, values=_on_grid(seen, values))
    spec = _spec(seen, layer, head, query, scale, options)
    spec, draw_arguments = _with_second_subject(spec, seen, other)
    return compose.draw(spec, seen, **draw_arguments)


def _on_grid(seen: Trace, values: Any) -> np.ndarray:
    array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, np.float32)
    rows, columns = seen.grid
    if array.shape not in ((rows, columns), (rows * columns,)):
        raise PlaygroundError(f"values has one number for each of {rows} × {columns} patches; given was {array.shape}.")
    return array.reshape(rows, columns)


def save(
    seen: Trace,
    file: str | os.PathLike[str],
    layer: int | None = None,
    head: int | str = 0,
    query: Query | None = None,
    scale: Scale = None,
    *,
    other: Trace | Sequence[Trace] | None = None,
    **options: Unpack[FigureOptions],
) -> Path:
    """What `figure` draws, as a file: .png, .svg, .pdf; what `show` shows as .html; .npz or .csv have its
    numbers with their grid, their tokens and where they come from; .txt its caption. `options` are those of `figure`;
    with `all_layers` an .html holds all."""
    if not isinstance(file, str | os.PathLike):
        raise PlaygroundError(f"A figure is saved under a file's name, such as cat.pdf; given was {file!r:.40}.")
    path = Path(file)
    if unknown := options.keys() - {*OPTIONS}:
        raise PlaygroundError(f"A figure has no option {', '.join(sorted(unknown))}; it has {', '.join(OPTIONS)}.")
    files.check_kind(path)
    is_alive = path.suffix.lower() == ".html"
    draw_arguments: dict[str, Any] = {}
    spec = _spec(seen, layer, head, query, scale, options, scale_of_pass="on" * is_alive)
    if not is_alive:
        spec, draw_arguments = _with_second_subject(spec, seen, other)
    return files.write_file(path, files.data(path.name, spec, seen, **draw_arguments))


def _with_second_subject(spec: Spec, seen: Trace, other: Any) -> tuple[Spec, dict[str, Any]]:
    """(the spec, the other arguments of `compose.draw`)"""
    layout = layouts.of(spec)
    layout.check(spec)
    if layout.beside == "many":
        return _grid_traces(spec, [seen, *([other] if isinstance(other, Trace) else other or [])])
    if other is not None and not layout.beside:
        raise PlaygroundError("other is what layout='compare' or 'grid' sets beside the trace: name one of them.")
    if not isinstance(other, Trace | None):
        raise PlaygroundError(f"The layout {spec.layout} sets one trace beside another: several need layout='grid'.")
    if other is None:
        return spec, {}
    image = other.picture_name if other.picture_name != seen.picture_name else None
    model = other.model if other.model != seen.model else None
    spec = replace(spec, other_image=image, other_model=model, repeatable=False)
    return spec, {"other": other, "other_image": other.shown if image else None}


def _grid_traces(spec: Spec, traces: list[Trace]) -> tuple[Spec, dict[str, Any]]:
    """The spec of a grid and its traces by picture and model. "pictures" and "models" without names take those of the
    traces."""
    traces_by_name: dict[tuple[str, str], tuple[Trace, Image.Image]] = {}
    for number, trace_ in enumerate(traces, start=1):
        key = trace_.picture_name.replace(",", " ") or f"picture {number}", trace_.model
        if key in traces_by_name:
            raise PlaygroundError(f"Two of these traces are of {key[0]} in {key[1]}: a grid shows each once.")
        traces_by_name[key] = trace_, trace_.shown
    axis_names = dict(zip(("pictures", "models"), zip(*traces_by_name, strict=True), strict=True))
    rows, columns = (
        f"{kind}:{','.join(dict.fromkeys(axis_names[kind]))}" if kind in axis_names else kind
        for kind in (spec.rows, spec.columns)
    )
    spec = replace(spec, rows=rows, columns=columns)
    first, is_alone = next(iter(traces_by_name)), len(traces) == 1
    spec = replace(spec, image=first[0], model=first[1], repeatable=spec.repeatable and is_alone)
    spec = replace(spec, size=traces[0].size) if is_alone else spec
    for key in grid.needed_traces(spec):
        if key not in traces_by_name:
            raise PlaygroundError(f"The grid shows {key[0]} in {key[1]}, of which there is no trace: give it as other.")
    if unused := traces_by_name.keys() - set(grid.needed_traces(spec)):
        raise PlaygroundError(f"The grid shows nothing of {' in '.join(min(unused))}: say rows='pictures' or 'models'.")
    return spec, {"more": traces_by_name}


def _spec(
    seen: Any, layer: Any, head: Any, query: Any, scale: Any, options: Mapping[str, Any], scale_of_pass: str = ""
) -> Spec:
    """The options as a Spec. Without a scale it is that of the pass."""
    if not isinstance(seen, Trace):
        raise PlaygroundError(f"A figure is made of what playground.trace gives; given was {type(seen).__name__}.")
    layer = layer if layer is None else seen.layer_number(layer)
    head = index(head) if index(head) is not None else head
    # numbers of NumPy and torch as Python's
    options = {name: value.item() if getattr(value, "ndim", None) == 0 else value for name, value in options.items()}
    for name, value in options.items():
        is_text = FIELD_TYPES[name] in (str, str | None) and name != "label"  # a label may be a number
        if is_text and not isinstance(value, str | None):
            raise PlaygroundError(f"{name}= is a text; given was {value!r:.40}.")
    whole, scale_word = False, scale
    if scale_of_pass and scale is None:
        scale_word = scale_of_pass
    elif seen.scale_number(scale) == seen.scale:
        scale_word = "on" if seen.scale == seen.native_scale else seen.scale
        whole = scale_word != "on"
    loaded_as = None if seen.outdated else source.load_arguments(seen.vit)  # None: no command loads it so
    return Spec(
        image=seen.picture_name,
        model=loaded_as.model if loaded_as else seen.model,
        weights=loaded_as.weights if loaded_as else None,
        repeatable=loaded_as is not None and not loaded_as.given_options and not seen.interventions,
        cut=";".join(seen.cuts.texts),
        layer=layer,
        head=head,
        query=query,
        scale=str(scale_word),
        whole=whole,
        **options,
    )
