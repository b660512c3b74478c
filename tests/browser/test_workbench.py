"""The workbench as a person has it: the lens is pressed in a browser, and Python's numbers follow."""

import re
import subprocess
import sys
import urllib.request
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from waiting import PATIENCE, until

import playground
from browser.server import ROOT, Server

MILLISECONDS = 1000 * PATIENCE


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    home = tmp_path_factory.mktemp("workbench")
    server, log = Server(home), home / "log.txt"  # a home without photographs: our small model looks at the meadow
    options = ("--server.port", str(server.port), "--server.address", "127.0.0.1")
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    environment, url = server.environment, server.url
    with log.open("w") as out, subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out) as process:

        def answers():
            try:
                return urllib.request.urlopen(f"{url}/_stcore/health", timeout=5).status == 200
            except OSError:
                return False

        until(answers, f"The workbench does not answer: {log.read_text()}")
        yield url
        process.terminate()


def test_a_pressed_patch_is_the_patch_of_the_numbers(chromium, workbench):
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(MILLISECONDS)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(workbench)
    canvas = page.locator("canvas[data-ref=picture]")
    canvas.wait_for()
    said = page.get_by_text(re.compile(r"^Patch \d+,\d+, layer"))
    before = said.inner_text()
    page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.8 * box["height"])
    page.wait_for_function("(before) => !document.body.innerText.includes(before)", arg=before)
    row, column, layer, head = map(int, re.findall(r"\d+", said.inner_text())[:4])
    seen = playground.trace("bundled", "meadow")
    rows, columns = seen.grid
    assert (row, column) == (int(0.8 * rows), int(0.8 * columns))
    weights = seen.on_grid(seen.row(layer, head, (row, column))).numpy()
    near = sum(weights[i, j] for i, j in np.ndindex(weights.shape) if abs(i - row) <= 1 and abs(j - column) <= 1)
    assert page.locator("h3").inner_text() == f"{1 - near:.0%} of its attention lies outside 3 × 3"
    assert not errors, errors
    page.close()


def test_the_menu_leads_here_with_what_is_on_view_and_the_way_back_keeps_it(visit):
    view = {"model": "bundled", "sample": "flock", "layer": "0", "head": "0", "query": "3,4", "locked": "true"}
    page = visit(view).page
    page.locator(".toolbar .opener.pages").click()
    page.locator(".workbench-entry").click()
    page.get_by_text("Patch 3,4, layer 0, head 0.").wait_for()
    way_back = page.get_by_role("link", name="Back to the playground")
    assert dict(parse_qsl(urlsplit(way_back.get_attribute("href")).query)) == view
