"""The microscope's JavaScript as one module.

The browser part is plain ES modules, imported by their file names. A Streamlit component and a self-contained HTML file
need one string, so the modules are concatenated without their import lines. Two rules make this possible: an import is
one line, and an export stands at the start of a line.
"""

import base64
import json
import re
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath

MICROSCOPE = Path(__file__).parent.parent / "microscope"
LENS_STYLES = ("lens/lens.css", "lens/parts.css")

_IMPORT = re.compile(r'^import \{[^}]*\} from "((?:\./|(?:\.\./)+)[\w/-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|let|class) )", re.MULTILINE)
# Matches comments, a third of all bytes: whole lines, and ends of lines. If a quote follows //, both might belong to a
# string, so an end of a line with a quote counts as a comment only after ; , or {.
_COMMENT = re.compile(r"^[ \t]*//.*\n|(?<=[;,{])[ \t]+// .*$|[ \t]+// [^\n\"'`]*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)  # an eighth of all bytes; also removed from HTML in templates
_NEEDLESS_BREAK = re.compile(r"(?<=[,({\[])\n+|\n+(?=[\n})\].?:&|])")  # line breaks inside a statement, and empty lines
_NEEDLESS_SPACE = re.compile(  # spaces beside brackets and operators
    r"(?<=\)) (?=\{)| (?==>)|(?<==>) |(?<=\{) | (?=\})|(?<=\bif) (?=\()|(?<=\bfor) (?=\()|(?<=\belse) (?=\{)"
    r"| (?=[!=]==|[<>]=|&&|\|\||\?\?)|(?<=[!=]==) |(?<=[<>]=) |(?<=&&) |(?<=\|\|) |(?<=\?\?) | (?=[*?=] )|(?<= [*?=]) "
    r"|(?<=[,:]) "
)
# A string or a regular expression: in formatted code the / of a division stands before a space
_LITERAL = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/(?![/ *=])(?:\[(?:[^\]\\\n]|\\.)*\]|\\.|[^/\\\n\[])+/'
_CODE_SIGN = re.compile(f"{_LITERAL}|[`{{}}]")
_TEMPLATE_SIGN = re.compile(r"\\.|`|\$\{", re.DOTALL)
_STYLE_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
_STYLE_SPACE = re.compile(r"\s*([{};,])\s*|(?<=:)[ ]+")
_EXPORTED_FUNCTION = re.compile(r"^export function (\w+)\(", re.MULTILINE)
_DECLARATION = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|class) ([\w$]+)", re.MULTILINE)


@cache
def bundle(entry: str) -> str:
    """The entry module and all modules that it imports, as one ES module. Only `export default` stays an export.

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

    visit(entry, ())
    owners: dict[str, str] = {}
    modules = []
    for name in module_names:
        source = _source(name)
        for declared_name in _DECLARATION.findall(source):
            if declared_name in owners:
                raise ValueError(f"{name} and {owners[declared_name]} both declare {declared_name}: they would collide")
            owners[declared_name] = name
        code = _code(source)
        if re.search(r"^import |^export (?!default )", code, re.MULTILINE):
            raise ValueError(f"{name} has an import or export that is not on one line of its own")
        modules.append(f"// ---- {name}\n{code}\n")
    return "\n".join(modules).replace("</script", r"<\/script")  # escaped, because it would end an HTML script element


@cache
def _code(source: str) -> str:
    """A module's source without imports, the word export, comments and the spaces that code does not need."""
    return _compressed(_INDENT.sub("", _EXPORT.sub("", _COMMENT.sub("", _IMPORT.sub("", source))))).strip()


def _compressed(script: str) -> str:
    """Takes out empty lines, line breaks inside statements, and spaces around operators, but not in strings, regular
    expressions and templates."""
    pieces, start, place, in_template = [], 0, 0, False
    open_braces: list[int] = []  # in each ${…} of the templates around this place
    while sign := (_TEMPLATE_SIGN if in_template else _CODE_SIGN).search(script, place):
        place = sign.end()
        if in_template:
            if sign[0] not in ("${", "`"):
                continue
            open_braces += [0] if sign[0] == "${" else []
        elif sign[0] in "{}":
            if not open_braces:
                continue
            open_braces[-1] += 1 if sign[0] == "{" else -1
            if open_braces[-1] >= 0:
                continue
            open_braces.pop()
        elif sign[0] != "`":  # a string or a regular expression
            pieces += [_without_spaces(script[start : sign.start()]), sign[0]]
            start = place
            continue
        pieces.append(script[start:place] if in_template else _without_spaces(script[start:place]))
        start, in_template = place, not in_template
    return "".join([*pieces, _without_spaces(script[start:])])


def _without_spaces(code: str) -> str:
    return _NEEDLESS_SPACE.sub("", _NEEDLESS_BREAK.sub("", code))


def drawing_module(entry: str, mounts: str) -> str:
    """Like `bundle`; if `mounts` names one of the entry's functions, that function becomes the default export."""
    return f"{bundle(entry)}\nexport default {mounts};\n" if mounts else bundle(entry)


def exported_functions(entry: str) -> set[str]:
    """The names of the functions that the entry exports; `mounts` in `drawing` is one of them."""
    return set(_EXPORTED_FUNCTION.findall(_source(entry)))


@cache
def stylesheet(*names: str) -> str:
    """Joins stylesheets, by default the microscope's, without comments and spaces."""
    text = "\n".join(map(_source, names or LENS_STYLES))
    return _STYLE_SPACE.sub(lambda match: (match[1] or "") + "\n" * (match[1] == "}"), _STYLE_COMMENT.sub("", text))


def _source(name: str) -> str:
    return (MICROSCOPE / name).read_text(encoding="utf-8")


@cache
def embedded_module() -> str:
    """The microscope as one module for other people's pages; it defines `<attention-lens>` and exports `load`."""
    parts = {
        "styles": stylesheet(),
        "worker": f'"use strict";\n{bundle("engine/worker.js")}',
        "kernels": base64.b64encode((MICROSCOPE / "engine" / "kernels.wasm").read_bytes()).decode(),
    }
    exports = "AttentionLens, LensError, load"
    return f"{bundle('shell/attentionlens.js')}\nbeginAttentionLens({json.dumps(parts)});\nexport {{ {exports} }};\n"
