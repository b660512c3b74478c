"""The documentation: built, whole, and every example in it true."""

import html.parser
import json
import re
import runpy
import shlex
from pathlib import Path

import pytest

import playground
from playground.__main__ import _parser

ROOT = Path(__file__).parent.parent
WORDS = sorted((ROOT / "docs" / "pages").glob("*.md"))


def blocks(file: Path, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", file.read_text(encoding="utf-8"), re.M | re.S)
    return [code for said, code in found if said == language]


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
    lines = [line.removeprefix("attention-playground ") for block in blocks(file, "") for line in block.splitlines()]
    for line in [*inline, *lines]:
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
def site(tmp_path_factory):
    pytest.importorskip("pdoc", reason="pdoc is not installed")
    out = tmp_path_factory.mktemp("docs")
    runpy.run_path(str(ROOT / "docs" / "build.py"))["build"](out)
    return {file.relative_to(out): Links(file.read_text(encoding="utf-8")) for file in out.rglob("*.html")}, out


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    pages, out = site
    assert len(pages) > 12
    wrong = []
    for page, links in pages.items():
        if page.name == "living.html":
            continue
        for to in links.to:
            path, _, place = to.partition("#")
            if re.match(r"(https?|data|mailto):", to):
                continue
            target = (out / page.parent / path).resolve() if path else out / page
            if not target.is_file():
                wrong.append(f"{page}: {to}")
            elif place and target.suffix == ".html" and place not in pages[target.relative_to(out)].ids:
                wrong.append(f"{page}: {to}, no such place")
        text = (out / page).read_text(encoding="utf-8")
        wrong += [f"{page} loads {found}" for found in re.findall(r"<(?:script|img|link)[^>]*https?://[^>]*>", text)]
    assert not wrong, "\n".join(wrong[:20])


def test_every_name_of_the_face_is_documented(site):
    pages, _ = site
    ids = pages[Path("api/playground.html")].ids
    assert set(playground.__all__) - {"__version__"} <= ids
    assert "Trace.row" in ids


def test_every_command_and_lesson_has_its_place(site):
    _, out = site
    said = (out / "command_line.html").read_text(encoding="utf-8")
    for name in ("figure", "numbers", "doctor", "completion"):
        assert f"attention-playground {name}</h3>" in said
    assert "python -m playground figure" not in said
    assert (out / "lessons.html").read_text(encoding="utf-8").count("<tr>") == 12


def test_a_figure_that_lives_is_in_a_frame_of_its_own(site):
    pages, out = site
    (frame,) = pages[Path("index.html")].frames
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert (out / frame["src"]).stat().st_size < 3e6


def test_what_an_installed_person_reads_is_what_they_can_type(site):
    _, out = site
    for page in out.rglob("*.html"):
        if page.name not in ("command_line.html", "python.html"):  # which say what a checkout has
            assert "python -m playground" not in page.read_text(encoding="utf-8"), page


def test_every_page_leads_to_every_other_and_has_the_app_s_letters(site):
    pages, out = site
    assert (out / "source-sans.woff2").stat().st_size > 10_000
    ways = {page.name: [to for to in links.to if to.endswith("own_model.html")] for page, links in pages.items()}
    assert [name for name, to in ways.items() if not to and name not in ("living.html", "index.html")] == []


def test_the_documentation_is_published_beside_the_playground():
    steps = (ROOT / "deploy" / "pages.yml").read_text(encoding="utf-8")
    assert "docs/build.py out/docs" in steps.partition("upload-pages-artifact")[0]


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
