"""A lesson played ahead, as files that need no Python: what each of its steps yields about one picture, and which of it
changes with which settings."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from playground.lessons.lesson import Lesson, Step, Subject
from playground.lessons.parts import plain_parts
from playground.lessons.settings import Written
from playground.serving.site_files import Folder

PICTURE = re.compile(r'"data:image/(\w+);base64,([^"]{2000,})"')  # a file of its own: several steps have the same


def write(folder: Folder, lesson: Lesson, subject: Subject) -> dict:
    """What the browser reads first: its settings and steps, each with the file of its parts."""
    return {
        "settings": settings_of(lesson),
        "steps": [
            {"name": name, "title": step.title, "beyond": step.beyond, "file": _step(folder, lesson, name, subject)}
            for name, step in lesson.steps.items()
        ],
    }


def settings_of(lesson: Lesson) -> dict[str, dict]:
    return {
        name: {
            "default": str(setting.default),
            "options": [[str(one), one] for one in setting.options],
            "pattern": setting.pattern if isinstance(setting, Written) else "",
        }
        for name, setting in lesson.choices.items()
    }


def _step(folder: Folder, lesson: Lesson, name: str, subject: Subject) -> str:
    def keep(data: bytes) -> str:
        return folder.put(f"lessons/{lesson.name}-{name}.bin", data)

    def address(picture: re.Match) -> str:
        return f'"{folder.put(f"lessons/picture.{picture[1]}", b64decode(picture[2]))}"'

    parts = json.dumps(played_ahead(lesson, lesson.steps[name], subject, keep), ensure_ascii=False)
    return folder.put(f"lessons/{lesson.name}-{name}.json", PICTURE.sub(address, parts).encode())


def played_ahead(lesson: Lesson, step: Step, subject: Subject, keep: Callable[[bytes], object]) -> list[dict]:
    """The step's parts. One that changes with a group of settings is {kind: "each", by: their names, of: {their values:
    the part}}; what all of a drawing's data have is its `same`."""

    def play(**state: object) -> list[dict]:
        return _only_ahead(lesson, step, plain_parts(step.parts(subject, lesson.defaults(**state)), keep))

    parts = play()
    changing: dict[int, dict] = {}
    for group in step.ahead:
        options = _options(lesson, group)
        states = (dict(zip(options, values, strict=True)) for values in product(*options.values()))
        played = {_key(state.values()): play(**state) for state in states}
        for n, part in enumerate(parts):
            found = {key: others[n] for key, others in played.items()}
            if all(one == part for one in found.values()):
                continue
            assert n not in changing, f"{lesson.name}: {part['kind']} changes with two groups of settings"
            after = {"after": part["after"]} if "after" in part else {}
            changing[n] = {"kind": "each", "by": list(options)} | _once(found) | after
    return [changing.get(n, part) for n, part in enumerate(parts)]


def _once(found: dict[str, dict]) -> dict:
    """A drawing's data that are the same in each of its states stand there once."""
    first, *others = found.values()
    if "data" not in first:
        return {"of": found}
    same = {name: value for name, value in first["data"].items() if all(one["data"][name] == value for one in others)}
    rest = {
        key: part | {"data": {name: value for name, value in part["data"].items() if name not in same}}
        for key, part in found.items()
    }
    return {"of": rest, "same": same}


def _options(lesson: Lesson, group: Mapping[str, Iterable | None]) -> dict[str, tuple]:
    return {name: lesson.choices[name].options if values is None else tuple(values) for name, values in group.items()}


def _key(values: Iterable[object]) -> str:
    return " | ".join(map(str, values))


def _only_ahead(lesson: Lesson, step: Step, parts: list[dict]) -> list[dict]:
    """A choice offers what was played."""
    played = {name: {str(v) for v in vs} for group in step.ahead for name, vs in _options(lesson, group).items()}
    for part in _all(parts):
        if part["kind"] in ("choice", "slider", "pick"):
            part["options"] = [option for option in part["options"] if option[0] in played[part["setting"]]]
    return parts


def _all(parts: Iterable[dict]) -> Iterator[dict]:
    for part in parts:
        yield part
        yield from _all(part.get("parts", ()))
