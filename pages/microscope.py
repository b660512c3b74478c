"""Press a patch of a picture: whom does it look at, and what would a 3 × 3 convolution have read there?"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import playground
from playground.workbench import choose
from playground.workbench.lens import lens

ATTENTION, CONVOLUTION = "#0072B2", "#D55E00"

seen = choose.trace()
rows, columns = seen.grid

first = choose.opening(seen)

picture, numbers = st.columns([5, 3], gap="large")
with picture:
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="bottom")
    layer = left.slider("Layer", 0, seen.layers - 1, first.layer, key="layer", bind="query-params")
    head = middle.segmented_control(
        "Head", range(seen.heads), default=first.head, required=True, key="head", bind="query-params", wrap=True
    )
    is_divided = right.toggle("÷ √d_k", True, help="Off: the scores are larger, and the largest weight grows.")
    scale = "on" if is_divided else "off"
    patch = lens(seen, layer, head, first.patch, scale)
    st.caption("Point: the light follows. Press a patch: its numbers stand beside the picture.")

row, column = map(int, patch.split(","))
weights = seen.on_grid(seen.row(layer, head, (row, column), scale)).numpy()  # (rows, columns)
near = weights[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]  # what a 3 × 3 convolution reads
ranked = np.sort(weights.ravel())[::-1]

with numbers:
    st.subheader(f"{1 - near.sum():.0%} of its attention lies outside 3 × 3")
    st.caption(f"Patch {row},{column}, layer {layer}, head {head}. A 3 × 3 convolution reads only its neighbours.")
    ranks = np.arange(1, len(ranked) + 1)
    chart = go.Figure()
    chart.add_scatter(x=ranks, y=ranked, name="attention", line={"color": ATTENTION, "shape": "hv"})
    chart.add_scatter(
        x=ranks[:9], y=[1 / 9] * 9, name="3 × 3, all alike", line={"color": CONVOLUTION, "shape": "hv"}, mode="lines"
    )
    chart.update_xaxes(type="log", title="patches, the largest weight first")
    chart.update_yaxes(title="weight", tickformat=".0%", rangemode="tozero")
    chart.update_layout(height=260, margin={"t": 10, "b": 10}, legend={"x": 1, "xanchor": "right", "y": 1})
    st.plotly_chart(chart)

with picture:
    largest = np.argsort(weights, axis=None)[::-1][:10]
    table = pd.DataFrame(dict(zip(("row", "column"), np.unravel_index(largest, weights.shape), strict=True)))
    table["steps away"] = np.maximum(abs(table["row"] - row), abs(table["column"] - column))
    table["weight"] = 100 * weights.ravel()[largest]
    bar = st.column_config.ProgressColumn(format="%.1f %%", max_value=float(table["weight"].max()))
    st.dataframe(table, hide_index=True, column_config={"weight": bar})


def figure() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "attention.pdf")
        return playground.save(seen, path, layer, head, (row, column), scale).read_bytes()


st.sidebar.download_button("Figure as .pdf", figure, "attention.pdf", icon=":material/download:", on_click="ignore")
st.sidebar.code(
    f'seen = playground.trace(\n  "{seen.model}", image)\n'
    f'seen.row({layer}, {head}, ({row}, {column}),\n  scale="{scale}")'
)
choose.way_back(layer=layer, head=head, query=patch)
