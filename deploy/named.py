"""Checks before a release that the project is named where people look for it: python deploy/named.py [--image NAME].

--links makes README.md's links absolute, for a registry that shows it elsewhere; --notes prints what has changed.
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def problems(image: str) -> list[str]:
    """What a reader would stumble on, as sentences."""
    version = runpy.run_path(str(ROOT / "playground" / "version.py"))
    found = []
    if not version["repository"]():
        found.append('pyproject.toml names no repository: add Repository = "https://…" to [project.urls].')
    if (ROOT / "CITATION.cff").read_text(encoding="utf-8") != version["citation_file"]():
        found.append("CITATION.cff is of another version: python playground/version.py writes it.")
    heading = re.search(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if not heading or heading[1] != version["__version__"]:
        found.append(f"CHANGELOG.md begins with another section: give the first the name {version['__version__']}.")
    if image and f"docker run -p 8501:8501 {image}" not in (ROOT / "README.md").read_text(encoding="utf-8"):
        found.append(f"README.md builds the image: put `docker run -p 8501:8501 {image}` in that line's place.")
    return found


def with_absolute_links(text: str, repository: str, version: str) -> str:
    """The README with links to files of the repository at this version."""
    pictures = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\1{repository}/raw/v{version}/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\1{repository}/blob/v{version}/", pictures)


def newest_changes(text: str) -> str:
    """The first section of CHANGELOG.md."""
    match = re.search(r"^## .*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return match[1].strip() if match else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", default="", help="the name under which the image is published")
    parser.add_argument("--links", action="store_true")
    parser.add_argument("--notes", action="store_true")
    options = parser.parse_args()
    if options.notes:
        print(newest_changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    elif options.links:
        version = runpy.run_path(str(ROOT / "playground" / "version.py"))
        readme = ROOT / "README.md"
        text = readme.read_text(encoding="utf-8")
        readme.write_text(with_absolute_links(text, version["repository"](), version["__version__"]), encoding="utf-8")
    else:
        found = problems(options.image)
        print(*found, sep="\n", file=sys.stderr)
        return int(bool(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
