"""The version number, which the package, the command line, the pages and all written files share, and the citation of
the software. A published copy has its address and its DOI only in [project.urls] of pyproject.toml; an entry that is
missing there is left out of the citation. `python playground/version.py` writes CITATION.cff."""

import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

__version__ = "0.1.0"
RELEASE_DATE = "2026-11-23"
TITLE = "Attention Playground: see what every patch of an image attends to in a real Vision Transformer"
ABSTRACT = (
    "Put the cursor on a patch of your own photograph and see what it attends to, in every head and layer of a real "
    "Vision Transformer. A web app with lessons, and a Python library."
)
AUTHOR = "the Attention Playground's authors"
CHECKOUT = Path(__file__).resolve().parent.parent
CFF_TEMPLATE = """\
cff-version: 1.2.0
message: If the Attention Playground helped your work or your lecture, please cite it as below.
type: software
title: "{title}"
authors:
  - name: {author}
version: {version}
date-released: {released}
{addresses}license: MIT
keywords: [attention, attention map, vision transformer, ViT, DINOv2, interpretability, visualization, teaching]
abstract: "{abstract}"
"""


def cite() -> str:
    """A BibTeX entry of this version, with the repository and the DOI if the package names them.

    >>> print(playground.cite().splitlines()[0])
    @software{attention_playground,
    """
    addresses = {"url": repository(), "doi": doi()}
    return (
        "@software{attention_playground,\n"
        f"  author  = {{{{{AUTHOR}}}}},\n"
        f"  title   = {{{{{TITLE}}}}},\n"
        f"  version = {{{__version__}}},\n"
        f"  date    = {{{RELEASE_DATE}}},\n"
        + "".join(f"  {key:7} = {{{value}}},\n" for key, value in addresses.items() if value)
        + "  license = {MIT}\n"
        "}"
    )


def citation_file() -> str:
    """The text of CITATION.cff."""
    addresses = {"repository-code": repository(), "doi": doi()}
    lines = "".join(f'{key}: "{value}"\n' for key, value in addresses.items() if value)
    facts = {"title": TITLE, "author": AUTHOR, "abstract": ABSTRACT, "version": __version__, "released": RELEASE_DATE}
    return CFF_TEMPLATE.format(**facts, addresses=lines)


def repository() -> str:
    """The address of the repository, from the packaging metadata; "" if there is none."""
    return _addresses().get("repository", "")


def doi() -> str:
    """The DOI without the resolver's address before it; "" if the packaging metadata has none."""
    return _addresses().get("doi", "").partition("doi.org/")[2]


def _addresses() -> dict[str, str]:
    """{label in small letters: address} of [project.urls], from the checkout or else from the installed package."""
    file = CHECKOUT / "pyproject.toml"
    if file.is_file():
        urls = tomllib.loads(file.read_text(encoding="utf-8"))["project"].get("urls", {})
    else:
        try:
            entries = metadata("attention-playground").get_all("Project-URL") or []
        except PackageNotFoundError:
            entries = []
        urls = dict(url.split(", ", 1) for url in entries)
    return {label.lower(): address for label, address in urls.items()}


if __name__ == "__main__":
    (CHECKOUT / "CITATION.cff").write_text(citation_file(), encoding="utf-8")
