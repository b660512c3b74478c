"""The design's rules for the house itself: which room may know which."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY = sorted([*(ROOT / "playground").glob("*.py"), *(ROOT / "playground" / "figures").glob("*.py")])


def imported(path: Path) -> set[str]:
    """All modules that a file names in an import, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_the_library_knows_neither_streamlit_nor_the_pages(path):
    above = {"__main__": ("playground.ui.launch",)}.get(path.stem, ())  # the command without arguments starts the app
    for name in imported(path):
        assert name.startswith(above) or not name.startswith(("streamlit", "playground.ui", "pages"))


def test_no_module_of_the_library_needs_itself():
    modules = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path
        for path in LIBRARY
        if path.stem not in ("__init__", "__main__")
    }
    needs = {name: imported(path) & modules.keys() for name, path in modules.items()}
    while free := [name for name, wanted in needs.items() if not wanted & needs.keys()]:
        for name in free:
            del needs[name]
    assert not needs, f"these import each other in a circle: {needs}"


def test_pages_hold_no_mathematics():
    for path in (ROOT / "pages").glob("*.py"):
        assert not imported(path) & {"torch", "numpy", "math"}
