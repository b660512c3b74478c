"""The base path of the app's addresses. tests/browser/test_next.py runs the whole app below a base path."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving import hosts
from playground.serving.routes import ROUTES


async def answer_path(request) -> JSONResponse:
    return JSONResponse([hosts.path_of(request.scope), request.path_params])


@pytest.mark.parametrize("option", ["attention", "/attention", "attention/", "/attention/"])
def test_the_base_path_is_read_as_streamlit_reads_it(option):
    assert hosts.base_path(option) == "/attention"
    assert hosts.base_path("") == hosts.base_path("/") == hosts.base_path(None) == ""
    assert hosts.base_path("tools/attention") == "/tools/attention"


@pytest.mark.parametrize("base", ["", "/attention", "/tools/attention"])
def test_a_route_below_the_base_path_is_found_and_the_app_sees_the_path_without_it(base):
    routes = hosts.below_base(
        base, [Route("/api/app/{entry:path}", answer_path), Route("/healthz", answer_path, methods=["GET"])]
    )
    app = Starlette(routes=routes, middleware=[Middleware(hosts.BasePath, base=base)])
    http = TestClient(app)
    assert http.get(f"{base}/api/app/shell/x.js").json() == [
        "/api/app/shell/x.js",
        {"entry": "shell/x.js"},
    ]
    assert http.get(f"{base}/healthz").json() == http.get("/healthz").json() == ["/healthz", {}]
    assert http.get(f"{base}x/api/app/a").status_code == 404
    assert http.post(f"{base}/healthz").status_code == 405


def test_without_a_base_path_routes_stay_as_they_are_and_with_one_none_is_lost():
    assert hosts.below_base("", ROUTES) == ROUTES
    based_routes = {(f"{route.path}", frozenset(route.methods)) for route in hosts.below_base("/attention", ROUTES)}
    assert based_routes >= {(f"/attention{route.path}", frozenset(route.methods)) for route in ROUTES}
