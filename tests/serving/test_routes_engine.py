"""The files of the engine in the browser, which the server offers if its operator allows."""

import pytest

from playground.models import engine_file
from playground.serving import models, scripts, settings
from serving.visits import client

pytestmark = pytest.mark.usefixtures("nothing_fetched")


def test_a_server_that_computes_by_itself_offers_no_engine():
    with client() as http:
        assert http.get("/api/engine").status_code == 404
        assert http.get("/api/engine/kernels-0123456789ab.wasm").status_code == 404


def test_a_browser_gets_the_kernels_and_the_weights_of_the_models_that_are_here(monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: settings.Settings(compute="browser"))
    assert scripts.computed_by_browsers() == ["bundled"]
    with client() as http:
        reply = http.get("/api/engine").json()
        assert http.get(f"/{reply['worker']}").status_code == 200
        assert http.get(f"/{reply['kernels']}").headers["Content-Type"] == "application/wasm"
        weights = http.get(f"/{reply['weights']['bundled']['file']}")
        assert weights.content == engine_file.to_engine(models.load("bundled"))
        assert "immutable" in weights.headers["Cache-Control"]
        assert http.get("/api/engine/another-0123456789ab.bin").status_code == 404
