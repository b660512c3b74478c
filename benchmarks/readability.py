"""The lengths of sentences and the rare words of each lesson.

    python benchmarks/readability.py            # the working tree
    python benchmarks/readability.py REVISION   # compared with a commit

Counts strings of playground/lessons that hold a sentence: those with a space and a full stop, question mark or colon.
A word is rare if it has more than nine letters and occurs on one page only.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parent.parent
LONG_SENTENCE = 30  # a sentence with more words than this counts as long
sys.path.insert(0, str(ROOT))


def strings(source: str) -> list[str]:
    """The strings of a file, without docstrings; each inserted value counts as one word."""
    tree = ast.parse(source)
    inside_f_strings = {
        id(node_inside) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for node_inside in ast.walk(node)
    }
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    strings = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            strings.append("".join(p.value if isinstance(p, ast.Constant) else "N" for p in node.values))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not {id(node)} & (inside_f_strings | docstrings)
        ):
            strings.append(node.value)
    return [text for text in strings if " " in text and re.search(r"[.?:!](\s|$)", text)]


def sentences(texts: list[str]) -> list[list[str]]:
    sentences = [part for text in texts for part in re.split(r"(?<=[.?!:;])\s+|\n+", text)]
    word_lists = [re.findall(r"[A-Za-z’']+|[^\s\w]?\w+", part) for part in sentences]
    return [sentence for sentence in word_lists if len(sentence) > 2]


def reader_of(revision: str | None) -> Callable[[str], str | None]:
    def read(path: str) -> str | None:
        if revision is None:
            file = ROOT / path
            return file.read_text(encoding="utf-8") if file.is_file() else None
        result = subprocess.run(["git", "show", f"{revision}:{path}"], cwd=ROOT, capture_output=True, text=True)
        return result.stdout if result.returncode == 0 else None

    return read


def measure(revision: str | None) -> dict[str, tuple[int, float, int, int, list[str]]]:
    """{page: (number of sentences, mean words of a sentence, words of the longest sentence, number of long sentences,
    rare words)}"""
    from playground.ui.pages import LESSONS

    text_of, pages = reader_of(revision), {}
    for page in LESSONS:
        files = sorted((ROOT / "playground/lessons").glob(f"{page.name}*.py"))
        paths = [str(file.relative_to(ROOT)) for file in files]
        texts = [text for path in paths if (source := text_of(path)) for text in strings(source)]
        pages[page.name] = sentences(texts)
    pages_per_word = Counter(
        word for page_sentences in pages.values() for word in {w.lower() for s in page_sentences for w in s}
    )
    measures_by_page = {}
    for name, page_sentences in pages.items():
        if page_sentences:
            lengths = [len(sentence) for sentence in page_sentences]
            rare_words = sorted(
                {w.lower() for s in page_sentences for w in s if len(w) > 9 and pages_per_word[w.lower()] == 1}
            )
            measures_by_page[name] = (
                len(page_sentences),
                mean(lengths),
                max(lengths),
                sum(n > LONG_SENTENCE for n in lengths),
                rare_words,
            )
    return measures_by_page


def main() -> None:
    revision = sys.argv[1] if len(sys.argv) > 1 else None
    present_measures, measures_before = measure(None), measure(revision) if revision else {}
    print(
        f"{'page':10} {'sentences':>9} {'words each':>10} {'longest':>7} {'over ' + str(LONG_SENTENCE):>7}  rare words"
    )
    for name, (count, mean_words, most_words, long_count, rare_words) in present_measures.items():
        print(
            f"{name:10} {count:9} {mean_words:10.1f} {most_words:7} {long_count:7}  "
            f"{len(rare_words)}: {', '.join(rare_words[:6])}"
        )
        if name in measures_before:
            count, mean_words, most_words, long_count, rare_words = measures_before[name]
            print(f"{'  before':10} {count:9} {mean_words:10.1f} {most_words:7} {long_count:7}  {len(rare_words)}")


if __name__ == "__main__":
    main()
