"""Sphinx's settings. `make docs` writes the documentation, a folder of pages that opens without a server.

Why Sphinx with MyST and Furo: it is maintained, reads our Markdown, makes a reference from docstrings and types, and
its search works in a folder that is opened by a double click.

DOCS_APP=../ names the address of a published playground, to whose lessons learn.md then links; DOCS_BASE=https://…/ is
where the documentation will lie, for its sitemap.
"""

import atexit
import html
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
os.environ.setdefault("COLUMNS", "100")  # the width of the --help texts
BASE = os.environ.get("DOCS_BASE", "")

import parts  # noqa: E402
import streamlit  # noqa: E402
from docutils import nodes  # noqa: E402

import playground  # noqa: E402
from playground.ui.pages import LESSONS  # noqa: E402

# Sphinx's settings ----------------------------------------------------------------------------------------------------

project = "Attention Playground"
author = "the Attention Playground's authors"
version = release = playground.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a part of another file may begin with a lower heading
default_role = "code"  # the role of `…` in docstrings
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True, "inherited-members": True, "undoc-members": True,
    "exclude-members": "add_note, args, with_traceback",  # members of every exception
}  # fmt: skip
autodoc_preserve_defaults = True
maximum_signature_line_length = 90
html_theme = "furo"
html_title = "Attention Playground"
html_baseurl = BASE if BASE.startswith("https:") else ""  # the canonical address of a page
html_copy_source = html_show_sphinx = html_show_copyright = smartquotes = False
highlight_language = "text"
html_css_files = ["style.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0060a0", "color-brand-content": "#0060a0"},
    "dark_css_variables": {"color-brand-primary": "#6cb8f0", "color-brand-content": "#6cb8f0"},
}
pygments_style, pygments_dark_style = "friendly", "github-dark"

# Figures and living pages, drawn when the site is built ---------------------------------------------------------------

FIGURES = {  # a file's name -> options that differ from those of the figure of one head
    "head.svg": {},
    "value.svg": {"what": "value"},
    "rollout.svg": {"what": "rollout"},
    "scale.svg": {"layout": "scale"},
}


def made_files() -> Path:
    """A folder with figures that are drawn now, the living page, and the app's own letters, which Streamlit brings."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    trace = playground.trace("bundled", "meadow")
    for name, options in FIGURES.items():
        playground.save(trace, folder / name, layer=4, head=0, query=(7, 5), width="page", **options)
    fonts = sorted(Path(streamlit.__file__).parent.glob("static/static/media/SourceSans*-Upright*.woff2"))
    shutil.copy(fonts[0], folder / "source-sans.woff2")
    shutil.copy(ROOT / "docs" / "living.html", folder)
    return folder


html_static_path = ["static", str(made_files())]


def fill_page(app, page: str, source: list[str]) -> None:
    """Puts into a page what its {{…}} stand for."""
    source[0] = parts.filled(source[0])
    if page == "learn" and (address := os.environ.get("DOCS_APP")):
        for lesson in LESSONS:
            name = lesson.name.replace("_", " ").capitalize()
            link = f'<a href="{html.escape(address)}{lesson.name}">{name}</a>'
            source[0] = source[0].replace(f"| {name} |", f"| {link} |")


def code_of_docstring(app, what, name, python_object, options, lines: list[str]) -> None:
    """Marks the code of a docstring, between ``` or indented, as reStructuredText does it."""
    new_lines: list[str] = []
    is_fenced = is_indented = False
    for line in lines:
        if line.startswith("```"):
            is_fenced = not is_fenced
            new_lines += [".. code-block:: python", ""] if is_fenced else [""]
        elif is_fenced:
            new_lines.append(f"    {line}")
        else:
            is_first = line.startswith("    ") and not is_indented and new_lines and not new_lines[-1]
            is_indented = line.startswith("    ") or (is_indented and not line)
            new_lines += ["::", "", line] if is_first else [line]
    lines[:] = new_lines


def short_names(app, what, name, python_object, options, signature: str | None, return_type: str | None):
    """Types without the modules that they are in: Tensor, not torch.Tensor."""
    return tuple(text and re.sub(r"~?\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", text) for text in (signature, return_type))


def summary(doctree: nodes.document) -> str:
    """The first sentences of a page, as many as search engines show, and at least one."""
    whole = [one for one in doctree.findall(nodes.paragraph) if not list(one.findall(nodes.image))]
    opening = [one for one in whole if isinstance(one.parent, nodes.section)]  # no cell of a table, no point of a list
    texts = [one.astext().replace("\n", " ") for one in opening + whole]
    text = next((one for one in texts if len(one) > 40), "")
    first, *others = re.split(r"(?<=[.?:]) (?=[A-Z])", text)
    for sentence in others:
        if len(first) + len(sentence) > 155:
            break
        first += f" {sentence}"
    return first


def describe(app, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """The page's description, for search engines and previews of links."""
    if doctree and (text := summary(doctree)):
        context["metatags"] += f'<meta name="description" content="{html.escape(text)}">'


def list_of_pages(app, exception) -> None:
    """Writes llms.txt for language models and, if DOCS_BASE is a whole address, sitemap.xml for search engines."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    titles = {page: title.astext() for page, title in app.env.titles.items()}
    texts = {page: summary(app.env.get_doctree(page)) for page in titles}
    lines = [f"- [{title}]({BASE}{page}.html): {texts[page]}" for page, title in sorted(titles.items())]
    head = f"# {project}\n\n> {texts['index']}\n\n## Pages\n\n"
    (out / "llms.txt").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    if html_baseurl:
        addresses = "".join(f"<url><loc>{html.escape(BASE)}{page}.html</loc></url>\n" for page in sorted(titles))
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        (out / "sitemap.xml").write_text(f"{head}{addresses}</urlset>\n")


def setup(app) -> None:
    app.connect("build-finished", list_of_pages)
    app.connect("html-page-context", describe)
    app.connect("autodoc-process-signature", short_names)
    app.connect("source-read", fill_page)
    app.connect("autodoc-process-docstring", code_of_docstring)
