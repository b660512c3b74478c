"""What people send who are not at the app's own page: a real server over HTTP and WebSockets, without a browser."""

from __future__ import annotations

import io
import os
import pickle
import resource
import socket
import threading
from pathlib import Path
from urllib.parse import urlencode

import hostile
import pytest
from hostile.making import saved as plain
from PIL import Image
from streamlit.proto.BackMsg_pb2 import BackMsg
from waiting import PATIENCE
from websockets.exceptions import ConnectionClosed

import playground
from browser.server import ROOT, serving
from browser.stranger import Stranger, ask, form
from playground import zoo
from playground.errors import PlaygroundError
from playground.serving import models, settings
from playground.ui import doors, sockets, streamlit_private
from playground.ui.doors import POLICY

MB = 2**20


class Hole:
    """Where everything goes that the server asks the internet for: somebody who listens and never answers."""

    def __init__(self):
        self.asked: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            self.asked.append(self._listening.accept()[0])

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        return {"http_proxy": url, "https_proxy": url, "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="module")
def hole():
    return Hole()


@pytest.fixture(scope="module")
def server(hole):
    with serving(**hole.environment) as running:
        Stranger(running.url).close()  # the first visitor
        yield running


@pytest.fixture
def stranger(server):
    somebody = Stranger(server.url)
    yield somebody
    somebody.close()


def assert_lives(stranger: Stranger) -> None:
    """The session goes on: another sample is shown and stands in the address."""
    stranger.trigger("pick", "flock")
    assert stranger.words["sample"] == "flock"


# Pages of other hosts -------------------------------------------------------------------------------------------------


def token(server) -> str:
    _, headers = ask(f"{server.url}/_stcore/health")
    name, _, rest = headers["set-cookie"].partition("=")
    assert name == "_streamlit_xsrf"
    return rest.partition(";")[0]


def test_an_upload_needs_the_page_s_own_token(server, stranger):
    data, kind = form(plain("PNG"))
    url, ours, another = stranger.upload_url(), token(server), token(server)
    refused = [{}, {"Cookie": f"_streamlit_xsrf={ours}"}, {"X_Xsrftoken": ours}]
    refused.append({"Cookie": f"_streamlit_xsrf={ours}", "X_Xsrftoken": another})
    for headers in refused:
        assert ask(url, "PUT", data, Content_Type=kind, **headers)[0] == 403
        assert ask(url, "DELETE", **headers)[0] == 403
    both = {"Cookie": f"_streamlit_xsrf={ours}", "X_Xsrftoken": ours}
    assert ask(url, "PUT", data, Content_Type=kind, **both)[0] == 204
    assert ask(url, "DELETE", **both)[0] == 204
    nobody = url.replace(stranger.id, "0" * len(stranger.id))
    assert ask(nobody, "PUT", data, Content_Type=kind, **both)[0] == 400


def test_pages_of_other_hosts_open_no_socket_and_nobody_waits_for_them(server, hole):
    """Streamlit would ask the internet for this machine's address each time, and answer nobody meanwhile."""
    for origin in ("https://other.example", "https://127.0.0.1.other.example", "https://localhost.example", "null"):
        assert status_of_a_socket(server, origin) == "403"
    assert status_of_a_socket(server, server.url) == "101"
    assert hole.asked == []


def test_a_page_whose_host_was_renamed_to_this_machine_opens_no_socket(server):
    """The page and the socket then name the same host, which is not ours."""
    assert status_of_a_socket(server, "http://other.example", "other.example") == "403"
    assert status_of_a_socket(server, f"http://localhost:{server.port}", f"localhost:{server.port}") == "101"


def status_of_a_socket(server, origin: str, host: str = "") -> str:
    lines = [
        "GET /_stcore/stream HTTP/1.1", f"Host: {host or server.address}", f"Origin: {origin}", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
        line.sendall("\r\n".join(lines).encode())
        return line.recv(100).split()[1].decode()


def test_every_answer_forbids_what_the_pages_do_not_need(server):
    """With no proxy in front."""
    for path in ("/", "/patches", "/_stcore/health", "/static/nothing.js", "/../../etc/passwd", "/_stcore/metrics"):
        _, headers = ask(server.url + path)
        assert headers["content-security-policy"] == POLICY, path
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics", "/x/../_stcore/metrics"]
)
def test_how_much_the_server_does_is_nobody_s_business(server, path):
    status, _ = ask(server.url + path)
    assert status in (400, 404)


def test_a_site_that_is_named_may_show_it_in_a_frame(monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: settings.read({"PLAYGROUND_FRAMED_BY": "https://*.hall.example"}))
    assert doors.headers()["Content-Security-Policy"] == f"{POLICY} https://*.hall.example"
    for wrong in ("hall.example", "*", "https://x; script-src *"):
        with pytest.raises(PlaygroundError, match="PLAYGROUND_FRAMED_BY is sites"):
            settings.read({"PLAYGROUND_FRAMED_BY": wrong})


# Files that are no models ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory, hole):
    """Weights that would load, and a file that runs a program when it is unpickled: it makes `run`."""
    folder = tmp_path_factory.mktemp("files")

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(folder / "run"),)

    zoo.save(playground.load("untrained"), folder / "good.safetensors")
    (folder / "trap.pt").write_bytes(pickle.dumps(Trap()))
    return folder


def names(folder: Path) -> list[str]:
    good, trap = folder / "good.safetensors", folder / "trap.pt"
    return [
        str(good), os.path.relpath(good, ROOT), f"file://{good}", f"local-dir:{folder}", str(folder), "~", "${HOME}",
        str(trap), f"file://{trap}", f"vit_tiny_patch16_224.{trap}", f"{trap}\0.safetensors", "/etc/passwd",
        "assets/bundled.safetensors", "https://other.example/x", "https://other.example/x.safetensors",
        "hf-hub:other/x", "hf_hub:other/x", "timm/other", "ViT-Ti/" + "9" * 5000, "vit_" * 5000, "x" * 10**6,
    ]  # fmt: skip


def test_the_traps_work(files):
    assert playground.load(str(files / "good.safetensors")).name == "untrained"
    pickle.loads((files / "trap.pt").read_bytes())
    (files / "run").rmdir()


def test_no_file_and_no_address_is_taken_for_a_model(files, monkeypatch):
    asked = []
    monkeypatch.setattr(socket.socket, "connect", lambda *where: asked.append(where))
    for name in names(files):
        for get in (models.fetch, models.load):
            with pytest.raises(PlaygroundError, match=r"\.$"):
                get(name)
        assert models.search(name[:10_000]) == []
    assert not (files / "run").exists()
    assert asked == []


def test_an_address_names_no_file_either(server, files, hole):
    for name in names(files):
        for words in ({"model": name[:10_000]}, {"with": f"model:{name[:10_000]}"}):  # a longer one is no address
            stranger = Stranger(server.url, urlencode(words))
            assert stranger.words == {"model": "bundled", "sample": "meadow", "detail": "2"}
            stranger.close()
    assert not (files / "run").exists()
    assert hole.asked == []


def test_whether_a_file_exists_is_not_told(files):
    for name in ("good.safetensors", "trap.pt"):
        said = []
        for path in (str(files / name), str(files / name).replace("files", "filet")):
            with pytest.raises(PlaygroundError) as error:
                models.load(path)
            said.append(str(error.value).partition("; the nearest")[0])
        assert said[0].replace("files", "filet") == said[1]


def test_a_model_that_would_keep_everybody_waiting_is_refused(server):
    for name in ("ViT-H/1", "ViT-H/2"):
        stranger = Stranger(server.url, urlencode({"model": name}))
        assert "choose one such as ViT-S/16" in stranger.said[-1]
        assert_lives(stranger)
        stranger.close()


# Too much of everything -----------------------------------------------------------------------------------------------


def test_an_upload_above_the_limit_is_refused_before_it_is_read(server, stranger):
    ours = token(server)
    both = {"Cookie": f"_streamlit_xsrf={ours}", "X_Xsrftoken": ours}
    claimed = {"Content_Type": "multipart/form-data; boundary=edge", "Content_Length": str(32 * MB + 1)}
    assert ask(stranger.upload_url(), "PUT", b"x", **claimed, **both)[0] == 413


def test_an_upload_of_no_known_length_is_refused_when_it_grows_too_large(server, stranger):
    ours, (_, kind) = token(server), form(b"")
    path = stranger.upload_url().removeprefix(server.url)
    lines = [
        f"PUT {path} HTTP/1.1", f"Host: {server.address}", f"Cookie: _streamlit_xsrf={ours}", f"X-Xsrftoken: {ours}",
        f"Content-Type: {kind}", "Transfer-Encoding: chunked", "", "",
    ]  # fmt: skip
    start, _, _ = form(b"")[0].partition(b"\r\n--edge--")
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
        line.sendall("\r\n".join(lines).encode() + b"%x\r\n%b\r\n" % (len(start), start))
        try:
            for _ in range(40):
                line.sendall(b"%x\r\n%b\r\n" % (MB, bytes(MB)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it hangs up
        assert line.recv(100).split()[1] == b"413"


def test_a_dropped_picture_may_be_as_large_as_an_upload(stranger):
    out = io.BytesIO()
    Image.new("RGB", (3200, 3200), "teal").save(out, "TIFF")  # a browser can't shrink those
    assert len(out.getvalue()) > 29 * MB
    stranger.drop(out.getvalue(), "scan.tiff")
    assert stranger.brought == 204
    assert "sample" not in stranger.words


@pytest.mark.parametrize(
    "name",
    [
        "81 megapixels, truly",
        "a PNG of two thousand million pixels a side",
        "a PNG bomb cut short",
        "a PNG with a profile bomb",
        "a gzip bomb",
        "a pickle",
        "a strip of 40,000 × 1",
    ],
)
def test_a_bomb_is_refused_in_a_sentence(stranger, name):
    stranger.drop(hostile.KINDS[name]())
    assert len(stranger.said) == 1
    assert stranger.said[0].endswith(".")
    assert_lives(stranger)


@pytest.mark.parametrize("photo", [None, 7, [], "x", {}, {"file": 7}, {"file": "nothing"}, {"name": {}}], ids=str)
def test_a_photo_that_is_none_is_refused_in_a_sentence(stranger, photo):
    stranger.trigger("photo", photo)
    assert len(stranger.said) == 1
    assert_lives(stranger)


def test_what_somebody_else_brought_is_not_shown(server, stranger):
    other = Stranger(server.url)
    other.trigger("photo", {"file": stranger.bring(plain("PNG")), "name": "theirs"})
    assert "did not arrive" in other.said[-1]
    other.close()


NONSENSE = {
    "text": "text",
    "noise": b"\xff" * 100,
    "a long message": bytes(sockets.LONGEST + 1),
    "a long message in pieces": [bytes(1000)] * (sockets.LONGEST // 1000 + 1),
}


@pytest.mark.parametrize("sent", NONSENSE.values(), ids=NONSENSE)
def test_who_sends_nonsense_loses_their_own_socket_and_nobody_else_s(server, stranger, sent):
    other = Stranger(server.url)

    def speak() -> None:
        other.socket.send(sent)
        other.hear(lambda said: False)

    with pytest.raises((ConnectionClosed, ConnectionError)):  # with a large message, while it is being sent
        speak()
    other.close()
    assert_lives(stranger)


def test_who_keeps_the_server_busy_with_nothing_loses_their_socket(server, stranger):
    """Each ping costs the sender six bytes, and the server the time in which it answers nobody."""
    other = Stranger(server.url)
    line = other.socket.socket

    def ping() -> None:
        while True:
            line.sendall(b"\x89\x80\0\0\0\0" * 20_000)

    with pytest.raises((ConnectionError, TimeoutError)):
        ping()
    assert_lives(stranger)


def test_of_a_million_addresses_for_uploads_a_few_are_made(stranger):
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    message.file_urls_request.file_names.extend([""] * 60_000)
    stranger.socket.send(message.SerializeToString())
    said = stranger.hear(lambda said: said.WhichOneof("type") == "file_urls_response")
    assert len(said.file_urls_response.file_urls) == streamlit_private.MOST
    assert_lives(stranger)


def test_a_request_that_is_never_completed_loses_its_connection(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert line.recv(100) == b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:  # nor a second one
        line.sendall(b"GET /_stcore/health HTTP/1.1\r\nHost: x\r\n\r\nGET / ")
        assert b"200" in line.recv(100)
        while line.recv(1000):
            pass


def test_more_than_250_people_fit_where_a_process_begins_with_1024_open_files():
    """Each of their sessions takes four."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # which the server's process inherits
    with serving() as small:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        people = [Stranger(small.url) for _ in range(270)]
        assert_lives(people[-1])
        for one in people:
            one.close()


def test_who_asks_a_hundred_times_for_a_file_keeps_nobody_else_s_away(server):
    """All files are made in six threads."""
    somebody, other = Stranger(server.url, "sample=flock").open("Export"), Stranger(server.url).open("Export")
    for number in range(100):
        somebody.ask_for_file(number)
    somebody.upload_url()  # they all were heard
    before = server.log.count("file kind=")
    other.ask_for_file()
    assert other.file().startswith("/media/")
    assert 1 <= server.log.count("file kind=") - before <= 4
    somebody.close()
    other.close()
