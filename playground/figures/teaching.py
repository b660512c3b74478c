"""Makes a lecturer's sheets to print, and slides, from playground/lessons/teaching.py."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from playground.figures.bundle import NO_REQUESTS, bundle, in_base64, policy_source, stylesheet
from playground.figures.html import LOADER
from playground.lessons import teaching
from playground.lessons.teaching import ASKING_TOKEN, COMMA_LANGUAGES, TOKENS, VALUES, local, sheet_words
from playground.numbers import percent

SHEET_TEMPLATE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
@page {{ margin: 15mm 18mm }}
body {{ max-width: 174mm; margin: auto; font: 10.5pt/1.4 "Source Sans 3", "Source Sans Pro", system-ui, sans-serif }}
h1 {{ margin: 0 0 .4em; font-size: 18pt }}
h1:not(:first-child) {{ break-before: page }}
p {{ margin: .4em 0 }}
table {{ width: 100%; border-collapse: collapse; margin: .8em 0; font-variant-numeric: tabular-nums }}
td, th {{ border: .6pt solid; padding: .25em; height: 1.5em; text-align: center }}
.formulas {{ display: flex; justify-content: space-around; font-size: 12pt }}
.question {{ break-inside: avoid; margin: .7em 0 }}
.answer {{ min-height: 2.6em; padding-left: 1.2em }}
.options, .why {{ margin: .1em 0 0 1.6em }}
.why {{ font-size: 9.5pt }}
</style>
</head>
<body>
{body}
</body>
</html>
"""
FORMULAS = (
    "<i>s<sub>j</sub></i> = <i>q · k<sub>j</sub></i> / √<i>d<sub>k</sub></i>",
    "<i>a<sub>j</sub></i> = e<sup><i>s<sub>j</sub></i></sup> / (e<sup><i>s</i><sub>A</sub></sup> + … + "
    "e<sup><i>s</i><sub>I</sub></sup>)",
    "<i>z</i> = <i>a</i><sub>A</sub> <i>v</i><sub>A</sub> + … + <i>a</i><sub>I</sub> <i>v</i><sub>I</sub>",
)


def sheet(name: str, language: str = "en") -> str:
    """The HTML of a sheet to print."""
    kind, is_key = name.removesuffix("-key"), name.endswith("-key")
    title = sheet_words(language)[kind]
    return SHEET_TEMPLATE.format(title=title, language=language, body=SHEETS[name](is_key, language))


def _words(text: str) -> str:
    return re.sub(r"d_k", "<i>d<sub>k</sub></i>", html.escape(text, quote=False))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{cell.replace('-', '−')}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _title(title: str, is_key: bool, words: dict[str, str]) -> str:
    return f"<h1>{words['key'].format(title=title) if is_key else title}</h1>"


def handout(is_key: bool, language: str) -> str:
    """One row by hand, and questions on the back. `is_key`: the teacher's copy, with the numbers filled in."""
    given, asker, words = teaching.sheet(), TOKENS[ASKING_TOKEN], sheet_words(language)

    def write(number: float, digits: int = 2) -> str:
        return local(f"{number:.{digits}f}", language)

    comma = "; " if language in COMMA_LANGUAGES else ", "  # between two numbers
    tokens = [
        (TOKENS[i], *(f"({write(x, 1)}{comma}{write(y, 1)})" for x, y in (given.queries[i], given.keys[i])),
         str(VALUES[i]))
        for i in range(len(TOKENS))
    ]  # fmt: skip
    columns = zip(given.products, given.scores, given.powers, given.weights, VALUES, strict=True)
    steps = [
        (TOKENS[i], *((write(p), write(s), write(e), write(w, 3), write(w * v)) if is_key else ("",) * 5))
        for i, (p, s, e, w, v) in enumerate(columns)
    ]
    totals = (write(sum(given.powers)), "1", write(given.mixture)) if is_key else ("", "", "")
    all_rows = [
        (letter, *((write(weight, 3) for weight in row) if is_key else ("",) * len(TOKENS)), "1")
        for letter, row in zip(TOKENS, given.all_rows, strict=True)
    ]
    numbers = {"asker": asker, **_answers(given, write, language)}
    questions = [
        f'<div class="question"><b>{_words(words[f"ask{n}"].format(**numbers))}</b>'
        f'<div class="answer">{_words(words[f"answer{n}"].format(**numbers)) if is_key else ""}</div></div>'
        for n in range(1, 6)
    ]
    return "\n".join([
        _title(words["handout"], is_key, words),
        f"<p>{words['intro'].format(asker=asker)}</p>",
        _table(
            (words["token"], f"{words['query']} <i>q</i>", f"{words['keyColumn']} <i>k</i>",
             f"{words['value']} <i>v</i>"), tokens,
        ),
        f"<p>{words['steps'].format(asker=asker)}</p>",
        f'<p class="formulas">{"".join(f"<span>{formula}</span>" for formula in FORMULAS)}</p>',
        _table(
            (words["forKey"], "<i>q · k<sub>j</sub></i>", "÷ √2 = <i>s<sub>j</sub></i>",
             "e<sup><i>s<sub>j</sub></i></sup>", f"{words['weight']} <i>a<sub>j</sub></i>",
             "<i>a<sub>j</sub> v<sub>j</sub></i>"), [*steps, (words["sum"], "", "", *totals)],
        ),
        f"<p>{words['check']}</p>",
        _title(words["back"], is_key, words),
        *questions,
        f"<p>{words['allRows'].format(asker=asker)}</p>",
        _table((words["asks"], *TOKENS, words["sum"]), all_rows),
    ])  # fmt: skip


def _answers(given: teaching.Sheet, write: Callable[[float, int], str], language: str) -> dict[str, str]:
    """{placeholder: number or letter} of the answers on the back of the handout."""
    first, second, *_ = sorted(range(len(TOKENS)), key=given.weights.__getitem__, reverse=True)
    largest = given.weights[first]
    return {
        "best": TOKENS[first], "largest": local(percent(largest), language),
        "returned": local(percent(given.all_rows[first][ASKING_TOKEN]), language),
        "even": write(1 / 9, 3), "most": write(largest, 3), "second": TOKENS[second],
        "before": write(given.weights[second], 3), "after": write(given.weights[second] / (1 - largest), 3),
        "highest": str(max(VALUES)), "lowest": str(min(VALUES)),
    }  # fmt: skip


def quiz(is_key: bool, language: str) -> str:
    words = sheet_words(language)
    lines = [_title(words["quiz"], is_key, words)]
    for number, question in enumerate(teaching.quiz(language), start=1):
        options = [
            f"<div>{'☒' if is_key else '☐'} {teaching.OPTION_KEYS[position]}) {_words(option)}</div>"
            for position, option in enumerate(question.options)
            if not is_key or position == question.right  # without the wrong answers, the key fits on two sides
        ]
        why = f'<div class="why">{_words(question.why)}</div>' if is_key else ""
        lines.append(
            f'<div class="question"><b>{number}. {_words(question.asks)}</b>'
            f'<div class="options">{"".join(options)}</div>{why}</div>'
        )
    return "\n".join(lines)


SHEETS: dict[str, Callable[[bool, str], str]] = {
    "handout": handout, "handout-key": handout, "quiz": quiz, "quiz-key": quiz
}  # fmt: skip


# Slides: a plan in one HTML file, which makes no request and so can be shown without a network.

PAGE_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main id="place"><noscript>These slides need JavaScript; they ask nobody for anything.</noscript></main>
<nav><small>{credit}</small><span id="count"></span><button id="notes">notes in a window (N)</button>
<button id="back" aria-label="the slide before">←</button><button id="on" aria-label="the next slide">→</button></nav>
<script type="application/json" id="slides">{slides}</script>
{scripts}
</body>
</html>
"""


@dataclass(frozen=True)
class Slide:
    title: str
    minutes: str  # such as "minute 5 to 17"
    notes: str  # for the lecturer
    story: int = 0  # the story's scene on this slide; 0: none
    lesson: dict[str, Any] | None = None  # a lesson's step on this slide: see microscope/lessons/slides.js


@dataclass(frozen=True)
class MountedScript:
    """A script that draws a part of a lesson."""

    code: str  # a module whose default export mounts the script
    styles: str
    box: str  # the script draws into <div class="{box}" data-{box}>
    look: str = ""  # a second class of that div


@dataclass(frozen=True)
class Deck:
    slides: Sequence[Slide]
    scripts: Mapping[str, MountedScript]
    story: str = ""  # the HTML of the story's frame, see `story` in playground/figures/html.py
    files: Mapping[str, str] = field(default_factory=dict)  # a file's name -> its data in base64
    credit: str = ""  # the picture's author and licence


def page(title: str, deck: Deck) -> str:
    """The HTML. Its content security policy allows the story's script too, because a frame obeys its page's policy."""
    scripts_used = {name: deck.scripts[name] for name in scripts_of(deck)}
    styles = {f"{name}.css": in_base64(script.styles.encode()) for name, script in scripts_used.items()}
    scripts = {
        name: {"styles": f"{name}.css", "box": script.box, "look": script.look} for name, script in scripts_used.items()
    }
    module_scripts = [
        *(_mount_script(name, script.code) for name, script in scripts_used.items()),
        bundle("lessons/slides.js"),
    ]
    all_scripts = [*module_scripts, LOADER, bundle("shell/lecture.js")] if deck.story else module_scripts
    slides = [asdict(slide) for slide in deck.slides]
    content = {"slides": slides, "story": deck.story, "files": {**deck.files, **styles}, "scripts": scripts}
    return PAGE_TEMPLATE.format(
        policy=f"{NO_REQUESTS}; style-src 'unsafe-inline'; script-src {' '.join(map(policy_source, all_scripts))}",
        title=html.escape(title),
        credit=html.escape(deck.credit),
        style=stylesheet("lessons/slides.css"),
        slides=json.dumps(content).replace("<", r"\u003c"),  # no text can end the script element
        scripts="\n".join(f'<script type="module">{text}</script>' for text in module_scripts),
    )


def scripts_of(deck: Deck) -> list[str]:
    """The names of the lessons' scripts that the deck's slides mount."""
    names = set()

    def collect(part: object) -> None:
        if isinstance(part, dict):
            if part.get("kind") == "ask":
                names.add("guess")
            elif part.get("kind") == "drawing":
                names.add(part["name"])
        for child in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            collect(child)

    collect([slide.lesson for slide in deck.slides])
    return sorted(names)


def _mount_script(name: str, code: str) -> str:
    """Puts the default export into globalThis.mounts, because a page without a server can't import it by an address."""
    return re.sub(r"^export default ", f"(globalThis.mounts ??= {{}}).{name} = ", code, flags=re.MULTILINE)
