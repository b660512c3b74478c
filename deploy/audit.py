"""Audits the app's dependencies: the versions in the locks, and the licences of the packages installed for this Python.

python deploy/audit.py            checks each dependency's bounds, known vulnerabilities and licence
python deploy/audit.py --table    the same, and lists all dependencies
python deploy/audit.py --strict   fails on a known vulnerability, or if osv.dev can't be reached: before a
                                  release, and before serving

The exit status is 1 if a check fails; `make lint` runs it. Known vulnerabilities are looked up at osv.dev, by the
names and versions in the locks. They are always reported, but they fail the audit only with --strict, so that the
result for a commit does not change from day to day.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata as metadata
import json
import re
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent

FREE_LICENCES = (  # words that tell a free licence, in an SPDX expression, a classifier or a licence's first line
    "apache", "bsd", "mit", "isc", "mpl", "mozilla", "psf", "python software foundation", "zlib", "unlicense", "hpnd",
    "cc0", "bsl", "matplotlib", "ofl",
)  # fmt: skip
BINDING_LICENCE = re.compile(r"\b(a|l)?gpl|general public|proprietary|non-?commercial", re.IGNORECASE)


def requirements(file: Path) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


# Bounds ---------------------------------------------------------------------------------------------------------------


def outside_trouble(requirement: Requirement, version: str) -> str | None:
    is_inside = requirement.specifier.contains(Version(version), prereleases=True)
    return None if is_inside else f"{requirement.name} {version} is outside {requirement.specifier}"


def bound_trouble(requirement: Requirement, tested_version: str) -> str | None:
    """A sentence if `tested_version` is outside the requirement's bounds, or if the bounds allow a newer series than
    that version's; else None."""
    version = Version(tested_version)
    if sentence := outside_trouble(requirement, tested_version):
        return sentence
    if any(specifier.operator == "==" for specifier in requirement.specifier):
        return None
    upper_bounds = [Version(specifier.version) for specifier in requirement.specifier if specifier.operator == "<"]
    if not upper_bounds:
        return f"{requirement.name} has no upper bound"
    series = (Version(f"{version.major + 1}"), Version(f"{version.major}.{version.minor + 1}"))
    if min(upper_bounds) not in series:
        return (
            f"{requirement.name} <{min(upper_bounds)} lets in what {tested_version} does not speak for: "
            f"end at {series[0]} or {series[1]}"
        )
    return None


def imported_modules() -> set[str]:
    """The modules that files of the app and the workshop import, also inside functions."""
    names = set()
    files = (file for folder in ("pages", "playground", "workshop") for file in ROOT.glob(f"{folder}/**/*.py"))
    for file in (ROOT / "app.py", *files):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"playground", "workshop"}


def unlisted_packages(app_requirements: list[Requirement]) -> list[str]:
    """Packages that the app imports but that neither requirements.txt nor an extra in pyproject.toml lists."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    extra_requirements = [Requirement(line) for lines in extras.values() for line in lines]
    listed_names = {canonicalize_name(requirement.name) for requirement in (*app_requirements, *extra_requirements)}
    packages = metadata.packages_distributions()
    return sorted(
        m for m in imported_modules() if not {canonicalize_name(name) for name in packages.get(m, [m])} & listed_names
    )


# Licences -------------------------------------------------------------------------------------------------------------


def closure(app_requirements: list[Requirement]) -> Iterator[metadata.Distribution]:
    """The installed packages of these requirements and of all their dependencies, each package once."""
    visited, queue = set(), [(r.name, r.extras) for r in app_requirements]
    while queue:
        name, extras = queue.pop()
        if (key := (canonicalize_name(name), frozenset(extras))) in visited:
            continue
        distribution = metadata.distribution(name)
        if not any(name == key[0] for name, _ in visited):
            yield distribution
        visited.add(key)
        for text in distribution.requires or []:
            need = Requirement(text)
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                queue.append((need.name, need.extras))


def licence(package: metadata.Distribution) -> str:
    """The licence that the package states: an SPDX expression, else classifiers, else the first line of the licence's
    text."""
    fields = package.metadata
    if expression := fields.get("License-Expression"):
        return expression
    classifiers = [c.rpartition(" :: ")[2] for c in fields.get_all("Classifier") or [] if c.startswith("License ::")]
    text_lines = (fields.get("License") or "").strip().splitlines()
    text = ", ".join(c for c in classifiers if c != "OSI Approved") or (text_lines[0] if text_lines else "")
    return text or "not stated"


def licence_trouble(name: str, text: str) -> str | None:
    if canonicalize_name(name).startswith(("nvidia-", "cuda-")):
        return None  # accepted: NVIDIA's own terms, in builds with CUDA
    is_free = any(re.search(rf"\b{word}", text, re.IGNORECASE) for word in FREE_LICENCES)
    if BINDING_LICENCE.search(text) or not is_free:
        return f"{name}'s licence wants a look: {text}"
    return None


# Vulnerabilities ------------------------------------------------------------------------------------------------------

OSV = "https://api.osv.dev/v1/querybatch"
PATIENCE = 20  # seconds to wait for an answer
ACCEPTED: dict[str, str] = {}  # id of a vulnerability -> why it does no harm in this app


def locked_versions() -> dict[str, str]:
    """{package: version}, of all locks."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("requirements*.lock")))
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", text, re.MULTILINE))


def vulnerabilities(packages: dict[str, str], url: str = OSV) -> tuple[str, bool]:
    """(a sentence about known vulnerabilities, whether osv.dev answered and knew none)."""
    queries = [{"version": v, "package": {"name": name, "ecosystem": "PyPI"}} for name, v in packages.items()]
    request = urllib.request.Request(
        url, json.dumps({"queries": queries}).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            results = json.load(answer)["results"]
        vulnerability_ids = {
            name: [
                vulnerability["id"] for vulnerability in result.get("vulns", []) if vulnerability["id"] not in ACCEPTED
            ]
            for name, result in zip(packages, results, strict=True)
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"known vulnerabilities: not looked up, for osv.dev gave no answer ({error})", False
    sentences = [f"{name} {packages[name]}: {', '.join(ids)}" for name, ids in vulnerability_ids.items() if ids]
    if not sentences:
        return f"known vulnerabilities of {len(packages)} locked packages: none but {len(ACCEPTED)} accepted", True
    return "known vulnerabilities (make the lock again, or say in ACCEPTED why they do no harm): " + "; ".join(
        sentences
    ), False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="list every package")
    parser.add_argument(
        "--strict", action="store_true", help="fail where a vulnerability is known, or nobody could be asked"
    )
    options = parser.parse_args()

    app_requirements = requirements(ROOT / "requirements.txt")
    missing_names = [r.name for r in app_requirements if not _is_here(r.name)]
    if missing_names:
        sys.exit(f"Not installed here: {', '.join(missing_names)}. Run this with the Python that runs the app.")
    versions = locked_versions()
    troubles = [bound_trouble(r, versions[canonicalize_name(r.name)]) for r in app_requirements]
    troubles += [outside_trouble(r, metadata.version(r.name)) for r in app_requirements]
    troubles += [
        f"{module} is imported, but requirements.txt does not name it" for module in unlisted_packages(app_requirements)
    ]
    packages = sorted(closure(app_requirements), key=lambda p: p.metadata["Name"].lower())
    if options.table:
        for package in packages:
            print(f"{package.metadata['Name']:28} {package.version:14} {licence(package)}")
    troubles += [licence_trouble(p.metadata["Name"], licence(p)) for p in packages]
    problems = [trouble for trouble in troubles if trouble]
    report, is_clean = vulnerabilities(versions)
    print(f"{len(app_requirements)} dependencies, {len(packages)} packages with all that they need; {report}")
    print(*problems or ["bounds and licences: nothing to complain of"], sep="\n")
    return 1 if problems or (options.strict and not is_clean) else 0


def _is_here(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
