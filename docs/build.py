"""The documentation as a folder of plain pages, to be published beside the playground: it needs no server.

python docs/build.py [OUT]                  writes build/docs; it needs pdoc (pip install 'attention-playground[docs]')
python docs/build.py OUT --app ../app/      with links to a playground that is published there

Its words are docs/pages/*.md, sections of README.md, the docstrings, and what `--help` says; its figures are made now.
{{readme HEADING}}, {{commands}}, {{gallery}}, {{lessons}}, {{living}} and {{figure NAME}} stand for what is put there.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("COLUMNS", "100")  # of what --help says

import markdown2  # noqa: E402
import pdoc  # noqa: E402
import pdoc.render  # noqa: E402
import streamlit  # noqa: E402

import playground  # noqa: E402
from playground.__main__ import Parser, _parser  # noqa: E402
from playground.figures import command_line  # noqa: E402
from playground.ui.pages import LESSONS  # noqa: E402

HERE = ROOT / "docs"
GALLERY = ROOT / "assets" / "readme" / "gallery"
PAGES = {  # a file's name -> what the way through the pages calls it, in its order
    "index": "Start",
    "reading": "How to read a picture",
    "own_model": "Bring your own model",
    "many": "Many pictures",
    "python": "In Python",
    "api/playground": "Every function",
    "command_line": "On the command line",
    "gallery": "Gallery",
    "lessons": "Lessons",
}
API = ["playground", "playground.tracing", "playground.pack.record", "playground.figures.many", "playground.cuts"]
EXTRAS = ["fenced-code-blocks", "tables", "header-ids", "cuddled-lists"]
FIGURES = {  # what stands for {{figure NAME}}: words, and how it differs from one head in the bundled model
    "head": ("One head of the small model that comes with the playground", {}),
    "value": ("The same row as weight × ‖W_O v‖", {"what": "value"}),
    "scale": ("The same row with and without 1/√d_k in this layer", {"layout": "scale"}),
}
VIEW = {"layer": 4, "head": 0}


def build(out: Path, app: str | None = None) -> list[Path]:
    """The pages that were written."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "site.css", out)
    fonts = sorted(Path(streamlit.__file__).parent.glob("static/static/media/SourceSans*-Upright*.woff2"))
    for font in fonts[:1]:  # the app's own typeface, which Streamlit brings
        shutil.copy(font, out / "source-sans.woff2")
    parts = Parts(out, app)
    written = []
    for page in PAGES:
        if page.startswith("api/"):
            continue
        text = (HERE / "pages" / f"{page}.md").read_text(encoding="utf-8")
        text = re.sub(r"\{\{(\w+) ?([^}]*)\}\}", lambda found: parts.of(found[1], found[2]), text)
        (out / f"{page}.html").write_text(framed(page, rendered(text)), encoding="utf-8")
        written.append(out / f"{page}.html")
    return [*written, *documented(out / "api")]


def rendered(text: str) -> str:
    return markdown2.markdown(text, extras=EXTRAS)


def framed(page: str, body: str) -> str:
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body)[1]
    way = "\n".join(
        f'<a href="{name}.html"{" aria-current=page" if name == page else ""}>{words}</a>'
        for name, words in PAGES.items()
    )
    values = {"title": title, "way": way, "body": body, "version": playground.__version__}
    text = (HERE / "site.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], text)


class Parts:
    """What is put into the pages."""

    def __init__(self, out: Path, app: str | None) -> None:
        self.out, self.app = out, app
        self.readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.seen = playground.trace("bundled", "meadow")

    def of(self, kind: str, what: str) -> str:
        ways: dict[str, Callable[[str], str]] = {
            "readme": self._section, "commands": self._commands, "gallery": self._gallery, "lessons": self._lessons,
            "living": self._living, "figure": self._figure,
        }  # fmt: skip
        return ways[kind](what)

    def _section(self, heading: str) -> str:
        """Of the README, whose links begin in another folder."""
        text = re.search(rf"^## ({re.escape(heading)}\n.*?)(?=^## |\Z)", self.readme, re.M | re.S)[1]
        text = re.sub(r"\]\(#[\w-]+\)", "](own_model.html)" if "own-model" in text else "](index.html)", text)
        text = re.sub(r"\[(`?[^\]`]+`?)\]\((?!https?:)(playground|docs|deploy|assets)/[^)]*\)", r"\1", text)
        return re.sub(r"^##", "#", f"# {text}", flags=re.M).replace("# # ", "# ", 1)

    def _commands(self, _: str) -> str:
        top = _parser()
        said = [_help("attention-playground", top)]
        for action in top._actions:
            if isinstance(action, argparse._SubParsersAction):
                said += [_help(f"attention-playground {name}", one) for name, one in action.choices.items()]
        return "\n".join(said)

    def _gallery(self, _: str) -> str:
        text = (
            (GALLERY / "README.md").read_text(encoding="utf-8").replace("python -m playground", "attention-playground")
        )
        folder = self.out / "gallery"
        folder.mkdir(exist_ok=True)
        for name in re.findall(r"\]\(([\w.]+\.(?:png|webp))\)", text):
            shutil.copy(GALLERY / name, folder)
        return re.sub(r"\]\(([\w.]+\.(?:png|webp))\)", r"](gallery/\1)", text)

    def _lessons(self, _: str) -> str:
        pokes = dict(re.findall(r"^\| \d+ ([\w ]+?) \| (.*) \|$", self.readme, re.M))
        lines = ["| | lesson | what you can poke at |", "|---|---|---|"]
        for number, page in enumerate(LESSONS, start=1):
            name = f"[{page.title}]({self.app}{page.name})" if self.app else page.title
            lines.append(f"| {number} | {name} | {pokes[page.short]} |")
        return "\n".join(lines)

    def _living(self, _: str) -> str:
        checkout, command_line.PROGRAM = command_line.PROGRAM, "attention-playground"  # what its readers type
        try:
            playground.save(self.seen, self.out / "living.html", **VIEW, layers=(4,), pack="int8")
        finally:
            command_line.PROGRAM = checkout
        return (
            '<iframe class="living" title="The living microscope on a drawing" src="living.html" '
            'sandbox="allow-scripts allow-downloads" loading="lazy"></iframe>'
        )

    def _figure(self, name: str) -> str:
        words, options = FIGURES[name]
        playground.save(self.seen, self.out / f"{name}.svg", **VIEW, purpose="page", **options)
        return f"![{words}]({name}.svg)"


def _help(name: str, parser: Parser | argparse.ArgumentParser) -> str:
    said = parser.format_help().replace("python -m playground", "attention-playground")
    return f"### {name}\n\n<pre><code>{html.escape(said)}</code></pre>\n"


def documented(out: Path) -> list[Path]:
    """Every function, from the docstrings."""
    pdoc.render.configure(template_directory=HERE / "api", docformat="markdown", show_source=False, search=True)
    # a type that waits for NumPy and torch is shown as it is written
    warnings.filterwarnings("ignore", "Error parsing type annotation", module="pdoc")
    pdoc.render.env.globals["pages"] = PAGES
    pdoc.pdoc(*API, output_directory=out)
    return sorted(out.rglob("*.html"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--app", metavar="URL", help="where the playground itself is published")
    given = parser.parse_args()
    pages = build(given.out, given.app)
    print(f"{len(pages)} pages in {given.out}")


if __name__ == "__main__":
    main()
