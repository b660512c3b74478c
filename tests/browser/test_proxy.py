"""Two real processes of the app behind a real nginx with the configuration of deploy/nginx.conf."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
import witnesses
from waiting import until

from browser.own_picture import assert_shows, hand_over, picture, upload
from browser.server import ROOT, Server, free_port
from browser.stranger import answer
from browser.visitor import LOST_SERVER, Visitor

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
SEAT_COOKIE = "playground_seat"
KEY_HEADER = {"X_Playground_Key": "k" * 32}


_spec = importlib.util.spec_from_file_location("start", ROOT / "deploy" / "start.py")
start = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(start)


class Proxy:
    """nginx as deploy/start.py starts it in front of replicas, except that its log goes into a file."""

    def __init__(self, folder: Path, replicas: list[Server], **environment: str):
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {"PLAYGROUND_HOSTS": "hall.example", **environment}.items():
                patch.setenv(name, value)
            start.write(folder, self.port, [replica.address for replica in replicas])
        site = folder / "site.conf"
        site.write_text(site.read_text().replace("requests", "access.log"))

    def start(self) -> Proxy:
        check = subprocess.run(
            [*start.nginx_command(self.folder), "-t"], cwd=self.folder, capture_output=True, text=True
        )
        assert check.returncode == 0, check.stderr
        errors = (self.folder / "errors").open("w")
        self.process = subprocess.Popen(start.nginx_command(self.folder), cwd=self.folder, stderr=errors)
        until(self.listens, "nginx does not listen")
        return self

    def listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def ask(self, path: str, seat: str | None = None, **options) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of the answer to a visitor with this cookie."""
        cookie = {"Cookie": f"{SEAT_COOKIE}={seat}"} if seat else {}
        return answer(self.url + path, **options, **cookie)

    def replica_of(self, seat: str) -> str:
        path = f"/seat/{seat}/{time.monotonic_ns()}"
        self.ask(path, seat)
        return self.log_entry(path)["replica"]

    def seat_at(self, replica: Server) -> str:
        return next(f"s{n}" for n in range(100) if self.replica_of(f"s{n}") == replica.address)

    def log_entry(self, path: str, after: int = 0) -> dict[str, str]:
        """Waits until nginx has logged this request; returns the status and the last replica it asked ("-": none)."""

        def matching_lines() -> list[str]:
            return [line for line in self.log()[after:] if path in line]

        until(matching_lines, f"nothing is logged of {path}")
        _, status, _, _, replicas, *last_fields = matching_lines()[-1].split()
        return {"status": status, "replica": last_fields[-3] if len(last_fields) > 2 else replicas}

    def report(self) -> str:
        return "\n".join([*self.log()[-20:], (self.folder / "errors").read_text()])

    def log(self) -> list[str]:
        return (self.folder / "access.log").read_text().splitlines()


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    if NGINX is None:
        pytest.skip("nginx is not installed here; Debian's package of that name is what these tests use")
    settings = {"STREAMLIT_SERVER_COOKIE_SECRET": "the same", "PLAYGROUND_HOSTS": "hall.example"}
    servers = [Server(tmp_path_factory.mktemp("home"), **settings).start() for _ in range(2)]
    yield servers
    for replica in servers:
        replica.kill()


@pytest.fixture(scope="module")
def proxy(replicas, tmp_path_factory):
    running_proxy = Proxy(tmp_path_factory.mktemp("nginx"), replicas).start()
    for replica in replicas:
        replica.wait()
    witnesses.enter(running_proxy)
    yield running_proxy
    witnesses.leave(running_proxy)
    running_proxy.process.terminate()
    running_proxy.process.wait(10)


@pytest.fixture
def visit(arrive, proxy):
    """visit(replica, address) gives a Visitor whose seat cookie leads to that replica."""

    def open_at(replica: Server, address: str = "") -> Visitor:
        visitor = arrive(Visitor, proxy.url)
        visitor.context.add_cookies([{"name": SEAT_COOKIE, "value": proxy.seat_at(replica), "url": proxy.url}])
        return visitor.open(address)

    return open_at


@pytest.mark.slow
def test_everybody_is_given_a_seat_and_keeps_it(proxy, replicas):
    seats = []
    for _ in range(12):
        headers = proxy.ask("/")[1]
        name, _, seat_and_flags = headers["Set-Cookie"].partition("=")
        assert name == SEAT_COOKIE
        assert "HttpOnly" in seat_and_flags
        seats.append(seat_and_flags.partition(";")[0])
    assert len(set(seats)) == 12
    assert {proxy.replica_of(seat) for seat in seats} == {replica.address for replica in replicas}
    for seat in seats[:3]:
        assert len({proxy.replica_of(seat) for _ in range(4)}) == 1
        assert "Set-Cookie" not in proxy.ask("/", seat)[1]


@pytest.mark.slow
def test_the_code_of_a_class_leads_every_phone_to_the_replica_that_has_it(proxy, replicas):
    """A typed code leads to that replica whatever the phone's seat; the link /c/CODE also gives the phone a seat."""
    for number in range(6):
        body_sent, seat = json.dumps({"root": f"{proxy.url}/"}).encode(), f"{37 * number:02x}" + 30 * "0"
        headers = {"X_Playground_Key": f"lecturer-number-{number}-of-the-hall", "Content_Type": "application/json"}
        status, _, body = proxy.ask("/api/classes", seat, data=body_sent, method="POST", **headers)
        assert status == 200, body
        code, replica = json.loads(body)["code"], proxy.replica_of(seat)
        for phone_seat in ("00" * 16, "77" * 16, "e1" * 16):
            path = f"/api/classes/{code.lower()}"
            log_length = len(proxy.log())
            assert proxy.ask(path, phone_seat, **KEY_HEADER)[0] == 200
            assert proxy.log_entry(" GET /api/classes/ ", log_length) == {"status": "200", "replica": replica}
        newcomer_seat = proxy.ask(f"/c/{code}")[1]["Set-Cookie"].partition("=")[2].partition(";")[0]
        assert proxy.replica_of(newcomer_seat) == replica


class NoReplica:
    address = "127.0.0.1:1"


@pytest.fixture
def proxy_without_replica(tmp_path):
    if NGINX is None:
        pytest.skip("nginx is not installed here")
    running_proxy = Proxy(tmp_path, [NoReplica]).start()
    yield running_proxy
    running_proxy.process.terminate()
    running_proxy.process.wait(10)


def test_no_log_holds_an_address_or_a_query_while_the_app_is_down(proxy_without_replica):
    assert proxy_without_replica.ask("/api/trace?mine=0123456789abcdef&model=secret")[0] == 502
    proxy_without_replica.ask("/workbench/_stcore/upload_file/the-id-of-a-session/1")
    until(lambda: len(proxy_without_replica.log()) == 2, "both requests are logged")
    assert any(" 502 GET /api/trace 127.0.0.1:1 " in line for line in proxy_without_replica.log()), (
        proxy_without_replica.log()
    )
    log_text = proxy_without_replica.report()
    assert not any(word in log_text for word in ("client", "0123456789abcdef", "secret", "the-id-of-a-session"))


def test_addresses_that_share_an_ipv6_prefix_are_one_network_and_neighbours_are_one_house(tmp_path):
    """The test sends the addresses to nginx in X-Forwarded-For, like another proxy."""
    if NGINX is None:
        pytest.skip("nginx is not installed here")
    lone_proxy = Proxy(tmp_path, [NoReplica], PLAYGROUND_PROXIES="127.0.0.1")
    settings_file = lone_proxy.folder / "nginx.conf"
    header_lines = "add_header X-Network $network always; add_header X-House $house always;"
    settings_file.write_text(
        settings_file.read_text().replace("server_tokens off;", f"server_tokens off; {header_lines}", 1)
    )
    lone_proxy.start()

    def header_for(header: str, address: str) -> str:
        return lone_proxy.ask("/api/trace", X_Forwarded_For=address)[1][header]

    try:
        network_names = {header_for("X-Network", f"2a41:4af8:4c17:4b8f::{number:x}") for number in (1, 0xFF, 0xA0D)}
        network_names.add(header_for("X-Network", "2a41:4af8:4c17:4b8f:a:b:c:d"))
        assert len(network_names) == 1
        assert header_for("X-Network", "2a41:4af8:4c17:4b90::1") not in network_names
        assert header_for("X-House", "2a41:4af8:4c17:4b90::1") == header_for("X-House", "2a41:4af8:4c17:4b8f::1")
        first_address, second_address = "203.71.113.77", "203.71.113.78"
        assert header_for("X-Network", first_address) != header_for("X-Network", second_address)
        assert header_for("X-House", first_address) == header_for("X-House", second_address)
        assert header_for("X-Network", f"::ffff:{first_address}") == header_for("X-Network", first_address)
        assert header_for("X-Network", f"::ffff:{first_address}") != header_for("X-Network", f"::ffff:{second_address}")
    finally:
        lone_proxy.process.terminate()
        lone_proxy.process.wait(10)


@pytest.mark.slow
def test_people_of_a_killed_replica_come_back_on_the_other_with_their_link_intact(proxy, replicas, visit):
    killed_replica, other_replica = replicas
    visitor = visit(killed_replica, "sample=flock&layer=2")
    visitor.forgiven_errors = LOST_SERVER
    state = visitor.lock((3, 4))
    visitor.page.wait_for_url(re.compile("locked=true"))
    link = visitor.page.url
    killed_replica.kill()
    try:
        second_state = visitor.until()
        kept = {"layer": 2, "query": "3,4", "locked": True, "row": state["row"]}
        assert kept.items() <= second_state.items()
        assert visitor.page.url == link
        log_length = len(proxy.log())
        visitor.page.reload()
        second_state = visitor.until("r => r.locked && r.query === '3,4'")
        assert (second_state["layer"], second_state["row"]) == (2, state["row"])
        assert visitor.page.url == link
        assert proxy.log_entry("GET /api/trace", log_length)["replica"] == other_replica.address
        data = picture(640, 480)
        upload(visitor, data, "after.jpg")
        assert_shows(visitor, data, "after.jpg")
    finally:
        killed_replica.start().wait()
    addresses = {replica.address for replica in replicas}
    until(lambda: {proxy.replica_of(f"s{n}") for n in range(20)} == addresses, "one of the replicas has not come back")


@pytest.mark.slow
def test_a_photograph_whose_replica_is_lost_on_its_way_is_sent_to_the_other(proxy, replicas, visit):
    killed_replica, other_replica = replicas
    visitor, data = visit(killed_replica, "sample=flock"), picture(320, 240)
    visitor.forgiven_errors = LOST_SERVER
    upload_urls, log_length = "**/api/pictures", len(proxy.log())

    def lose(route) -> None:
        killed_replica.kill()
        route.continue_()

    visitor.page.route(upload_urls, lose, times=1)
    try:
        hand_over(visitor, "drop", data)
        assert_shows(visitor, data, "dropped.jpg")
        assert proxy.log_entry(" 200 POST /api/pictures", log_length)["replica"] == other_replica.address
    finally:
        killed_replica.start().wait()
