"""What pages.yml publishes is made by a script that runs on any machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent


def test_the_steps_of_the_workflow_write_the_playground_and_the_documentation_beside_it(tmp_path):
    pytest.importorskip("sphinx", reason="sphinx is not installed")
    (job,) = yaml.safe_load((ROOT / "deploy" / "pages.yml").read_text(encoding="utf-8"))["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    *_, last = steps
    command = last.replace("$PWD/out", str(tmp_path / "out")).replace("${{ steps.pages.outputs.base_url }}", "/project")
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=os.environ | {"PYTHON": sys.executable}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert 'href="/project/about.html' in (out / "404.html").read_text(encoding="utf-8")
    learn = (out / "docs" / "learn.html").read_text(encoding="utf-8")
    (lesson, *_) = re.findall(r'href="(\.\./[a-z_]+)"', learn)
    pages = re.search(r'data-pages="([^"]+)"', (out / "404.html").read_text(encoding="utf-8"))[1].split()
    assert lesson.removeprefix("../") in pages, "a link of the documentation leads to a page that the folder has"
    published = next(step for step in job["steps"] if "upload-pages-artifact" in step.get("uses", ""))
    assert published["with"]["path"] == "out"
