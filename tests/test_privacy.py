"""What docs/pages/privacy.md says is kept, is what the code keeps, and as long."""

import re
from pathlib import Path

from playground.serving import classes, ledger, people

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "pages" / "privacy.md").read_text(encoding="utf-8")
MICROSCOPE = ROOT / "playground" / "microscope"
SCRIPTS = {file: file.read_text(encoding="utf-8") for file in MICROSCOPE.rglob("*.js")}
KEPT_NAME = r'"(attention-playground(?:[-:]\w+)*)"'


def test_every_name_that_the_browser_part_keeps_is_on_the_page_and_no_other():
    written_names = {name for text in SCRIPTS.values() for name in re.findall(KEPT_NAME, text)}
    assert written_names == set(re.findall(r"^\| `(attention-playground\S*)` \|", PAGE, re.M))


def test_nothing_is_kept_but_under_such_a_name():
    """Each call that keeps something names a constant; the helpers that take a name are called with one, too."""
    call = r"\b(?:keepText|indexedDB\.open|caches\.open|[sS]torage\.setItem|storage\(\)\.setItem)\(\s*([\w.]+)"
    helpers = {"name", "storageKey"}  # the parameter of keepText, and of keepGuess
    for file, text in SCRIPTS.items():
        constants = set(re.findall(rf"(\w+) = {KEPT_NAME}", text))
        named = {constant for constant, _ in constants} | helpers
        assert {given for given in re.findall(call, text) if given != "key"} <= named, file
        assert "document.cookie" not in text, file


def test_the_server_forgets_after_the_times_that_the_page_names():
    def minutes(seconds: float) -> str:
        return f"{seconds / 60:.0f} minutes"

    assert f"at most {people.MOST_PICTURES}, " in PAGE
    assert f"{minutes(people.FORGOTTEN_AFTER)} after your browser's last request" in PAGE
    assert f"forgotten every {minutes(ledger.HALF_LIFE)}" in PAGE
    assert f"at most {classes.LONGEST_LIFE / 3600:.0f} hours" in PAGE
    (album,) = re.findall(r"MOST_PHOTOGRAPHS = (\d+)", SCRIPTS[MICROSCOPE / "shell" / "own.js"])
    assert f"the last {album} |" in PAGE
