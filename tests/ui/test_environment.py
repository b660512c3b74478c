"""Streamlit's options in environment variables take effect, although we start the server without its command."""

import pytest
from streamlit import config

from playground.ui import streamlit_private


@pytest.fixture
def environment(monkeypatch):
    former_values = {name: config.get_option(name) for name in ("server.baseUrlPath", "server.maxUploadSize")}
    yield monkeypatch
    for name, value in former_values.items():
        config.set_option(name, value)


def test_an_option_in_the_environment_takes_effect(environment):
    environment.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "attention")
    environment.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "7")
    streamlit_private.read_environment()
    assert config.get_option("server.baseUrlPath") == "attention"
    assert config.get_option("server.maxUploadSize") == 7
