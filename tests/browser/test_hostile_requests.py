"""Hostile requests to a real server over HTTP and WebSockets, sent without a browser."""

from __future__ import annotations

import io
import os
import pickle
import socket
import threading
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode

import hostile
import pytest
from hostile.making import saved as plain
from PIL import Image
from waiting import PATIENCE

import playground
from browser.server import ROOT, serving
from browser.stranger import Stranger, answer, ask
from playground.errors import PlaygroundError
from playground.models import model_file
from playground.serving import models, pictures

MB = 2**20


@pytest.fixture(scope="module")
def server(hole):
    with serving(**hole.environment) as running_server:
        yield running_server


def assert_lives(stranger: Stranger) -> None:
    """Asserts that the server still answers."""
    assert stranger.describe(sample="flock", model="bundled")["picture"]["id"] == pictures.sample("flock").id


# Files that are no models ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory, hole):
    """A folder of good weights and of hostile files. One of these creates the folder `run` if it is unpickled."""
    folder = tmp_path_factory.mktemp("files")

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(folder / "run"),)

    model_file.save(playground.load("untrained"), folder / "good.safetensors")
    (folder / "trap.pt").write_bytes(pickle.dumps(Trap()))
    return folder


def hostile_names(folder: Path) -> list[str]:
    good_file, trap_file = folder / "good.safetensors", folder / "trap.pt"
    return [
        str(good_file), os.path.relpath(good_file, ROOT), f"file://{good_file}", f"local-dir:{folder}", str(folder),
        "~", "${HOME}",
        str(trap_file), f"file://{trap_file}", f"vit_tiny_patch16_224.{trap_file}", f"{trap_file}\0.safetensors",
        "/etc/passwd", "assets/bundled.safetensors", "https://other.example/x", "https://other.example/x.safetensors",
        "hf-hub:other/x", "hf_hub:other/x", "timm/other", "ViT-Ti/" + "9" * 5000, "vit_" * 5000, "x" * 10**6,
    ]  # fmt: skip


def test_a_hostile_file_runs_code_where_it_is_unpickled(files):
    assert playground.load(str(files / "good.safetensors")).name == "untrained"
    pickle.loads((files / "trap.pt").read_bytes())
    (files / "run").rmdir()


def test_no_file_and_no_address_is_taken_for_a_model(files, monkeypatch):
    connections = []
    monkeypatch.setattr(socket.socket, "connect", lambda *arguments: connections.append(arguments))
    for name in hostile_names(files):
        for function in (models.fetch, models.load):
            with pytest.raises(PlaygroundError, match=r"\.$"):
                function(name)
        assert models.search(name[:10_000]) == []
    assert not (files / "run").exists()
    assert connections == []


@pytest.mark.slow
def test_an_address_loads_no_file_of_the_server(server, stranger, files, hole):
    for name in hostile_names(files):
        for parameters in ({"model": name[:10_000]}, {"with": f"model:{name[:10_000]}"}):  # longer names fit no address
            status, body = stranger.get(f"api/trace?{urlencode(parameters)}")
            assert (status, b"says" in body) == (404, True) if "model" in parameters else status == 200, (
                parameters,
                body,
            )
            status, body = stranger.get(f"api/lessons/patches/shuffle?{urlencode(parameters)}")
            assert (status, b"says" in body) == (404, True) if "model" in parameters else status == 200, parameters
    assert not (files / "run").exists()
    assert hole.connections == []


def test_a_refusal_does_not_tell_whether_a_file_exists(files):
    for name in ("good.safetensors", "trap.pt"):
        refusals = []
        for path in (str(files / name), str(files / name).replace("files", "filet")):
            with pytest.raises(PlaygroundError) as error:
                models.load(path)
            refusals.append(str(error.value).partition("; the nearest")[0])
        assert refusals[0].replace("files", "filet") == refusals[1]


def test_a_model_that_would_keep_everybody_waiting_is_refused(stranger):
    for name in ("ViT-H/1", "ViT-H/2"):
        status, _ = stranger.get(f"api/trace?{urlencode({'model': name})}")
        assert status == 404
        assert "choose one such as ViT-S/16" in stranger.sentences[-1]
        assert_lives(stranger)


# Too large, too many --------------------------------------------------------------------------------------------------


def test_an_upload_above_the_limit_is_refused_before_it_is_read(server, stranger):
    claimed_headers = {"X_Playground_Key": stranger.key, "Content_Length": str(32 * MB + 1)}
    assert ask(f"{server.url}/api/pictures", "POST", b"x", **claimed_headers)[0] == 413


def upload_head(server, stranger, *header_lines: str) -> bytes:
    """The request line and headers of an upload."""
    lines = [
        "POST /api/pictures HTTP/1.1",
        f"Host: {server.address}",
        f"X-Playground-Key: {stranger.key}",
        *header_lines,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def test_an_upload_of_no_known_length_is_refused_when_it_grows_too_large(server, stranger):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(upload_head(server, stranger, "Transfer-Encoding: chunked"))
        try:
            for _ in range(40):
                connection.sendall(b"%x\r\n%b\r\n" % (MB, bytes(MB)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server closes the connection
        assert connection.recv(100).split()[1] == b"413"


def test_an_invalid_content_length_is_refused(server, stranger):
    for length in ("-1", "x", "9" * 5000, "1, 2"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(upload_head(server, stranger, f"Content-Length: {length}") + b"x")
            assert connection.recv(100).split()[1] in (b"400", b"413"), length[:9]


@pytest.mark.slow
def test_a_stalled_upload_ends_and_blocks_nobody_else_s(server, stranger):
    other_stranger = Stranger(server.url)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(upload_head(server, stranger, "Content-Length: 1000000") + b"x")
        assert other_stranger.bring(plain("PNG")), other_stranger.sentences
        assert connection.recv(100).split()[1] == b"408"


def test_answers_that_nobody_reads_keep_nobody_waiting(server, stranger):
    trace = stranger.describe(sample="meadow", model="bundled", detail="2")
    path = f"api/trace/{trace['digest']}/layers?sample=meadow&model=bundled&detail=2&layers=0,1,2,3,4,5"
    connections = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(30)]
    for connection in connections:
        connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
    for connection in connections:
        assert connection.recv(100).split()[1] == b"200"  # the rest of the answer stays unread
    assert stranger.get(path)[0] == 200
    for connection in connections:
        connection.close()
    assert_lives(stranger)


def test_http_headers_that_are_too_long_are_refused(server, stranger):
    for headers in ({"X_Playground_Name": "n" * 200_000}, {"X_Playground_Key": "k" * 200_000}):
        with suppress(ConnectionError, URLError):  # the server closes the connection
            assert ask(f"{server.url}/api/samples/x", **headers)[0] in (400, 431), headers
    assert_lives(stranger)


def test_a_picture_may_be_as_large_as_the_limit(stranger):
    buffer = io.BytesIO()
    Image.new("RGB", (3200, 3200), "teal").save(buffer, "TIFF")  # browsers send TIFF at full size: they can't decode it
    assert len(buffer.getvalue()) > 29 * MB
    assert stranger.bring(buffer.getvalue(), "scan.tiff"), stranger.sentences


BOMBS = (
    "81 megapixels, truly", "a PNG of two thousand million pixels a side", "a PNG bomb cut short",
    "a PNG with a profile bomb", "a gzip bomb", "a pickle", "a strip of 40,000 × 1",
)  # fmt: skip


def test_a_bomb_is_refused_in_a_sentence(stranger):
    for name in BOMBS:
        assert not stranger.bring(hostile.KINDS[name]()), name
        assert stranger.upload_status == 400, name
        assert stranger.sentences[-1].endswith("."), name
        assert_lives(stranger)


# Other people's pictures ----------------------------------------------------------------------------------------------

TRACE_PARTS = ("layers?{mine}", "features?{mine}&layer=1", "flows?{mine}", "names?{mine}&layer=1", "verdict?{mine}")
READING_PATHS = (
    "api/pictures/{id}.jpg", "api/trace?{mine}", *(f"api/trace/{{digest}}/{part}" for part in TRACE_PARTS),
    "api/preview?{mine}", "api/exports?{mine}",
    "api/exports/size?{mine}", "api/exports?sample=flock&with=mine:{id}",
)  # fmt: skip
CHANGING_REQUESTS = (("POST", "figure.png?{mine}"), ("POST", "figure.npz?{mine}"), ("DELETE", "api/pictures/{id}"))


def test_nobody_reads_somebody_else_s_picture_by_any_address(server, stranger):
    id = stranger.bring(plain("PNG"))
    placeholders = {"id": id, "mine": f"mine={id}&model=bundled"}
    placeholders["digest"] = stranger.describe(mine=id, model="bundled")["digest"]
    thief, no_key = Stranger(server.url), {"X_Playground_Key": ""}
    requests = [("GET", path_template) for path_template in READING_PATHS] + list(CHANGING_REQUESTS)
    for method, path_template in requests:
        path = path_template.format_map(placeholders)
        assert thief.get(path, method)[0] == 404, path
        assert thief.get(path, method, **no_key)[0] in (403, 404), path  # without any key
        url_with_key = f"{server.url}/{path}{'&' if '?' in path else '?'}key={stranger.key}"
        assert answer(url_with_key, method)[0] in (400, 403, 404), path
    for method, path_template in requests[:-1]:
        assert stranger.get(path_template.format_map(placeholders), method)[0] == 200, path_template
    assert thief.get(f"figure.png?mine={id}")[0] in (403, 404)
    assert stranger.get(f"figure.png?mine={id}")[0] == 403  # an <img> sends no key, and own pictures need it
    assert thief.get(f"api/lessons/patches/shuffle?mine={id}&model=bundled")[0] == 404
    assert stranger.get(f"api/pictures/{id}", "DELETE")[0] == 204
    assert stranger.get(f"api/pictures/{id}.jpg")[0] == 404


@pytest.mark.slow
def test_who_asks_a_hundred_times_for_a_figure_keeps_nobody_else_s_away(server, stranger):
    other_stranger = Stranger(server.url)
    statuses = []

    def ask_for(number: int) -> None:
        statuses.append(stranger.get(f"figure.html?sample=flock&model=bundled&layer={number % 6}&head=0", "POST")[0])

    threads = [threading.Thread(target=ask_for, args=(number,), daemon=True) for number in range(100)]
    for thread in threads:
        thread.start()
    assert other_stranger.get("figure.png?sample=meadow&model=bundled")[0] == 200
    assert statuses.count(200) < 50, "the other's figure came after the greedy one's"
    for thread in threads:
        thread.join(PATIENCE)
    other_refusals = {sentence for sentence in stranger.sentences if "questions wait already" not in sentence}
    assert 200 in statuses, statuses
    assert not other_refusals
