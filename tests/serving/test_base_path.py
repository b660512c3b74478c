"""The base path of the app's addresses. tests/browser/test_next.py runs the whole app below a base path."""

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving import hosts
from playground.serving.routes import ROUTES


async def answer_path(request) -> JSONResponse:
    return JSONResponse(request.path_params)


@pytest.mark.parametrize("option", ["attention", "/attention", "attention/", "/attention/"])
def test_the_base_path_is_read_as_streamlit_reads_it(option):
    assert hosts.base_path(option) == "/attention"
    assert hosts.base_path("") == hosts.base_path("/") == hosts.base_path(None) == ""
    assert hosts.base_path("tools/attention") == "/tools/attention"


@pytest.mark.parametrize("base", ["", "/attention", "/tools/attention"])
def test_a_route_is_found_below_the_base_path_and_a_probe_also_without(base):
    routes = hosts.below_base(
        base, [Route("/api/app/{entry:path}", answer_path), Route("/healthz", answer_path, methods=["GET"])]
    )
    http = TestClient(Starlette(routes=routes))
    assert http.get(f"{base}/api/app/shell/x.js").json() == {"entry": "shell/x.js"}
    assert http.get(f"{base}/healthz").json() == http.get("/healthz").json() == {}
    assert http.get(f"{base}x/api/app/a").status_code == 404
    assert http.post(f"{base}/healthz").status_code == 405


def test_without_a_base_path_routes_stay_as_they_are_and_with_one_none_is_lost():
    assert hosts.below_base("", ROUTES) == ROUTES
    based_routes = {(f"{route.path}", frozenset(route.methods)) for route in hosts.below_base("/attention", ROUTES)}
    assert based_routes >= {(f"/attention{route.path}", frozenset(route.methods)) for route in ROUTES}
