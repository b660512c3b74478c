"""What the app is built on: bounds, licences, the lock of the image, and where torch comes from."""

import importlib.util
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, DEPLOY / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def audit():
    return script("audit")


@pytest.fixture(scope="module")
def torch_index():
    return script("torch_index")


def test_what_the_app_imports_is_listed_and_what_is_listed_is_bounded(audit):
    wanted = audit.requirements(ROOT / "requirements.txt")
    assert audit.unlisted(wanted) == []
    for requirement in [*wanted, *audit.requirements(ROOT / "requirements-dev.txt")]:
        assert {s.operator for s in requirement.specifier} & {"<", "=="}, f"{requirement.name} has no upper bound"


@pytest.mark.parametrize(
    ("wanted", "installed", "complaint"),
    [
        ("torch>=2.12,<2.16", "2.15.0", None),
        ("torch>=2.12,<2.16", "2.15.0+cpu", None),
        ("tqdm>=4.67,<5", "4.70.1", None),
        ("ruff==0.17.5", "0.17.5", None),
        ("torch>=2.12,<2.16", "2.13.0", "torch <2.16 lets in"),
        ("torch>=2.12,<2.16", "2.16.0", "outside"),
        ("torch>=2.12,<2.16", "2.11.0", "outside"),
        ("torch>=2.12", "2.15.0", "no upper bound"),
    ],
)
def test_a_bound_ends_where_nothing_was_tried(audit, wanted, installed, complaint):
    said = audit.bound_trouble(Requirement(wanted), installed)
    assert said is None if complaint is None else complaint in said


@pytest.mark.parametrize(
    ("licence", "fine"),
    [
        ("Apache-2.0 OR BSD-2-Clause", True),
        ("MPL-2.0 AND MIT", True),
        ("BSD License", True),
        ("not stated", False),
        ("GPL-3.0-only", False),
        ("MIT AND AGPL-3.0-or-later", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("CC-BY-NC-4.0 non-commercial", False),
    ],
)
def test_a_licence_that_binds_others_is_pointed_at(audit, licence, fine):
    assert (audit.licence_trouble("some-package", licence) is None) == fine


def test_the_audit_looks_through_everything_that_is_needed(audit):
    names = {package.metadata["Name"].lower() for package in audit.closure([Requirement("streamlit")])}
    assert {"streamlit", "starlette", "uvicorn", "click"} <= names
    assert "torch" not in names


def test_the_audit_finds_nothing_in_what_these_tests_run_with(audit):
    """Except that an older release than the newest may be installed, which speaks for nothing newer."""
    wanted = audit.requirements(ROOT / "requirements.txt")
    assert all(r.specifier.contains(audit.metadata.version(r.name), prereleases=True) for r in wanted)
    said = [audit.licence_trouble(p.metadata["Name"], audit.licence(p)) for p in audit.closure(wanted)]
    assert [trouble for trouble in said if trouble] == []


def test_the_audit_says_when_vulnerabilities_were_not_looked_up(audit, monkeypatch):
    monkeypatch.setattr(audit.importlib.util, "find_spec", lambda name: None)
    assert audit.vulnerabilities() == ("known vulnerabilities: not looked up, for pip-audit is not installed", False)


# The lock -------------------------------------------------------------------------------------------------------------


def locked() -> dict[str, str]:
    """Package -> its version in the lock, which has a hash for each."""
    text = read("requirements.lock") + read("requirements-torch.lock")
    blocks = [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if block.strip()]
    assert all("--hash=sha256:" in block for block in blocks)
    return dict(re.match(r"([a-z0-9-]+)==([^ ]+)", block).groups() for block in blocks)


def test_the_lock_holds_everything_that_is_asked_for_and_what_that_needs(audit):
    pinned = locked()
    for wanted in audit.requirements(ROOT / "requirements.txt"):
        version = pinned[audit.canonicalize_name(wanted.name)]
        assert wanted.specifier.contains(version), f"{wanted.name} {version}: make the lock again (deploy/lock.py)"
    needed = {
        audit.canonicalize_name(p.metadata["Name"])
        for p in audit.closure(audit.requirements(ROOT / "requirements.txt"))
    }
    assert {name for name in needed - pinned.keys() if not name.startswith(("nvidia-", "cuda-"))} == set()


def test_the_lock_is_parted_so_that_torch_can_come_from_an_index_of_its_own():
    app, torch = script("lock").split(read("requirements.lock") + read("requirements-torch.lock"))
    assert (app, torch) == (read("requirements.lock"), read("requirements-torch.lock"))
    assert "nvidia" not in app


# Where torch comes from -----------------------------------------------------------------------------------------------


class Index(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/torch/" else 404)
        self.end_headers()

    def log_message(self, *words):
        pass


@pytest.fixture
def no_gpu(torch_index, monkeypatch):
    monkeypatch.setattr(torch_index.platform, "system", lambda: "Linux")
    monkeypatch.setattr(torch_index.shutil, "which", lambda name: None)
    monkeypatch.setattr(torch_index.os.path, "exists", lambda path: False)


def test_without_a_gpu_torch_comes_from_its_cpu_index_where_that_can_be_reached(torch_index, no_gpu):
    with HTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        chosen, said = torch_index.choose("auto", url)
        assert chosen == url
        assert "no NVIDIA GPU was found" in said
        assert torch_index.choose("auto", f"{url}/elsewhere")[0] == ""
        server.shutdown()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        chosen, said = torch_index.choose("auto", f"http://127.0.0.1:{nobody.getsockname()[1]}")
    assert chosen == ""
    assert "can't be reached" in said


def test_with_a_gpu_or_on_another_system_nobody_is_asked(torch_index, no_gpu, monkeypatch):
    monkeypatch.setattr(torch_index.urllib.request, "urlopen", lambda *a, **k: pytest.fail("it was asked"))
    assert torch_index.choose("")[0] == ""
    assert torch_index.choose("https://there.example/cu")[0] == "https://there.example/cu"
    monkeypatch.setattr(torch_index.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    assert torch_index.choose("auto")[0] == ""
    monkeypatch.setattr(torch_index.platform, "system", lambda: "Darwin")
    assert torch_index.choose("auto")[0] == ""


def test_make_and_the_image_name_the_same_index(torch_index):
    assert f"ARG TORCH_INDEX={torch_index.CPU}\n" in read("Dockerfile")
    assert "TORCH_INDEX ?= auto\n" in read("Makefile")
