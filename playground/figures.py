"""Figures for talks, by matplotlib, from a Trace."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter
from PIL import Image

from playground.errors import PlaygroundError
from playground.tracing import Query, Scale, Trace

SUFFIXES = (".png", ".svg", ".pdf")
DIMMED = 0.45  # how bright the picture stays under its weights


def attention_row(seen: Trace, image: Image.Image, layer: int, head: int, query: Query, scale: Scale = None) -> Figure:
    """The picture with its query outlined; beside it what the query listens to, over the picture in dark grey."""
    row = seen.row(layer, head, query, scale)
    rows, columns = seen.grid
    figure = Figure(figsize=(9, 3.9 * min(rows / columns, 2) + 0.75), layout="constrained")
    plain, heat = figure.subplots(1, 2)
    extent = (0, columns, rows, 0)  # one unit is one patch
    plain.imshow(image, extent=extent, interpolation="bilinear")
    heat.imshow(image.convert("L"), extent=extent, cmap="gray", vmax=255 / DIMMED, interpolation="bilinear")
    shown = heat.imshow(
        seen.on_grid(row).numpy(), extent=extent, cmap="magma", alpha=0.75, vmin=0, interpolation="nearest"
    )
    for axes in (plain, heat):
        axes.set_axis_off()
        _outline(axes, seen, query)
    plain.set_title(f"query: {_words(query)}", fontsize=10)
    heat.set_title(f"layer {layer}, head {head}, {_scale_words(scale)}", fontsize=10)
    bar = figure.colorbar(shown, ax=heat, fraction=0.046, pad=0.02, format=PercentFormatter(1))
    bar.solids.set_alpha(1)
    bar.set_label("share of the query's attention", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    taken = ", ".join(f"{name} {share:.1%}" for name, share in zip(seen.prefix, row.tolist(), strict=False))
    figure.supxlabel(f"{seen.model}. {f'Not in the picture: {taken}' if taken else ''}", fontsize=8)
    return figure


def save(figure: Figure, path: Path, dpi: int = 200) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise PlaygroundError(f"Figures are written as {', '.join(SUFFIXES)}; {path} ends in {path.suffix!r}.")
    try:
        figure.savefig(path, dpi=dpi)
    except OSError as error:
        raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None


def _outline(axes, seen: Trace, query: Query) -> None:
    """White on black, so that it shows on anything."""
    patch = seen.token(query) - len(seen.prefix)
    if patch < 0:
        return
    y, x = divmod(patch, seen.grid[1])
    for colour, width in (("black", 3.5), ("white", 1.5)):
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=colour, linewidth=width))


def _words(query: Query) -> str:
    return f"patch {query[0]}, {query[1]}" if isinstance(query, tuple | list) else str(query)


def _scale_words(scale: Scale) -> str:
    if scale is None or scale == "on":
        return r"scale $1/\sqrt{d_k}$"
    return "without scale" if scale == "off" else f"scale {float(scale):g}"
