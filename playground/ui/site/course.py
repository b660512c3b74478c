"""A SCORM package and a USB stick, made of the folder without a server."""

from __future__ import annotations

from html import escape
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from playground.serving import figure_files, routes_figures
from playground.serving.here import Here
from playground.ui.site import start

MANIFEST_XML = """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="attention-playground" version="1"
  xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2" xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
<metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
<organizations default="course"><organization identifier="course"><title>Attention Playground</title>
  <item identifier="page" identifierref="index"><title>Attention Playground</title></item>
</organization></organizations>
<resources><resource identifier="index" type="webcontent" adlcp:scormtype="sco" href="index.html">
{files}
</resource></resources></manifest>
"""
START_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Attention Playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; font: 1.1rem/1.5 system-ui, sans-serif }</style>
</head><body><h1>Attention Playground</h1>
<p>These open at once, without a network:</p>
<ul><li><a href="see.html">A photograph</a>: point at it, and see where each patch looks</li>
<li><a href="story.html">The story</a>: how one patch comes to look there, in fourteen scenes</li></ul>
<p>All of it, with the lessons and a photograph of yours, needs Python on this machine: open <code>start.py</code> with
it, or type <code>python3 start.py</code> in this folder. Browsers run the rest from a server alone, not from a
file.</p>
</body></html>
"""


def stick(folder: Path) -> None:
    """Adds what opens by a double click, and a server for the rest."""
    from playground.lessons import teaching
    from playground.serving import slides

    _, subject, spec = routes_figures.preview_figure({}, {})
    scenes = [teaching.SCENES[key] for key in teaching.PLANS[45]]
    (folder / "see.html").write_bytes(figure_files.file(subject, spec, "html"))
    (folder / "story.html").write_text(slides.slides(Here({}), scenes, "The story"), encoding="utf-8")
    (folder / "start.py").write_bytes(Path(start.__file__).read_bytes())
    (folder / "START.html").write_text(START_HTML, encoding="utf-8")


def scorm(folder: Path) -> Path:
    """The folder as a SCORM 1.2 package, a zip beside it. microscope/shell/scorm.js reports to the platform."""
    package = folder.with_name(f"{folder.name}-scorm.zip")
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    names = [file.relative_to(folder).as_posix() for file in files]
    with ZipFile(package, "w", ZIP_DEFLATED) as pack:
        entries = "\n".join(f'  <file href="{escape(name)}"/>' for name in names)
        pack.writestr("imsmanifest.xml", MANIFEST_XML.format(files=entries))
        for file, name in zip(files, names, strict=True):
            pack.write(file, name)
    return package
