"""The rules of architecture, in Python and JavaScript: which room (a folder or top module) may import which."""

import ast
import re
from pathlib import Path

import pytest

import playground

ROOT = Path(__file__).parent.parent
FLOORS = (  # from the bottom up: a room may import rooms of lower floors only
    ("errors", "version", "assets", "vit_parts", "matching", "numbers"),
    ("vit", "cuts"),
    ("pack", "pictures", "scenes", "relevance"),
    ("tracing", "models"),
    ("samples", "analysis"),
    ("face", "figures/drawing", "training"),
    ("figures/layouts", "lessons", "workshop"),
    ("figures",),
    ("serving",),
    ("ui",),
    ("ui/site", "pages", "app"),
    ("playground", "__main__"),  # what Python's users import, and the command line
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
KNOW_SCENES = {"samples", "training", "workshop"}
# Arrows lead from a room to one that it imports; modules on top lie in playground/ itself, beside the rooms
MOST = {"rooms": 32, "floors": 13, "arrows": 155, "modules on top": 16}
MOST_FILES, MOST_LINES = 360, 450  # of code that ships, counted in files and in lines of a file
BROWSER = {  # what each room of the microscope may import besides itself
    "core": set(),
    "drawing": {"core"},
    "engine": {"core"},
    "weights": {"core"},
    "lens": {"core", "drawing"},
    "lessons": {"core", "drawing"},
    "see": {"core", "drawing", "lens"},
    "story": {"core", "drawing", "lens", "see"},
    "classroom": {"core", "drawing"},
    "shell": {"classroom", "core", "drawing", "engine", "lens", "lessons", "see", "story"},
}


def modules() -> dict[str, Path]:
    """{dotted name: file} of every module of the app and the workshop; a room's __init__ has the room's name."""
    inside = (file for folder in ("pages", "playground", "workshop") for file in (ROOT / folder).rglob("*.py"))
    files = [ROOT / "app.py", *inside]
    dotted = {file.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in dotted.items()}


MODULES = modules()


def room(name: str) -> str:
    """The folder of a module, relative to playground/: "figures/drawing" for "playground.figures.drawing.spec". A
    module directly in playground/, such as "vit", is a room of its own."""
    file = MODULES[name].relative_to(ROOT)
    if file.parts[0] != "playground":
        return file.with_suffix("").parts[0]
    if len(file.parts) == 2:
        return "playground" if file.stem == "__init__" else file.stem
    return file.parent.relative_to("playground").as_posix()


def wing(name: str) -> str:
    """The top folder of a room: "ui" for "ui/site"."""
    return room(name).split("/")[0]


def imported(file: Path) -> set[str]:
    """Every name that a file imports, including imports inside functions and those only for type checkers."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively: write the whole name"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else node.module for name in inside}
    return names


NEEDS = {name: (imported(file) & MODULES.keys()) - {name} for name, file in MODULES.items()}


def circle(needs: dict[str, set[str]]) -> dict[str, set[str]]:
    """The part of `needs` that contains import cycles: repeatedly removes names that need none of the rest."""
    remaining = {name: set(needed) for name, needed in needs.items()}
    while free := [name for name, needed in remaining.items() if not needed & remaining.keys()]:
        for name in free:
            del remaining[name]
    return {name: needed & remaining.keys() for name, needed in remaining.items()}


def between_rooms(needs: dict[str, set[str]], room_of) -> dict[str, set[str]]:
    rooms: dict[str, set[str]] = {}
    for name, wanted in needs.items():
        rooms.setdefault(room_of(name), set()).update(room_of(other) for other in wanted)
    return {one: {other for other in wanted if other in rooms and other != one} for one, wanted in rooms.items()}


# Python


def test_every_module_has_a_floor():
    unknown = {name for name in MODULES if room(name) not in FLOOR}
    assert not unknown, f"add these to FLOORS: {sorted(unknown)}"
    empty = FLOOR.keys() - {room(name) for name in MODULES}
    assert not empty, f"FLOORS names what is not there: {sorted(empty)}"


def test_the_house_is_small_enough_to_be_known():
    rooms = between_rooms(NEEDS, room)
    arrows, on_top = sum(map(len, rooms.values())), list((ROOT / "playground").glob("*.py"))
    counts = {"rooms": len(rooms), "floors": len(FLOORS), "arrows": arrows, "modules on top": len(on_top)}
    plan = "\n".join(f"{name}: {', '.join(sorted(needed))}" for name, needed in sorted(rooms.items()))
    assert all(counts[name] <= most for name, most in MOST.items()), f"{counts} of at most {MOST}\n{plan}"


def test_what_ships_is_few_files_and_none_is_long():
    kinds = (".py", ".js", ".css", ".c")
    folders = [file for name in ("pages", "playground") for file in (ROOT / name).rglob("*")]
    lines = {file: file.read_text(encoding="utf-8").count("\n") for file in folders if file.suffix in kinds}
    assert len(lines) <= MOST_FILES
    long = {file.relative_to(ROOT).as_posix(): count for file, count in lines.items() if count > MOST_LINES}
    assert not long


def test_imports_point_down():
    wrong = [
        f"{name} imports {other}"
        for name, wanted in NEEDS.items()
        for other in wanted
        if room(other) != room(name) and FLOOR[room(other)] >= FLOOR[room(name)]
    ]
    assert not wrong, "\n".join(wrong)


def test_only_samples_training_and_the_workshop_know_scenes():
    wrong = [name for name, wanted in NEEDS.items() if any(room(other) == "scenes" for other in wanted)]
    assert {room(name) for name in wrong} <= {"scenes", *KNOW_SCENES}, wrong


def test_no_circle_between_files():
    assert not circle(NEEDS)


def test_only_the_command_line_and_the_workshop_itself_import_the_workshop():
    users = {name for name, wanted in NEEDS.items() if any(room(other) == "workshop" for other in wanted)}
    assert {name for name in users if room(name) != "workshop"} == {"playground.__main__"}


@pytest.mark.parametrize("face", ["playground", "playground.figures"])
def test_a_name_that_is_imported_late_comes_from_where_its_type_says(face):
    """Two modules import lazily by strings, to defer torch and matplotlib. Their imports for type checkers must name
    the same modules."""
    collected = {}
    for node in ast.walk(ast.parse(MODULES[face].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("playground."):
            collected |= {alias.name: node.module.removeprefix(f"{face}.") for alias in node.names}
    home = __import__(face, fromlist=["_HOME"])._HOME
    assert home == {name: collected[name] for name in home}


def test_the_face_lists_its_names():
    assert dir(playground) == sorted(playground.__all__)
    assert {"load", "open_image", "trace", "show", "figure", "save", "Trace", "PlaygroundError"} <= set(dir(playground))


def test_only_ui_and_pages_know_streamlit():
    others = [name for name in MODULES if wing(name) not in ("app", "ui", "pages")]
    assert len(others) > 100
    assert not [name for name in others if "streamlit" in {one.split(".")[0] for one in imported(MODULES[name])}]


def test_what_is_kept_is_kept_in_serving_where_it_is_counted():
    wrong = [
        name
        for name, file in MODULES.items()
        if wing(name) in ("ui", "pages") and re.search(r"\bCache\(", file.read_text(encoding="utf-8"))
    ]
    assert not wrong, wrong


def test_no_picture_has_an_address_that_is_forgotten_while_a_browser_fetches_it():
    seen = {name: file.read_text(encoding="utf-8") for name, file in MODULES.items() if wing(name) in ("ui", "pages")}
    drawn = {name for name, text in seen.items() if re.search(r"(?<!quick)\.image\(", text)}
    assert drawn == {"playground.ui.components"}


def test_pages_hold_no_mathematics():
    for file in (ROOT / "pages").glob("*.py"):
        assert not imported(file) & {"torch", "numpy", "math"}


# JavaScript

MICROSCOPE = ROOT / "playground" / "microscope"
IMPORT = re.compile(
    r"""^(?:import|export)\b[^;"'`()=]*?["']([^"']+)["'];|\bimport\(\s*["']([^"']+)["']""", re.MULTILINE
)


def scripts() -> dict[str, set[str]]:
    """{script: scripts that it imports} of the microscope, with names such as "core/view.js"."""
    collected = {}
    for file in MICROSCOPE.rglob("*.js"):
        paths = [plain or late for plain, late in IMPORT.findall(file.read_text(encoding="utf-8"))]
        assert all(path.startswith(".") for path in paths), f"{file} imports from elsewhere: {paths}"
        collected[file.relative_to(MICROSCOPE).as_posix()] = {
            (file.parent / path).resolve().relative_to(MICROSCOPE).as_posix() for path in paths
        }
    return collected


def test_each_room_of_the_microscope_imports_what_it_may():
    needs = scripts()
    rooms = between_rooms(needs, lambda name: name.split("/")[0])
    assert rooms.keys() == BROWSER.keys()
    assert sum(map(len, needs.values())) > 50  # an IMPORT that matched nothing would pass
    assert all(other in needs for wanted in needs.values() for other in wanted)
    assert {name: wanted - BROWSER[name] for name, wanted in rooms.items()} == {name: set() for name in BROWSER}


def test_no_circle_between_scripts():
    assert not circle(scripts())
