"""The one version number, for the package, the command line, the page and every file that is written."""

from importlib.metadata import PackageNotFoundError, metadata

__version__ = "0.1.0"
RELEASED = "2026-11-23"
TITLE = "Attention Playground: see what every patch of an image attends to in a real Vision Transformer"


def cite() -> str:
    """A BibTeX entry, with this version.

    >>> print(playground.cite().splitlines()[0])
    @software{attention_playground,
    """
    return (
        "@software{attention_playground,\n"
        "  author  = {{the Attention Playground's authors}},\n"
        f"  title   = {{{{{TITLE}}}}},\n"
        f"  version = {{{__version__}}},\n"
        f"  date    = {{{RELEASED}}},\n"
        "  license = {MIT}\n"
        "}"
    )


def repository() -> str:
    """Where its sources lie, as the packaging metadata says; "" where that says nothing."""
    try:
        urls = metadata("attention-playground").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = (url.partition(", ") for url in urls)
    return next((address for label, _, address in named if label.lower() == "repository"), "")
