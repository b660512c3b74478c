"""The rules of architecture, in Python and JavaScript: which room (a folder or top module) may import which."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from playground.serving.routes import ROUTES

ROOT = Path(__file__).parent.parent
FLOORS = (  # from the bottom up: a room may import rooms of lower floors only
    ("errors", "version", "assets", "vit_parts", "matching", "numbers"),
    ("vit", "cuts"),
    ("pack", "pictures", "relevance"),
    ("tracing", "models"),
    ("samples", "analysis"),
    ("face", "from_attention", "figures/drawing", "training"),
    ("figures/layouts", "lessons"),
    ("figures",),
    ("serving",),
    ("ui",),
    ("playground", "__main__"),  # what Python's users import, and the command line
    ("workbench",),  # one of Python's users
    ("pages",),
    ("app", "workshop"),
)
FLOOR_OF_ROOM = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
ONLY_IMPORTERS = {  # room or package -> the only top folders and top modules that may import it
    "workshop": {"workshop"},
    "streamlit": {"app", "pages", "ui", "workbench"},  # in ui, only ui/workbench.py, which mounts app.py
}
MICROSCOPE_IMPORTS = {  # room of the microscope -> the other rooms that this room may import
    "words": set(),
    "core": {"words"},
    "drawing": {"core"},
    "engine": {"core"},
    "lens": {"core", "drawing", "words"},
    "lessons": {"core", "drawing"},
    "see": {"core", "drawing", "lens"},
    "story": {"core", "drawing", "lens", "see", "words"},
    "classroom": {"core", "drawing", "words"},
    "shell": {"classroom", "core", "drawing", "engine", "lens", "lessons", "see", "story", "words"},
}


def modules() -> dict[str, Path]:
    """{dotted name: file} of every module of the app and the workshop; a room's __init__ has the room's name."""
    room_files = (file for folder in ("pages", "playground", "workshop") for file in (ROOT / folder).rglob("*.py"))
    files = [ROOT / "app.py", *room_files]
    file_by_name = {file.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in file_by_name.items()}


MODULES = modules()


def room(name: str) -> str:
    """The folder of a module, relative to playground/: "figures/drawing" for "playground.figures.drawing.spec". A
    module directly in playground/, such as "vit", is a room of its own; ui/site is a part of the room ui."""
    file = MODULES[name].relative_to(ROOT)
    if file.parts[0] != "playground":
        return file.with_suffix("").parts[0]
    if len(file.parts) == 2:
        return "playground" if file.stem == "__init__" else file.stem
    return file.parent.relative_to("playground").as_posix().removesuffix("/site")


def imported_names(file: Path) -> set[str]:
    """Every name that a file imports, including imports inside functions and those only for type checkers."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            dotted_names = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else node.module for name in dotted_names}
    return names


@cache
def imports() -> dict[str, set[str]]:
    return {name: imported_names(file) for name, file in MODULES.items()}


Arrows = set[tuple[str, str]]  # each from an importer to what it imports


def arrows() -> Arrows:
    return {(name, other) for name, names in imports().items() for other in names & MODULES.keys() if other != name}


def between_rooms(arrows: Arrows, room_of: Callable[[str], str]) -> Arrows:
    rooms = {(room_of(importer), room_of(other)) for importer, other in arrows}
    return {(importer, other) for importer, other in rooms if importer != other}


def refuse_circles(arrows: Arrows) -> None:
    """Raises a CycleError, which names the circle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for importer, other in arrows:
        sorter.add(importer, other)
    sorter.prepare()


def test_imports_point_down_and_every_room_has_a_floor():
    assert {room(name) for name in MODULES} == FLOOR_OF_ROOM.keys()
    upward_arrows = [
        (name, other) for name, other in arrows() if FLOOR_OF_ROOM[room(other)] >= FLOOR_OF_ROOM[room(name)]
    ]
    assert not [(name, other) for name, other in upward_arrows if room(name) != room(other)]
    refuse_circles(arrows())


def test_few_know_the_workshop_or_streamlit():
    for restricted_name, allowed_users in ONLY_IMPORTERS.items():
        users = {
            name for name, names in imports().items() if any(restricted_name in other.split(".")[:2] for other in names)
        }
        assert {room(name).split("/")[0] for name in users} == allowed_users, restricted_name


def test_the_workbench_uses_no_private_part_of_streamlit_and_the_server_imports_it_in_one_place():
    users = {name: names for name, names in imports().items() if any("streamlit" in other for other in names)}
    assert [name for name in users if name.startswith("playground.ui.")] == ["playground.ui.workbench"]
    for name, names in users.items():
        text = MODULES[name].read_text(encoding="utf-8")
        assert {other for other in names if "streamlit" in other} == {"streamlit"}, name
        assert not re.search(r"\bst\._|data-testid|st-key|\bst[A-Z]\w+", text), name


def test_the_architecture_page_names_existing_files_every_room_and_every_route():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = set(re.findall(r"[\w/]+\.(?:py|js|md)\b", text))
    folders = [ROOT, ROOT / "playground", ROOT / "playground" / "microscope"]
    assert not [file for file in files if not any((folder / file).is_file() for folder in folders)]
    rooms = {path.name for path in (ROOT / "playground").iterdir() if path.is_dir()} - {"__pycache__"}
    assert rooms <= set(re.findall(r"^  (\w+)/ +\w", text, re.MULTILINE))
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    for path in (route.path.replace(":path", "") for route in ROUTES):
        folder, _, path_end = path.rpartition("/")  # routes of one folder share a row, which lists their ends
        shares_row = any(f"{folder}/" in row and f"`{path_end}`" in row for row in rows)
        assert shares_row or any(re.search(rf"{re.escape(path)}[`,]", row) for row in rows), path


# JavaScript

MICROSCOPE = ROOT / "playground" / "microscope"
IMPORT = re.compile(
    r"""^(?:import|export)\b[^;"'`()=]*?["']([^"']+)["'];|\bimport\(\s*["']([^"']+)["']""", re.MULTILINE
)


def test_each_room_of_the_microscope_imports_what_it_may():
    arrows, rooms = set(), set()
    for file in MICROSCOPE.rglob("*.js"):
        name = file.relative_to(MICROSCOPE).as_posix()
        rooms.add(name.split("/")[0])
        for path in map("".join, IMPORT.findall(file.read_text(encoding="utf-8"))):  # a static or a dynamic import
            assert (path[0], (file.parent / path).is_file()) == (".", True), f"{name}: {path}"
            arrows.add((name, (file.parent / path).resolve().relative_to(MICROSCOPE).as_posix()))
    assert len(arrows) > 50  # otherwise the pattern IMPORT matches too little
    assert rooms == MICROSCOPE_IMPORTS.keys()
    room_arrows = between_rooms(arrows, lambda name: name.split("/")[0])
    assert not [(importer, other) for importer, other in room_arrows if other not in MICROSCOPE_IMPORTS[importer]]
    refuse_circles(arrows)


NOT_IMPORTED = {  # what begins often, or must begin at once -> the large packages that it may not import
    "import playground": {"torch", "timm", "streamlit"},
    "import playground; playground.load": {"timm", "streamlit"},
    "import playground.lessons.registry": {"torch", "streamlit"},
    "import playground.pictures.decoder_process": {"torch", "timm", "streamlit", "starlette", "numpy"},
    "import playground.serving.routes": {"matplotlib"},
    "import streamlit, app": {"torch"},
}


@pytest.mark.parametrize("code", NOT_IMPORTED)
def test_large_packages_are_not_imported_before_they_are_needed(code):
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert not NOT_IMPORTED[code] & set(result.stdout.split())
