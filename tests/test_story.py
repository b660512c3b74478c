"""The row that the story prints in PyTorch is the row that it draws."""

import json
import subprocess

import torch
from test_javascript import ROOT, node

import playground
from playground import samples

CODE = """
import { codeOf } from "./playground/microscope/story/scenes.js";
const { at, size, columns, place } = JSON.parse(await new Response(process.stdin).text());
process.stdout.write(codeOf({ ...at, pack: { columns, header: { size } } }, place));
"""


def test_the_code_of_the_story_gives_the_row_that_is_drawn():
    seen = playground.trace(playground.load("bundled"), playground.open_image(samples.named("meadow").path))
    columns = seen.grid[1]
    at = {"layer": 4, "head": 2, "patch": 5 * columns + 7}
    place = {"model": "bundled", "sample": "meadow"}
    given = {"at": at, "size": list(seen.size), "columns": columns, "place": place}
    made = subprocess.run(
        [node(), "--input-type=module", "-e", CODE], cwd=ROOT, input=json.dumps(given), capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    names: dict = {}
    exec(made.stdout, names)  # what is printed is run
    torch.testing.assert_close(names["row"], seen.row(4, 2, (5, 7)), atol=1e-5, rtol=0)
    assert len(made.stdout.strip().splitlines()) <= 12
