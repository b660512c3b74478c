"""The microscope's JavaScript as one module, and the container in which numbers travel to it.

The browser part is plain ES modules, imported by their file names. A Streamlit component and a self-contained HTML file
both want one string, so the modules are put one after another and the lines that tied them together are dropped. The
modules keep to two rules that make this enough: an import is one line, and an export stands at the start of a line.
"""

import json
import re
import struct
from functools import cache
from pathlib import Path

MICROSCOPE = Path(__file__).parent / "microscope"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) )", re.MULTILINE)
_NAME = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) ([\w$]+)", re.MULTILINE)
_DTYPES = {"e": "float16", "f": "float32", "B": "uint8"}


@cache
def bundle(entry: str = "streamlit.js") -> str:
    """The entry module and all it imports, as one ES module. Only `export default` stays an export.

    `bundle("lens.js")` exports nothing and leaves `createLens` in its scope, for a page that inlines it.
    """
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in order:
            return
        if name in path:
            raise ValueError(f"the modules import each other in a circle: {' → '.join((*path, name))}")
        for needed in _IMPORT.findall(_source(name)):
            visit(needed, (*path, name))
        order.append(name)

    visit(entry, ())
    owners: dict[str, str] = {}
    parts = []
    for name in order:
        source = _source(name)
        for declared in _NAME.findall(source):
            if declared in owners:
                raise ValueError(f"{name} and {owners[declared]} both declare {declared}: they would collide")
            owners[declared] = name
        body = _EXPORT.sub("", _IMPORT.sub("", source))
        if re.search(r"^import |^export (?!default )", body, re.MULTILINE):
            raise ValueError(f"{name} has an import or export that is not on one line of its own")
        parts.append(f"// ---- {name}\n{body.strip()}\n")
    return "\n".join(parts)


@cache
def stylesheet() -> str:
    """The microscope's CSS."""
    return (MICROSCOPE / "lens.css").read_text(encoding="utf-8")


def blob(header: dict, sections: dict) -> bytes:
    """Packs numbers for the browser: u32 header length, JSON header, sections; all of them at multiples of 16.

    Sections are bytes or C-contiguous arrays of float16, float32 or uint8. Their offsets count from the end of the
    padded header and are written into it under `sections`.
    """
    views = {name: memoryview(values) for name, values in sections.items()}
    places, offset = {}, 0
    for name, view in views.items():
        if view.format not in _DTYPES:
            raise ValueError(f"section {name} holds {view.format!r}; float16, float32 and bytes can travel")
        if not view.c_contiguous:
            raise ValueError(f"section {name} is not C-contiguous")
        places[name] = {"offset": offset, "dtype": _DTYPES[view.format], "shape": list(view.shape)}
        offset += -(-view.nbytes // 16) * 16
    text = json.dumps({**header, "sections": places}, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % 16)
    out = bytearray(struct.pack("<I", len(text)) + text)
    for view in views.values():
        out += view.cast("B") if view.nbytes else b""
        out += b"\0" * (-len(out) % 16)
    return bytes(out)


def _source(name: str) -> str:
    return (MICROSCOPE / name).read_text(encoding="utf-8")
