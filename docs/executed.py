"""Runs the notebooks of docs/notebooks, cell after cell, and writes what they say and show as a page of the
documentation: {{notebook NAME}}.

python docs/executed.py FILE.ipynb     runs one, and prints its page
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground import version

NOTEBOOKS = Path(__file__).resolve().parent / "notebooks"


@dataclass(frozen=True)
class Cell:
    kind: str  # "markdown" or "code"
    text: str
    printed: str = ""
    value: Any = None  # of the cell's last expression


def read(file: Path) -> list[Cell]:
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def run(file: Path) -> Iterator[Cell]:
    """Yields each cell with its output and the value of its last expression, as Jupyter does, in an empty folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    former_folder, cells = Path.cwd(), read(file)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, cell in enumerate(cells):
                yield (
                    cell if cell.kind == "markdown" else _run_cell(cell.text, namespace, f"{file.name}, cell {number}")
                )
        finally:
            os.chdir(former_folder)


def _run_cell(text: str, namespace: dict[str, Any], cell_name: str) -> Cell:
    tree = ast.parse(text, cell_name)
    last_expression = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(tree, cell_name, "exec"), namespace)
        value = eval(compile(last_expression, cell_name, "eval"), namespace) if last_expression else None
    return Cell("code", text, output.getvalue(), value)


def page(file: Path) -> str:
    """The notebook as MyST's Markdown, with its figures."""
    (title, *parts), badge = [_page(cell) for cell in run(file)], _badge(file.name)
    download = f"This page is a notebook that was run when the documentation was made: {{download}}`{file.name} "
    return "\n\n".join([title, *filter(None, [badge]), *parts, f"{download}<../notebooks/{file.name}>`."])


def _badge(name: str) -> str:
    """A badge that opens the notebook in Colab, where this copy names its repository on GitHub (pyproject.toml)."""
    repository = version.repository()
    if not repository.startswith("https://github.com/"):
        return ""
    place = repository.removeprefix("https://github.com/").strip("/").removesuffix(".git")
    address = f"https://colab.research.google.com/github/{place}/blob/main/docs/notebooks/{name}"
    return f'<a class="badge" href="{address}">Open in <b>Colab</b></a> Its first cell says what `%pip` installs there.'


def _page(cell: Cell) -> str:
    if cell.kind == "markdown":
        return cell.text
    blocks = [f"```python\n{cell.text}\n```"]
    if cell.printed:
        blocks.append(f"```text\n{cell.printed.rstrip()}\n```")
    if hasattr(cell.value, "savefig"):
        blocks.append(_picture(cell.value))
    elif cell.value is not None:
        blocks.append(f"```text\n{cell.value!r}\n```")
    return "\n\n".join(blocks)


def _picture(figure: Any) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    data = base64.b64encode(out.getvalue()).decode()
    return f'<img class="shown" alt="The figure that the code above draws" src="data:image/png;base64,{data}">'


if __name__ == "__main__":
    print(page(Path(sys.argv[1])))
