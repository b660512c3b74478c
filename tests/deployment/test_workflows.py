"""The release's steps, one after another in a clean clone of which the project is named. What needs a secret or
installs something has a stand-in: pip, uv, gh; npm packs and does not publish."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import playground

ROOT = Path(__file__).parents[2]
STAND_INS = {
    "pip": "true",
    "uv": 'test "$1" = publish && ls "${@:4}"',
    "gh": 'echo "$@" > gh.txt && ls "${@:6}"',
    "python": f'if [ "$*" = "-m build" ]; then set -- -m build --no-isolation; fi; exec "{sys.executable}" "$@"',
    "make": 'exec /usr/bin/make -o .venv/.app -o .venv/.dev "$@"',
    "npm": f'exec "{shutil.which("npm")}" pack --offline --silent',
}


@pytest.mark.slow
def test_each_step_of_a_release_that_needs_no_secret_runs_in_a_clean_clone(tmp_path):
    for tool in ("npm", "zip"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    for module in ("build", "twine", "sphinx"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    clone, stand_ins = tmp_path / "clone", tmp_path / "bin"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    (clone / ".venv").symlink_to(sys.prefix)
    stand_ins.mkdir()
    for name, script in STAND_INS.items():
        (stand_ins / name).write_text(f"#!/usr/bin/env bash\n{script}\n")
        (stand_ins / name).chmod(0o755)
    (stand_ins / "python3").symlink_to(stand_ins / "python")
    name_the_project(clone)
    environment = os.environ | {
        "PATH": f"{stand_ins}:{os.environ['PATH']}",
        "GITHUB_REF_NAME": f"v{playground.__version__}",
        "IMAGE": "",
    }
    jobs = yaml.safe_load((clone / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    for name in ("named", "packages", "site", "publish"):
        for step in jobs[name]["steps"]:
            if step.get("with", {}).get("name") == "packages":  # the artifact that the job publish downloads
                (clone / "dist").rename(clone / "packages")
            if "run" not in step:
                continue
            folder = clone / step.get("working-directory", "")
            command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
            result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            assert result.returncode == 0, f"{step['run']}\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}"
    (package,) = (clone / "site" / "embed").glob("*.tgz")
    with tarfile.open(package) as archive:
        packed = {name.removeprefix("package/") for name in archive.getnames()}
    assert packed == {"attention-lens.js", "attention-lens.d.ts", "package.json"}
    names = zipfile.ZipFile(clone / "attention-playground-site.zip").namelist()
    assert {"index.html", "sw.js", ".nojekyll", "docs/index.html"} <= set(names)
    assert (clone / "gh.txt").read_text().split()[:3] == ["release", "create", f"v{playground.__version__}"]


def name_the_project(clone: Path) -> None:
    for file, old, new in (
        ("pyproject.toml", "[project.urls]\n", '[project.urls]\nRepository = "https://example.org/us/it"\n'),
        ("CHANGELOG.md", "## Unreleased", f"## {playground.__version__}"),
    ):
        text = (clone / file).read_text(encoding="utf-8")
        (clone / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    subprocess.run([sys.executable, clone / "playground" / "version.py"], check=True)
