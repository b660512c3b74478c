"""The documentation: it builds, is complete, and its examples are true."""

import html
import html.parser
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import playground
from playground.__main__ import _parser
from playground.ui.pages import LESSONS

ROOT = Path(__file__).parent.parent
LIVING = ROOT / "docs" / "living.html"
WORDS = sorted((ROOT / "docs" / "pages").glob("*.md"))


def words(file: Path) -> list[str]:
    """The words of a page, including the parts of other files that it includes."""
    script = runpy.run_path(str(ROOT / "docs" / "parts.py"))
    text = script["filled"](file.read_text(encoding="utf-8"), with_made_parts=False)
    return re.findall(r"\S*\w\S*", text)  # without the bars of tables


def blocks(file: Path, language: str) -> list[str]:
    text = re.findall(r"^```(\w*)\n(.*?)^```$", file.read_text(encoding="utf-8"), re.M | re.S)
    return [code for said, code in text if said == language]


@pytest.mark.parametrize("file", [file for file in WORDS if blocks(file, "python")], ids=lambda file: file.stem)
def test_the_examples_of_a_page_run(file, tmp_path, monkeypatch):
    if file.stem == "many":
        pytest.importorskip("zarr", reason="zarr is not installed")
        pytest.importorskip("xarray", reason="xarray is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.py").write_text("\n".join(blocks(file, "python")))
    runpy.run_path(str(tmp_path / "page.py"))


@pytest.mark.parametrize("file", WORDS, ids=lambda file: file.stem)
def test_the_commands_of_a_page_can_be_typed(file):
    inline = re.findall(r"`attention-playground (\S[^`…]*)`", file.read_text(encoding="utf-8"))
    lines = [line for block in blocks(file, "") for line in block.splitlines()]
    typed = [line.partition(" ")[2] for line in lines if line.startswith("attention-playground ")]
    for line in [*inline, *typed]:
        assert _parser().parse_args(shlex.split(line, comments=True)).run, line


class Links(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.to, self.ids, self.frames = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given["id"]} if given.get("id") else set()
        self.frames += [given] if tag == "iframe" else []
        self.to += [given[name] for name in ("href", "src") if given.get(name)]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder that deploy/pages.yml publishes: the playground without a server, and in docs/ the documentation,
    built with warnings as errors."""
    pytest.importorskip("sphinx", reason="sphinx is not installed")
    (job,) = yaml.safe_load((ROOT / "deploy" / "pages.yml").read_text(encoding="utf-8"))["jobs"].values()
    *_, last = [step["run"] for step in job["steps"] if "run" in step]
    (uploaded,) = [step["with"] for step in job["steps"] if "upload-pages-artifact" in step.get("uses", "")]
    assert uploaded["path"] == "out"
    out = tmp_path_factory.mktemp("pages") / "out"
    command = last.replace("$PWD/out", str(out)).replace("${{ steps.pages.outputs.base_url }}", "/project")
    environment = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def site(published):
    out = published / "docs"
    return {file.relative_to(out): Links(file.read_text(encoding="utf-8")) for file in out.glob("*.html")}, out


def test_make_docs_writes_what_is_published():
    builds = r"-m sphinx (.*?) docs docs/pages"
    made = re.search(builds, (ROOT / "Makefile").read_text(encoding="utf-8"))[1]
    assert made.replace(" --keep-going", "") == re.search(builds, (ROOT / "deploy" / "pages.sh").read_text())[1]


@pytest.mark.slow
def test_the_playground_lies_beside_its_documentation_and_opens_its_lessons(published, site):
    lost = (published / "404.html").read_text(encoding="utf-8")
    assert 'href="/project/about.html' in lost
    pages = set(re.search(r'data-pages="([^"]+)"', lost)[1].split())
    assert {to.removeprefix("../") for to in site[0][Path("learn.html")].to if to.startswith("../")} <= pages


@pytest.mark.slow
def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    pages, out = site
    assert len(pages) > len(WORDS)
    wrong = []
    for page, links in pages.items():
        for to in links.to:
            path, _, place = to.partition("#")
            if re.match(r"\w+:", to):
                assert re.match(r"https://[\w.-]+\.\w+(/\S*)?$|data:", to), f"{page}: {to}"
                continue
            if to.startswith("../"):
                continue
            target = (out / page.parent / path.partition("?")[0]).resolve() if path else out / page
            if not target.is_file():
                wrong.append(f"{page}: {to}")
            elif place and target.suffix == ".html" and place not in pages[target.relative_to(out)].ids:
                wrong.append(f"{page}: {to}, no such place")
        text = (out / page).read_text(encoding="utf-8")
        wrong += [f"{page} holds {part}" for part in re.findall(r"\{\{[a-z_ ]+\}\}", text)]  # an unfilled placeholder
        wrong += [f"{page} loads {found}" for found in re.findall(r"<(?:script|img|link)[^>]*https?://[^>]*>", text)]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.slow
def test_every_name_of_the_face_is_documented_with_its_types(site):
    pages, out = site
    ids = pages[Path("api.html")].ids
    assert {f"playground.{name}" for name in set(playground.__all__) - {"__version__"}} <= ids
    assert "playground.Trace.row" in ids
    assert "~" not in " ".join(re.findall(r'<span class="n">(.*?)</span>', (out / "api.html").read_text()))


@pytest.mark.slow
def test_every_command_and_lesson_has_its_place(site):
    pages, out = site
    commands = (out / "command_line.html").read_text(encoding="utf-8")
    for name in ("figure", "numbers", "doctor", "completion"):
        assert f"<h3>attention-playground {name}<" in commands
    assert {f"../{page.name}" for page in LESSONS} <= set(pages[Path("learn.html")].to)
    words = (ROOT / "docs" / "pages" / "learn.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([\w ]+) \| .* \|$", words, re.M)[1:] == [page.short for page in LESSONS]


@pytest.mark.slow
def test_a_figure_that_lives_is_in_a_frame_of_its_own(site):
    pages, out = site
    (frame,) = pages[Path("index.html")].frames
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert (out / frame["src"]).read_bytes() == LIVING.read_bytes()


@pytest.mark.slow
def test_what_an_installed_person_reads_is_what_they_can_type(site):
    pages, out = site
    for page in pages:
        if page.name not in ("command_line.html", "changes.html", "teaching.html"):  # pages on checkouts
            assert "python -m playground" not in (out / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("file", WORDS, ids=lambda file: file.stem)
def test_a_page_has_at_most_1200_words(file):
    """Counts parts included from other files, but not the generated ones: --help, the reference and the gallery."""
    assert len(words(file)) <= 1200


def test_the_living_page_opens_from_a_clone_and_loads_nothing():
    text = LIVING.read_text(encoding="utf-8")
    assert LIVING.stat().st_size < 2e6
    assert not re.findall(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:|[/.])", text)
    command = re.search(r'<meta name="playground:command" content="([^"]*)"', text)[1]
    assert _parser().parse_args(shlex.split(html.unescape(command))[3:]).run


def test_the_paper_counts_what_is_there():
    from playground.figures.layouts import LAYOUTS
    from playground.ui.pages import LESSONS

    numbers = json.loads((ROOT / "docs" / "numbers.json").read_text(encoding="utf-8"))
    lines = (ROOT / "playground" / "vit.py").read_text(encoding="utf-8").splitlines()
    assert numbers["lessons"] == str(len(LESSONS))
    assert numbers["layouts"] == str(len(LAYOUTS))
    assert numbers["vit_lines"] == str(len(lines)), "python docs/measure.py --write counts again"


def test_the_paper_s_numbers_are_those_that_were_measured():
    script = runpy.run_path(str(ROOT / "docs" / "measure.py"))
    numbers = json.loads((ROOT / "docs" / "numbers.json").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "paper.md").read_text(encoding="utf-8") == script["written"](numbers)
    assert numbers["version"] == playground.__version__
    text = (ROOT / "docs" / "paper.in.md").read_text(encoding="utf-8").partition("## References")[0]
    typed = re.findall(r"(?<![\w/{])\d[\d.,]*\d? ?(?:ms|GB|s|×|%)", text)
    assert not typed, f"these were typed, not measured: {typed}"
