"""Prints conda-forge's recipe of a released archive: python deploy/recipe.py dist/attention_playground-0.2.0.tar.gz

The library alone; its packages and their bounds are those of pyproject.toml. For a pull request to conda-forge's
staged-recipes, as recipes/attention-playground/recipe.yaml. Its maintainers have to be people on GitHub: where an
organisation owns the repository, put them there.
"""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHER_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}  # pip's name -> conda-forge's
RECIPE = """schema_version: 1

context:
  version: "{version}"
  python_min: "{python}"

package:
  name: attention-playground
  version: ${{{{ version }}}}

source:
  url: {repository}/releases/download/v${{{{ version }}}}/attention_playground-${{{{ version }}}}.tar.gz
  sha256: {digest}

build:
  noarch: python
  number: 0
  script: ${{{{ PYTHON }}}} -m pip install . --no-deps --no-build-isolation -vv
  python:
    entry_points:
      - attention-playground = playground.__main__:main

requirements:
  host:
    - python ${{{{ python_min }}}}.*
    - pip
    - {backend}
  run:
    - python >=${{{{ python_min }}}}
{packages}

tests:
  - python:
      imports: [playground]
      python_version:
        - ${{{{ python_min }}}}.*
        - "*"
  - script:
      - attention-playground figure meadow -o meadow.png

about:
  homepage: {repository}
  summary: {summary}
  license: MIT
  license_file: LICENSE

extra:
  recipe-maintainers:
    - {maintainer}
"""


def recipe(archive: Path) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = runpy.run_path(str(ROOT / "playground" / "version.py"))
    repository = version["repository"]()
    if not repository:
        raise SystemExit('pyproject.toml names no repository: add Repository = "https://…" to [project.urls].')
    requirements = [re.fullmatch(r"([\w.-]+)(.*)", one).groups() for one in project["project"]["dependencies"]]
    return RECIPE.format(
        version=version["__version__"],
        python=project["project"]["requires-python"].removeprefix(">="),
        repository=repository,
        digest=sha256(archive.read_bytes()).hexdigest(),
        backend=re.sub(r"(\w)([><=])", r"\1 \2", project["build-system"]["requires"][0], count=1),
        packages="\n".join(f"    - {OTHER_NAMES.get(name, name)} {bound}" for name, bound in requirements),
        summary=project["project"]["description"],
        maintainer=repository.split("/")[3],
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(recipe(Path(sys.argv[1])), end="")
