"""nginx and the app as deploy/start.py starts them: what nginx keeps away from the app, and what it tells the app."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from browser.server import ROOT, drawn_packs, free_port
from browser.stranger import ask
from browser.test_proxy import NGINX
from waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed here")
BELIEVED = "127.0.0.2"  # a second address of this machine, from which tests act as a proxy


@contextmanager
def started(folder: Path, **environment: str) -> Iterator[str]:
    """Starts nginx and the app, which trust only the proxy BELIEVED, and yields nginx's address."""
    port = free_port()
    defaults = {"HF_HUB_OFFLINE": "1", "PLAYGROUND_BORROWED": str(drawn_packs()), "PLAYGROUND_PROXIES": BELIEVED}
    with (folder / "log").open("w") as log:
        command = [sys.executable, "deploy/start.py", "--port", str(port)]
        server = subprocess.Popen(command, cwd=ROOT, env=os.environ | defaults | environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(url), "it does not answer")
        yield url
    finally:
        server.terminate()
        server.wait(PATIENCE)


def answers(url: str) -> bool:
    with suppress(OSError):
        return ask(f"{url}/healthz")[0] == 200
    return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("edge")


@pytest.fixture(scope="module")
def edge(folder):
    with started(folder, PLAYGROUND_USER_HEADER="X-Forwarded-User", PLAYGROUND_LOG="json") as url:
        yield url


def says(url: str, path: str, source: str = "127.0.0.1", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of the answer to a GET that is sent from the address `source`."""
    host, port = url.removeprefix("http://").split(":")
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    with socket.create_connection((host, int(port)), PATIENCE, (source, 0)) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        with connection.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
    status, *header_lines = head.decode().split("\r\n")
    return int(status.split()[1]), dict(pair.lower().split(": ", 1) for pair in header_lines), body


def addresses(html: bytes) -> tuple[str, str]:
    """(address of a script of Streamlit, address of a script of ours) in a page."""
    text = html.decode()
    return (
        "/" + re.search(r"static/js/index[^\"]*js", text)[0],
        "/" + re.search(r"api/app/[^\"]*", text)[0].replace("&amp;", "&"),
    )


def test_the_operator_is_known_by_address_and_nobody_passes_for_one(edge):
    assert says(edge, "/metrics")[0] == 200
    for header_name in ("X_Forwarded_For", "X_Real_IP", "Forwarded", "Via"):
        assert says(edge, "/metrics", **{header_name: "127.0.0.1"})[0] == 404, header_name
    assert says(edge, "/metrics", source=BELIEVED, X_Forwarded_For="203.0.113.7")[0] == 404
    stranger_headers = {"X_Forwarded_For": "203.0.113.7", "X_Playground_Direct": "yes"}
    assert says(edge, "/metrics", source=BELIEVED, **stranger_headers)[0] == 404


PROGRAM = """
import asyncio, json, sys
from starlette.requests import Request
from playground.serving import people
from playground.ui import run

async def app(scope, receive, send):
    assert scope["type"] == "http"
    visitor = people.visitor(scope)
    told = {"address": visitor.address, "behind": people.is_behind_proxy(scope), "scheme": scope["scheme"]}
    told["direct"] = Request(scope).headers.get("x-playground-direct", "")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})

import uvicorn
from pathlib import Path
line = run.at_unix_socket(Path(sys.argv[1]))
config = uvicorn.Config(app, proxy_headers=True, forwarded_allow_ips=["*"], lifespan="off", log_level="warning")
uvicorn.Server(config).run(sockets=[line])
"""


@pytest.fixture(scope="module")
def whom(folder):
    """A function that sends a request through nginx and returns what the app knows of its sender."""
    from browser.test_proxy import start

    directory, port = folder / "whom", free_port()
    directory.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGROUND_PROXIES", BELIEVED)
        patch.setenv("PLAYGROUND_USER_HEADER", "X-Forwarded-User")
        start.write(directory, port, [f"unix:{directory}/app.sock"])
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(directory / "app.sock")], cwd=ROOT)
    nginx = subprocess.Popen(start.nginx_command(directory), cwd=directory, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    until(lambda: answers(url), "it does not answer")

    def taken_for(source: str = "127.0.0.1", **headers: str) -> dict:
        status, _, body = says(url, "/api/who", source, **headers)
        assert status == 200, body
        return json.loads(re.search(rb"{.*}", body)[0])

    yield taken_for
    for process in (nginx, program):
        process.terminate()
        process.wait(PATIENCE)


def test_two_networks_behind_a_proxy_are_two_and_neither_is_the_operator(whom):
    first_visitor, second_visitor = (
        whom(BELIEVED, X_Forwarded_For=address) for address in ("203.0.113.7", "2001:db8:1:2::9")
    )
    assert (first_visitor["address"], second_visitor["address"]) == ("203.0.113.7", "2001:db8:1:2::/64")
    assert first_visitor["behind"]


def test_who_asks_directly_is_who_they_are_whatever_they_say(whom):
    headers_seen = whom(X_Forwarded_For="203.0.113.7", X_Forwarded_User="ann", X_Playground_Login="ann")
    assert (headers_seen["address"], headers_seen["direct"]) == ("127.0.0.1", "")
    assert whom(X_Forwarded_Proto="https")["scheme"] == "http"


def test_a_login_counts_from_a_named_proxy_alone_and_is_a_person(whom):
    ann, bea = (
        whom(BELIEVED, X_Forwarded_For="203.0.113.7", X_Forwarded_User=name)["address"] for name in ("ann", "bea")
    )
    assert ann.startswith("login ")
    assert ann != bea
    assert "ann" not in ann


def test_a_proxy_s_words_about_the_scheme_count(whom):
    assert whom(BELIEVED, X_Forwarded_For="203.0.113.7", X_Forwarded_Proto="https")["scheme"] == "https"


def test_what_never_changes_is_asked_of_the_app_once_and_kept_compressed(edge, folder):
    """Once, requests with `Accept: text/html` were compressed anew each time."""
    streamlit_script, our_script = addresses(says(edge, "/")[2])
    for path in (streamlit_script, our_script):
        for _ in range(3):
            status, headers, _ = says(edge, path, Accept="text/html", Accept_Encoding="gzip")
            assert (status, headers["content-encoding"]) == (200, "gzip")
            assert "immutable" in headers["cache-control"]
            assert "set-cookie" not in headers

    def cache_statuses() -> list[str]:
        log_lines = [
            json.loads(line) for line in (folder / "log").read_text().splitlines() if line.startswith('{"time')
        ]
        return [line["cache"] for line in log_lines if line.get("path") == our_script.partition("?")[0]]

    until(lambda: len(cache_statuses()) >= 3, "nginx has not logged the three")
    assert cache_statuses() == ["MISS", "HIT", "HIT"]


def test_an_answer_to_one_person_is_kept_by_nobody(edge, folder):
    path = "/api/trace/0123456789abcdef/layers?mine=0123456789abcdef"
    for _ in range(2):
        says(edge, path, X_Playground_Key="k" * 32)
    log_lines = [json.loads(line) for line in (folder / "log").read_text().splitlines() if line.startswith('{"time')]
    assert {line["cache"] for line in log_lines if "0123456789abcdef/layers" in line.get("path", "")} == {"BYPASS"}


def test_a_foreign_name_is_refused_before_the_app(edge):
    host, port = edge.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(b"GET /static/x.js HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert b" 403 " in connection.makefile("rb").readline()


def test_a_large_body_goes_nowhere_but_to_pictures(edge):
    host, port = edge.removeprefix("http://").split(":")
    for path, status in (("/api/fetching?model=x", b" 413 "), ("/_stcore/upload_file/x/y", b" 413 ")):
        with socket.create_connection((host, int(port)), PATIENCE) as connection:
            connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n".encode())
            assert status in connection.makefile("rb").readline()


def test_its_log_names_no_address_no_query_and_no_key(edge, folder):
    says(edge, "/api/trace?mine=feedfacefeedface", X_Playground_Key="s" * 32)
    log_text = (folder / "log").read_text()
    assert "feedfacefeedface" not in log_text
    assert "s" * 32 not in log_text
    assert "127.0.0.1" not in "".join(line for line in log_text.splitlines() if line.startswith('{"time'))


def test_a_body_in_crumbs_reaches_the_app_whole_or_not_at_all(edge):
    """nginx sends a small body to the app only when it is complete, because each tiny piece would cost the app time."""
    host, port = edge.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(
            b"POST /api/labelled?number=1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(b"1\r\nx\r\n" * 70_000)  # more than 64 KB
        assert b" 413 " in connection.makefile("rb").readline()


SHORTER = {  # limits of nginx, lowered so that tests reach them soon
    "client_header_timeout": "1s", "client_body_timeout": "1s", "send_timeout": "1s", "limit_conn lines": "20",
    "limit_conn houses": "30",
}  # fmt: skip


@pytest.fixture(scope="module")
def strict(folder):
    """The port of an nginx with the limits of SHORTER, in front of an app that answers each GET with 10 MB."""
    from browser.test_proxy import start

    directory, port = folder / "strict", free_port()
    directory.mkdir()
    start.write(directory, port, [f"unix:{directory}/app.sock"])
    conf = directory / "nginx.conf"
    for name, limit in SHORTER.items():
        text, count = re.subn(rf"(?m)^    {name} \d+s?;", f"    {name} {limit};", conf.read_text())
        assert count == 1, name
        conf.write_text(text)
    program = subprocess.Popen([sys.executable, "-c", LARGE, str(directory / "app.sock")], cwd=ROOT)
    nginx = subprocess.Popen(start.nginx_command(directory), cwd=directory, stdout=subprocess.DEVNULL)
    until(lambda: answers(f"http://127.0.0.1:{port}"), "it does not answer")
    yield port
    for process in (nginx, program):
        process.terminate()
        process.wait(PATIENCE)


LARGE = """
import sys, uvicorn
from pathlib import Path
from playground.ui import run

async def app(scope, receive, send):
    large = scope["path"] != "/healthz"
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": bytes(10_000_000 if large else 1)})

config = uvicorn.Config(app, lifespan="off", log_level="critical")
uvicorn.Server(config).run(sockets=[run.at_unix_socket(Path(sys.argv[1]))])
"""
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def line_to(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def is_ended(connection: socket.socket) -> bool:
    """Reads until the server closes the connection; False if this takes longer than PATIENCE, the socket's timeout."""
    try:
        while connection.recv(2**16):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize(
    "first_bytes",
    [HEAD, b"POST /api/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf", b""],
    ids=["a head", "a body", "nothing"],
)
def test_whoever_stalls_is_cut_off(strict, first_bytes):
    with line_to(strict) as connection:
        connection.sendall(first_bytes)
        assert is_ended(connection)


def test_who_does_not_read_their_answer_is_cut_off(strict):
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", strict))
        connection.sendall(b"GET /api/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: was_reset(connection), "it is left open")


def was_reset(connection: socket.socket) -> bool:
    """Whether a write fails because the server has reset the connection. Reads nothing from the connection."""
    try:
        connection.send(b"\r\n")
    except OSError:
        return True
    return False


def test_a_network_holds_so_many_connections_and_another_one_finds_room(strict):
    connections = []
    try:
        for _ in range(20):
            connections.append(line_to(strict))
            connections[-1].sendall(b"GET /api/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b" 200 " in connections[-1].recv(100)
        with line_to(strict) as connection:
            connection.sendall(HEAD + b"Connection: close\r\n\r\n")
            assert b" 503 " in connection.makefile("rb").readline()
        assert says(f"http://127.0.0.1:{strict}", "/healthz", source="127.9.0.1")[0] == 200
    finally:
        for connection in connections:
            connection.close()


def test_questions_behind_each_other_on_one_line_are_answered_one_by_one(strict):
    """Pipelined requests: nginx passes the next one to the app only after it has answered the one before."""
    with line_to(strict) as connection:
        connection.sendall((HEAD + b"\r\n") * 50 + HEAD + b"Connection: close\r\n\r\n")
        assert connection.makefile("rb").read().count(b"HTTP/1.1 200 OK") == 51
