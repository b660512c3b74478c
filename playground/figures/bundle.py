"""The microscope's JavaScript as one module.

The browser part is plain ES modules, imported by their file names. A Streamlit component and a self-contained HTML file
need one string, so the modules are concatenated without their import lines. Two rules make this possible: an import is
one line, and an export stands at the start of a line.
"""

import base64
import json
import re
from collections import Counter
from functools import cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, normpath

MICROSCOPE = Path(__file__).parent.parent / "microscope"
NO_REQUESTS = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"  # of a page by itself
LENS_STYLES = ("lens/lens.css", "lens/parts.css")
HOSTED_STYLES = (*LENS_STYLES, "see/see.css", "shell/host.css")  # in somebody's page

_IMPORT = re.compile(r'^import \{[^}]*\} from "((?:\./|(?:\.\./)+)[\w/-]+\.js)";\n', re.MULTILINE)
# The next token of code. Nothing here matches inside a string or a template, because those are passed over as a whole.
_TOKEN = re.compile(
    rf"(?P<left_out>{_IMPORT.pattern}|^export (?=(?:async )?(?:function\*?|const|let|class) ))"
    r"|(?P<refused>^(?:import |export (?!default )).*)"
    r"|(?P<gap>(?:\s|//.*|/\*(?s:.*?)\*/)+)"
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$#]+|(?s:.)""",
    re.MULTILINE,
)
_REGULAR_EXPRESSION = re.compile(r"/(?![/*])(?:\[(?:[^\]\\\n]|\\.)*\]|\\.|[^/\\\n\[])+/\w*")
_TEMPLATE_PART = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_END_OF_VALUE = re.compile(r"[\w$)\]}\"'`]$")  # a / after it divides, one after anything else begins a literal
_NO_VALUES = ("return", "typeof", "case", "of", "in")
_NEEDED_SPACE = re.compile(r"[\w$#/][\w$#]|([+/-])\1")  # what stands before and after it
_NEEDED_BREAK = re.compile(r"[;}][^}\]).,;:?&|=]")  # keeps the lines of a bundle short; a statement ends with ; or }
_STYLE_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
_STYLE_SPACE = re.compile(r"\s*([{};,])\s*|(?<=:)[ ]+")
_DECLARATION = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|class) ([\w$]+)", re.MULTILINE)
# A function or constant at the top of a module: its first line, and the lines that are indented or close a bracket.
# What then ends with a comment, or has lines of another kind, is not matched.
_TOP_LEVEL = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|const) ([\w$]+).*(?:\n(?:[ \t}\])`].*|(?=\n)))*(?<=[;}])"
    r"(?=\s*(?:\n[^\s}\])`{]|\Z))",
    re.MULTILINE,
)


@cache
def bundle(*entries: str) -> str:
    """The entry modules and what they use of all modules that they import, as one ES module. Only `export default`
    stays an export.

    `bundle("lens/lens.js")` exports nothing and leaves `createLens` in its scope, for a page that inlines it.
    """
    module_names: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in module_names:
            return
        if name in path:
            raise ValueError(f"the modules import each other in a circle: {' → '.join((*path, name))}")
        for imported_name in _IMPORT.findall(_source(name)):
            visit(normpath(f"{dirname(name)}/{imported_name}"), (*path, name))
        module_names.append(name)

    for entry in entries:
        visit(entry, ())
    owners: dict[str, str] = {}
    sources = {name: _source(name) for name in module_names}
    for name, source in sources.items():
        for declared_name in _DECLARATION.findall(source):
            if declared_name in owners:
                raise ValueError(f"{name} and {owners[declared_name]} both declare {declared_name}: they would collide")
            owners[declared_name] = name
    modules = (f"// ---- {name}\n{shortened(source)}\n" for name, source in _without_unused(sources, entries).items())
    return "\n".join(modules).replace("</script", r"<\/script")  # escaped, because it would end an HTML script element


def _without_unused(sources: dict[str, str], entries: tuple[str, ...]) -> dict[str, str]:
    """The modules, without functions and constants that nothing else names. The entries stay whole."""
    mentions = Counter(word for source in sources.values() for word in _words(source))
    used = dict(sources)
    while True:
        unused = [
            (name, top_level[0])
            for name in used.keys() - set(entries)
            for top_level in _TOP_LEVEL.finditer(used[name])
            if mentions[top_level[1]] == 1
        ]
        if not unused:
            return used
        for name, code in unused:
            used[name] = used[name].replace(code, "", 1)
            mentions.subtract(_words(code))


def _words(source: str) -> list[str]:
    return re.findall(r"[\w$]+", shortened(source))


@cache
def shortened(source: str) -> str:
    """A module's source without imports, the word export, comments, and the spaces and line breaks that code does not
    need. Strings, regular expressions and templates stay as they are."""
    pieces, place, gap = [""], 0, ""
    open_braces: list[int] = []  # in each ${…} of the templates around this place
    in_template = False
    while place < len(source):
        token = None
        if in_template:
            token = _TEMPLATE_PART.match(source, place)
        elif source[place] == "/" and (pieces[-1] in _NO_VALUES or not _END_OF_VALUE.search(pieces[-1])):
            token = _REGULAR_EXPRESSION.match(source, place)
        token = token or _TOKEN.match(source, place)
        assert token
        text, place = token[0], token.end()
        if token.lastgroup == "refused":
            raise ValueError(f"an import or export that is not on one line of its own: {text}")
        if token.lastgroup:
            gap += text if token.lastgroup == "gap" else ""
            continue
        sides = pieces[-1][-1:] + text[0]
        is_break = "\n" in gap and _NEEDED_BREAK.match(sides)
        pieces += ["\n" if is_break else " " if gap and _NEEDED_SPACE.match(sides) else "", text]
        gap = ""
        if in_template or text == "`":
            in_template = not in_template and text == "`"
            open_braces += [0] if text.endswith("${") else []
        elif open_braces and text in ("{", "}"):
            open_braces[-1] += 1 if text == "{" else -1
            if open_braces[-1] < 0:
                open_braces.pop()
                in_template = True
    return "".join(pieces)


def drawing_module(entry: str, mounts: str) -> str:
    """Like `bundle`; if `mounts` names one of the entry's functions, that function becomes the default export."""
    return f"{bundle(entry)}\nexport default {mounts};\n" if mounts else bundle(entry)


@cache
def stylesheet(*names: str) -> str:
    """Joins stylesheets, by default the microscope's, without comments and spaces."""
    text = "\n".join(map(_source, names or LENS_STYLES))
    return _STYLE_SPACE.sub(lambda match: (match[1] or "") + "\n" * (match[1] == "}"), _STYLE_COMMENT.sub("", text))


def policy_source(text: str) -> str:
    """What a content security policy calls exactly this text."""
    return f"'sha256-{in_base64(sha256(text.encode()).digest())}'"


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _source(name: str) -> str:
    return (MICROSCOPE / name).read_text(encoding="utf-8")


@cache
def widget_module() -> str:
    """The microscope as a module of anywidget."""
    return f"{bundle('shell/widget.js')}\nexport default lensWidget({json.dumps(stylesheet(*HOSTED_STYLES))});\n"


@cache
def embedded_module() -> str:
    """The microscope as one module for other people's pages; it defines `<attention-lens>` and exports `load`."""
    parts = {
        "styles": stylesheet(*HOSTED_STYLES),
        "worker": f'"use strict";\n{bundle("engine/worker.js")}',
        "kernels": in_base64((MICROSCOPE / "engine" / "kernels.wasm").read_bytes()),
    }
    exports = "AttentionLens, LensError, load"
    return f"{bundle('shell/attentionlens.js')}\nbeginAttentionLens({json.dumps(parts)});\nexport {{ {exports} }};\n"
