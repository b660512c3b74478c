"""The story's PyTorch code and its notebook compute the row that the story draws."""

import base64
import json
import re
import subprocess

import torch
from test_javascript import ROOT, node
from twins import in_javascript

import playground
from playground import samples
from playground.figures.bundle import bundle

# appended to the story's script, as it is delivered, which has these functions in its scope
PRINT_CODE = """
const { at, size, columns, place } = JSON.parse(await new Response(process.stdin).text());
process.stdout.write(codeOf({ ...at, pack: { columns, header: { size } } }, place));
"""
PRINT_NOTEBOOK = """
const { bytes, at, place } = JSON.parse(await new Response(process.stdin).text());
const pack = unpack(Uint8Array.from(Buffer.from(bytes, "base64")));
process.stdout.write(JSON.stringify(notebookOf(factsOfStory(pack, at, 16), place)));
"""


def printed(ending: str, story_input: dict, folder) -> str:
    """What the delivered script prints with these last lines."""
    script = folder / "app.mjs"
    script.write_text(bundle("story/story.js", "core/core.js") + ending, encoding="utf-8")
    result = subprocess.run([node(), str(script)], input=json.dumps(story_input), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_code_of_the_story_gives_the_row_that_is_drawn(tmp_path):
    trace = playground.trace(playground.load("bundled"), playground.open_image(samples.named("meadow").path))
    columns = trace.grid[1]
    position = {"layer": 4, "head": 2, "patch": 5 * columns + 7}
    place = {"model": "bundled", "sample": "meadow"}
    story_input = {"at": position, "size": list(trace.size), "columns": columns, "place": place}
    code = printed(PRINT_CODE, story_input, tmp_path)
    namespace: dict = {}
    exec(code, namespace)
    torch.testing.assert_close(namespace["row"], trace.row(4, 2, (5, 7)), atol=1e-5, rtol=0)
    assert len(code.strip().splitlines()) <= 12


def test_the_notebook_of_the_delivered_script_runs_with_torch_alone_and_gives_the_drawn_row(capsys, tmp_path):
    trace = playground.trace(playground.load("bundled"), playground.open_image(samples.named("meadow").path))
    position = {"layer": 4, "head": 2, "patch": 5 * trace.grid[1] + 7}
    photograph = "data:image/jpeg;base64,AAAA"
    story_input = {
        "bytes": base64.b64encode(trace.to_bytes([4])).decode(), "at": position,
        "place": {"model": "bundled", "code": "import playground", "photograph": photograph},
    }  # fmt: skip
    notebook = json.loads(printed(PRINT_NOTEBOOK, story_input, tmp_path))
    assert (notebook["nbformat"], len({cell["id"] for cell in notebook["cells"]})) == (4, len(notebook["cells"]))
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [line for cell in code for line in cell.splitlines() if line.startswith("%")] == ["%pip install torch"]
    namespace: dict = {}
    for cell in code:
        # one of the cells asserts that the rows agree within 1e-5
        exec(re.sub(r"^%.*$", "", cell, flags=re.MULTILINE), namespace)
    # the browser has 16-bit floats
    torch.testing.assert_close(namespace["row"], trace.row(4, 2, (5, 7)), atol=2e-3, rtol=0)
    modules = {line.split()[1] for cell in code for line in cell.splitlines() if line.startswith("import ")}
    assert modules == {"base64", "torch"}
    output = capsys.readouterr().out
    assert "largest difference" in output
    assert f"{float(trace.row(4, 2, (5, 7), scale='off').max()):.1%}"[:2] in output.splitlines()[-1]
    markdown = " ".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    assert photograph in markdown
    assert "row 5, column 7" in markdown


def test_the_page_of_the_ten_questions_has_them_as_they_are_asked():
    questions = in_javascript(
        ["story/words"],
        """return Array.from({ length: 10 }, (_, i) =>
          [`question${i + 1}`, `option${i + 1}a`].map((key) => story_words.storyText("en", key)));""",
    )
    page = (ROOT / "docs" / "pages" / "questions.md").read_text(encoding="utf-8")
    for number, (question, right) in enumerate(questions, 1):
        assert f"{number}. {question}\n" in page
        assert f"**{right}**" in page


def test_an_answer_hardly_changes_without_the_edge_to_the_patch_that_the_class_token_hears_most():
    """As the ninth of the ten questions says, in our model on its drawings."""
    vit, moves = playground.load("bundled"), []
    for sample in samples.samples():
        if sample.labels:
            seen = playground.trace(vit, sample.name)
            patch = divmod(int(seen.on_grid(seen.rows(-1, "cls").mean(0)).argmax()), seen.grid[1])
            cut = playground.trace(vit, sample.name, cut="cls>{},{}".format(*patch))
            before, after = (vit.config.shares(trace.logits) for trace in (seen, cut))
            moves.append(float((after - before)[before.argmax()].abs()))
    assert len(moves) >= 10
    assert sum(move <= 0.05 for move in moves) > 0.75 * len(moves), moves
