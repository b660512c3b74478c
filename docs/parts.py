"""What is put into the documentation's pages: {{citation}}, {{commands}}, {{faithfulness}}, {{figures}}, {{changes}},
{{notebook NAME}} and {{section FILE: HEADING}}."""

import re
from argparse import _SubParsersAction
from pathlib import Path

import pandas as pd

from playground import version
from playground.__main__ import _parser
from playground.assets import FAITHFULNESS
from playground.figures.faithfulness import table

ROOT = Path(__file__).resolve().parent.parent
GALLERY = "assets/readme/gallery"


def filled(text: str, with_made_parts: bool = True) -> str:
    """A page with its parts; without `with_made_parts`, leaves out those that scripts make."""
    parts = {"changes": changes, "citation": citation, "faithfulness": faithfulness, "section": section}
    if with_made_parts:
        parts |= {"commands": commands, "figures": figures, "notebook": notebook}
    return re.sub(
        r"^\{\{(\w+) ?([^:}]*):? ?([^}]*)\}\}$",
        lambda match: parts[match[1]](*filter(None, match.groups()[1:])) if match[1] in parts else "",
        text,
        flags=re.M,
    )


def citation() -> str:
    """The citation of the software, with a repository and a DOI if the packaging metadata names them."""
    return f"```bibtex\n{version.cite()}\n```"


def commands() -> str:
    """What --help says of every command, by the name of the installed one."""
    root_parser = _parser()
    (subparsers,) = (action.choices for action in root_parser._actions if isinstance(action, _SubParsersAction))
    return "\n\n".join(
        f"### attention-playground {name}\n\n```text\n{with_installed_name(parser.format_help())}```"
        for name, parser in {"": root_parser, **subparsers}.items()
    )


def with_installed_name(text: str) -> str:
    return text.replace("python -m playground", "attention-playground")


def figures() -> str:
    """The gallery without its first paragraph; its pictures lie in another folder."""
    text = with_installed_name((ROOT / GALLERY / "README.md").read_text(encoding="utf-8"))
    return re.sub(r"\]\(([\w.]+\.png)\)", rf"](../../{GALLERY}/\1)", text[text.index("\n## ") :])


def faithfulness() -> str:
    """The means of the numbers that the command `faithfulness` wrote."""
    return table(pd.read_csv(FAITHFULNESS))


def notebook(name: str) -> str:
    """A notebook, run now."""
    import executed

    return executed.page(executed.NOTEBOOKS / f"{name}.ipynb")


def changes() -> str:
    """The changelog without links to files of the project, which the pages do not have."""
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def section(file: str, heading: str = "") -> str:
    """The section of a file under a heading; without a heading, the text before the first section."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if not heading:
        return text.partition("\n## ")[0].partition("\n")[2]
    return re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.M | re.S)[0]
