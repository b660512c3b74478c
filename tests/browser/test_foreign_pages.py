"""What the server refuses to pages of other hosts and to requests with a foreign Host, over HTTP and WebSockets;
without a browser."""

from __future__ import annotations

import socket

import pytest
from waiting import PATIENCE

from browser.server import serving
from browser.stranger import answer, ask
from playground.errors import PlaygroundError
from playground.serving import settings
from playground.ui.headers import POLICY, WORKBENCH_POLICY
from playground.ui.headers import headers as our_headers


@pytest.fixture(scope="module")
def server(hole):
    with serving(**hole.environment) as running_server:
        yield running_server


CHANGING_REQUESTS = (
    ("POST", "api/pictures"), ("DELETE", "api/pictures"), ("DELETE", "api/pictures/0123456789abcdef"),
    ("POST", "api/labelled?number=1"), ("POST", "api/fetching?model=x"), ("DELETE", "api/fetching?model=x"),
    ("POST", "figure.svg?sample=meadow"),
)  # fmt: skip


@pytest.mark.parametrize(("method", "path"), CHANGING_REQUESTS, ids=lambda part: part.partition("?")[0])
def test_what_changes_something_needs_a_key_and_a_page_of_this_server(server, stranger, method, path):
    url, own_key = f"{server.url}/{path}", {"X_Playground_Key": stranger.key}
    foreign_origins = (
        "https://other.example",
        "null",
        f"http://127.0.0.1:{server.port + 1}",
        f"{server.url}.other.example",
    )
    refused_headers = [
        {},
        {"X_Playground_Key": "short"},
        {"X_Playground_Key": "k" * 65},
        {"X_Playground_Key": "?" * 30},
    ]
    refused_headers += [own_key | {"Origin": origin} for origin in foreign_origins]
    refused_headers += [own_key | {"Sec_Fetch_Site": site} for site in ("cross-site", "same-site")]
    for headers in refused_headers:
        status, _, body = answer(url, method, b"x", **headers)
        assert (status, is_refused_as_foreign(body)) == (403, True), headers
    for headers in (own_key, own_key | {"Origin": server.url, "Sec_Fetch_Site": "same-origin"}):
        assert not is_refused_as_foreign(answer(url, method, b"x", **headers)[2]), headers


def is_refused_as_foreign(body: bytes) -> bool:
    return b"own pages may ask" in body or b"needs the key" in body


def test_pages_of_other_hosts_open_no_socket_and_nobody_waits_for_them(server, hole):
    """Streamlit alone would look up this machine's public address each time and block all visitors meanwhile."""
    for origin in ("https://other.example", "https://127.0.0.1.other.example", "https://localhost.example", "null"):
        assert socket_status(server, origin) == "403"
    assert socket_status(server, server.url) == "101"
    assert hole.connections == []


def test_a_page_whose_host_was_renamed_to_this_machine_opens_no_socket(server):
    """After DNS rebinding, Origin and Host agree but name a foreign host."""
    assert socket_status(server, "http://other.example", "other.example") == "403"
    assert socket_status(server, f"http://localhost:{server.port}", f"localhost:{server.port}") == "101"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("GET", "api/models"), ("GET", "metrics"), ("GET", "healthz"),
                         ("POST", "api/pictures"), ("GET", "workbench/_stcore/health"),
                         ("GET", "api/app/0/shell/served.js")]
)  # fmt: skip
def test_a_foreign_host_name_is_refused_at_every_address_and_this_machine_s_names_are_not(server, method, path):
    """Without this check, any page that a person visits could use the app on their laptop, by DNS rebinding."""
    own_key = {"X_Playground_Key": "k" * 30}
    for host in ("evil.example", f"evil.example:{server.port}", "localhost@evil.example", "127.0.0.1.evil.example"):
        status, _, body = answer(
            f"{server.url}/{path}", method, None, Host=host, X_Forwarded_Host="localhost", **own_key
        )
        assert (status, b"PLAYGROUND_HOSTS" in body) == (403, True), (host, body)
    for host in ("localhost:9000", "[::1]:8501", "192.168.1.5:8501", socket.gethostname()):
        status, _, body = answer(f"{server.url}/{path}", method, None, Host=host, **own_key)
        assert b"PLAYGROUND_HOSTS" not in body, (host, body)
        assert status == (400 if method == "POST" else 410 if "/app/" in path else 200), (host, body)


def test_a_probe_that_names_no_host_is_answered_and_one_that_names_two_is_not(server):
    assert first_line(server, "GET /healthz HTTP/1.0") == "HTTP/1.1 200 OK"
    for hosts in (["localhost", "evil.example"], ["evil.example", "localhost"]):
        assert first_line(server, "GET /healthz HTTP/1.1", *(f"Host: {host}" for host in hosts)).split()[1] in (
            "400",
            "403",
        )


def test_the_refusal_of_a_socket_names_the_setting(server):
    request = socket_request("http://evil.example", "evil.example")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        answer_bytes = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer_bytes.startswith(b"HTTP/1.1 403")
    assert b"PLAYGROUND_HOSTS" in answer_bytes


def first_line(server, *lines: str) -> str:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return connection.recv(1000).decode().partition("\r\n")[0]


def socket_request(origin: str, host: str) -> bytes:
    lines = [
        "GET /workbench/_stcore/stream HTTP/1.1", f"Host: {host}", f"Origin: {origin}", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
    ]  # fmt: skip
    return "\r\n".join(lines).encode()


def socket_status(server, origin: str, host: str = "") -> str:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(socket_request(origin, host or server.address))
        return connection.recv(100).split()[1].decode()


def test_every_answer_forbids_what_the_pages_do_not_need(server):
    """The app itself sends these headers, without a proxy."""
    ours = ("/", "/patches", "/healthz", "/static/nothing.js", "/../../etc/passwd")
    workbench = ("/workbench/", "/workbench/_stcore/health", "/workbench/_stcore/metrics")
    for path, policy in [(path, POLICY) for path in ours] + [(path, WORKBENCH_POLICY) for path in workbench]:
        _, headers = ask(server.url + path)
        assert headers["content-security-policy"] == policy, path
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", [f"/workbench{path}" for path in ("/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics")]
)
def test_streamlit_s_metrics_are_not_served(server, path):
    status, _ = ask(server.url + path)
    assert status in (400, 404)


def test_a_site_that_is_named_may_show_the_app_in_a_frame(monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: settings.read({"PLAYGROUND_FRAMED_BY": "https://*.hall.example"}))
    assert our_headers()["Content-Security-Policy"] == f"{POLICY} https://*.hall.example"
    for wrong_site in ("hall.example", "*", "https://x; script-src *"):
        with pytest.raises(PlaygroundError, match="PLAYGROUND_FRAMED_BY is sites"):
            settings.read({"PLAYGROUND_FRAMED_BY": wrong_site})
