"""The app under the path /attention/, as on a host that several apps share. All other tests use the path /."""

import re
from urllib.parse import urlsplit

import pytest
from waiting import until

from browser.own_picture import assert_shows, hand_over, picture
from browser.server import serving
from browser.stranger import ask
from browser.test_proxy import KEY_HEADER, NGINX, SEAT_COOKIE, Proxy
from browser.visitor import Visitor
from playground.ui.pages import PAGES

BASE_PATH = "/attention"


@pytest.fixture(scope="module")
def server():
    with serving(STREAMLIT_SERVER_BASE_URL_PATH=BASE_PATH.strip("/")) as running_server:
        yield running_server


@pytest.fixture
def requested_urls():
    """A list that the `visitor` fixture fills with every address that the browser requests."""
    return []


@pytest.fixture
def visitor(arrive, server, requested_urls):
    base_visitor = arrive(Visitor, server.url)
    base_visitor.context.on("request", lambda request: requested_urls.append(urlsplit(request.url)))
    yield base_visitor.open()
    assert [
        url.path for url in requested_urls if url.scheme == "http" and not url.path.startswith(f"{BASE_PATH}/")
    ] == []


def test_the_picture_follows_the_cursor_and_a_reload_brings_it_again(visitor):
    state_before = visitor.hover((2, 3))
    state_after = visitor.hover((7, 9))
    assert state_after["row"] != state_before["row"]
    visitor.lock((3, 4))
    visitor.page.wait_for_url(re.compile(f"{BASE_PATH}/\\?.*locked=true"))
    visitor.page.reload()
    assert visitor.until("r => r.locked")["query"] == "3,4"
    assert urlsplit(visitor.page.url).path == f"{BASE_PATH}/"


@pytest.mark.slow
def test_an_own_photograph_and_its_figure_work_under_the_path(visitor, requested_urls):
    data = picture(320, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    sheet = visitor.unfold("export")
    sheet.locator("img").wait_for()
    with visitor.page.expect_download() as download:
        sheet.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename.endswith(".png")
    assert any(url.path.startswith(f"{BASE_PATH}/figure.") for url in requested_urls), requested_urls


@pytest.mark.slow
def test_lessons_open_and_lead_back(visitor):
    visitor.unfold("pages").get_by_role("link", name=PAGES["patches"].title).click()
    visitor.page.get_by_role("heading", name=PAGES["patches"].title).wait_for()
    assert urlsplit(visitor.page.url).path == f"{BASE_PATH}/patches"
    visitor.page.reload()
    visitor.page.locator(".drawing .apart").wait_for()
    visitor.rest()
    visitor.page.go_back()
    visitor.until()
    assert urlsplit(visitor.page.url).path == f"{BASE_PATH}/"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", f"{BASE_PATH}/healthz", f"{BASE_PATH}/api/models"])
def test_probes_are_answered_with_and_without_the_path(server, path):
    until(lambda: ask(f"{server.url}/readyz")[0] == 200, "the server is not ready")
    status, headers = ask(f"http://{server.address}{path}")
    assert (status, headers["content-type"]) == (200, "application/json")


def test_addresses_outside_the_path_answer_404(server):
    for path in ("/", "/api/models", "/patches", f"{BASE_PATH}x/api/models"):
        assert ask(f"http://{server.address}{path}")[0] == 404, path


def test_the_page_is_sent_compressed_under_the_path_too(server):
    headers_sent = {"Accept_Encoding": "gzip", "Accept": "text/html"}
    page = ask(f"{server.url}/", **headers_sent)[1]
    assert (page["content-type"].split(";")[0], page["content-encoding"]) == ("text/html", "gzip")


@pytest.fixture
def proxy(server, tmp_path):
    """nginx with the unchanged files of deploy/nginx, which do not contain the path."""
    if NGINX is None:
        pytest.skip("nginx is not installed here")
    running_proxy = Proxy(tmp_path, [server]).start()
    yield running_proxy
    running_proxy.process.terminate()
    running_proxy.process.wait(10)


@pytest.mark.slow
def test_behind_nginx_a_photograph_is_brought_and_its_name_is_in_no_log(proxy, arrive):
    visitor, data = arrive(Visitor, proxy.url + BASE_PATH).open(), picture(320, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    visitor.page.reload()
    assert_shows(visitor, data, "dropped.jpg")
    proxy.ask(f"{BASE_PATH}/api/pictures/0123456789abcdef.jpg", headers=KEY_HEADER)
    until(lambda: any(" 404 GET /api/pictures/ " in line for line in proxy.log()), "the question is logged")
    assert "0123456789abcdef" not in "".join(proxy.log())


def test_behind_nginx_a_cacheable_figure_sets_no_seat_cookie(proxy):
    assert proxy.ask(f"{BASE_PATH}/")[1]["Set-Cookie"].startswith(SEAT_COOKIE)
    status, headers = proxy.ask(f"{BASE_PATH}/figure.svg?sample=meadow&model=bundled")
    assert (status, headers["cache-control"]) == (200, "public, max-age=3600")
    assert "Set-Cookie" not in headers
