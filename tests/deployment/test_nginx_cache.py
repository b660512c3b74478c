"""What nginx caches: answers that the app lets it keep, under one spelling of their addresses, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from contextlib import ExitStack, suppress
from itertools import product
from pathlib import Path

import pytest
import streamlit
from browser.server import ROOT
from browser.stranger import answer
from browser.test_proxy import NGINX
from waiting import until

from deployment.test_edge import LARGE_APP, answer_to_get, behind_nginx, connect, running_edge

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def edge(folder):
    with running_edge(folder, PLAYGROUND_LOG="json", TMPDIR=str(folder)) as url:
        yield url


def cached_files(folder: Path) -> set[str]:
    """The addresses of the answers in the cache, as nginx writes them into its files."""
    files = [file for file in folder.glob("**/cache/**/*") if file.is_file()]
    return {re.search(rb"\nKEY: (.*)\n", file.read_bytes())[1].decode() for file in files}


def cache_statuses(folder: Path, path: str, count: int) -> list[str]:
    """How nginx came by its answers to this path; waits until so many are logged."""

    def statuses() -> list[str]:
        lines = [line for line in (folder / "log").read_text().splitlines() if line.startswith('{"time')]
        return [line["cache"] for line in map(json.loads, lines) if line.get("path") == path]

    until(lambda: len(statuses()) >= count, f"{count} requests of {path} are logged")
    return statuses()


def our_script(edge: str) -> str:
    html = answer_to_get(edge, "/")[2].decode()
    return "/" + re.search(r"api/app/[^\"]*", html)[0]


def streamlit_s_script(edge: str) -> str:
    html = answer_to_get(edge, "/workbench/")[2].decode()
    return "/workbench/" + re.search(r"static/js/index[^\"]*js", html)[0]


def style_sheet(edge: str) -> str:
    return "/" + re.search(r"api/page/page[^\"]*css", answer_to_get(edge, "/")[2].decode())[0]


def usual_layer(edge: str) -> str:
    """The address at which the browser asks for a layer of a sample: see shell/httpsource.js."""
    record = json.loads(answer(f"{edge}/api/trace?sample=flock")[2])
    assert record["usual"]
    return f"/api/trace/{record['digest']}/layers?sample=flock&layers=3"


def test_our_scripts_and_a_sample_s_layers_are_fetched_from_the_app_once(edge, folder):
    """Once, requests with `Accept: text/html` were compressed anew each time."""
    for path, encoding in ((our_script(edge), "gzip"), (style_sheet(edge), "gzip"), (usual_layer(edge), None)):
        for _ in range(3):
            status, headers, _ = answer_to_get(edge, path, Accept="text/html", Accept_Encoding="gzip")
            assert (status, headers.get("content-encoding")) == (200, encoding)
            assert "immutable" in headers["cache-control"]
            assert "set-cookie" not in headers
        assert cache_statuses(folder, path.partition("?")[0], 3) == ["MISS", "HIT", "HIT"]


def test_streamlit_s_files_come_from_the_disk_and_are_not_cached(edge, folder):
    path = streamlit_s_script(edge)
    status, headers, body = answer_to_get(edge, path)
    file = Path(streamlit.__file__).parent / "static" / path.removeprefix("/workbench/")
    assert (status, body) == (200, file.read_bytes())
    assert "immutable" in headers["cache-control"]
    assert cache_statuses(folder, path, 1) == [""]
    assert not any("static" in file for file in cached_files(folder))


def test_made_up_addresses_and_headers_leave_nothing_in_the_cache(edge, folder):
    """Each of them would be another entry, and strangers could fill the disk with them."""
    script, layer = our_script(edge), usual_layer(edge)
    for path in (script, layer):
        answer_to_get(edge, path)
    static = streamlit_s_script(edge)
    before = cached_files(folder)
    assert {script, layer} <= before
    spellings = (
        "/r{n}{static}", "{static}?r={n}", "{script}?r={n}", "/r{n}{script}", "{script}?styles=a{n}.css",
        "{layer}&r={n}", "{layer}&model=bundled&cut={n}", "{layer}&finer={n}",
        "{layer}&layers=3&sample=flock&layers={n}", "{layer}&layers=3&scale=0.{n}", "{layer},{n}", "{layer}&with={n}",
        "/api/samples/x%2F{n}", "/figure.json?sample=flock&model=bundled&head={n}", "{script}%3Fr={n}",
    )  # fmt: skip
    requests = [
        (text.format(n=n, static=static, script=script, layer=layer), {}) for text, n in product(spellings, range(20))
    ]
    requests += [(script.replace("/app/", f"/%61pp{'/' * n}", 1), {}) for n in range(20)]
    requests += [(path, {"Accept_Encoding": f"gzip, x{n}"}) for path, n in product((script, layer, static), range(20))]
    requests += [(path, {"Range": f"bytes={n}-"}) for path, n in product((script, layer, static), range(20))]
    statuses = {path: answer_to_get(edge, path, **headers)[0] for path, headers in requests}
    assert not any(status >= 500 for status in statuses.values()), statuses
    assert cached_files(folder) == before


def test_an_answer_to_one_person_is_not_cached(edge, folder):
    path = "/api/trace/0123456789abcdef/layers"
    for _ in range(2):
        answer_to_get(edge, f"{path}?mine=0123456789abcdef", X_Playground_Key="k" * 32)
    assert set(cache_statuses(folder, path, 2)) == {"BYPASS"}


def test_what_the_image_has_compressed_nginx_sends_compressed(tmp_path):
    script = tmp_path / "streamlit" / "static" / "x.js"
    script.parent.mkdir(parents=True)
    script.write_text("let x = 1;\n" * 1000)
    (line,) = re.findall(r"find .* -exec gzip .*\+", (ROOT / "Dockerfile").read_text())
    subprocess.run(["sh", "-ec", line], env={"packages": str(tmp_path), "PATH": "/usr/bin:/bin"}, check=True)

    def serve_script(folder: Path) -> None:
        site = folder / "site.conf"
        site.write_text(re.sub(r"set \$files .*;", f"set $files {script.parent};", site.read_text()))

    with behind_nginx(tmp_path, LARGE_APP, serve_script) as url:
        status, headers, body = answer_to_get(url, "/workbench/static/x.js", Accept_Encoding="gzip")
        assert (status, headers["content-encoding"]) == (200, "gzip")
        assert gzip.decompress(body) == answer_to_get(url, "/workbench/static/x.js")[2] == script.read_bytes()


def open_files(folder: Path, *names: str) -> list[str]:
    """The files of these folders that processes hold open: nginx removes a temporary file's name at once."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            found.append(str(link.readlink()))
    return [file for file in found if any(file.startswith(f"{folder / name}/") for name in names)]


def test_slow_readers_and_slow_senders_leave_no_file_on_the_disk(tmp_path):
    with behind_nginx(tmp_path, LARGE_APP) as url, ExitStack() as connections:
        for number in range(40):
            path = ("api/samples/x", "api/app/x", "figure.png", "workbench/static/x", "")[number % 5]
            reader, sender = (connections.enter_context(connect(url)) for _ in "rs")
            reader.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-\r\n\r\n".encode())
            assert reader.recv(100)
            head = b"POST /api/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n"
            sender.sendall(head + bytes(59000))
        answer_to_get(url, "/healthz")
        assert not open_files(tmp_path, "cache", "proxy", "body")
