"""The archives and metadata for registries, the workflows and the README."""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import playground

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md")]


@pytest.mark.slow
def test_the_source_archive_and_the_wheel_are_built_and_a_registry_shows_the_readme(tmp_path):
    for module in ("build", "twine"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    for command in (
        ["build", "--no-isolation", "--outdir", str(tmp_path)],
        ["twine", "check", "--strict", *map(str, [tmp_path / "*"])],
    ):
        result = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
        assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}\n{result.stderr}"
    megabytes = {file.suffix: file.stat().st_size / 1e6 for file in tmp_path.iterdir()}
    assert megabytes.keys() == {".whl", ".gz"}
    assert megabytes[".gz"] <= 22, "pictures of README and documentation are not in it"


def test_a_workflow_is_complete_and_runs_commands_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split())
    for file in WORKFLOWS:
        jobs = yaml.safe_load(file.read_text(encoding="utf-8")).get("jobs", {})  # a form for issues has no jobs
        for job in jobs.values():
            assert job["runs-on"]
            needs = job.get("needs", [])
            assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
            assert all(("uses" in step) != ("run" in step) for step in job["steps"])
            for script in [step["run"] for step in job["steps"] if "run" in step]:
                assert set(re.findall(r"\bmake (\w+)", script)) <= targets
                plain_script = re.sub(r"\$\{\{.*?\}\}", "VALUE", script)
                result = subprocess.run(["bash", "-n", "-c", plain_script], capture_output=True, text=True)
                assert result.returncode == 0, f"{script}\n{result.stderr}"


def test_each_action_is_pinned_by_the_digest_of_one_commit():
    used: dict[str, set[str]] = {}
    for file in WORKFLOWS:
        for action, commit in re.findall(r"uses: ([\w./-]+)@(.*)", file.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[0-9a-f]{40} # v[\d.]+", commit), f"{file.name}: {action}@{commit}"
            used.setdefault(action, set()).add(commit)
    assert {action: commits for action, commits in used.items() if len(commits) > 1} == {}


def test_a_release_is_refused_until_the_project_is_named_where_people_look(tmp_path):
    for name in (
        "deploy/named.py",
        "deploy/recipe.py",
        "playground/version.py",
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, str(tmp_path / "deploy/named.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    unnamed = run("--image", "example.org/us/attention-playground")
    assert unnamed.returncode == 1
    for sentence in ("names no repository", "begins with another section", "README.md builds the image"):
        assert sentence in unnamed.stderr, unnamed.stderr

    def edit(name: str, old: str, new: str) -> None:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert old in text, name
        (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    edit("pyproject.toml", "[project.urls]\n", '[project.urls]\nRepository = "https://example.org/us/it"\n')
    edit("CHANGELOG.md", "## Unreleased", f"## {playground.__version__}")
    edit(
        "README.md",
        "docker build -t playground . && docker run -p 8501:8501 playground",
        "docker run -p 8501:8501 x/it",
    )
    subprocess.run([sys.executable, str(tmp_path / "playground/version.py")], check=True)
    named = run("--image", "x/it")
    assert named.returncode == 0, named.stderr
    assert run("--notes").stdout.startswith("**The page**")
    (tmp_path / "a.tar.gz").write_bytes(b"an archive")
    command = [sys.executable, str(tmp_path / "deploy/recipe.py"), str(tmp_path / "a.tar.gz")]
    recipe = yaml.safe_load(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert recipe["source"]["sha256"] == hashlib.sha256(b"an archive").hexdigest()
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(recipe["requirements"]["run"]) == 1 + len(project["dependencies"])
    run("--links")
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", readme)
    assert [target for target in targets if not target.startswith(("https:", "#"))] == []
    assert f"](https://example.org/us/it/raw/v{playground.__version__}/assets/readme/moving.webp)" in readme


def test_a_release_is_refused_where_its_tag_is_not_the_version():
    workflow_text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    comparison = re.search(r"run: (grep .*)$", workflow_text, re.M)[1]
    for tag, is_equal in ((f"v{playground.__version__}", True), ("v99.0", False)):
        result = subprocess.run(["bash", "-c", comparison], cwd=ROOT, env=os.environ | {"GITHUB_REF_NAME": tag})
        assert (result.returncode == 0) == is_equal, tag


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_a_link_of_a_page_leads_to_a_file_and_a_heading(file):
    text = re.sub(r"^ *```.*?^ *```$", "", file.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if ":" in path:
            assert re.match(r"https://[\w.-]+\.\w+(/\S*)?$", link), f"{file.name}: {link}"
            continue
        target = ROOT / path if path else file
        assert target.exists(), f"{file.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{file.name}: {link}"


def anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
