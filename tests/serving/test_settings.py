import os
import subprocess
import sys

import pytest

from playground.errors import PlaygroundError
from playground.serving import settings
from playground.serving.settings import Settings


def test_every_variable_is_read():
    environment = {
        "PLAYGROUND_MODELS": "vit_a  vit_b", "PLAYGROUND_MODELS_DIR": "/models", "PLAYGROUND_OPEN": "no",
        "PLAYGROUND_OFFLINE": "yes", "PLAYGROUND_DEVICE": "cpu", "PLAYGROUND_AT_ONCE": "2",
        "PLAYGROUND_CACHE_MB": "1 2 3", "PLAYGROUND_FRAMED_BY": "https://a.example",
        "PLAYGROUND_PROXIES": "10.0.0.0/8 192.0.2.1", "PLAYGROUND_USER_HEADER": "X-Forwarded-User",
        "PLAYGROUND_COMPUTE": "browser", "PLAYGROUND_HOSTS": "Hall.example box", "PLAYGROUND_LOG": "json",
        "PLAYGROUND_OPERATORS": "10.1.0.1", "PLAYGROUND_WORKBENCH": "no",
    }  # fmt: skip
    assert settings.read(environment) == Settings(
        ("vit_a", "vit_b"),
        "/models",
        False,
        True,
        ("https://a.example",),
        ("hall.example", "box"),
        "cpu",
        "browser",
        False,
        ("10.0.0.0/8", "192.0.2.1/32"),
        ("10.1.0.1/32",),
        "x-forwarded-user",
        "json",
        2,
        1,
        2,
        3,
    )
    assert all(name in settings.__doc__ for name in settings.NAMES)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPEN", "perhaps"),
        ("AT_ONCE", "0"),
        ("AT_ONCE", "two"),
        ("CACHE_MB", "100"),
        ("COMPUTE", "phone"),
        ("HOSTS", "*"),
        ("PROXIES", "the balancer"),
        ("OPERATORS", "*"),
        ("USER_HEADER", "X Forwarded"),
        ("LOG", "xml"),
        ("HOSTS", "hall.example:8501"),
        ("HOSTS", "https://hall.example"),
        ("CACHE_MB", "1 2 -3"),
        ("DEVICE", "tpu"),
        ("DEVICE", "cuda:"),
        ("HOST", "hall.example"),  # a name that no setting has
    ],
)
def test_an_invalid_variable_is_named_in_the_error(name, value):
    with pytest.raises(PlaygroundError, match=f"PLAYGROUND_{name}"):
        settings.read({f"PLAYGROUND_{name}": value})


def test_what_kubernetes_sets_for_a_service_called_playground_is_no_setting():
    address = {"PLAYGROUND_SERVICE_HOST": "10.0.0.7", "PLAYGROUND_SERVICE_PORT_HTTP": "80"}
    links = {"PLAYGROUND_PORT": "tcp://10.0.0.7:80", "PLAYGROUND_PORT_80_TCP_PROTO": "tcp"}
    assert settings.read({**address, **links, "PLAYGROUND_APP_SERVICE_PORT": "80"}) == Settings()
    with pytest.raises(PlaygroundError, match="PLAYGROUND_PORT"):
        settings.read({"PLAYGROUND_PORT": "8080"})


IMPORT_ALL_CODE = """
import importlib, os, pkgutil
import playground.serving
before = dict(os.environ)
for module in pkgutil.iter_modules(playground.serving.__path__):
    importlib.import_module(f"playground.serving.{module.name}")
assert dict(os.environ) == before
from playground.serving import settings
try:
    settings.now()
except ValueError as error:
    print(error)
"""


def test_an_import_reads_no_setting_and_sets_no_variable():
    """A wrong setting is reported when the settings are read, not when a module is imported."""
    environment = os.environ | {"PLAYGROUND_AT_ONCE": "two", "PLAYGROUND_OFFLINE": "yes"}
    result = subprocess.run([sys.executable, "-c", IMPORT_ALL_CODE], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "PLAYGROUND_AT_ONCE" in result.stdout
