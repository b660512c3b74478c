"""The app's dependencies: version bounds, licences, the image's lock files, and the source of torch."""

import importlib.util
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
def install():
    return script("install")


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_what_the_app_imports_is_listed_and_what_is_listed_is_bounded(audit):
    requirements = audit.requirements(ROOT / "requirements.txt")
    assert audit.unlisted_packages(requirements) == []
    for requirement in [*requirements, *audit.requirements(ROOT / "requirements-dev.txt")]:
        assert {specifier.operator for specifier in requirement.specifier} & {"<", "=="}, (
            f"{requirement.name} has no upper bound"
        )


def test_the_audit_points_at_bounds_that_let_in_what_was_not_tried_and_at_licences_that_bind_others(audit):
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


def test_the_audit_finds_nothing_in_what_these_tests_run_with(audit):
    """The audit's rules hold for the installed releases. This test cannot judge releases that are newer."""
    requirements = audit.requirements(ROOT / "requirements.txt")
    assert all(r.specifier.contains(audit.metadata.version(r.name), prereleases=True) for r in requirements)
    packages = {package.metadata["Name"].lower(): package for package in audit.closure(requirements)}
    assert {"streamlit", "starlette", "uvicorn", "click", "torch"} <= packages.keys()
    assert not [name for name, package in packages.items() if audit.licence_trouble(name, audit.licence(package))]


class Osv(Quiet):
    """Stands for osv.dev and knows one vulnerability, in Pillow 9."""

    def do_POST(self):
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        pillow = {"name": "pillow", "ecosystem": "PyPI"}
        known = [q["package"] == pillow and q["version"].startswith("9.") for q in queries]
        self.send_response(200)
        self.end_headers()
        results = [{"vulns": [{"id": "OSV-1"}]} if is_known else {} for is_known in known]
        self.wfile.write(json.dumps({"results": results}).encode())


def test_the_audit_names_known_vulnerabilities_and_says_when_they_were_not_looked_up(audit, monkeypatch):
    packages = {"numpy": "2.4.6", "pillow": "9.1.0"}
    with served(Osv) as url:
        sentence, is_clean = audit.vulnerabilities(packages, url)
        assert not is_clean
        assert sentence.endswith("do no harm): pillow 9.1.0: OSV-1")
        assert audit.vulnerabilities(packages | {"pillow": "13.0.0"}, url)[1] is True
        monkeypatch.setattr(audit, "ACCEPTED", {"OSV-1": "a file of that kind is never opened"})
        sentence, is_clean = audit.vulnerabilities(packages, url)
        assert sentence.endswith("none but 1 accepted")
        assert is_clean
    with served(Index) as url:  # a server that is not osv.dev
        assert audit.vulnerabilities(packages, url)[1] is False
    sentence, is_clean = audit.vulnerabilities(packages, url)  # the server has been stopped
    assert "not looked up, for osv.dev gave no answer" in sentence
    assert not is_clean


# The lock -------------------------------------------------------------------------------------------------------------


def locked(*parts: str) -> dict[str, str]:
    """{package: version} in these lock files, after asserting that each package has a hash."""
    text = "".join(read(f"requirements{part}.lock") for part in parts)
    blocks = [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if block.strip()]
    assert all("--hash=sha256:" in block for block in blocks)
    return dict(re.match(r"([a-z0-9-]+)==([^ ]+)", block).groups() for block in blocks)


def test_the_lock_holds_everything_that_is_asked_for_and_what_that_needs(audit):
    assert audit.locked_versions() == locked("", "-torch", "-dev", "-bom", "-uv")
    pinned, app = locked("", "-torch", "-dev"), audit.requirements(ROOT / "requirements.txt")
    for requirement in audit.requirements(ROOT / "requirements-dev.txt") + app:
        version = pinned[audit.canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), (
            f"{requirement.name} {version}: make the lock again (deploy/lock.py)"
        )
        trouble = audit.bound_trouble(requirement, version) if requirement in app else None
        assert trouble is None, trouble
    needed_names = {audit.canonicalize_name(package.metadata["Name"]) for package in audit.closure(app)}
    assert not {name for name in needed_names - pinned.keys() if not name.startswith(("nvidia-", "cuda-"))}
    parts = script("lock").split(read("requirements.lock") + read("requirements-torch.lock"))
    assert parts == (read("requirements.lock"), read("requirements-torch.lock"))  # torch has its own lock
    assert "nvidia" not in parts[0]


# Where torch comes from -----------------------------------------------------------------------------------------------


class Index(Quiet):
    def do_GET(self):
        self.send_response(200 if self.path == "/torch/" else 404)
        self.end_headers()


def test_without_a_gpu_torch_comes_from_its_cpu_index_where_that_can_be_reached(install, monkeypatch):
    monkeypatch.setattr(install.platform, "system", lambda: "Linux")
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install.os.path, "exists", lambda path: False)
    with served(Index) as url:
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


def test_the_gate_takes_the_lock_where_it_fits_and_people_the_ranges(install, monkeypatch):
    machine = {"system": "Linux", "machine": "x86_64", "libc_ver": ("glibc", "2.36")}
    for python, change, fits in (
        ((3, 11), {}, True),
        ((3, 13), {}, False),
        ((3, 11), {"system": "Darwin", "libc_ver": ("", "")}, False),
        ((3, 11), {"machine": "aarch64"}, False),
        ((3, 11), {"libc_ver": ("glibc", "2.17")}, False),
    ):
        monkeypatch.setattr(install.sys, "version_info", python)
        for name, value in (machine | change).items():
            monkeypatch.setattr(install.platform, name, lambda value=value: value)
        uses_lock, sentence = install.use_lock(True)
        assert uses_lock == fits
        assert fits or "the lock is for Python 3.11 on Linux x86_64" in sentence
        assert not install.use_lock(False)[0]
    assert "LOCK ?= no\n" in read("Makefile")
    assert "make test LOCK=yes\n" in read(".ci/run")


def test_with_the_lock_each_file_is_held_by_its_hash_but_torch_s_of_another_index(install):
    hashed_install, url = ["install", "--no-deps", "--require-hashes", "-r"], "https://there.example/cu"
    uv_step, app_steps = [*hashed_install, "requirements-uv.lock"], [[*hashed_install, "requirements.lock"], ["check"]]
    assert install.steps("app", "", True) == [uv_step, [*hashed_install, "requirements-torch.lock"], *app_steps]
    first_step, torch_step, *later_steps = install.steps("app", url, True)
    assert first_step == uv_step
    pinned = locked("-torch")
    assert torch_step[-2:] == [f"{name}=={pinned[name]}" for name in ("torch", "torchvision")]
    assert torch_step[:-2] == ["install", "--no-deps", "--index-url", url]
    assert later_steps == app_steps
    assert install.steps("dev", "", True) == [[*hashed_install, "requirements-dev.lock"], ["check"]]


def test_an_index_that_was_chosen_for_a_person_and_gives_no_torch_stops_nobody(install, monkeypatch, capsys):
    steps_run = []
    monkeypatch.setattr(
        install.subprocess, "run",
        lambda step, **rest: steps_run.append(step[3:]) or type("Done", (), {"returncode": int("--index-url" in step)}),
    )  # fmt: skip
    monkeypatch.setattr(install, "torch_index", lambda index: ("https://there.example/cpu", "It was chosen."))
    monkeypatch.setattr(install.sys, "argv", ["install.py", "app", "--torch-index", "auto"])
    assert install.main() == 0
    assert steps_run[1:] == [["install", "-r", "requirements.txt"]]
    assert "did not give torch: it comes from pip's default index" in capsys.readouterr().out
    monkeypatch.setattr(install.sys, "argv", ["install.py", "app", "--torch-index", "https://there.example/cpu"])
    assert install.main() == 1
