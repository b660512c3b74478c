"""nginx and the app as deploy/start.py starts them: what nginx keeps away from the app, and what it tells the app.
test_nginx_cache.py tests what nginx caches."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from browser.server import ROOT, drawn_packs, free_port
from browser.stranger import ask
from browser.test_proxy import NGINX, start
from waiting import PATIENCE, until

from playground.ui.headers import POLICY

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed here")
TRUSTED_PROXY = "127.0.0.2"  # a second address of this machine, from which tests act as a proxy


@contextmanager
def running_edge(folder: Path, **environment: str) -> Iterator[str]:
    """Starts nginx and the app, which trust only the proxy BELIEVED, and yields nginx's address."""
    port = free_port()
    default_environment = {"HF_HUB_OFFLINE": "1", "PLAYGROUND_BORROWED": str(drawn_packs())}
    default_environment |= {"PLAYGROUND_PROXIES": TRUSTED_PROXY}
    with (folder / "log").open("w") as log:
        command = [sys.executable, "deploy/start.py", "--port", str(port)]
        server = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | default_environment | environment, stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_up(url), "it does not answer")
        yield url
    finally:
        server.terminate()
        server.wait(PATIENCE)


def is_up(url: str) -> bool:
    with suppress(OSError):
        return ask(f"{url}/healthz")[0] == 200
    return False


SERVE = """
import sys, uvicorn
from pathlib import Path
from playground.ui import run
config = uvicorn.Config(app, proxy_headers=True, forwarded_allow_ips=["*"], lifespan="off", log_level="critical")
uvicorn.Server(config).run(sockets=[run.at_unix_socket(Path(sys.argv[1]))])
"""
LARGE_APP = """
async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    body = bytes(1 if scope["path"] == "/healthz" else 10_000_000)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
"""


@contextmanager
def behind_nginx(folder: Path, app: str, change=lambda folder: None, **settings: str) -> Iterator[str]:
    """Starts nginx in front of an app of a few lines, after a `change` of nginx's files, and yields nginx's address.
    `app` is a program that makes an ASGI app of this name; the app answers /healthz."""
    port = free_port()
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        start.write(folder, port, [f"unix:{folder}/app.sock"])
    change(folder)
    app_process = subprocess.Popen([sys.executable, "-c", app + SERVE, str(folder / "app.sock")], cwd=ROOT)
    nginx = subprocess.Popen(start.nginx_command(folder), cwd=folder, stdout=subprocess.DEVNULL)
    try:
        until(lambda: is_up(f"http://127.0.0.1:{port}"), "it does not answer")
        yield f"http://127.0.0.1:{port}"
    finally:
        for process in (nginx, app_process):
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("edge")


@pytest.fixture(scope="module")
def edge(folder):
    with running_edge(folder, PLAYGROUND_USER_HEADER="X-Forwarded-User", PLAYGROUND_LOG="json") as url:
        yield url


def connect(url: str, source: str = "127.0.0.1") -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), PATIENCE, (source, 0))


def answer_to_get(url: str, path: str, source: str = "127.0.0.1", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of the answer to a GET that is sent from the address `source`."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {url.removeprefix('http://')}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    with connect(url, source) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        with connection.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
    status, *header_lines = head.decode().split("\r\n")
    pairs = (pair.split(": ", 1) for pair in header_lines)
    return int(status.split()[1]), {name.lower(): value for name, value in pairs}, body


def test_only_a_direct_request_from_this_machine_reads_the_metrics(edge):
    assert answer_to_get(edge, "/metrics")[0] == 200
    for header_name in ("X_Forwarded_For", "X_Real_IP", "Forwarded", "Via"):
        assert answer_to_get(edge, "/metrics", **{header_name: "127.0.0.1"})[0] == 404, header_name
    assert answer_to_get(edge, "/metrics", source=TRUSTED_PROXY, X_Forwarded_For="203.0.113.7")[0] == 404
    stranger_headers = {"X_Forwarded_For": "203.0.113.7", "X_Playground_Direct": "yes"}
    assert answer_to_get(edge, "/metrics", source=TRUSTED_PROXY, **stranger_headers)[0] == 404


SENDER_APP = """
import json
from starlette.requests import Request
from playground.serving import people

async def app(scope, receive, send):
    assert scope["type"] == "http"
    visitor = people.visitor(scope)
    told = {"address": visitor.address, "behind": people.is_behind_proxy(scope), "scheme": scope["scheme"]}
    told["direct"] = Request(scope).headers.get("x-playground-direct", "")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})
"""


@pytest.fixture(scope="module")
def sender_seen(folder):
    """A function that sends a request through nginx and returns what the app knows of its sender."""
    proxy = {"PLAYGROUND_PROXIES": TRUSTED_PROXY, "PLAYGROUND_USER_HEADER": "X-Forwarded-User"}
    with behind_nginx(folder / "senders", SENDER_APP, **proxy) as url:

        def taken_for(source: str = "127.0.0.1", **headers: str) -> dict:
            status, _, body = answer_to_get(url, "/api/who", source, **headers)
            assert status == 200, body
            return json.loads(re.search(rb"{.*}", body)[0])

        yield taken_for


def test_visitors_behind_a_proxy_are_told_apart_by_their_networks(sender_seen):
    first_visitor, second_visitor = (
        sender_seen(TRUSTED_PROXY, X_Forwarded_For=address) for address in ("203.0.113.7", "2001:db8:1:2::9")
    )
    assert (first_visitor["address"], second_visitor["address"]) == ("203.0.113.7/32", "2001:db8:1:2::/64")
    assert first_visitor["behind"]


def test_headers_of_a_direct_request_are_not_believed(sender_seen):
    sender = sender_seen(X_Forwarded_For="203.0.113.7", X_Forwarded_User="ann", X_Playground_Login="ann")
    assert (sender["address"], sender["direct"]) == ("127.0.0.1/32", "")
    assert sender_seen(X_Forwarded_Proto="https")["scheme"] == "http"


def test_a_login_that_the_trusted_proxy_sends_is_an_unnamed_person(sender_seen):
    ann, bea = (
        sender_seen(TRUSTED_PROXY, X_Forwarded_For="203.0.113.7", X_Forwarded_User=name)["address"]
        for name in ("ann", "bea")
    )
    assert ann.startswith("login ")
    assert ann != bea
    assert "ann" not in ann


def test_the_trusted_proxy_s_scheme_is_believed(sender_seen):
    assert sender_seen(TRUSTED_PROXY, X_Forwarded_For="203.0.113.7", X_Forwarded_Proto="https")["scheme"] == "https"


def raw_answer(edge: str, *lines: str) -> str:
    with connect(edge) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return connection.makefile("rb").read().decode()


def test_a_probe_that_names_no_host_is_answered(edge):
    assert raw_answer(edge, "GET /healthz HTTP/1.0").startswith("HTTP/1.1 200 ")


def test_nginx_passes_the_app_s_policy(edge):
    for path in ("/", "/patches", "/healthz", "/nothing.js"):
        assert answer_to_get(edge, path)[1]["content-security-policy"] == POLICY, path


def test_behind_tls_the_seat_s_cookie_goes_over_tls_only(edge):
    for scheme, flags in (("https", "HttpOnly; SameSite=Lax; Secure"), ("http", "HttpOnly; SameSite=Lax")):
        words = {"X_Forwarded_For": "203.0.113.7", "X_Forwarded_Proto": scheme}
        cookie = answer_to_get(edge, "/", TRUSTED_PROXY, **words)[1]["set-cookie"]
        assert re.fullmatch(rf"playground_seat=\w+; Path=/; {flags}", cookie), cookie


def test_nginx_refuses_a_large_body_that_is_no_picture(edge):
    for path, size, is_refused in (
        ("/api/fetching?model=x", 5_000_000, True),
        ("/workbench/_stcore/upload_file/x/y", 5_000_000, False),
        ("/workbench/_stcore/upload_file/x/y", 50_000_000, True),
    ):
        with connect(edge) as connection:
            connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode())
            if not is_refused:
                connection.sendall(bytes(size))
            assert (b" 413 " in connection.makefile("rb").readline()) == is_refused, path


def test_a_network_opens_few_sockets_of_the_workbench(edge):
    head = [
        "GET /workbench/_stcore/stream HTTP/1.1", f"Host: {edge.removeprefix('http://')}", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
    ]  # fmt: skip
    with ExitStack() as connections:

        def status_of_another(source: str = "127.0.0.1") -> bytes:
            connection = connections.enter_context(connect(edge, source))
            connection.sendall("\r\n".join(head).encode())
            return connection.recv(20).split()[1]

        statuses = [status_of_another() for _ in range(41)]
        assert statuses == [b"101"] * 40 + [b"503"]
        assert status_of_another("127.9.0.1") == b"101"
        assert answer_to_get(edge, "/healthz")[0] == 200, "whoever learns is not counted"


def test_the_log_of_nginx_names_no_address_no_query_no_key_and_no_class(edge, folder):
    answer_to_get(edge, "/api/trace?mine=feedfacefeedface", X_Playground_Key="s" * 32)
    for path in ("/c/ACRWZ", "/attention/c/acrwz", "/api/classes/acrwz", "/api//classes/ACRWZ/guesses", "/%63/ACRWZ"):
        answer_to_get(edge, path)
    until(lambda: '"path":"/c/"' in (folder / "log").read_text().splitlines()[-1], "the last request is logged")
    log_text = (folder / "log").read_text()
    assert "acrwz" not in log_text.lower()
    assert "feedfacefeedface" not in log_text
    assert "s" * 32 not in log_text
    assert "127.0.0.1" not in "".join(line for line in log_text.splitlines() if line.startswith('{"time'))


def test_a_body_in_tiny_chunks_reaches_the_app_whole_or_not_at_all(edge):
    """nginx sends a small body to the app only when it is complete, because each tiny piece would cost the app time."""
    with connect(edge) as connection:
        connection.sendall(
            b"POST /api/labelled?number=1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(b"1\r\nx\r\n" * 70_000)  # more than 64 KB
        assert b" 413 " in connection.makefile("rb").readline()


def test_an_upload_in_progress_is_answered_when_the_server_ends(tmp_path):
    """Once, its connection was cut, so that the browser knew neither what had happened nor that it may try again."""
    connection = socket.socket()
    with connection:
        with running_edge(tmp_path) as url:
            connection.settimeout(PATIENCE)
            connection.connect(("127.0.0.1", int(url.rpartition(":")[2])))
            head = f"POST /api/pictures HTTP/1.1\r\nHost: localhost\r\nX-Playground-Key: {'k' * 32}\r\n"
            connection.sendall(f"{head}Content-Length: 30000000\r\n\r\n".encode())
            connection.sendall(bytes(25_000_000))  # more than lies in buffers, so the app is reading
        answer = connection.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 503 "), (answer, (tmp_path / "log").read_text())
    assert "restarting: try again" in answer


LOWERED_LIMITS = {  # limits of nginx, lowered so that tests reach them soon
    "client_header_timeout": "1s", "client_body_timeout": "1s", "send_timeout": "1s", "limit_conn lines": "20",
    "limit_conn houses": "30",
}  # fmt: skip


@pytest.fixture(scope="module")
def strict(folder):
    """The address of an nginx with LOWERED_LIMITS, in front of an app that answers each GET with 10 MB."""

    def lower_limits(directory: Path) -> None:
        conf = directory / "nginx.conf"
        for name, limit in LOWERED_LIMITS.items():
            text, count = re.subn(rf"(?m)^    {name} \d+s?;", f"    {name} {limit};", conf.read_text())
            assert count == 1, name
            conf.write_text(text)

    with behind_nginx(folder / "strict", LARGE_APP, lower_limits) as url:
        yield url


REQUEST_HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def is_closed_by_server(connection: socket.socket) -> bool:
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
    [REQUEST_HEAD, b"POST /api/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf", b""],
    ids=["a head", "a body", "nothing"],
)
def test_whoever_stalls_is_cut_off(strict, first_bytes):
    with connect(strict) as connection:
        connection.sendall(first_bytes)
        assert is_closed_by_server(connection)


def test_who_does_not_read_their_answer_is_cut_off(strict):
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", int(strict.rpartition(":")[2])))
        connection.sendall(b"GET /api/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: was_reset(connection), "it is left open")


def was_reset(connection: socket.socket) -> bool:
    """Whether a write fails because the server has reset the connection. Reads nothing from the connection."""
    try:
        connection.send(b"\r\n")
    except OSError:
        return True
    return False


def test_a_network_that_uses_up_its_connections_leaves_room_for_another(strict):
    connections = []
    try:
        for _ in range(20):
            connections.append(connect(strict))
            connections[-1].sendall(b"GET /api/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b" 200 " in connections[-1].recv(100)
        with connect(strict) as connection:
            connection.sendall(REQUEST_HEAD + b"Connection: close\r\n\r\n")
            assert b" 503 " in connection.makefile("rb").readline()
        assert answer_to_get(strict, "/healthz", source="127.9.0.1")[0] == 200
    finally:
        for connection in connections:
            connection.close()


def test_pipelined_requests_are_answered_one_by_one(strict):
    """Pipelined requests: nginx passes the next one to the app only after it has answered the one before."""
    with connect(strict) as connection:
        connection.sendall((REQUEST_HEAD + b"\r\n") * 50 + REQUEST_HEAD + b"Connection: close\r\n\r\n")
        assert connection.makefile("rb").read().count(b"HTTP/1.1 200 OK") == 51
