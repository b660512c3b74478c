"""The app's dependencies: version bounds, licences, the image's lock files, and the source of torch."""

import importlib.util
import json
import re
import socket
import sys
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


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_what_the_app_imports_is_listed_and_what_is_listed_is_bounded(audit):
    wanted = audit.requirements(ROOT / "requirements.txt")
    assert audit.unlisted(wanted) == []
    for requirement in [*wanted, *audit.requirements(ROOT / "requirements-dev.txt")]:
        assert {s.operator for s in requirement.specifier} & {"<", "=="}, f"{requirement.name} has no upper bound"


@pytest.mark.parametrize(
    ("wanted", "installed", "complaint"),
    [
        ("torch>=2.12,<2.16", "2.15.0+cpu", None),
        ("ruff==0.17.5", "0.17.5", None),
        ("torch>=2.12,<2.16", "2.13.0", "torch <2.16 lets in"),
        ("torch>=2.12,<2.16", "2.16.0", "outside"),
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
        ("not stated", False),
        ("MIT AND AGPL-3.0-or-later", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
    ],
)
def test_a_licence_that_binds_others_is_pointed_at(audit, licence, fine):
    assert (audit.licence_trouble("some-package", licence) is None) == fine


def test_the_audit_looks_through_everything_that_is_needed(audit):
    names = {package.metadata["Name"].lower() for package in audit.closure([Requirement("streamlit")])}
    assert {"streamlit", "starlette", "uvicorn", "click"} <= names
    assert "torch" not in names


def test_the_audit_finds_nothing_in_what_these_tests_run_with(audit):
    """The audit's rules hold for the installed releases. They may be older than the newest, which this cannot judge."""
    wanted = audit.requirements(ROOT / "requirements.txt")
    assert all(r.specifier.contains(audit.metadata.version(r.name), prereleases=True) for r in wanted)
    said = [audit.licence_trouble(p.metadata["Name"], audit.licence(p)) for p in audit.closure(wanted)]
    assert [trouble for trouble in said if trouble] == []


class Osv(BaseHTTPRequestHandler):
    """Stands for osv.dev and knows one vulnerability, in Pillow 9."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        bad = [q["package"] == {"name": "pillow", "ecosystem": "PyPI"} and q["version"].startswith("9.") for q in asked]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"results": [{"vulns": [{"id": "OSV-1"}]} if b else {} for b in bad]}).encode())

    def log_message(self, *words):
        pass


def test_the_audit_names_known_vulnerabilities_and_says_when_they_were_not_looked_up(audit, monkeypatch):
    packages = {"numpy": "2.4.6", "pillow": "9.1.0"}
    with served(Osv) as url:
        sentence, good = audit.vulnerabilities(packages, url)
        assert not good
        assert sentence.endswith("do no harm): pillow 9.1.0: OSV-1")
        assert audit.vulnerabilities(packages | {"pillow": "13.0.0"}, url)[1] is True
        monkeypatch.setattr(audit, "ACCEPTED", {"OSV-1": "a file of that kind is never opened"})
        sentence, good = audit.vulnerabilities(packages, url)
        assert sentence.endswith("none but 1 accepted")
        assert good
    with served(Index) as url:  # a server that answers something else
        assert audit.vulnerabilities(packages, url)[1] is False
    sentence, good = audit.vulnerabilities(packages, url)  # the server has been stopped
    assert "not looked up, for osv.dev gave no answer" in sentence
    assert not good


@pytest.mark.slow
@pytest.mark.parametrize(("strict", "status"), [(False, 0), (True, 1)])
def test_before_a_release_nobody_to_ask_is_an_error(audit, monkeypatch, capsys, strict, status):
    monkeypatch.setattr(audit, "vulnerabilities", lambda packages: ("not looked up", False))
    monkeypatch.setattr(sys, "argv", ["audit.py", *["--strict"] * strict])
    assert audit.main() == status, capsys.readouterr().out


def test_the_audit_is_asked_by_the_gate_and_looks_at_every_lock(audit):
    assert "\t$(BIN)/python deploy/audit.py\n" in read("Makefile").partition("\nlint:")[2].partition("\n\n")[0]
    assert audit.locked() == locked("", "-torch", "-dev", "-bom")
    for wanted in audit.requirements(ROOT / "requirements.txt"):
        assert audit.bound_trouble(wanted, audit.locked()[audit.canonicalize_name(wanted.name)]) is None


# The lock -------------------------------------------------------------------------------------------------------------


def locked(*parts: str) -> dict[str, str]:
    """{package: version} in these lock files, after asserting that each package has a hash."""
    text = "".join(read(f"requirements{part}.lock") for part in parts)
    blocks = [block for block in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if block.strip()]
    assert all("--hash=sha256:" in block for block in blocks)
    return dict(re.match(r"([a-z0-9-]+)==([^ ]+)", block).groups() for block in blocks)


def test_the_lock_holds_everything_that_is_asked_for_and_what_that_needs(audit):
    pinned = locked("", "-torch", "-dev")
    for wanted in audit.requirements(ROOT / "requirements-dev.txt") + audit.requirements(ROOT / "requirements.txt"):
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
def no_gpu(install, monkeypatch):
    monkeypatch.setattr(install.platform, "system", lambda: "Linux")
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install.os.path, "exists", lambda path: False)


def test_without_a_gpu_torch_comes_from_its_cpu_index_where_that_can_be_reached(install, no_gpu):
    with served(Index) as url:
        chosen, said = install.choose("auto", url)
        assert chosen == url
        assert "no NVIDIA GPU was found" in said
        assert install.choose("auto", f"{url}/elsewhere")[0] == ""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        chosen, said = install.choose("auto", f"http://127.0.0.1:{nobody.getsockname()[1]}")
    assert chosen == ""
    assert "can't be reached" in said


def test_with_a_gpu_or_on_another_system_nobody_is_asked(install, no_gpu, monkeypatch):
    monkeypatch.setattr(install.urllib.request, "urlopen", lambda *a, **k: pytest.fail("it was asked"))
    assert install.choose("")[0] == ""
    assert install.choose("https://there.example/cu")[0] == "https://there.example/cu"
    monkeypatch.setattr(install.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    assert install.choose("auto")[0] == ""
    monkeypatch.setattr(install.platform, "system", lambda: "Darwin")
    assert install.choose("auto")[0] == ""


def test_make_and_the_image_name_the_same_index(install):
    assert f"ARG TORCH_INDEX={install.CPU}\n" in read("Dockerfile")
    assert "TORCH_INDEX ?= auto\n" in read("Makefile")


# What make installs ---------------------------------------------------------------------------------------------------


def on(install, monkeypatch, python=(3, 11), system="Linux", machine="x86_64", libc=("glibc", "2.36")) -> None:
    monkeypatch.setattr(install.sys, "version_info", python)
    for name, value in (("system", system), ("machine", machine), ("libc_ver", libc)):
        monkeypatch.setattr(install.platform, name, lambda value=value: value)


def test_the_gate_takes_the_lock_and_people_the_ranges(install, monkeypatch):
    on(install, monkeypatch)
    assert install.use_lock(True)[0]
    assert not install.use_lock(False)[0]
    assert "LOCK ?= no\n" in read("Makefile")
    assert "make test LOCK=yes\n" in read(".ci/run")


@pytest.mark.parametrize(
    "other",
    [
        {"python": (3, 13)}, {"system": "Darwin", "libc": ("", "")}, {"machine": "aarch64"}, {"libc": ("glibc", "2.17")}
    ],
    ids=str,
)  # fmt: skip
def test_where_the_lock_does_not_fit_the_ranges_hold_and_a_sentence_says_so(install, monkeypatch, other):
    on(install, monkeypatch, **other)
    locked, said = install.use_lock(True)
    assert not locked
    assert "the lock is for Python 3.11 on Linux x86_64" in said


def test_with_the_lock_each_file_is_held_by_its_hash_but_torch_s_of_another_index(install):
    held, url = ["install", "--no-deps", "--require-hashes", "-r"], "https://there.example/cu"
    app = [[*held, "requirements.lock"], ["check"]]
    assert install.steps("app", "", True) == [[*held, "requirements-torch.lock"], *app]
    torch, *rest = install.steps("app", url, True)
    pinned = locked("-torch")
    assert torch[-2:] == [f"{name}=={pinned[name]}" for name in ("torch", "torchvision")]
    assert torch[:-2] == ["install", "--no-deps", "--index-url", url]
    assert rest == app
    assert install.steps("dev", "", True) == [[*held, "requirements-dev.lock"], ["check"]]


def test_an_index_that_was_chosen_for_a_person_and_gives_no_torch_stops_nobody(install, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        install.subprocess, "run",
        lambda step, **rest: asked.append(step[3:]) or type("Done", (), {"returncode": int("--index-url" in step)}),
    )  # fmt: skip
    monkeypatch.setattr(install, "choose", lambda index: ("https://there.example/cpu", "It was chosen."))
    monkeypatch.setattr(install.sys, "argv", ["install.py", "app", "--torch-index", "auto"])
    assert install.main() == 0
    assert asked[1:] == [["install", "-r", "requirements.txt"]]
    assert "did not give torch: it comes from pip's default index" in capsys.readouterr().out
    monkeypatch.setattr(install.sys, "argv", ["install.py", "app", "--torch-index", "https://there.example/cpu"])
    assert install.main() == 1
