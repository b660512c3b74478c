"""The whole server: the learner's page at its addresses, the workbench beside it, and both below a base path."""

import asyncio
import html
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin

import pytest
from PIL import Image
from starlette.testclient import TestClient, WebSocketDenialResponse
from waiting import PATIENCE

from playground.serving import ledger
from playground.serving.hosts import is_foreign
from playground.ui.headers import POLICY, WORKBENCH_POLICY
from playground.ui.pages import LESSONS
from playground.ui.server import app
from playground.ui.site import page
from playground.ui.workbench import FOREIGN_CODE, OwnPages

ROOT = Path(__file__).parent.parent.parent
SOCKET = "/workbench/_stcore/stream"
ADDRESSES = ["/", "/microscope", "/moments", "/story", *(f"/{lesson.name}" for lesson in LESSONS)]


@pytest.fixture(scope="module")
def http():
    return TestClient(app, base_url="http://localhost")


def data_of(page_text: str, name: str) -> dict:
    return json.loads(html.unescape(re.search(rf'data-{name}="(.*?)"', page_text)[1]))


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_page_of_a_learner_is_ours_and_nothing_of_streamlit_s_is_in_it(http, address):
    answer = http.get(address)
    assert answer.status_code == 200
    assert "stApp" not in answer.text
    assert "/_stcore/" not in answer.text
    assert data_of(answer.text, "toolbar")["pages"] == page.toolbar_data()["pages"]
    assert not re.search(r"<style|<script[^>]*>[^<]|https?://(?!localhost/)| on\w+=", answer.text)


def test_every_file_that_the_page_names_is_served(http):
    page_text = http.get("/scale").text
    kit = http.get("/api/lessons").json()
    files = {*re.findall(r'(?:src|href)="\./([^"]+)"', page_text), data_of(page_text, "toolbar")["samples"]}
    files |= {kit["host"], *(script["script"] for script in kit["scripts"].values())}
    assert len(files) > 15
    assert {file: http.get(f"/{file}").status_code for file in files} == dict.fromkeys(files, 200)


def test_a_phone_s_home_screen_gets_the_page_and_its_icons(http):
    address = re.search(r'rel="manifest" href="\.([^"]+)"', http.get("/scale").text)[1]
    manifest = http.get(address).json()
    assert urljoin(address, manifest["start_url"]) == urljoin(address, manifest["scope"]) == "/"
    icon, home_icon = (http.get(urljoin(address, icon["src"])) for icon in manifest["icons"])
    assert icon.headers["Content-Type"].startswith("image/svg+xml")
    assert manifest["icons"][1]["sizes"] == "{}x{}".format(*Image.open(io.BytesIO(home_icon.content)).size)


def test_the_page_is_packed_and_asked_for_again_each_time(http):
    answer = http.get("/")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.num_bytes_downloaded < len(answer.content) / 2
    assert answer.headers["Cache-Control"] == "no-cache"
    plain = http.get("/", headers={"Accept-Encoding": "identity"})
    assert ("Content-Encoding" in plain.headers, plain.text) == (False, answer.text)


@pytest.mark.parametrize("path", ["/c", "/c/ACDEF"])
def test_a_class_s_page_for_phones_names_its_own_script_alone(http, path):
    text = http.get(path).text
    assert "phone.js" in text
    assert "data-toolbar" not in text


def test_an_unknown_page_is_not_found(http):
    assert http.get("/nothing").status_code == 404
    assert http.get("/nothing/more").status_code == 404


# The workbench

TRY_ADDRESSES = """
import sys
from starlette.testclient import TestClient
from playground.ui.server import app
http = TestClient(app, base_url="http://localhost")
for path in sys.argv[1:]:
    print(http.get(path).status_code, "<title>Streamlit" in http.get(path).text)
print("streamlit" in sys.modules)
"""


def try_addresses(*paths: str, **environment: str) -> list[str]:
    """For each path its status and whether it is Streamlit's page; at the end, whether Streamlit was imported."""
    command = [sys.executable, "-c", TRY_ADDRESSES, *paths]
    result = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_without_the_workbench_its_address_is_not_found_and_streamlit_is_not_imported():
    paths = ("/", "/scale", "/workbench", "/workbench/", "/workbench/_stcore/health")
    assert try_addresses(*paths, PLAYGROUND_WORKBENCH="no") == [*["200 False"] * 2, *["404 False"] * 3, "False"]


def test_below_a_base_path_the_page_its_api_and_the_workbench_are_found():
    paths = ("/tools/a/", "/tools/a/scale", "/tools/a/healthz", "/healthz", "/tools/a/workbench")
    found = try_addresses(*paths, STREAMLIT_SERVER_BASE_URL_PATH="tools/a")
    assert found == [*["200 False"] * 4, "200 True", "True"]


def test_the_whole_server_refuses_foreign_names_and_foreign_pages(http):
    for path in ("/", "/api/models", "/healthz", "/workbench/"):
        answer = http.get(path, headers={"Host": "evil.example", "X-Forwarded-Host": "localhost"})
        assert (answer.status_code, "PLAYGROUND_HOSTS" in answer.text) == (403, True), path
    for headers in ({"Origin": "https://other.example"}, {"Host": "evil.example", "Origin": "http://evil.example"}):
        with pytest.raises(WebSocketDenialResponse), http.websocket_connect(SOCKET, headers=headers):
            pass
    for path, policy in (("/", POLICY), ("/nothing.js", POLICY), ("/workbench/", WORKBENCH_POLICY)):
        assert http.get(path).headers["Content-Security-Policy"] == policy, path


@pytest.mark.parametrize(
    ("origin", "is_refused"),
    [
        ("http://localhost:8501", False),
        ("https://localhost:8501", False),  # a proxy ends TLS
        ("http://localhost:9999", True),
        ("http://localhost", True),
        ("http://other.example:8501", True),
        ("null", True),
        (None, False),  # a client without an Origin is no browser
    ],
)
def test_only_pages_of_the_same_host_and_port_open_a_socket_of_the_workbench(origin, is_refused):
    headers = {"host": "localhost:8501"} | ({"origin": origin} if origin else {})
    assert is_foreign(headers) is is_refused
    sent, header_pairs = [], [(name.encode(), word.encode()) for name, word in headers.items()]

    async def streamlit(scope, receive, send):
        await send({"type": "websocket.accept"})

    async def send(message):
        sent.append(message)

    former_count = ledger.refusals()["foreign pages"]
    asyncio.run(OwnPages(streamlit)({"type": "websocket", "headers": header_pairs}, None, send))
    assert sent == [{"type": "websocket.close", "code": FOREIGN_CODE} if is_refused else {"type": "websocket.accept"}]
    assert ledger.refusals()["foreign pages"] - former_count == is_refused
