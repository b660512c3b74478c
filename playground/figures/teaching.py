"""Makes a lecturer's handouts and slides from playground/lessons/teaching.py. Slides show the interactive microscope
beside questions for the audience.

python -m playground.figures.teaching          the plans and the notes, as text, into assets/teaching
python -m playground.figures.teaching FOLDER   also the PDFs of the page Teach: a handout of one sheet and a quiz,
                                               each with its key, for A4 and for Letter
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from itertools import product
from pathlib import Path

from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from playground.assets import TEACHING
from playground.figures.bundle import bundle, stylesheet
from playground.figures.drawing import captions
from playground.figures.drawing.sheet import house_style
from playground.lessons import teaching
from playground.lessons.teaching import ASKING_TOKEN, MISCONCEPTIONS, PLANS, TOKENS, VALUES

PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}  # inches
MARGIN, LINE_HEIGHT = 0.8, 0.2  # inches
LETTERS_PER_LINE = 108  # characters in a line of text


@dataclass
class Page:
    """A sheet of paper that is written from the top downwards."""

    figure: Figure
    y: float = MARGIN

    @staticmethod
    def of(paper: str) -> Page:
        return Page(Figure(figsize=PAPERS[paper]))

    def write(self, text: str, size: float = 10.5, bold: bool = False, indent: float = 0.0) -> None:
        page_width, page_height = self.figure.get_size_inches()
        text = text.replace("√d_k", r"$\sqrt{d_k}$")
        text = re.sub(r"(?<![{\w])d_k(?!})", "$d_k$", text)
        for line in textwrap.wrap(text, round((LETTERS_PER_LINE - indent * 14) * 10.5 / size)) or [""]:
            self.figure.text(
                (MARGIN + indent) / page_width, 1 - self.y / page_height, line, fontsize=size, va="top",
                fontweight="bold" if bold else "normal",
            )  # fmt: skip
            self.y += LINE_HEIGHT * size / 10.5
        self.y += 0.04

    def formula(self, text: str) -> None:
        """One formula on a line of its own, centred."""
        page_height = self.figure.get_size_inches()[1]
        self.figure.text(0.5, 1 - (self.y + 0.12) / page_height, text, fontsize=13, ha="center", va="center")
        self.y += 0.42

    def table(self, rows: list[list[str]], widths: list[float], size: float = 10.5, row_height: float = 0.34) -> None:
        """Cells with lines around them; the first row is the heading."""
        page_width, page_height = self.figure.get_size_inches()
        axes = self.figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, page_width), ylim=(page_height, 0))
        axes.axis("off")
        for row_number, row in enumerate(rows):
            x, y = MARGIN, self.y + row_number * row_height
            for cell, width in zip(row, widths, strict=True):
                axes.plot(
                    [x, x + width, x + width, x, x], [y, y, y + row_height, y + row_height, y], "k", linewidth=0.6
                )
                axes.text(
                    x + width / 2, y + row_height / 2, cell, fontsize=size, ha="center", va="center",
                    fontweight="bold" if row_number == 0 else "normal",
                )  # fmt: skip
                x += width
        self.y += len(rows) * row_height + 0.2


def handout(paper: str, key: bool) -> list[Page]:
    """The pages of the handout. `key`: the teacher's copy, with the numbers filled in."""
    page, sheet = Page.of(paper), teaching.sheet()
    asker = TOKENS[ASKING_TOKEN]
    page.write("Attention by hand" + (": the key" if key else ""), 18, bold=True)
    page.write(
        "Nine tokens. Each has a query, a key (two numbers each) and a value (one number). Compute the row of weights "
        f"of token {asker}, and what {asker} receives. A calculator helps; two decimals are enough."
    )
    rows = [["token", "query q", "key k", "value v"]]
    rows += [
        [TOKENS[i], *(f"({x:.1f}, {y:.1f})" for x, y in (sheet.queries[i], sheet.keys[i])), str(VALUES[i])]
        for i in range(len(TOKENS))
    ]
    page.table(_with_minus_signs(rows), [0.8, 1.6, 1.6, 1.0], row_height=0.27)
    page.write(
        f"1.  Multiply {asker}'s query with each key.   2.  Divide by the root of two, 1.41: the score.   3.  Take e "
        "to that power.   4.  Add the nine powers up. Each weight is a power divided by this sum.   5.  Mix the "
        "values: add up weight × value."
    )
    page.formula(
        r"$s_j = \frac{q \cdot k_j}{\sqrt{d_k}} = \frac{q_1 k_{j1} + q_2 k_{j2}}{\sqrt{2}}$"
        + " " * 8
        + r"$a_j = \frac{e^{s_j}}{e^{s_A} + e^{s_B} + \dots + e^{s_I}}$"
        + " " * 8
        + r"$z = a_A v_A + a_B v_B + \dots + a_I v_I$"
    )
    header = ["for key", r"$q \cdot k_j$", r"$\div\ \sqrt{2} = s_j$", r"$e^{s_j}$", r"weight $a_j$", r"$a_j v_j$"]
    columns = zip(sheet.products, sheet.scores, sheet.powers, sheet.weights, VALUES, strict=True)
    rows = [header] + [
        [TOKENS[i], *((f"{p:.2f}", f"{s:.2f}", f"{e:.2f}", f"{w:.3f}", f"{w * v:.2f}") if key else ("",) * 5)]
        for i, (p, s, e, w, v) in enumerate(columns)
    ]
    rows.append(["sum", "", "", *((f"{sum(sheet.powers):.2f}", "1", f"{sheet.mixture:.2f}") if key else ("", "", ""))])
    page.table(_with_minus_signs(rows), [0.9, 1.1, 1.1, 1.1, 1.1, 1.4], row_height=0.29)
    page.write("Check on the screen: page By hand, Start again. The questions are on the back.", 9)
    return [page, _back_page(paper, key, sheet)]


def _back_page(paper: str, key: bool, sheet: teaching.Sheet) -> Page:
    """The back page: questions with room to write, then a table of all rows, which the class fills in together."""
    page, asker = Page.of(paper), TOKENS[ASKING_TOKEN]
    page.write("What the row says" + (": the key" if key else ""), 18, bold=True)
    order = sorted(range(len(TOKENS)), key=sheet.weights.__getitem__, reverse=True)
    best_token, second_token = (TOKENS[n] for n in order[:2])
    share = sheet.weights[order[1]] / (1 - sheet.weights[order[0]])
    for question, answer in (
        (f"Whom does {asker} listen to most? Does that token listen to {asker} as much?", f"{best_token}, with "
         f"{captions.percent(max(sheet.weights))}. No: {best_token} gives {asker} "
         f"{captions.percent(sheet.all_rows[order[0]][ASKING_TOKEN])}. Its row comes from {best_token}'s query and "
         f"{asker}'s key."),
        (f"Set {asker}'s query to (0, 0). What are the weights now?", f"1/9 = {1 / 9:.3f} each: all scores are 0."),
        ("Add 5 to every score. Which weight changes?", "None: only differences count."),
        (f"Hide {best_token}: −∞ is added to its score. What becomes of the other weights?", "Each is divided by "
         f"what is left, 1 − {sheet.weights[order[0]]:.3f}: {second_token} rises from {sheet.weights[order[1]]:.3f} to "
         f"{share:.3f}."),
        (f"What is the most, and the least, that {asker} can receive?", f"{max(VALUES)} and {min(VALUES)}: a weighted "
         "mean lies between the smallest and the largest value."),
    ):  # fmt: skip
        page.write(question, bold=True)
        page.write(answer if key else "", indent=0.2)
        page.y += 0 if key else 0.3
    page.y += 0.15
    instruction = teaching.ROW_DIVISION[0].upper() + teaching.ROW_DIVISION[1:]
    page.write(f"All rows. {instruction}; {asker}'s is on the front. Every row sums to 1.")
    rows = [["asks", *TOKENS, "sum"]]
    for letter, row in zip(TOKENS, sheet.all_rows, strict=True):
        rows.append([letter, *((f"{weight:.3f}" for weight in row) if key else ("",) * len(TOKENS)), "1"])
    page.table(rows, [0.55, *([0.57] * len(TOKENS)), 0.5], size=9.5, row_height=0.36)
    return page


def quiz(paper: str, key: bool) -> list[Page]:
    pages = [Page.of(paper)]
    pages[0].write("Thirteen questions on attention" + (": the key" if key else ""), 18, bold=True)
    for number, question in enumerate(teaching.quiz(), start=1):
        if pages[-1].y > PAPERS[paper][1] - MARGIN - 1.6:
            pages.append(Page.of(paper))
        page = pages[-1]
        page.write(f"{number}.  {question.asks}", bold=True)
        for position, option in enumerate(question.options):
            if not key or position == question.right:  # without the wrong answers, the key fits on two sheets
                page.write(f"{'☒' if key else '☐'}  {'abcd'[position]})  {option}", indent=0.25)
        if key:
            page.write(question.why, 9.5, indent=0.5)
        page.y += 0.08
    return pages


def _with_minus_signs(rows: list[list[str]]) -> list[list[str]]:
    return [[cell.replace("-", "−") for cell in row] for row in rows]


def plan(minutes: int) -> str:
    lines, minute = [f"# A plan for {minutes} minutes", "", "| minute | what | do | opens |", "|---|---|---|---|"], 0
    for scene in teaching.plan(minutes):
        lines.append(f"| {minute} | {scene.title} | {scene.do} | `{scene.link(lean=True)}` |")
        minute += scene.minutes
    return "\n".join([*lines, "", "The links are relative to the address of the running app.", ""])


def notes() -> str:
    lines = ["# Teacher's notes: what students often say", ""]
    for note in MISCONCEPTIONS:
        lines += [f"**“{note.heard}”** {note.true} Show it: `{note.show.link()}`", ""]
    return "\n".join(lines)


SHEETS: dict[str, Callable[[str], list[Page]]] = {  # name -> (a paper's name -> pages)
    "handout": partial(handout, key=False), "handout-key": partial(handout, key=True),
    "quiz": partial(quiz, key=False), "quiz-key": partial(quiz, key=True),
}  # fmt: skip


def texts() -> dict[str, str]:
    return {f"plan-{minutes}.md": plan(minutes) for minutes in PLANS} | {"notes.md": notes()}


@lru_cache
def pdf(name: str, paper: str) -> bytes:
    """The bytes of a PDF with this sheet."""
    buffer = io.BytesIO()
    with house_style(), PdfPages(buffer, metadata={"CreationDate": None, "Title": f"{name}-{paper}"}) as pages:
        for page in SHEETS[name](paper):
            pages.savefig(page.figure)
    return buffer.getvalue()


def main(arguments: list[str]) -> None:
    folder = Path(*arguments) if arguments else TEACHING
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, paper in product(SHEETS, PAPERS) if arguments else ():
        file = folder / f"{name}-{paper}.pdf"
        file.write_bytes(pdf(name, paper))
        print(file)


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
<nav><span id="count"></span><button id="notes">notes (N)</button>
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
    lesson: dict | None = None  # a lesson's step on this slide: see microscope/lessons/slides.js


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


def page(title: str, deck: Deck) -> str:
    """The HTML. Its content security policy allows the story's script too, because a frame obeys its page's policy."""
    script_names = scripts_of(deck)
    scripts_used = {name: deck.scripts[name] for name in script_names}
    files = {**deck.files, **{f"{name}.css": _base64(script.styles.encode()) for name, script in scripts_used.items()}}
    scripts = {
        name: {"styles": f"{name}.css", "box": script.box, "look": script.look} for name, script in scripts_used.items()
    }
    module_scripts = [
        *(_mount_script(name, script.code) for name, script in scripts_used.items()),
        bundle("lessons/slides.js"),
    ]
    all_scripts = [*module_scripts, bundle("shell/lecture.js")] if deck.story else module_scripts
    content = {
        "slides": [asdict(slide) for slide in deck.slides],
        "story": deck.story,
        "files": files,
        "scripts": scripts,
    }
    return PAGE_TEMPLATE.format(
        policy=(
            "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            f"script-src {' '.join(map(_digest, all_scripts))}; base-uri 'none'; form-action 'none'"
        ),
        title=html.escape(title),
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


def _digest(text: str) -> str:
    return f"'sha256-{_base64(sha256(text.encode()).digest())}'"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


if __name__ == "__main__":
    main(sys.argv[1:])
