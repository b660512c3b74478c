"""What a file carries of where it comes from, in the words of its format."""

from __future__ import annotations

from playground.figures import layouts
from playground.figures.command_line import again
from playground.figures.naming import published
from playground.figures.spec import Spec
from playground.version import __version__


def provenance(spec: Spec, facts: dict[str, str], name: str = "figure.png") -> dict[str, str]:
    """A title, all facts in a line, and the command that makes the file `name` again, where there is one."""
    said = {
        "Title": layouts.of(spec).title(published(spec)),
        "Description": "; ".join(f"{key}: {value}" for key, value in facts.items()),
        "Command": again(spec, name),
        "Software": f"Attention Playground {__version__}",
    }
    # a file's name may be no text: no file format can hold it
    return {key: value.encode("utf-8", "replace").decode() for key, value in said.items() if value}


def metadata(spec: Spec, facts: dict[str, str], kind: str, name: str) -> dict[str, str | None]:
    """The same as a file of this kind says it; without a date, so that the same figure is the same file."""
    said = provenance(spec, facts, name)
    if kind == "pdf":
        info = {"Title": said["Title"], "Subject": said["Description"], "Keywords": said.get("Command")}
        return info | {"Creator": said["Software"], "CreationDate": None}
    if kind == "svg":
        info = {"Title": said["Title"], "Description": said["Description"], "Source": said.get("Command")}
        return info | {"Creator": said["Software"], "Date": None}
    return dict(said) if kind == "png" else {}
