"""The rules of architecture, in Python and JavaScript: which room (a folder or top module) may import which."""

import ast
import re
from functools import cache
from pathlib import Path

from playground.serving.routes import ROUTES

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
ONLY = {  # room or package -> the only top folders and top modules that may import it
    "scenes": {"scenes", "samples", "training", "workshop"},
    "workshop": {"workshop", "__main__"},
    "streamlit": {"app", "pages", "ui"},
}
# Upper bounds. An arrow leads from a room to a room that it imports; modules on top lie directly in playground/.
MOST = {"rooms": 32, "floors": 13, "arrows": 155, "modules on top": 16, "files": 360, "lines of a file": 450}
BROWSER = {  # room of the microscope -> the other rooms that this room may import
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
    room_files = (file for folder in ("pages", "playground", "workshop") for file in (ROOT / folder).rglob("*.py"))
    files = [ROOT / "app.py", *room_files]
    file_by_name = {file.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in file_by_name.items()}


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


def imported(file: Path) -> set[str]:
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
    return {name: imported(file) for name, file in MODULES.items()}


def needs_of_modules() -> dict[str, set[str]]:
    return {name: (names & MODULES.keys()) - {name} for name, names in imports().items()}


def circle(needs: dict[str, set[str]]) -> dict[str, set[str]]:
    """The part of `needs` that contains import cycles: repeatedly removes names that need none of the rest."""
    remaining = {name: set(needed_names) for name, needed_names in needs.items()}
    while free_names := [name for name, needed_names in remaining.items() if not needed_names & remaining.keys()]:
        for name in free_names:
            del remaining[name]
    return {name: needed_names & remaining.keys() for name, needed_names in remaining.items()}


def between_rooms(needs: dict[str, set[str]], room_of) -> dict[str, set[str]]:
    rooms: dict[str, set[str]] = {}
    for name, needed_names in needs.items():
        rooms.setdefault(room_of(name), set()).update(room_of(needed_name) for needed_name in needed_names)
    return {
        room_name: {needed_name for needed_name in needed_names if needed_name in rooms and needed_name != room_name}
        for room_name, needed_names in rooms.items()
    }


def test_imports_point_down_and_every_room_has_a_floor():
    assert {room(name) for name in MODULES} == FLOOR.keys()
    pairs = [
        (name, needed_name)
        for name, needed_names in needs_of_modules().items()
        for needed_name in needed_names
        if room(needed_name) != room(name)
    ]
    assert not [(name, needed_name) for name, needed_name in pairs if FLOOR[room(needed_name)] >= FLOOR[room(name)]]
    assert not circle(needs_of_modules())


def test_few_know_scenes_the_workshop_or_streamlit():
    for room_name, allowed_users in ONLY.items():
        users = {
            name
            for name, names in imports().items()
            if any(room_name in imported_name.split(".")[:2] for imported_name in names)
        }
        assert {room(name).split("/")[0] for name in users} == allowed_users, room_name


def test_the_house_is_small_enough_to_be_known():
    kinds = (".py", ".js", ".css", ".c")
    files = [file for name in ("pages", "playground") for file in (ROOT / name).rglob("*") if file.suffix in kinds]
    rooms = between_rooms(needs_of_modules(), room)
    lines, longest = max((file.read_text(encoding="utf-8").count("\n"), file.name) for file in files)
    counts = {"rooms": len(rooms), "floors": len(FLOORS), "arrows": sum(map(len, rooms.values())),
              "modules on top": len(list((ROOT / "playground").glob("*.py"))), "files": len(files),
              "lines of a file": lines}  # fmt: skip
    room_plan = "\n".join(f"{name}: {', '.join(sorted(needed_rooms))}" for name, needed_rooms in sorted(rooms.items()))
    assert all(counts[name] <= bound for name, bound in MOST.items()), f"{counts} of {MOST}; {longest}\n{room_plan}"


def test_the_interface_keeps_nothing_and_gives_pictures_addresses_in_one_place():
    """Only serving/ counts what stays in memory. Only `ui.components` gives a picture an address, because Streamlit
    forgets its own addresses while a browser still fetches them."""
    texts = {name: file.read_text(encoding="utf-8") for name, file in MODULES.items()}
    page_texts = {name: text for name, text in texts.items() if name.startswith(("pages.", "playground.ui."))}
    assert not [name for name, text in page_texts.items() if re.search(r"\bCache\(", text)]
    picture_modules = {name for name, text in page_texts.items() if re.search(r"(?<!quick)\.image\(", text)}
    assert picture_modules == {"playground.ui.components"}
    assert not [
        name for name in page_texts if name.startswith("pages.") and imports()[name] & {"torch", "numpy", "math"}
    ]


def test_the_description_names_files_that_there_are_every_room_and_every_route():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    files = set(re.findall(r"[\w/]+\.(?:py|js|md)\b", text))
    folders = [ROOT, ROOT / "playground", ROOT / "playground" / "microscope"]
    assert not [file for file in files if not any((folder / file).is_file() for folder in folders)]
    rooms = {path.name for path in (ROOT / "playground").iterdir() if path.is_dir()} - {"__pycache__"}
    assert rooms <= set(re.findall(r"^  (\w+)/ +\w", text, re.MULTILINE))
    rows = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    for path in (route.path.replace(":path", "") for route in ROUTES):
        folder, _, path_end = path.rpartition(
            "/"
        )  # routes of one folder share a row, which lists the ends of their paths
        shares_row = any(f"{folder}/" in row and f"`{path_end}`" in row for row in rows.splitlines())
        assert shares_row or re.search(rf"{re.escape(path)}[`,]", rows), path


# JavaScript

MICROSCOPE = ROOT / "playground" / "microscope"
IMPORT = re.compile(
    r"""^(?:import|export)\b[^;"'`()=]*?["']([^"']+)["'];|\bimport\(\s*["']([^"']+)["']""", re.MULTILINE
)


def test_each_room_of_the_microscope_imports_what_it_may():
    needs = {}  # {file, such as "core/view.js": the files that it imports}
    for file in MICROSCOPE.rglob("*.js"):
        paths = [
            static_path or dynamic_path
            for static_path, dynamic_path in IMPORT.findall(file.read_text(encoding="utf-8"))
        ]
        assert all(path.startswith(".") and (file.parent / path).is_file() for path in paths), f"{file}: {paths}"
        needs[file.relative_to(MICROSCOPE).as_posix()] = {
            (file.parent / path).resolve().relative_to(MICROSCOPE).as_posix() for path in paths
        }
    assert sum(map(len, needs.values())) > 50  # otherwise the pattern IMPORT matches too little
    rooms = between_rooms(needs, lambda name: name.split("/")[0])
    assert rooms.keys() == BROWSER.keys()
    assert {name: needed_rooms - BROWSER[name] for name, needed_rooms in rooms.items()} == {
        name: set() for name in BROWSER
    }
    assert not circle(needs)


# Tests wait for states, never for time


def calls(files: list[Path], *names: str) -> list[tuple[str, ast.Call]]:
    """("file.py: name", call) of each call of these methods."""
    nodes = [(file, node) for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    call_nodes = [(file, node) for file, node in nodes if isinstance(node, ast.Call)]
    named_calls = [(file, getattr(node.func, "attr", None), node) for file, node in call_nodes]
    return [(f"{file.name}: {name}", node) for file, name, node in named_calls if name in names]


def test_what_a_page_is_asked_to_wait_for_is_a_state_and_a_function():
    """The app's policy forbids eval in a page. Playwright evaluates a function once, before the policy applies. It
    evaluates an expression at every poll, and every poll after the first one raises an EvalError."""
    browser_files, benchmark_files = ([*(ROOT / folder).glob("*.py")] for folder in ("tests/browser", "benchmarks"))
    waits = [place for place, _ in calls(browser_files, "wait_for_timeout", "sleep")]
    assert waits == ["server.py: sleep"]  # the pause between two requests to a starting server
    awaited_conditions = [
        (place, call.args[0]) for place, call in calls(browser_files + benchmark_files, "wait_for_function")
    ]
    texts = [
        (place, condition.values[0] if isinstance(condition, ast.JoinedStr) else condition)
        for place, condition in awaited_conditions
    ]
    assert len(texts) > 20
    condition_texts = [(place, str(text.value)) for place, text in texts if isinstance(text, ast.Constant)]
    assert not [
        condition_text
        for condition_text in condition_texts
        if not re.match(r"\s*(async )?(\([^)]*\)|\w+) => ", condition_text[1])
    ]
