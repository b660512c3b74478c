"""The folder for each host, from a server that behaves as that host documents, and under the headers that the page
for operators names."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
import waiting
import yaml

from browser.on_the_site import SiteVisitor
from browser.policy import WATCH_VIOLATIONS
from browser.test_editions import KEPT, walk
from browser.without_server import RecordingHandler, plain_server
from playground.samples import named
from playground.ui import headers, site

DEPLOYING = Path(__file__).parents[2] / "docs" / "pages" / "deploying.md"


class Host(RecordingHandler):
    """`headers_of(folder, path)`: the headers that the host sends with a file."""

    @staticmethod
    def headers_of(folder: Path, path: str) -> dict[str, str]:
        raise NotImplementedError

    def end_headers(self) -> None:
        folder = Path(self.directory)
        for name, value in self.headers_of(folder, self.path.split("?")[0]).items():
            self.send_header(name, value)
        super().end_headers()


class Space(Host):
    """A static Space: the front matter of README.md names headers for all answers."""

    @staticmethod
    def headers_of(folder, path):
        return yaml.safe_load((folder / "README.md").read_text().split("---\n")[1]).get("custom_headers", {})


class Netlify(Host):
    """The blocks of _headers, later ones over earlier ones, over what Netlify sends by itself."""

    @staticmethod
    def headers_of(folder, path):
        found = {"Cache-Control": "public, max-age=0, must-revalidate"}
        for pattern, block in re.findall(r"^(/\S*)\n((?:  .*\n)+)", (folder / "_headers").read_text(), re.MULTILINE):
            if fnmatch(path, pattern):
                found |= dict(line.strip().split(": ", 1) for line in block.splitlines())
        return found


class Pages(Host):
    """GitHub's pages: below the project's name, ten minutes for every file, 404.html for an unknown address."""

    @staticmethod
    def headers_of(folder, path):
        return {"Cache-Control": "max-age=600"}

    def send_error(self, code, message=None, explain=None):
        body = (Path(self.directory) / "attention" / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Named(Host):
    """What the page for operators names, and nothing else."""

    @staticmethod
    def headers_of(folder, path):
        common, caching = re.findall(r"```text\n(.*?)```", DEPLOYING.read_text(encoding="utf-8"), re.DOTALL)
        found = dict(line.split(": ", 1) for line in common.splitlines())
        for pattern, value in (line.split(": ", 1) for line in caching.splitlines()):
            if fnmatch(path, pattern):
                found["Cache-Control"] = value
        return found


HOSTS = {"space": (Space, "/"), "netlify": (Netlify, "/"), "pages": (Pages, "/attention/"), "": (Named, "/")}


def test_the_page_for_operators_names_the_headers_that_the_app_sends():
    assert headers.headers().items() <= Named.headers_of(Path(), "/").items()


@pytest.mark.parametrize("host", HOSTS)
def test_the_folder_for_a_host_works_there_also_without_a_network(arrive, host, tmp_path):
    handler, base = HOSTS[host]
    folder = tmp_path / base.strip("/")
    site.write(folder, base, ["bundled"], named_samples=(), lessons=("code",), host=host)
    with plain_server(tmp_path, handler) as url:
        visitor = arrive(SiteVisitor, url + base.rstrip("/"))
        visitor.context.add_init_script(WATCH_VIOLATIONS)
        visitor.forgiven_errors = re.compile("Content Security Policy")
        visitor.arrive("#model=bundled&sample=meadow")
        assert visitor.page.evaluate("crossOriginIsolated") is False
        visitor.bring_photograph(named("twins").path)
        visitor.until("r => r.layersHeld.length === 6")
        walk(visitor)
        only_text = ["script-src-elem"] if handler is Named else []  # begin.js then takes the script's file
        assert [line.split()[0] for line in visitor.page.evaluate("violations")] == only_text
        if handler is Pages:
            visitor.forgiven_errors = re.compile("404")
            visitor.page.goto(f"{visitor.url}/code")
            visitor.page.locator("#lesson .guess").first.wait_for()
        visitor.arrive("?#model=bundled&sample=meadow")
        waiting.until(lambda: visitor.page.evaluate(KEPT) == "soon", "the samples are not kept")
        visitor.forgiven_errors = re.compile("ERR_|Content Security Policy")
        visitor.context.set_offline(True)
        visitor.page.goto("about:blank")
        assert visitor.arrive("#model=bundled&sample=portrait").read()["picture"] == "portrait"
