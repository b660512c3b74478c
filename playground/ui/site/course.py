"""Packs the folder without a server for a learning platform."""

from __future__ import annotations

from html import escape
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

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
