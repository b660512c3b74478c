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
<style>body {{ max-width: 40rem; margin: 3rem auto; padding: 0 1rem; font: 1.1rem/1.5 system-ui, sans-serif }}
section + section {{ border-top: 1px solid #8886 }}</style>
</head><body><h1>Attention Playground</h1>
{parts}
</body></html>
"""
START_PART = """<section lang="{language}"><p><a href="see.html">{photograph}</a> · <a href="story.html">{story}</a></p>
<p>{rest}</p></section>"""
START_WORDS = {  # language -> two links that open at once, without a network; what needs Python
    "en": (
        "A photograph: point at a place, and see where it looks", "The story in fourteen scenes",
        "Lessons and a photo of yours need Python on this machine: open <code>start.py</code> with it, or type "
        "<code>python3 start.py</code> in this folder. Browsers run the rest only from a server, not from a file.",
    ),
    "de": (
        "Ein Foto: Zeigen Sie auf eine Stelle und sehen Sie, wohin sie schaut", "Die Geschichte in vierzehn Szenen",
        "Lektionen und ein eigenes Foto brauchen Python auf diesem Rechner: Öffnen Sie <code>start.py</code> damit, "
        "oder geben Sie in diesem Ordner <code>python3 start.py</code> ein. Browser führen den Rest nur von einem "
        "Server aus, nicht aus einer Datei.",
    ),
    "zh": (
        "一张照片：指向任意一处，看它在看哪里", "十四幕的故事",
        "要用课程和你自己的照片，本机需装有 Python：用它打开 <code>start.py</code>，或在此文件夹中输入 "
        "<code>python3 start.py</code>。这些内容浏览器只能从服务器运行，不能直接从文件运行。",
    ),
    "es": (
        "Una foto: señale un lugar y vea adónde mira", "La historia en catorce escenas",
        "Las lecciones y una foto suya necesitan Python en este equipo: abra <code>start.py</code> con Python, "
        "o escriba <code>python3 start.py</code> en esta carpeta. Los navegadores ejecutan el resto solo desde un "
        "servidor, no desde un archivo.",
    ),
    "fr": (
        "Une photo&nbsp;: pointez un endroit et voyez où il regarde", "L’histoire en quatorze scènes",
        "Les leçons et votre propre photo demandent Python sur cette machine&nbsp;: ouvrez <code>start.py</code> avec "
        "Python, ou tapez <code>python3 start.py</code> dans ce dossier. Les navigateurs n’exécutent le reste que "
        "depuis un serveur, pas depuis un fichier.",
    ),
}  # fmt: skip


def stick(folder: Path) -> None:
    """Adds what opens by a double click, and a server for the rest."""
    from playground.lessons import teaching
    from playground.serving import slides

    _, subject, spec = routes_figures.preview_figure({}, {})
    scenes = [teaching.SCENES[key] for key in teaching.PLANS[45]]
    (folder / "see.html").write_bytes(figure_files.file(subject, spec, "html"))
    (folder / "story.html").write_text(slides.slides(Here({}), scenes, "The story"), encoding="utf-8")
    (folder / "start.py").write_bytes(Path(start.__file__).read_bytes())
    parts = (
        START_PART.format(language=language, photograph=photograph, story=story, rest=rest)
        for language, (photograph, story, rest) in START_WORDS.items()
    )
    (folder / "START.html").write_text(START_HTML.format(parts="\n".join(parts)), encoding="utf-8")


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
