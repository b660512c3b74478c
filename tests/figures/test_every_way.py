"""A way to look is one record, from which figures and the browser derive drawings and words."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import made_up_way
import numpy as np
import pytest
from test_javascript import node

import playground
from figures import keeping
from playground import figures
from playground.figures import command_line, files
from playground.figures.drawing import captions, maps, prints, ways
from playground.figures.drawing.way_words import ENGLISH, WORDS_BY_LANGUAGE
from playground.figures.drawing.ways import FIRST_WAY, WAYS

ROOT = Path(__file__).parent.parent.parent
CORE = ROOT / "playground" / "microscope" / "core"
SHARED_WORDS = ("trust", "blanked")  # words that several ways share
TEXT_KINDS = ("title", "caption", "tab", "question", "note")  # every way has a text of each of these kinds


@pytest.fixture
def squared_spec(monkeypatch):
    """The spec of a figure of a new way, which is added with its record, its words and its function."""
    made_up_way.add_way(monkeypatch)
    return replace(keeping.MEADOW, what="squared")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_says_what_it_is(way):
    assert WAYS[way.name] is way
    assert way.needs in ("scores", "features", "flows", "network")
    assert way.exposed in ("brightest", "largest", "spread", "colours")
    assert way.explains in ("", "patch", "label", "text")
    assert not (way.of_heads and way.through_layers)
    assert (way.name in maps.NUMBERS) != (way.name in prints.COMPUTED_TOGETHER)
    for language, table in WORDS_BY_LANGUAGE.items():
        missing_kinds = [kind for kind in TEXT_KINDS if f"{way.name}.{kind}" not in table]
        assert not missing_kinds, (language, missing_kinds)
    if not way.coloured:
        assert way.words("bar")
    if way.sentence == "most":
        assert "{within}" in way.words("sentence")
    if not way.of_heads:
        assert way.words("pair")
        assert way.words("waiting")


def test_every_word_is_of_a_way_and_every_language_has_the_same_words():
    for table in WORDS_BY_LANGUAGE.values():
        way_names = {key.split(".")[0] for key in table if key.split(".")[1] not in ("sentence", "figure")}
        assert way_names == {*WAYS, *SHARED_WORDS}
        assert {f"{way.sentence}.sentence" for way in WAYS.values() if way.sentence != "most"} <= set(table)
        assert set(table) == set(ENGLISH)
    placeholders = {
        name for key, words in ENGLISH.items() for name in re.findall(r"{(\w+)}", words) if ".caption" in key
    }
    assert placeholders <= set(captions.PLACEHOLDERS), placeholders


def test_every_option_that_some_ways_use_is_one_of_a_figure():
    assert {option for way in WAYS.values() for option in way.uses} <= set(command_line.FLAGS)


def test_the_browser_has_the_table_that_python_writes():
    assert ways.BROWSER_TABLE.read_text(encoding="utf-8") == ways.text(), "python -m playground.figures.drawing.ways"
    program = (
        f"import {{ FIRST_WAY, WAYS, wayWords }} from {json.dumps((CORE / 'ways.js').as_uri())};\n"
        'const said = Object.values(WAYS).map((way) => [way.name, wayWords(way, "note", ["column"])]);\n'
        "console.log(JSON.stringify({ FIRST_WAY, WAYS, said: Object.fromEntries(said) }));"
    )
    process = subprocess.run(
        [node(), "--input-type=module", "-e", program], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    browser_table = json.loads(process.stdout)
    assert browser_table["FIRST_WAY"] == FIRST_WAY
    assert list(browser_table["WAYS"]) == list(WAYS)
    for way in WAYS.values():
        assert browser_table["WAYS"][way.name] == json.loads(json.dumps(ways.record(way)))
        assert browser_table["said"][way.name] == way.words("note", "column")


# A way invented for the test ------------------------------------------------------------------------------------------


def test_a_way_made_up_here_is_drawn_and_said_by_its_record_alone(squared_spec):
    first_arguments, draw_arguments = keeping.draw_arguments_of(squared_spec)
    seen = first_arguments[0]
    texts_drawn = [text.get_text() for text in figures.draw(squared_spec, *first_arguments, **draw_arguments).texts]
    assert "squared attention" in texts_drawn, texts_drawn
    assert any("weight × weight" in text for text in texts_drawn), texts_drawn
    caption = files.caption_words(squared_spec, *first_arguments, **draw_arguments)
    assert "layer 4, head 0: the squares of what patch 7, 5 (row, column, from 0) takes" in caption, caption
    map_ = maps.map_of(seen, squared_spec, 4, 0, "on")
    np.testing.assert_allclose(map_.grid, seen.on_grid(seen.row(4, 0, (7, 5))).numpy() ** 2, rtol=1e-6)
    assert map_.breadth is None  # squares do not sum to 1
    map_domain = maps.domain(squared_spec, [map_])
    assert (map_domain.low, map_domain.percent, map_domain.signed) == (0, False, False)
    heads_spec = replace(squared_spec, layout="heads")
    assert len(files.facts_and_tables(".csv", heads_spec, *first_arguments)[1][0].values) == seen.heads
    mean_values = maps.map_of(seen, squared_spec, 4, "mean", "on").values
    np.testing.assert_allclose(mean_values, (seen.rows(4, (7, 5)).numpy() ** 2).mean(0), rtol=1e-6)


def test_a_way_made_up_here_has_its_files_and_its_command(squared_spec, tmp_path):
    trace = keeping.draw_arguments_of(squared_spec)[0][0]
    for kind in ("png", "csv"):
        file = playground.save(trace, tmp_path / f"squared.{kind}", layer=4, query=(7, 5), what="squared")
        assert file.stat().st_size > 200, file
    assert "squared" in (tmp_path / "squared.csv").read_text(encoding="utf-8")
    assert "--what squared" in command_line.command(keeping.figure_of(squared_spec).spec)
    with pytest.raises(playground.PlaygroundError, match='it belongs to what="text"'):
        playground.save(trace, tmp_path / "no.png", layer=4, what="squared", text="a cat")


# Names of ways outside of the records ---------------------------------------------------------------------------------

MAY_NAME_WAYS = {  # files that may name ways: records, words, and the functions that compute maps
    "figures/drawing/ways.py", "figures/drawing/way_words.py", "figures/drawing/maps.py", "figures/drawing/prints.py",
    "microscope/core/waytable.js", "microscope/core/ways.js",
}  # fmt: skip
WAY_NAMES = "|".join(WAYS)
COMPARISON = re.compile(rf"""\bwhat\s*(not\s)?(===?|!==?|\bin\b)\s*[(\[{{]?\s*["']({WAY_NAMES})["']""")
LISTING = re.compile(rf"""[(\[{{]\s*["']({WAY_NAMES})["'],\s*["']({WAY_NAMES})["']""")
INCLUSION = re.compile(rf"""["']({WAY_NAMES})["'][^\n]*\]\.includes\(\s*(\w+\.)*what\b""")
FOLDERS = ("figures", "serving", "microscope/core", "microscope/drawing", "microscope/lens", "microscope/shell")


def wrong_lines(text: str) -> list[str]:
    return [
        line.strip()
        for line in text.splitlines()
        if any(pattern.search(line) for pattern in (COMPARISON, LISTING, INCLUSION))
    ]


def test_no_way_is_compared_or_listed_by_name_outside_of_its_record():
    """Once, the names of ways stood in ten lists and 196 branches."""
    files = [file for room in FOLDERS for kind in ("*.py", "*.js") for file in (ROOT / "playground" / room).rglob(kind)]
    mistakes = [
        f"{name}: {line}"
        for file in files
        if (name := file.relative_to(ROOT / "playground").as_posix()) not in MAY_NAME_WAYS
        for line in wrong_lines(file.read_text(encoding="utf-8"))
    ]
    assert not mistakes, "\n".join(mistakes)


@pytest.mark.parametrize(
    "line",
    [
        'if spec.what == "weight":', 'if spec.what in ("weight", "value"):', "SIGNED = ('score', 'norm')",
        'if (view.what === "rollout") return', '["similarity", "norm"].includes(view.what)', 'what !== "score"',
    ],
)  # fmt: skip
def test_a_comparison_by_name_is_seen(line):
    assert wrong_lines(line) == [line]
