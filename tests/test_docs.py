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
from playground.figures.layouts import LAYOUTS
from playground.ui.pages import LESSONS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LIVING_PAGE = DOCS / "living.html"
PAGES = {file: file.read_text(encoding="utf-8") for file in sorted((DOCS / "pages").glob("*.md"))}
SHOWN = r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$"  # code, and below it what it prints
EXAMPLES = {file.stem: re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) for file, text in PAGES.items()}


@pytest.mark.parametrize("page", [page for page, code in EXAMPLES.items() if code])
def test_the_examples_of_a_page_run_and_print_what_stands_below_them(page, tmp_path, monkeypatch, capsys):
    for package in {"many": ("zarr", "xarray"), "python": ("anywidget",)}.get(page, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.py").write_text("\n".join(EXAMPLES[page]))
    runpy.run_path(str(tmp_path / "page.py"))
    printed = capsys.readouterr().out
    for _, text in re.findall(SHOWN, PAGES[DOCS / "pages" / f"{page}.md"], re.M | re.S):
        assert text in printed


def test_the_living_page_opens_from_a_clone_and_loads_nothing():
    text = LIVING_PAGE.read_text(encoding="utf-8")
    assert LIVING_PAGE.stat().st_size < 2e6
    assert not re.findall(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:|[/.])", text)
    command = re.search(r'<meta name="playground:command" content="([^"]*)"', text)[1]
    assert _parser().parse_args(shlex.split(html.unescape(command))[3:]).run


def test_the_paper_s_numbers_are_those_that_were_measured_and_counts_are_up_to_date():
    numbers = json.loads((DOCS / "numbers.json").read_text(encoding="utf-8"))
    lines = (ROOT / "playground" / "vit.py").read_text(encoding="utf-8").splitlines()
    counts = {"lessons": str(len(LESSONS)), "layouts": str(len(LAYOUTS)), "vit_lines": str(len(lines))}
    counts["version"] = playground.__version__
    assert numbers == numbers | counts, "python docs/measure.py --write counts again"
    written_text = runpy.run_path(str(DOCS / "measure.py"))["paper_text"](numbers)
    assert (DOCS / "paper.md").read_text(encoding="utf-8") == written_text
    text = (DOCS / "paper.in.md").read_text(encoding="utf-8").partition("## References")[0]
    typed_numbers = re.findall(r"(?<![\w/{])\d[\d.,]*\d? ?(?:ms|GB|s|×|%)", text)
    assert not typed_numbers, f"these were typed, not measured: {typed_numbers}"


# The site


class Links(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.targets, self.ids, self.frames = text, [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {attributes["id"]} if attributes.get("id") else set()
        self.frames += [attributes] if tag == "iframe" else []
        self.targets += [attributes[name] for name in ("href", "src") if attributes.get(name)]


@pytest.fixture(scope="module")
def published_folder(tmp_path_factory):
    """The folder that .github/workflows/pages.yml publishes: the playground without a server, and in docs/ the
    documentation, built with warnings as errors."""
    pytest.importorskip("sphinx", reason="sphinx is not installed")
    workflow = ROOT / ".github" / "workflows" / "pages.yml"
    (job,) = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    *_, build_command = [step["run"] for step in job["steps"] if "run" in step]
    site_folder = tmp_path_factory.mktemp("pages") / "out"
    command = build_command.replace("$PWD/out", str(site_folder)).replace(
        "${{ steps.pages.outputs.base_url }}", "/project"
    )
    environment = os.environ | {"PYTHON": sys.executable}
    result = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return site_folder


@pytest.fixture(scope="module")
def links_of_pages(published_folder):
    """{name of a page of the documentation: its links}."""
    return {file.name: Links(file.read_text(encoding="utf-8")) for file in (published_folder / "docs").glob("*.html")}


@pytest.mark.slow
def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(links_of_pages, published_folder):
    page_404 = (published_folder / "404.html").read_text(encoding="utf-8")
    assert 'href="/project/about.html' in page_404
    lessons = set(re.search(r'data-pages="([^"]+)"', page_404)[1].split())
    assert len(links_of_pages) > len(PAGES)
    problems, names = [], {file.name for file in PAGES}
    for page, links in links_of_pages.items():
        for link in links.targets:
            path, _, anchor = link.partition("#")
            target = published_folder / "docs" / (path.partition("?")[0] or page)
            if re.match(r"\w+:", link):
                is_fine = re.match(r"https://[\w.-]+\.\w+(/\S*)?$|data:", link)
            elif link.startswith("../"):
                is_fine = link.removeprefix("../") in lessons or target.is_file() or page != "learn.html"
            else:
                is_fine = target.is_file() and (
                    not anchor or target.suffix != ".html" or anchor in links_of_pages[target.name].ids
                )
            problems += [] if is_fine else [f"{page}: {link}"]
        is_described = links.text.count('<meta name="description" ') == 1 or f"{page[:-5]}.md" not in names
        problems += [] if is_described else [f"{page} has no description"]
        unfilled = r"\{\{[a-z_ ]+\}\}|<(?:script|img|link)[^>]*https?://[^>]*>"  # placeholders or foreign addresses
        problems += [f"{page} holds {part}" for part in re.findall(unfilled, links.text)]
    assert not problems, "\n".join(problems[:20])


@pytest.mark.slow
def test_every_name_command_and_lesson_is_in_the_documentation(links_of_pages, published_folder):
    names = {*playground.__all__, "Trace.row"} - {"__version__"}
    assert {f"playground.{name}" for name in names} <= links_of_pages["api.html"].ids
    assert "~" not in " ".join(re.findall(r'<span class="n">(.*?)</span>', links_of_pages["api.html"].text))
    for name in ("figure", "numbers", "doctor", "completion"):
        assert f"<h3>attention-playground {name}<" in links_of_pages["command_line.html"].text
    assert {f"../{page.name}" for page in LESSONS} <= set(links_of_pages["learn.html"].targets)
    listed_pages = re.findall(r"^\| ([\w ]+) \| .* \|$", PAGES[DOCS / "pages" / "learn.md"], re.M)
    assert listed_pages[1:] == [page.name.replace("_", " ").capitalize() for page in LESSONS]
    (frame,) = links_of_pages["index.html"].frames  # the frame with the living figure
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert (published_folder / "docs" / frame["src"]).read_bytes() == LIVING_PAGE.read_bytes()
    checkout_pages = {"command_line.html", "changes.html", "teaching.html"}  # pages that may name a checkout's command
    assert not [
        page for page in links_of_pages.keys() - checkout_pages if "python -m playground" in links_of_pages[page].text
    ]
