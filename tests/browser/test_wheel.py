"""The wheel contains the whole app. The tests build the wheel once, install it into a new environment and use the app
from an empty folder. Only one test needs a browser, but all tests of the wheel stand here to share one build."""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parent.parent.parent
# Commands that need a network or downloads; and `site`, which takes a minute and is tested in tests/ui/test_site.py
TESTED_ELSEWHERE = {"faithfulness", "prepare", "download", "site"}


def run(*command, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "COLUMNS")}
    environment |= {"HF_HUB_OFFLINE": "1", "MPLBACKEND": "agg"}
    result = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel, tmp_path_factory) -> Path:
    """The folder of commands of a new environment with the wheel and our own environment's packages."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False)
    paths = {"base": str(environment), "platbase": str(environment)}
    scripts = Path(sysconfig.get_path("scripts", "venv", paths))
    packages = Path(sysconfig.get_path("purelib", "venv", paths))
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python", "install", "-q"]
    run(*pip, "--no-deps", "--no-index", wheel, cwd=environment)
    return scripts


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("empty")


def tracked_files(folder: str) -> set[str]:
    result = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, check=True)
    return set(filter(None, result.stdout.decode().split("\0")))


def test_the_wheel_holds_all_that_the_app_needs_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    pictures = {name for name in tracked_files("assets") if name.startswith("assets/readme/")}
    app_files = (
        {"app.py", "requirements.txt", ".streamlit/config.toml"}
        | tracked_files("pages")
        | tracked_files("assets") - pictures
    )
    expected = tracked_files("playground") | {f"playground/app/{name}" for name in app_files}
    assert names == expected, f"lacking {sorted(expected - names)}, more than wanted {sorted(names - expected)}"


PAGES = [ROOT / "README.md", *(ROOT / "docs" / "pages").glob("*.md")]


def blocks(file: Path, language: str) -> list[str]:
    """A page's code blocks in a language; blocks of shell commands name no language."""
    pieces = re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", file.read_text(encoding="utf-8"), re.M | re.S)
    return [textwrap.dedent(code) for _, block_language, code in pieces if block_language == language]


def commands() -> list[list[str]]:
    """The arguments of all `attention-playground` commands in README and documentation."""
    lines = [line for file in PAGES for block in blocks(file, "") for line in block.splitlines()]
    typed_commands = [shlex.split(line, comments=True) for line in lines if line.startswith("attention-playground ")]
    unique_commands = dict.fromkeys(tuple(arguments[1:]) for arguments in typed_commands if len(arguments) > 1)
    return list(map(list, unique_commands))


RUN_COMMANDS = """
import json, sys
from playground.__main__ import main
for arguments in json.load(open(sys.argv[1])):
    assert main(arguments) == 0, arguments
"""


@pytest.mark.slow
def test_every_written_command_works_in_an_empty_folder(scripts, empty, tmp_path):
    chosen_commands = [arguments for arguments in commands() if arguments[0] not in TESTED_ELSEWHERE]
    assert len(chosen_commands) >= 6
    (tmp_path / "commands.json").write_text(json.dumps(chosen_commands))
    (empty / "FOLDER").mkdir()  # the documentation calls a user's own folder FOLDER
    Image.radial_gradient("L").convert("RGB").save(empty / "FOLDER" / "circle.png")
    report = run(scripts / "python", "-c", RUN_COMMANDS, tmp_path / "commands.json", cwd=empty)
    outputs = [arguments[arguments.index("-o") + 1] for arguments in chosen_commands if arguments[0] == "figure"]
    for output in outputs:
        pattern = output.replace("{image}", "*").replace("{layer}", "*")
        assert list(empty.glob(pattern)), f"{output} was not written; said was\n{report}"
    assert "dinov2" in report


@pytest.mark.slow
def test_the_readme_s_python_works_in_an_empty_folder(scripts, empty, tmp_path):
    code = "\n".join(blocks(ROOT / "README.md", "python"))
    (tmp_path / "readme.py").write_text(code)
    run(scripts / "python", tmp_path / "readme.py", cwd=empty)


def test_the_command_and_the_package_are_of_one_version(scripts, empty, wheel):
    version_line = run(scripts / "attention-playground", "--version", cwd=empty).strip()
    code = "import playground; print(playground.__version__, playground.__file__)"
    version, file = run(scripts / "python", "-c", code, cwd=empty).split(maxsplit=1)
    assert version_line == version == wheel.name.split("-")[1]
    assert ROOT not in Path(file).parents


@pytest.mark.slow
def test_the_installed_app_opens_in_the_browser_with_its_own_settings(scripts, empty, tmp_path, arrive):
    from browser.server import Server
    from browser.visitor import LOST_SERVER, Visitor

    class Installed(Server):
        def start(self) -> Server:
            command = [
                scripts / "attention-playground",
                "--no-browser",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
            ]
            with (self.home / "log.txt").open("a") as log:
                self.process = subprocess.Popen(
                    command, cwd=empty, env=self.environment, stdout=log, stderr=subprocess.STDOUT
                )
            return self

    server = Installed(tmp_path).start()
    try:
        server.wait()
        visitor = arrive(Visitor, server.url, color_scheme="dark").open("sample=flock")
        assert visitor.lock((3, 4))["query"] == "3,4"
        backdrop = visitor.page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
        assert backdrop == "rgb(19, 19, 24)"  # theme.dark's background in .streamlit/config.toml
        links = visitor.unfold("pages").get_by_role("link")
        links.filter(has_text="Code: read it").click()  # a page that shows the package's own source
        visitor.page.get_by_text("attention_by_hand").first.wait_for()
        visitor.check()  # must come before the server stops
        visitor.forgiven_errors = LOST_SERVER
    finally:
        server.stop()
