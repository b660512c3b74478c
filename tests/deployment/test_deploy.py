"""The deployment files agree with each other and with the app. tests/browser/test_proxy.py runs a real proxy. No test
builds the image, because that needs a container engine."""

import configparser
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from browser.server import free_port
from browser.stranger import ask
from browser.test_proxy import NGINX, start
from waiting import PATIENCE, until

from playground.serving import settings
from playground.serving.incoming import LARGEST_FILE
from playground.ui import run

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
PORT = 8501
HEALTH_PATH, READY_PATH = "/healthz", "/readyz"
MB = 2**20


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in read("Dockerfile").splitlines() if not line.startswith("#")]
    instruction_lines = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [
        (word, arguments.strip())
        for word, _, arguments in (line.partition(" ") for line in instruction_lines if line.strip())
    ]


def arguments_of(word: str) -> list[str]:
    return [arguments for keyword, arguments in instructions() if keyword == word]


def manifest_of(kind: str) -> dict:
    documents = [d for file in sorted((DEPLOY / "kubernetes").glob("*.yaml")) for d in yaml.safe_load_all(file.open())]
    (manifest,) = (document for document in documents if document["kind"] == kind)
    return manifest


def container() -> dict:
    (container_spec,) = manifest_of("Deployment")["spec"]["template"]["spec"]["containers"]
    return container_spec


# The image ------------------------------------------------------------------------------------------------------------


def image_files() -> list[Path]:
    """The files of this repository that .dockerignore lets through. As in Docker, the last matching line decides."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    files = [Path(name) for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    rules = [line for line in read(".dockerignore").splitlines() if line and not line.startswith("#")]

    def passes(file: Path) -> bool:
        is_included = True
        for rule in rules:
            pattern = rule.lstrip("!").replace("**/", "\0").replace("*", "[^/]*").replace("\0", "(.*/)?")
            if any(re.fullmatch(pattern, str(path)) for path in (file, *file.parents)):
                is_included = rule.startswith("!")
        return is_included

    return [file for file in files if passes(file)]


def test_the_image_holds_the_app_and_nothing_else():
    assert {file.parts[0] for file in image_files()} == {
        ".streamlit", "LICENSE", "app.py", "assets", "pages", "playground",
        "requirements.txt", "requirements.lock", "requirements-torch.lock", "requirements-bom.lock", "deploy",
    }  # fmt: skip
    assert {file.name for file in image_files() if file.parts[0] == "deploy"} == {"nginx.conf", "start.py"}
    assert not any("readme" in file.parts or "__pycache__" in file.parts for file in image_files())


VISIT_SCRIPT = """
import json, sys
from pathlib import Path
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest
from playground.ui.pages import LESSONS
from playground.ui.server import app
http = TestClient(app, base_url="http://localhost")
for page in ("", *(lesson.name for lesson in LESSONS)):
    print(json.dumps([page, http.get(f"/{page}").status_code != 200]))
for lesson in LESSONS:
    record = http.get(f"/api/lessons/{lesson.name}").json()
    for step in record["steps"]:
        print(json.dumps([step["file"], http.get(f"/{step['file']}").status_code != 200]))
for file in Path("pages").glob("*.py"):
    shown = AppTest.from_file("app.py", default_timeout=200).run().switch_page(str(file)).run()
    print(json.dumps([str(file), [e.value for e in shown.exception]]))
assert not any("tests" in name.split(".") for name in sys.modules if name.startswith("playground"))
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    for file in image_files():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    return folder


@pytest.mark.slow
def test_every_page_works_with_what_the_image_holds(image):
    process = subprocess.run([sys.executable, "-c", VISIT_SCRIPT], cwd=image, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    pages = dict(json.loads(line) for line in process.stdout.splitlines() if line.startswith("["))
    assert {str(file.relative_to(ROOT)) for file in (ROOT / "pages").glob("*.py")} < pages.keys()
    assert not any(pages.values()), pages


def test_the_image_starts_passes_its_own_probe_and_stops_when_it_is_told_to(image):
    if NGINX is None:
        pytest.skip("nginx is not installed here")
    port = str(free_port())
    command = [*json.loads(arguments_of("CMD")[0]), "--port", port]  # a JSON list starts without a shell
    probe = json.loads(arguments_of("HEALTHCHECK")[0].partition("CMD")[2].replace(str(PORT), port))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def is_healthy() -> bool:
        return subprocess.run(probe, env=environment, capture_output=True).returncode == 0

    assert not is_healthy()  # nothing else answers on this port
    with (image.parent / "image.log").open("w+") as log:
        server = subprocess.Popen(command, cwd=image, env=environment, stdout=log, stderr=log)
        try:
            while not is_healthy():
                assert server.poll() is None, (image.parent / "image.log").read_text()
            assert ask(f"http://127.0.0.1:{port}/workbench/_stcore/health")[0] == 200
            server.terminate()
            assert server.wait(120) == 0
        finally:
            server.kill()


@pytest.mark.parametrize("killed", ["nginx", "the app"])
def test_the_image_ends_when_nginx_or_the_app_ends(image, killed):
    if NGINX is None:
        pytest.skip("nginx is not installed here")
    port = free_port()
    server = subprocess.Popen([sys.executable, "deploy/start.py", "--port", str(port)], cwd=image)
    try:
        until(lambda: len(children(server.pid)) == 2, "both are started")
        app, nginx = children(server.pid)
        os.kill(nginx if killed == "nginx" else app, signal.SIGKILL)
        assert server.wait(PATIENCE) not in (0, None)
        assert not any(Path(f"/proc/{pid}/cmdline").exists() for pid in (app, nginx))
    finally:
        server.kill()


def children(pid: int) -> list[int]:
    return sorted(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


# More than one machine ------------------------------------------------------------------------------------------------


def test_a_deployment_opens_only_the_learner_s_page_and_listed_models_and_fits_into_its_memory():
    app = yaml.safe_load(read("compose.yaml"))["services"]["app"]
    unit_text = read("deploy/playground@.service")
    variables = {variable["name"]: variable.get("value") for variable in container()["env"]}
    (tmp_volume,) = (volume["emptyDir"] for volume in manifest_of("Deployment")["spec"]["template"]["spec"]["volumes"])
    assert app["tmpfs"] == "/tmp:size=200m"  # /tmp lies in memory, so its size counts
    assert tmp_volume == {"medium": "Memory", "sizeLimit": "200Mi"}
    ((largest, free),) = re.findall(r"max_size=(\d+)m min_free=(\d+)m", read("deploy/nginx.conf"))
    assert int(largest) + int(free) < 200, "nginx's cache can fill /tmp"
    assert app["environment"]["PLAYGROUND_OPEN"] == "${OPEN:-no}"
    assert variables["PLAYGROUND_OPEN"] == variables["PLAYGROUND_WORKBENCH"] == "no"
    assert app["environment"]["PLAYGROUND_WORKBENCH"] == "${WORKBENCH:-no}"
    assert "PLAYGROUND_WORKBENCH=no" in unit_text
    assert any("PLAYGROUND_OPEN=no" in argument_text.split() for argument_text in arguments_of("ENV"))
    assert "PLAYGROUND_OPEN=no" in unit_text
    table = read("deploy/README.md").partition("| what | at most |")[2].partition("\n\n")[0]
    other_mb = sum(int(mb) for mb in re.findall(r"^\| .* \| (\d+) MB \|", table.replace(",", ""), re.M))
    assert other_mb > 1000, "deploy/README.md adds up what the app holds beside its caches"
    for cache_sizes, limit in (
        (app["environment"]["PLAYGROUND_CACHE_MB"], 6144 if app["mem_limit"] == "6g" else 0),
        (variables["PLAYGROUND_CACHE_MB"], 6144 if container()["resources"]["limits"]["memory"] == "6Gi" else 0),
        (re.search(r"PLAYGROUND_CACHE_MB=([\d ]+)", unit_text)[1], 6144 if "MemoryMax=6G" in unit_text else 0),
    ):
        total = sum(map(int, cache_sizes.split())) + other_mb
        assert total < limit, cache_sizes
        assert f"Together that is {total:,} MB, and the container has {limit:,}" in read("deploy/README.md")


def test_proxies_let_the_largest_upload_through_and_the_ingress_adds_no_other_limit():
    limit_mb = tomllib.loads(read(".streamlit/config.toml"))["server"]["maxUploadSize"]
    conf = read("deploy/nginx.conf")
    assert limit_mb * MB == LARGEST_FILE
    assert f"client_max_body_size {limit_mb + 1}m;" in conf
    ingress = manifest_of("Ingress")["metadata"]["annotations"]
    ingress = {name.rpartition("/")[2].replace("-", "_"): value for name, value in ingress.items()}
    assert ingress["proxy_body_size"] == f"{limit_mb + 1}m"
    assert ingress["proxy_request_buffering"] == "off"
    assert not {name for name in ingress if name.startswith("limit_")}  # the image's own nginx sets the limits
    (timeout,) = set(re.findall(r"proxy_read_timeout (\d+)s;", conf)) | {ingress["proxy_read_timeout"]}
    assert int(timeout) > 3 * run.PING_SECONDS
    assert ingress["affinity"] == "cookie"


def test_the_kubernetes_files_fit_the_image():
    pod, app = manifest_of("Deployment")["spec"]["template"], container()
    assert app["ports"] == [{"name": "http", "containerPort": PORT}]
    for probe, path in (("startupProbe", READY_PATH), ("readinessProbe", READY_PATH), ("livenessProbe", HEALTH_PATH)):
        assert app[probe]["httpGet"].items() >= {"path": path, "port": "http"}.items()
    assert [pod["spec"]["securityContext"]["runAsUser"]] == [int(user) for user in arguments_of("USER")]
    assert app["securityContext"]["readOnlyRootFilesystem"]
    kustomization = yaml.safe_load(read("deploy/kubernetes/kustomization.yaml"))
    assert [image["name"] for image in kustomization["images"]] == [app["image"]] == ["playground"]
    assert sorted(kustomization["resources"]) == sorted(
        file.name for file in (DEPLOY / "kubernetes").glob("*.yaml") if file.name != "kustomization.yaml"
    )


def test_kubernetes_names_one_host_everywhere_and_lets_only_the_ingress_in():
    ingress_spec = manifest_of("Ingress")["spec"]
    (rule,), (tls,) = ingress_spec["rules"], ingress_spec["tls"]
    variables = {variable["name"]: variable.get("value") for variable in container()["env"]}
    assert {*tls["hosts"], variables["PLAYGROUND_HOSTS"]} == {rule["host"]}
    probes = [container()[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")]
    assert not any("httpHeaders" in probe for probe in probes), "the pod is asked by its address, which is answered"
    assert tls["secretName"]
    policy = manifest_of("NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == manifest_of("Service")["spec"]["selector"]
    (ingress,) = policy["ingress"]
    assert ingress["from"][0]["namespaceSelector"]["matchLabels"]
    assert ingress["ports"] == [{"port": container()["ports"][0]["name"]}]
    assert variables["PLAYGROUND_PROXIES"]  # the app may trust proxies, because only the ingress reaches it
    assert policy["egress"] == []
    assert variables["HF_HUB_OFFLINE"] == "1"


def unit_service() -> configparser.SectionProxy:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(read("deploy/playground@.service"))
    return unit["Service"]


def test_on_a_machine_of_one_s_own_every_process_has_a_unit_without_root_and_a_port_of_this_machine(tmp_path):
    """Once, the last line of the recipe started the balancer by hand: as root, open to all interfaces."""
    section = read("deploy/README.md").partition("**A machine of your own**")[2]
    recipe = section.split("```")[1]
    assert "start.py" not in recipe
    assert unit_service()["DynamicUser"] == "yes"
    units = re.findall(r"playground@(\d+)", recipe)
    listening = {port for port in units if f"/etc/playground-{port}.env" not in recipe}
    (balancer,) = set(units) - listening
    (replicas,) = re.findall(rf"'BALANCED=\"--replicas (.*)\"' > /etc/playground-{balancer}.env", recipe)
    assert set(replicas.split()) == {f"127.0.0.1:{port}" for port in listening}
    start.write(tmp_path, int(balancer), replicas.split(), host="127.0.0.1")
    assert re.findall("listen (.*);", (tmp_path / "site.conf").read_text()) == [f"127.0.0.1:{balancer}"]


DEPLOY_FILES = [file for file in DEPLOY.rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def test_every_setting_in_the_deployment_files_exists():
    files = [ROOT / "Dockerfile", ROOT / "compose.yaml", *DEPLOY_FILES]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert set(re.findall(r"PLAYGROUND_[A-Z_]+", text)) <= set(settings.NAMES)
