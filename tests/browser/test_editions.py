"""A folder is replaced by its next edition while somebody has it open, on hosts that cache in three ways."""

import os
import re
import shutil
import time
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
import waiting

from browser.on_the_site import SiteVisitor
from browser.without_server import RecordingHandler, plain_server
from playground.samples import named
from playground.serving import site_files
from playground.ui import site

EDITION = "() => document.querySelector('meta[name=description]').content.split('.')[0]"
KEPT = "document.getElementById('foot').dataset.kept"


class Revalidating(RecordingHandler):
    """A host that lets browsers ask each time, by a digest of the file: Netlify."""

    def send_head(self):
        self.tag = ""
        path = self.translate_path(self.path)
        try:
            with open(path + "index.html" if path.endswith("/") else path, "rb") as file:
                self.tag = f'"{sha256(file.read()).hexdigest()[:16]}"'
        except OSError:
            return super().send_head()
        if self.headers["If-None-Match"] == self.tag:
            self.send_response(304)
            self.end_headers()
            return None
        del self.headers["If-Modified-Since"]
        return super().send_head()

    def end_headers(self):
        self.send_header("Cache-Control", "public, max-age=0, must-revalidate")
        if self.tag:
            self.send_header("ETag", self.tag)
        super().end_headers()


class Caching(RecordingHandler):
    """A host whose answers are kept for ten minutes: GitHub's pages."""

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()


class Neither(RecordingHandler):
    """A host that says nothing by which a browser could keep or compare a file."""

    def send_header(self, name, value):
        if name != "Last-Modified":
            super().send_header(name, value)


class FirstPage(Neither):
    """A host that answers each name that it does not have with its first page, with status 200."""

    def send_head(self):
        if not Path(self.translate_path(self.path)).exists():
            self.path = "/playground/index.html"
        return super().send_head()


HOSTS = {"revalidates": Revalidating, "caches": Caching, "neither": Neither}


def write_edition(monkeypatch, folder, edition: str):
    """An edition of which each file with a digest, but for the weights, has another name than in any other edition."""

    def put(self, name: str, data: bytes) -> str:
        stem, _, kind = name.rpartition(".")
        salt = b"" if name.startswith(site_files.WEIGHTS) else edition.encode()
        return self.put_plain(f"{stem}-{sha256(salt + data).hexdigest()[:12]}.{kind}", data)

    monkeypatch.setattr(site_files.Folder, "put", put)
    monkeypatch.setattr(site, "DESCRIPTION", f"{edition}. It shows a picture.")
    return site.write(folder, "/playground/", ["bundled"], named_samples=(), lessons=("code",))


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    """Three folders: an edition, the next one written over it, and the next one in a folder of its own."""
    root = tmp_path_factory.mktemp("editions")
    with pytest.MonkeyPatch.context() as monkeypatch:
        write_edition(monkeypatch, root / "first", "First")
        shutil.copytree(root / "first", root / "over")
        write_edition(monkeypatch, root / "over", "Next")
        write_edition(monkeypatch, root / "alone", "Next")
    for file in [*(root / "over").rglob("*"), *(root / "alone").rglob("*")]:
        os.utime(file, (time.time() + 5,) * 2)  # hosts compare whole seconds
    return root


@pytest.fixture(params=HOSTS)
def host(request, editions, tmp_path):
    with hosted(HOSTS[request.param], editions, tmp_path) as pair:
        yield pair


@contextmanager
def hosted(handler, editions, tmp_path):
    """(the address of a host that has the first edition, a function that puts another folder in its place)"""
    live = tmp_path / "playground"
    shutil.copytree(editions / "first", live)

    def replace(name: str) -> None:
        shutil.rmtree(live)
        shutil.copytree(editions / name, live)

    with plain_server(tmp_path, handler) as url:
        yield f"{url}/playground", replace


def walk(visitor) -> None:
    """Opens a sample, the story, a lesson and the moments."""
    go(visitor, "model=bundled&sample=flock")
    visitor.until("r => r.picture === 'flock'")
    go(visitor, "story=1&model=bundled&sample=meadow")
    visitor.page.locator(".story").first.wait_for()
    go(visitor, "page=code")
    visitor.page.locator("#lesson .guess").first.wait_for()
    go(visitor, "page=moments")
    tile = "Boolean(document.querySelector('.wall img')?.naturalWidth)"
    waiting.until(lambda: visitor.page.evaluate(tile), "no moment is shown")
    assert visitor.page.evaluate("sentences()") == []


def go(visitor, words: str) -> None:
    visitor.page.evaluate("words => { location.hash = words; }", words)


def test_an_open_page_stays_whole_and_the_next_visit_is_the_next_edition_with_the_photograph(arrive, host):
    url, replace = host
    visitor = arrive(SiteVisitor, url).arrive("#model=bundled&sample=meadow")
    waiting.until(lambda: visitor.page.evaluate(KEPT) == "soon", "the samples are not kept")
    photograph = visitor.bring_photograph(named("twins").path)["picture"]
    replace("over")
    walk(visitor)
    assert visitor.page.evaluate(EDITION) == "First"

    next_visit = visitor.new_tab()
    waiting.until(  # a host that is slow for once gives way to the kept page
        lambda: next_visit.arrive(f"?#model=bundled&mine={photograph}").page.evaluate(EDITION) == "Next",
        "the next visit is not the next edition",
    )
    assert next_visit.read()["picture"] == photograph
    walk(next_visit)
    visitor.hears("new version")  # the page that is still open is told, and goes on without the host
    visitor.forgiven_errors = re.compile("ERR_")
    visitor.context.set_offline(True)
    go(visitor, "model=bundled&sample=portrait")
    visitor.until("r => r.picture === 'portrait'")
    next_visit.page.close()
    last_visit = visitor.new_tab()
    assert last_visit.arrive("#model=bundled&sample=meadow").page.evaluate(EDITION) == "Next"


def test_where_the_browser_keeps_nothing_and_the_host_no_former_file_a_sentence_says_so(arrive, host):
    url, replace = host
    visitor = arrive(SiteVisitor, url, service_workers="block").arrive("#model=bundled&sample=meadow")
    photograph = visitor.bring_photograph(named("twins").path)["picture"]
    replace("alone")
    visitor.forgiven_errors = re.compile("404")
    go(visitor, "model=bundled&sample=flock")
    visitor.hears("after an update: open this page anew")
    visitor.page.reload()
    go(visitor, f"model=bundled&mine={photograph}")
    visitor.until(f"r => r.picture === '{photograph}'")
    assert visitor.page.evaluate(EDITION) == "Next"
    walk(visitor)


def test_a_page_that_a_host_gives_in_a_file_s_place_is_not_kept_as_that_file(arrive, editions, tmp_path):
    with hosted(FirstPage, editions, tmp_path) as (url, replace):
        visitor = arrive(SiteVisitor, url).arrive("#model=bundled&sample=meadow")
        visitor.wait_until_kept()
        visitor.forgiven_errors = re.compile("404")  # while the folder is replaced
        replace("alone")
        go(visitor, "page=code")
        visitor.page.get_by_text("after an update").first.wait_for()
        replace("first")
        visitor.page.reload()
        visitor.page.locator("#lesson .guess").first.wait_for()
