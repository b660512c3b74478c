"""Tests wait for states, never for time."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
BROWSER = sorted((ROOT / "tests" / "browser").glob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
FUNCTION = re.compile(r"\s*(async )?(\([^)]*\)|\w+) => ")
STILL = [  # exceptions: places that may wait for a time
    "server.py: sleep",  # between two requests to a starting server
]


def calls(files: list[Path], *names: str) -> list[tuple[Path, str, ast.Call]]:
    trees = [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in files]
    found = [(file, node) for file, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(file, node.func.attr, node) for file, node in found if getattr(node.func, "attr", None) in names]


def test_no_browser_test_waits_for_time():
    assert [f"{file.name}: {name}" for file, name, _ in calls(BROWSER, "wait_for_timeout", "sleep")] == STILL


def test_what_a_page_is_asked_to_wait_for_is_a_function():
    """The app's policy forbids eval in a page. Playwright evaluates a function once, before the policy applies, but an
    expression at every poll, which raises an EvalError unless the first poll found it true."""
    found = [(file, call.args[0]) for file, _, call in calls(BROWSER + BENCHMARKS, "wait_for_function")]
    texts = [(file, what.values[0] if isinstance(what, ast.JoinedStr) else what) for file, what in found]
    wrong = [
        f"{file.name}:{text.lineno} {text.value}"
        for file, text in texts
        if isinstance(text, ast.Constant) and not FUNCTION.match(str(text.value))
    ]
    print(f"{len(texts)} calls")
    assert len(texts) > 20
    assert not wrong
