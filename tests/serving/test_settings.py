import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground.errors import PlaygroundError
from playground.serving import settings
from playground.serving.settings import Settings

ROOT = Path(__file__).parent.parent.parent
VARIABLES = {  # variable -> its text, and the fields of the settings that it gives
    "MODELS": ("vit_a  vit_b", {"models": ("vit_a", "vit_b")}),
    "MODELS_DIR": ("/models", {"models_dir": "/models"}),
    "OPEN": ("no", {"open": False}),
    "OFFLINE": ("yes", {"offline": True}),
    "DEVICE": ("cpu", {"device": "cpu"}),
    "AT_ONCE": ("2", {"at_once": 2}),
    "CACHE_MB": ("1 2 3", {"model_mb": 1, "sample_mb": 2, "upload_mb": 3}),
    "FRAMED_BY": ("https://a.example", {"framed_by": ("https://a.example",)}),
    "PROXIES": ("10.0.0.0/8 192.0.2.1", {"proxies": ("10.0.0.0/8", "192.0.2.1/32")}),
    "USER_HEADER": ("X-Forwarded-User", {"user_header": "x-forwarded-user"}),
    "HOSTS": ("Hall.example box", {"hosts": ("hall.example", "box")}),
    "LOG": ("json", {"log": "json"}),
    "OPERATORS": ("10.1.0.1", {"operators": ("10.1.0.1/32",)}),
    "WORKBENCH": ("no", {"workbench": False}),
}


def test_every_variable_is_read():
    environment = {f"PLAYGROUND_{name}": text for name, (text, _) in VARIABLES.items()}
    fields = {name: value for _, entry in VARIABLES.values() for name, value in entry.items()}
    assert settings.read(environment) == Settings(**fields)
    page = (ROOT / "docs" / "pages" / "deploying.md").read_text(encoding="utf-8")
    assert all(name in page for name in settings.NAMES)


WRONG_VALUES = {
    "OPEN": "perhaps", "AT_ONCE": "0|two", "CACHE_MB": "100|1 2 -3", "PROXIES": "the balancer",
    "OPERATORS": "*", "USER_HEADER": "X Forwarded", "LOG": "xml", "HOSTS": "*|hall.example:8501|https://hall.example",
    "DEVICE": "tpu|cuda:", "HOST": "hall.example",  # a name that no setting has
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_an_invalid_variable_is_named_in_the_error(name):
    for value in WRONG_VALUES[name].split("|"):
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
