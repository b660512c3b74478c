"""The audit that `make lint` runs over the dependencies, the image's lock files, and the source of torch."""

import importlib.util
import json
import re
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def load_script(name: str):
    spec = importlib.util.spec_from_file_location(name, DEPLOY / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def audit():
    return load_script("audit")


@pytest.fixture(scope="module")
def install():
    return load_script("install")


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_audit_finds_bounds_that_allow_untried_releases_and_licences_that_bind_others(audit):
    for requirement_text, installed, complaint in (
        ("torch>=2.12,<2.16", "2.15.0+cpu", None),
        ("ruff==0.17.5", "0.17.5", None),
        ("torch>=2.12,<2.16", "2.13.0", "torch <2.16 lets in"),
        ("torch>=2.12,<2.16", "2.16.0", "outside"),
        ("torch>=2.12", "2.15.0", "no upper bound"),
    ):
        trouble = audit.bound_trouble(Requirement(requirement_text), installed)
        assert trouble is None if complaint is None else complaint in trouble
    for licence in ("Apache-2.0 OR BSD-2-Clause", "MPL-2.0 AND MIT"):
        assert audit.licence_trouble("some-package", licence) is None
    for licence in ("not stated", "MIT AND AGPL-3.0-or-later", "GNU Lesser General Public License v3 (LGPLv3)"):
        assert audit.licence_trouble("some-package", licence)


class OsvHandler(QuietHandler):
    """Stands for osv.dev and knows one vulnerability, in Pillow 9."""

    def do_POST(self):
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        pillow = {"name": "pillow", "ecosystem": "PyPI"}
        is_vulnerable = [q["package"] == pillow and q["version"].startswith("9.") for q in queries]
        self.send_response(200)
        self.end_headers()
        results = [{"vulns": [{"id": "OSV-1"}]} if is_known else {} for is_known in is_vulnerable]
        self.wfile.write(json.dumps({"results": results}).encode())


def test_the_audit_names_known_vulnerabilities_and_says_when_they_were_not_looked_up(audit, monkeypatch):
    packages = {"numpy": "2.4.6", "pillow": "9.1.0"}
    with served(OsvHandler) as url:
        sentence, is_clean = audit.vulnerabilities(packages, url)
        assert not is_clean
        assert sentence.endswith("do no harm): pillow 9.1.0: OSV-1")
        assert audit.vulnerabilities(packages | {"pillow": "13.0.0"}, url)[1] is True
        monkeypatch.setattr(audit, "ACCEPTED", {"OSV-1": "a file of that kind is never opened"})
        sentence, is_clean = audit.vulnerabilities(packages, url)
        assert sentence.endswith("none but 1 accepted")
        assert is_clean
    with served(IndexHandler) as url:  # a server that is not osv.dev
        assert audit.vulnerabilities(packages, url)[1] is False
    sentence, is_clean = audit.vulnerabilities(packages, url)  # the server has been stopped
    assert "not looked up, for osv.dev gave no answer" in sentence
    assert not is_clean


# The lock -------------------------------------------------------------------------------------------------------------


def locked_versions(*parts: str) -> dict[str, str]:
    """{package: version} in these lock files, after asserting that each package has a hash."""
    text = "".join(read(f"requirements{part}.lock") for part in parts)
    blocks = [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if block.strip()]
    assert all("--hash=sha256:" in block for block in blocks)
    return dict(re.match(r"([a-z0-9-]+)==([^ ]+)", block).groups() for block in blocks)


def test_the_lock_holds_all_requirements_and_their_dependencies(audit):
    assert audit.locked_versions() == locked_versions("", "-torch", "-dev", "-bom", "-uv")
    pinned, app_requirements = locked_versions("", "-torch", "-dev"), audit.requirements(ROOT / "requirements.txt")
    for requirement in audit.requirements(ROOT / "requirements-dev.txt") + app_requirements:
        version = pinned[audit.canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), (
            f"{requirement.name} {version}: make the lock again (deploy/lock.py)"
        )
        assert {specifier.operator for specifier in requirement.specifier} & {"<", "=="}, f"{requirement} has no bound"
    needed_names = {audit.canonicalize_name(package.metadata["Name"]) for package in audit.closure(app_requirements)}
    assert not {name for name in needed_names - pinned.keys() if not name.startswith(("nvidia-", "cuda-"))}
    parts = load_script("lock").split(read("requirements.lock") + read("requirements-torch.lock"))
    assert parts == (read("requirements.lock"), read("requirements-torch.lock"))  # torch has its own lock
    assert "nvidia" not in parts[0]


# Where torch comes from -----------------------------------------------------------------------------------------------


class IndexHandler(QuietHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/torch/" else 404)
        self.end_headers()


def test_without_a_gpu_torch_comes_from_its_cpu_index_where_that_can_be_reached(install, monkeypatch):
    monkeypatch.setattr(install.platform, "system", lambda: "Linux")
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install.os.path, "exists", lambda path: False)
    with served(IndexHandler) as url:
        index_url, sentence = install.torch_index("auto", url)
        assert index_url == url
        assert "no NVIDIA GPU was found" in sentence
        assert install.torch_index("auto", f"{url}/elsewhere")[0] == ""
    index_url, sentence = install.torch_index("auto", url)  # the server has been stopped
    assert index_url == ""
    assert "can't be reached" in sentence
    assert install.torch_index("")[0] == ""
    assert install.torch_index("https://there.example/cu")[0] == "https://there.example/cu"
    monkeypatch.setattr(install.urllib.request, "urlopen", lambda *a, **k: pytest.fail("it was asked"))
    monkeypatch.setattr(install.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    assert install.torch_index("auto")[0] == ""
    monkeypatch.setattr(install.platform, "system", lambda: "Darwin")
    assert install.torch_index("auto")[0] == ""
    assert f"ARG TORCH_INDEX={install.CPU_INDEX}\n" in read("Dockerfile")
    assert "TORCH_INDEX ?= auto\n" in read("Makefile")


def test_library_and_app_are_what_requirements_txt_names_and_the_library_has_no_upper_bound(audit):
    project = tomllib.loads(read("pyproject.toml"))["project"]
    library = list(map(Requirement, project["dependencies"]))
    app = list(map(Requirement, project["optional-dependencies"]["app"]))
    tried = {audit.canonicalize_name(r.name): r.specifier for r in audit.requirements(ROOT / "requirements.txt")}
    assert {audit.canonicalize_name(r.name) for r in (*library, *app)} == tried.keys()
    assert {specifier.operator for requirement in library for specifier in requirement.specifier} == {">="}
    for requirement in (*library, *app):
        bounds = (requirement.specifier, tried[audit.canonicalize_name(requirement.name)])
        lowest, lowest_tried = (min(Version(s.version) for s in b if s.operator in (">=", "==")) for b in bounds)
        assert lowest <= lowest_tried, requirement
