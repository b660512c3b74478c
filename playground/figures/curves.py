"""The scale curves: what becomes of a softmax row as d_k grows, with 1/√d_k and without."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from playground.analysis import scale
from playground.figures.sheet import Box, Drawing, Sheet, small, wrap
from playground.figures.spec import Spec
from playground.version import __version__

WITHOUT, WITH = "#E8963A", "#B63679"  # as in the lesson on the scale
CHARTS = {  # a quantity of playground/softmax.py -> its heading
    "deviation": "how far scores lie apart",
    "entropy": "entropy of the row, bits",
    "peak": "largest weight",
    "gradient": "gradient let through",
}
CAPTION = (
    f"{scale.MANY:,} rows of one random query and {scale.KEYS} random keys of width dₖ. Lines: medians; bands: eight "
    "rows of ten."
)


def curves(spec: Spec) -> Drawing:
    spec, em = replace(spec, layer=None, query=None, size=None), spec.made_for.font / 72
    width, height = spec.made_for.width, spec.made_for.height
    margin, gap = (1.9 * em, 3.4 * em) if height else (0.4 * em, 3.6 * em)
    columns = 2 if height or not spec.made_for.roomy else 4
    side = (width - 2 * margin - 3.6 * em - (columns - 1) * gap) / columns
    caption = wrap(CAPTION, width - 2 * margin, small(spec.made_for.font, 0.8)) if spec.caption else []
    foot = spec.footer * 1.5 * em
    below = 1.2 * em * len(caption) + foot + 1.8 * em
    rows = len(CHARTS) // columns
    top = 2.0 * em  # of every chart: its heading
    if height:
        high = (height - 2 * margin - below - rows * (top + 2.6 * em)) / rows
    else:
        high = 0.8 * side
        height = 2 * margin + below + rows * (high + top + 2.6 * em)
    sheet = Sheet(spec, height)
    for i, quantity in enumerate(CHARTS):
        row, column = divmod(i, columns)
        x, y = margin + 2.5 * em + column * (side + gap), margin + row * (high + top + 2.6 * em) + top
        _chart(sheet, quantity, Box(x, y, side, high), last=row == rows - 1)
    y = height - margin - below + 1.0 * em
    _legend(sheet, margin, y)
    for i, line in enumerate(caption):
        sheet.text(margin, y + (1.45 + 1.2 * i) * em, line, small(sheet.font, 0.8))
    made = f"Attention Playground {__version__}"
    if spec.footer:
        sheet.text(margin, height - margin, made, small(sheet.font, 0.55), colour=sheet.theme.muted)
    sheet.figure.spec = spec
    sheet.figure.facts = {"layout": "curves", "rows": str(scale.MANY), "keys": str(scale.KEYS), "made by": made}
    return sheet.figure


def _chart(sheet: Sheet, quantity: str, box: Box, last: bool) -> None:
    em, theme = sheet.font / 72, sheet.theme
    sheet.text(box.x - 2.2 * em, box.y - 0.7 * em, CHARTS[quantity], small(sheet.font, 0.95), bold=True)
    axes = sheet.axes(box)
    axes.set_axis_on()
    for power, colour in ((0.0, WITHOUT), (0.5, WITH)):
        found = scale.curve(quantity, power)
        axes.fill_between(scale.WIDTHS, found.low, found.high, color=colour, alpha=0.25, linewidth=0)
        axes.plot(scale.WIDTHS, found.median, color=colour, linewidth=0.14 * sheet.font)
    _dress(axes, sheet, quantity)
    axes.tick_params(
        labelsize=small(sheet.font, 0.7), colors=theme.muted, width=0.05 * sheet.font, length=0.25 * sheet.font
    )
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set(color=theme.line, linewidth=0.06 * sheet.font)
    axes.grid(color=theme.line, linewidth=0.04 * sheet.font)
    axes.set_axisbelow(True)
    if last:
        sheet.text(box.x + box.width / 2, box.y + box.height + 2.3 * em, "dₖ", small(sheet.font, 0.8), ha="center")


def _dress(axes: Axes, sheet: Sheet, quantity: str) -> None:
    plain = FuncFormatter(lambda x, _: f"{x:g}")
    axes.set_xscale("log")
    axes.set_xlim(scale.WIDTHS[0], scale.WIDTHS[-1])
    axes.xaxis.set(
        major_locator=FixedLocator([4, 16, 64, 256, 1024]), major_formatter=plain, minor_locator=NullLocator()
    )
    if quantity == "deviation":
        axes.set_yscale("log")
        axes.set_ylim(0.6, 42)
        axes.yaxis.set(
            major_locator=FixedLocator([1, 2, 4, 8, 16, 32]), major_formatter=plain, minor_locator=NullLocator()
        )
    else:
        axes.set_ylim(0, {"entropy": 6, "peak": 1}.get(quantity))
    if quantity == "peak":
        axes.yaxis.set_major_formatter(PercentFormatter(1))


def _legend(sheet: Sheet, x: float, y: float) -> None:
    em = sheet.font / 72
    for colour, said in ((WITH, "divided by √dₖ"), (WITHOUT, "no scale")):
        key = sheet.axes(Box(x, y - 0.4 * em, 1.6 * em, 0.16 * em))
        key.set_axis_on()
        key.set(xticks=[], yticks=[], facecolor=colour)
        key.patch.set_visible(True)
        key.spines[:].set_visible(False)
        sheet.text(x + 2.1 * em, y, said, small(sheet.font, 0.85), bold=True)
        x += 11.5 * em
