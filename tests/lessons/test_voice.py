"""The lessons use words consistently: learned numbers are called parameters; a weight is a share of attention."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FILES = [*(ROOT / "pages").glob("*.py"), *(ROOT / "playground/lessons").rglob("*.py")]
MISUSED_WEIGHTS = re.compile(
    r"(random|learned|trained|first|million|shared?|sharing) weights\b|weights (are|were) learned|steps .*have weights",
    re.IGNORECASE,
)


def strings_of(file: Path) -> list[str]:
    """The strings of a file, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docstrings = {
        node.body[0].value for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None
    }  # fmt: skip
    return [
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings
    ]  # fmt: skip


def test_what_is_learned_is_called_parameters():
    mistakes = [f"{file.name}: {text}" for file in FILES for text in strings_of(file) if MISUSED_WEIGHTS.search(text)]
    assert not mistakes, "\n".join(mistakes)
