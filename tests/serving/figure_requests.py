"""Helpers that ask for a figure by its address, and make the same figure with the command."""

import shlex
from pathlib import Path

from playground.__main__ import main
from playground.serving import figure_files

PORTRAIT = Path(__file__).parent.parent.parent / "assets" / "samples" / "portrait.jpg"
KEY = {"X-Playground-Key": "a-key-of-a-browser-in-a-test"}
STRANGER = {"X-Playground-Key": "another-key-of-a-test-browser"}
FLOCK = {"sample": "flock", "model": "bundled", "layer": "3", "head": "2", "query": "4,9"}
FLOCK_FLAGS = "figure flock --layer 3 --head 2 --patch 4,9"
TINY, TINY_FLAGS = {"width": "column", "dpi": "20"}, "--width column --dpi 20"
FILES_WITHOUT_SIZE = {"csv", "npz", "html"}  # files without a width or a resolution


def tiny_options(kind: str) -> tuple[dict, str]:
    return ({}, "") if kind in FILES_WITHOUT_SIZE else (TINY, TINY_FLAGS)


def ask(client, kind: str, words: dict, method: str = "GET", **options):
    headers = KEY if method == "POST" else {}
    return client.request(method, f"/figure.{kind}", params=words, headers=headers | options.pop("headers", {}))


def figure_bytes(client, kind: str, words: dict, method: str = "GET") -> bytes:
    answer = ask(client, kind, words, method)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == figure_files.MEDIA_TYPES[kind]
    return answer.content


def bytes_of_command(flags: str, kind: str, folder: Path) -> bytes:
    words = shlex.split(flags)
    picture = words[1] if len(words) > 1 and not words[1].startswith("-") else "figure"
    layout = words[words.index("--layout") + 1] if "--layout" in words else "head"
    out = folder / f"{picture}-{layout}.{kind}"  # some figures contain the name of their file
    assert main([*words, "-o", str(out)]) == 0
    return out.read_bytes()


def refusal_of(client, kind: str, words: dict, method: str = "GET", status: int = 400, **options) -> str:
    answer = ask(client, kind, words, method, **options)
    assert answer.status_code == status, answer.text[:300]
    return answer.json()["says"]
