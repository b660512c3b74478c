"""The contour lines of the light as Chromium draws them enclose the share of the row that the legend names."""

import re

import numpy as np
import pytest
from drawn_lines import cells_inside, flattened_curve

KEEP_LINES = """() => {
  for (const kind of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) {
    const { beginPath, moveTo, quadraticCurveTo, stroke } = kind.prototype;
    Object.assign(kind.prototype, {
      beginPath() { this.curves = []; beginPath.call(this); },
      moveTo(x, y) { this.curves?.push([[x, y]]); moveTo.call(this, x, y); },
      quadraticCurveTo(...bend) { this.curves?.at(-1).push(bend.slice(0, 2), bend.slice(2));
        quadraticCurveTo.apply(this, bend); },
      stroke() { if (this.curves?.some((one) => one.length > 2))
          window.drawnLines = { curves: this.curves, width: this.canvas.width, height: this.canvas.height };
        stroke.call(this); },
    });
  }
}"""


def drawn_contours(visitor, grid) -> list[np.ndarray]:
    """The contour lines that were drawn last, each (corners, 2): row and column of every corner, in patches."""
    lines = visitor.page.evaluate("window.drawnLines")
    patches_per_pixel = np.array(grid) / (lines["height"], lines["width"])
    return [flattened_curve(np.array(curve)[:, ::-1] * patches_per_pixel) for curve in lines["curves"]]


@pytest.mark.parametrize(
    ("address", "stride"),
    [
        ("sample=meadow&layer=3&head=2", 7),
        pytest.param("sample=portrait&layer=1&head=0", 7, marks=pytest.mark.slow),
        pytest.param("sample=flock&layer=4&direction=column", 41, marks=pytest.mark.slow),
    ],
)
def test_the_lines_enclose_the_brightest_patch_and_the_share_that_the_legend_names(visit, address, stride):
    visitor = visit(f"model=bundled&draw=light&{address}")
    rows, columns = grid = visitor.read()["grid"]
    visitor.page.evaluate(KEEP_LINES)
    for patch in range(1, rows * columns, stride):
        state = visitor.hover(divmod(patch, columns))
        values = np.array(state["row"][-rows * columns :]).reshape(rows, columns)
        is_enclosed = cells_inside(drawn_contours(visitor, grid), (rows, columns))
        share = values[is_enclosed].sum() / values.sum()
        legend_text = visitor.part("outlined").inner_text()
        legend_match = re.fullmatch(r"outlined: (?:>\s)?([\d.]+)\s% of what all patches get", legend_text)
        assert is_enclosed.flat[values.argmax()], (state["query"], values.max())
        assert abs(float(legend_match[1]) - 100 * share) < 0.51, (legend_match[0], share)
        assert share >= 0.6 - 1e-6, share
        assert share - values[is_enclosed].min() / values.sum() < 0.6, "not one patch too many"
