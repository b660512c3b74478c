"""The folder that the command `site` writes; tests/browser/test_site.py opens it in a browser."""

import gzip
import json
import re

import pytest
import yaml

import playground
from playground.__main__ import main
from playground.models import engine_file
from playground.pack import unpack
from playground.samples import named
from playground.serving import models, prepared, traces
from playground.tracing import Trace
from playground.ui import site
from playground.version import cite

FIXED_NAMES = {"index.html", "about.html", "404.html", "sw.js", "manifest.webmanifest", ".nojekyll", "LICENCES.md"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "out"
    return site.write(out, "/playground/", ["bundled"], named_samples=("portrait",), lessons=("code",))


def listed_samples(folder) -> list[dict]:
    (file,) = folder.glob("samples-*.packed")
    return json.loads(gzip.decompress(file.read_bytes()))["samples"]


def worker_settings(folder) -> dict:
    line = (folder / "sw.js").read_text(encoding="utf-8").split("\n", 1)[0]
    return json.loads(line.removeprefix("self.writtenSite = ").removesuffix(";"))


def test_each_file_that_a_page_names_is_there_under_a_name_with_its_digest(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    samples = listed_samples(folder)
    file_names = re.findall(r'(?:href|src)="([^"]+)"', page) + worker_settings(folder)["names"]
    for sample in samples:
        assert sample["prepared"], sample["name"]
        for prepared_model in sample["prepared"].values():
            file_names += [sample["picture"], prepared_model["opening"]["file"], *prepared_model["layers"]]
    file_names = {name for name in file_names if not name.startswith("about.html#")}
    for name in {name for name in file_names - FIXED_NAMES if not name.startswith("embed/")}:
        assert re.search(r"-[0-9a-f]{12}\.\w+$", name), name
        assert (folder / name).is_file(), name
        assert (folder / name).stat().st_size < 25 * 2**20, f"{name} is more than some hosts take"


def test_the_policy_stands_in_the_page_and_nothing_runs_or_styles_inside_of_it(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "default-src &#x27;none&#x27;; script-src &#x27;self&#x27; &#x27;wasm-unsafe-eval&#x27;" in page
    # style attributes are allowed, because drawings of lessons have them
    assert page.count("unsafe-inline") == page.count("style-src-attr &#x27;unsafe-inline&#x27;") == 1
    assert not re.search(r"<style|style=|<script[^>]*>[^<]|https?://| on\w+=", page)


@pytest.mark.parametrize("address", ["", "https://example.org/the-project"])
def test_every_page_says_what_this_is_and_where_there_is_more(folder, tmp_path, monkeypatch, address):
    monkeypatch.setattr(site, "repository", lambda: address)
    site_folder = site.write(tmp_path / "out", "/here/", [], named_samples=(), lessons=())
    for name in ("index.html", "about.html", "404.html"):
        page = (site_folder / name).read_text(encoding="utf-8")
        (foot,) = re.findall("<footer.*?</footer>", page, re.DOTALL)
        assert "where each patch of a picture looks" in foot
        links = dict(re.findall(r'<a href="([^"]+)">(\w+)</a>', foot))
        base = "/here/" if name == "404.html" else ""
        expected_links = {f"{base}about.html#{part}": part.title() for part in ("cite", "install", "embed", "privacy")}
        assert links == ({address: "Source"} if address else {}) | expected_links
    about = (site_folder / "about.html").read_text(encoding="utf-8")
    assert {"cite", "install", "embed", "privacy"} <= set(re.findall(r'id="(\w+)"', about))
    assert cite().splitlines()[0] in about


def test_the_weights_are_those_of_the_engine_and_say_whose_they_are(folder):
    (file,) = folder.glob("weights/*.bin")
    assert file.read_bytes() == engine_file.to_engine(models.load("bundled"))
    header, _ = unpack(file.read_bytes())
    assert header["licence"] == "MIT"
    licences = (folder / "LICENCES.md").read_text(encoding="utf-8")
    assert "rounded to 8 bits" in licences
    for sample in listed_samples(folder):
        assert sample["credit"] == named(sample["name"]).credit, sample["name"]
        assert f"- **{sample['title']}** (`samples/{sample['name']}-….jpg`): {sample['credit']}." in licences


def test_the_heads_of_a_sample_have_the_names_that_the_app_gives_them(folder):
    (file,) = folder.glob("samples/portrait-names-*.json")
    entry = json.loads(file.read_text(encoding="utf-8"))
    prepared_model = Trace.from_bytes(prepared.all_layers(prepared.SamplePack(named("portrait"))))
    image = playground.open_image(named("portrait").path)
    trace = playground.trace(models.load("bundled"), image, size=prepared_model.size)  # from the pixels, as in the app
    for layer in range(trace.layers):
        assert [tuple(head) for head in entry[layer]] == traces.names_of_heads(trace, layer)


def test_a_site_written_again_without_weights_keeps_unchanged_files_and_drops_the_rest(folder, tmp_path):
    site_folder = site.write(tmp_path / "out", "/", ["bundled"], named_samples=("portrait",), lessons=())
    former_files = {file.name for file in site_folder.glob("samples/*")}
    (site_folder / "app-0123456789ab.js").write_text("an older version's")
    (site_folder / "my-own.js").write_text("mine")
    site.write(site_folder, "/", [], named_samples=("portrait",), lessons=())
    assert list(site_folder.glob("weights/*")), "a page that is open may still fetch them"
    site.write(site_folder, "/", [], named_samples=("portrait",), lessons=())
    assert not (site_folder / "app-0123456789ab.js").exists()
    assert len(list(site_folder.glob("app-*.packed"))) == 1
    assert (site_folder / "my-own.js").is_file(), "what this command has not written stays"
    assert {file.name for file in site_folder.glob("samples/*")} == former_files
    assert list(site_folder.glob("weights/*")) == []
    assert "our small ViT" not in (site_folder / "LICENCES.md").read_text(encoding="utf-8")


def test_a_host_gets_its_own_files_beside_the_site_s(tmp_path):
    base = "https://you-attention.static.hf.space/"
    out = site.write(tmp_path / "out", base, [], named_samples=(), lessons=(), host="space")
    _, front_matter, _ = (out / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(front_matter)
    assert card["sdk"] == "static"
    assert (out / card["app_file"]).is_file()
    assert (out / card["thumbnail"].removeprefix(base)).is_file()
    assert len(card["short_description"]) <= 60, "the host shows no more"
    stored = {line.split()[0].removeprefix("*") for line in (out / ".gitattributes").read_text().splitlines()}
    text_kinds = {".css", ".html", ".js", ".json", ".md", ".svg", ".ts", ".webmanifest", ""}
    assert {file.suffix for file in out.rglob("*") if file.is_file()} - text_kinds <= stored
    site.write(out, "/", [], named_samples=(), lessons=(), host="netlify")
    folders = {file.parent.name for file in out.rglob("*-????????????.*") if file.parent != out}
    immutable = re.findall(r"^/(\w+)/\*\n  Cache-Control: .*immutable$", (out / "_headers").read_text(), re.MULTILINE)
    assert folders <= set(immutable) | {"embed"}


def test_the_files_of_the_former_edition_stay_for_pages_that_are_open_and_older_ones_go(tmp_path, monkeypatch):
    editions = []
    for description in ("first", "second", "third"):
        monkeypatch.setattr(site, "DESCRIPTION", description)
        monkeypatch.setattr(site, "ICON", site.ICON + f"<!-- {description} -->")
        out = site.write(tmp_path / "out", "/", [], named_samples=(), lessons=())
        editions.append({name for name in worker_settings(out)["names"] if name.startswith("icon-")})
        there = {file.name for file in out.glob("icon-*.svg")}
        assert there == {name for names in editions[-2:] for name in names if name.endswith(".svg")}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--base", "playground"], "--base is /playground/ or https://example.org/playground/"),
        (["--models", "vit_large"], "--models takes bundled, dinov2-small, or nothing"),
        ([], "holds something else"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_written(arguments, sentence, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["site", str(tmp_path), *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
