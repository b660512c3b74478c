"""The caption of a figure as a file: .txt, or .tex with the figure around it."""

from __future__ import annotations

import re
from pathlib import Path

from playground.figures import layouts
from playground.figures.compose import subjects
from playground.figures.drawing.naming import published
from playground.figures.drawing.spec import Spec
from playground.figures.files import keep

CAPTIONS = (".txt", ".tex")
TEX = {  # what LaTeX reads otherwise, or has no letter for
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "1/√dₖ": r"$1/\sqrt{d_k}$", "×": r"$\times$",
    "−": r"$-$", "’": "'", "‖": r"$\|$", "2^entropy": r"$2^{\mathrm{entropy}}$", "<": r"$<$", ">": r"$>$",
}  # fmt: skip


def write(path: Path, spec: Spec, *subject, **others) -> Path:
    said = words(spec, *subject, **others)
    spec = layouts.settled(spec, subject[0]) if subject else spec  # its title says which layer and which patch
    return keep(path, (said + "\n" if path.suffix.lower() == ".txt" else latex(spec, said, path.stem)).encode())


def words(spec: Spec, *subject, **others) -> str:
    what = layouts.content(*subjects(spec, *subject, **others))
    return " ".join(filter(None, [what.caption, what.prefix if spec.prefix else ""]))


def latex(spec: Spec, said: str, name: str) -> str:
    """As wide as the figure is made; it stands beside the .pdf of the same name."""
    title, rest = layouts.of(spec).title(published(spec)), tex(said)
    width = f"{spec.made_for.width:.4g}in"
    return (
        f"% {title}\n\\begin{{figure}}\n  \\centering\n  \\includegraphics[width={width}]{{{name}.pdf}}\n"
        f"  \\caption{{{rest}}}\n  \\label{{fig:{re.sub(r'[^A-Za-z0-9-]', '-', name)}}}\n\\end{{figure}}\n"
    )


def tex(text: str) -> str:
    text = re.sub(r"1/√(\d+)", "\x00\\1\x00", text)  # marked, so that its signs are not read again
    found = re.compile("|".join(map(re.escape, sorted(TEX, key=len, reverse=True))))
    return re.sub("\x00(\\d+)\x00", r"$1/\\sqrt{\1}$", found.sub(lambda one: TEX[one[0]], text))
