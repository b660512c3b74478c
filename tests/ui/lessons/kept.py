"""The texts that a reader sees in each step of a lesson. kept.json holds those that must not be lost.

`PYTHONPATH=. python tests/ui/lessons/kept.py` writes the file again after an intended change of words."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from streamlit.testing.v1 import AppTest

from playground.lessons.registry import LESSONS
from playground.pack import unpack

ROOT = Path(__file__).parent.parent.parent.parent
FILE = Path(__file__).with_suffix(".json")
NUMBER = re.compile(r"\d[\d,.]*(?:e[−-]?\d+)?")


def open_page(page: str, **words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    for name, value in ({"sample": "meadow", "model": "bundled"} | words).items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def texts_of_steps(page: str) -> dict[str, list[str]]:
    """{step: its visible texts, in order}"""
    app = open_page(page)
    titles = app.session_state["titles"] or {"": ""}
    texts_by_step = {}
    for step in titles:
        if step and step != app.session_state["step"]:
            app.session_state["step"] = step
            app.run()
            assert not app.exception, (page, step, app.exception)
        texts_by_step[step] = list(dict.fromkeys(visible_texts(app)))
    return texts_by_step


def visible_texts(app: AppTest) -> Iterator[str]:
    for element in app.main:
        proto = getattr(element, "proto", None)
        if element.type == "bidi_component":
            if "settings" in (element.key or "") or element.key in ("overview", "toolbar"):
                continue
            yield from strings(json.loads(proto.json or "null"))
            yield from strings(unpack(proto.bytes)[0] if proto.bytes else None)
        elif element.type == "plotly_chart":
            figure = json.loads(proto.spec)
            yield from strings([figure["layout"].get(name) for name in ("title", "xaxis", "yaxis", "annotations")])
            yield from (trace["name"] for trace in figure["data"] if trace.get("name"))
        elif element.type in ("markdown", "caption", "header", "subheader", "info", "warning", "code", "table"):
            yield plain_text(str(element.value))
        elif label := getattr(element, "label", "") or getattr(proto, "label", ""):
            yield plain_text(label)


def strings(nested: object) -> Iterator[str]:
    """All sentences and titles in a nested value: texts with a space that are no data."""
    if isinstance(nested, str):
        if " " in nested and not nested.startswith(("data:", "M ")) and not re.fullmatch(r"[\d ,.|-]+", nested):
            yield plain_text(nested)
    elif isinstance(nested, Mapping):
        for name, member in nested.items():
            if name not in ("template", "template_layout", "hovertemplate", "context", "kind", "id"):
                yield from strings(member)
    elif isinstance(nested, list):
        for member in nested:
            yield from strings(member)


def plain_text(text: str) -> str:
    """The text without Markdown and marks of formulas, and with # for each number: other tests check the numbers."""
    text = re.sub(r"\$([^$]*)\$", r"\1", text).replace("\\sqrt{", "√").replace("\\text{", "")
    text = re.sub(r"</?(?:sub|sup|b|i|br)>|[*`{}\\^_]", "", text)
    return re.sub(r"\s+", " ", NUMBER.sub("#", text)).strip()


def read_kept() -> dict[str, dict[str, list[str]]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    os.environ["HF_HUB_CACHE"] = str(ROOT / "empty")  # so that no fetched model is found
    os.environ.pop("PLAYGROUND_BORROWED", None)
    pages = sys.argv[1:] or LESSONS
    texts = (read_kept() if FILE.exists() else {}) | {page: texts_of_steps(page) for page in pages}
    FILE.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
