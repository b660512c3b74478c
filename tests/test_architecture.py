"""docs/architecture.md names every room and every route."""

import re
from pathlib import Path

import pytest

from playground.serving.routes import ROUTES

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOLDERS = ("", "playground", "playground/microscope")
NAMES = sorted(set(re.findall(r"[\w/]+\.(?:py|js|md)\b", TEXT)))


def test_each_file_that_it_names_is_there():
    assert not [name for name in NAMES if not any((ROOT / folder / name).is_file() for folder in FOLDERS)]


def test_it_names_enough_to_be_worth_a_test():
    assert len(NAMES) > 40, NAMES


def test_it_is_read_in_ten_minutes():
    assert len(TEXT.splitlines()) <= 200


def test_its_table_has_every_route_and_no_other():
    rows = "\n".join(line for line in TEXT.splitlines() if line.startswith("| `"))
    missing = [route.path for route in ROUTES if not named(route.path, rows)]
    assert not missing, missing


def named(path: str, rows: str) -> bool:
    """Whether the rows name this route: in full, or by its last word in the line that its folder's routes share."""
    plain = path.replace(":path", "")
    folder, _, last = plain.rpartition("/")
    whole = re.search(rf"{re.escape(plain)}[`,]", rows) is not None
    return whole or any(f"{folder}/" in row and f"`{last}`" in row for row in rows.splitlines())


@pytest.mark.parametrize("room", sorted(path.name for path in (ROOT / "playground").iterdir() if path.is_dir()))
def test_it_says_what_each_room_is_for(room):
    if room != "__pycache__":
        assert re.search(rf"^  {room}/ +\w", TEXT, re.MULTILINE), room
