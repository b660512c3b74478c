"""Writes a figure as PNG, SVG or PDF with metadata about its origin, its caption as .txt or .tex, and its numbers. An
SVG or PDF stores each photograph once."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ET
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.font_manager import FontProperties, findfont
from PIL import Image, PngImagePlugin

from playground.errors import PlaygroundError
from playground.figures import layouts
from playground.figures.command_line import repeat_command
from playground.figures.compose import subjects
from playground.figures.drawing.naming import published_spec
from playground.figures.drawing.sheet import Drawing
from playground.figures.drawing.spec import Spec
from playground.figures.drawing.tables import Table
from playground.figures.provenance import facts, metadata, provenance
from playground.version import __version__

if TYPE_CHECKING:
    from playground.tracing import Trace


SUFFIXES = (".png", ".svg", ".pdf")
FONT_FALLBACKS = {  # fonts of equal width, then narrower ones, so that nothing overlaps if a font is missing
    "Source Sans Pro": "'Source Sans Pro', 'Source Sans 3', 'PT Sans', Calibri, 'Arial Narrow', sans-serif",
    "DejaVu Sans": "'DejaVu Sans', Verdana, 'Helvetica Neue', Arial, sans-serif",
}
PHOTO_QUALITY = 92

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
NAMESPACES = {
    "": SVG,
    "xlink": XLINK,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "cc": "http://creativecommons.org/ns#",
}


def write(figure: Drawing, path: str | Path) -> Path:
    """Writes a .png, .svg or .pdf file."""
    path = Path(path)
    converters = {".png": png, ".svg": svg, ".pdf": pdf}
    if path.suffix.lower() not in converters:
        raise PlaygroundError(f"Figures are written as {', '.join(SUFFIXES)}; {path} ends in {path.suffix!r}.")
    data = converters[path.suffix.lower()](figure, path.name)
    return write_file(path, data)


def _file_bytes(figure: Drawing, kind: str, metadata: dict[str, str | None], **options) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata=metadata, **options)
    return buffer.getvalue()


def png(figure: Drawing, name: str = "figure.png") -> bytes:
    return _file_bytes(figure, "png", provenance(figure.spec, figure.facts, name), dpi=figure.spec.dots)


def pixels(figure: Drawing) -> Image.Image:
    """The figure's pixels as in its PNG, RGBA."""
    return Image.open(io.BytesIO(png(figure))).convert("RGBA")


def png_text(entries: dict[str, str]) -> PngImagePlugin.PngInfo:
    info = PngImagePlugin.PngInfo()
    for key, value in entries.items():
        info.add_itxt(key, value) if not value.isascii() else info.add_text(key, value)
    return info


def pdf(figure: Drawing, name: str = "figure.pdf") -> bytes:
    return _file_bytes(figure, "pdf", metadata(figure.spec, figure.facts, "pdf", name))


def svg(figure: Drawing, name: str = "figure.svg") -> bytes:
    return _tidy(_file_bytes(figure, "svg", metadata(figure.spec, figure.facts, "svg", name)))


def _tidy(svg_bytes: bytes) -> bytes:
    """The SVG with each image stored once, photographs as JPEG, and fonts that work on other machines too."""
    for prefix, name in NAMESPACES.items():
        ET.register_namespace(prefix, name)
    root = ET.fromstring(svg_bytes)
    image_ids: dict[str, str] = {}
    definitions = ET.Element(f"{{{SVG}}}defs")
    for image in root.iter(f"{{{SVG}}}image"):
        _store_once(image, image_ids, definitions)
    root.insert(1, definitions)
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", _with_fallbacks(element.get("style")))
    ET.SubElement(definitions, f"{{{SVG}}}style").text = font_faces(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root)


def _with_fallbacks(style: str) -> str:
    """Adds FONT_FALLBACKS to a style, such as "font: 7px 'Source Sans Pro', 'DejaVu Sans', sans-serif"."""
    for name, fonts in FONT_FALLBACKS.items():
        if f"'{name}'" in style:
            return re.sub(rf"'{name}'[^;]*", fonts, style)
    return style


def _store_once(image: ET.Element, image_ids: dict[str, str], definitions: ET.Element) -> None:
    """Turns an <image> into a <use> of an image in the definitions."""
    href = f"{{{XLINK}}}href"
    data = image.get(href)
    if data not in image_ids:
        image_ids[data] = f"image{len(image_ids)}"
        url, is_map = _compact(base64.b64decode(data.partition(",")[2]))
        attributes = {"id": image_ids[data], "width": "1", "height": "1", "preserveAspectRatio": "none", href: url}
        ET.SubElement(
            definitions, f"{{{SVG}}}image", attributes | ({"style": "image-rendering:pixelated"} if is_map else {})
        )
    width, height, transform = image.get("width"), image.get("height"), image.get("transform")
    image.tag = f"{{{SVG}}}use"
    image.attrib.clear()
    image.set(href, f"#{image_ids[data]}")
    image.set("transform", f"{transform} scale({width} {height})")


def _compact(data: bytes) -> tuple[str, bool]:
    """(data URL, whether the image is a map). A photograph is opaque and has more than 4096 colours."""
    image = Image.open(io.BytesIO(data))
    if image.convert("RGBA").getextrema()[3][0] == 255 and image.convert("RGB").getcolors(4096) is None:
        buffer = io.BytesIO()
        # without chroma subsampling, so that patches keep sharp edges
        image.convert("RGB").save(buffer, "JPEG", quality=PHOTO_QUALITY, subsampling=0)
        return _url("image/jpeg", buffer.getvalue()), False
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return _url("image/png", buffer.getvalue()), True


def _url(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


# Embeds the letters that an SVG uses, so that words keep their width on machines without Source Sans.


FONT_LICENCES = {"Source Sans Pro": "OFL", "DejaVu Sans": "Bitstream Vera"}  # licences that allow embedding


def font_faces(root: ET.Element) -> str:
    """CSS with one embedded font for each family and weight that the texts use."""
    letters_used: dict[tuple[str, str], set[str]] = {}
    for element in root.iter():
        style, text = element.get("style", ""), "".join(element.itertext())
        if "font" not in style or not text.strip():
            continue
        weight = "bold" if "bold" in style or "700" in style else "normal"
        for family in FONT_LICENCES:
            if family in style:
                letters_used.setdefault((family, weight), set()).update(text)
    subsets = [
        (family, weight, _subset(family, weight, "".join(sorted(letters))))
        for (family, weight), letters in letters_used.items()
    ]
    return "".join(
        f"@font-face{{font-family:'{family}';font-weight:{weight};src:url(data:font/woff;base64,{data})}}"
        for family, weight, data in sorted(subsets)
        if data
    )


@lru_cache(200)
def _subset(family: str, weight: str, letters: str) -> str:
    """A font with these letters alone, as WOFF in base64; "" if the family has none of them."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    font_file = findfont(FontProperties(family=family, weight=weight))
    font = TTFont(font_file, recalcTimestamp=False)
    if family not in font["name"].getDebugName(1) or not set(map(ord, letters)) & font.getBestCmap().keys():
        return ""
    options = Options(layout_features=["kern"], notdef_outline=True, name_IDs=[1, 2], hinting=False, flavor="woff")
    subsetter = Subsetter(options)
    subsetter.populate(text=letters)
    subsetter.subset(font)
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer, reorderTables=None)
    return base64.b64encode(buffer.getvalue()).decode()


# Writing to the disk.


def write_file(path: Path, data: bytes) -> Path:
    """Writes the file under a temporary name and renames it, so that a stopped run leaves no half file."""
    if not path.parent.exists():
        raise PlaygroundError(f"{path} can't be written: there is no folder {path.parent}.")
    temporary_file = path.with_name(f".playground-{os.getpid()}.part")
    try:
        temporary_file.write_bytes(data)
        temporary_file.replace(path)
    except OSError as error:
        raise PlaygroundError(f"{path} can't be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            temporary_file.unlink()  # if the file was not renamed
    return path


# The caption: .txt, or .tex with the figure around it.


CAPTION_SUFFIXES = (".txt", ".tex")
TEX = {  # a text that LaTeX would interpret or has no letter for -> how LaTeX writes it
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", " %": r"~\%",
    "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "1/√dₖ": r"$1/\sqrt{d_k}$", "×": r"$\times$",
    "−": r"$-$", "’": "'", "‖": r"$\|$", "2^entropy": r"$2^{\mathrm{entropy}}$", "<": r"$<$", ">": r"$>$",
}  # fmt: skip


def write_caption(path: Path, spec: Spec, *subject, **draw_arguments) -> Path:
    caption = caption_words(spec, *subject, **draw_arguments)
    spec = layouts.settled(spec, subject[0]) if subject else spec  # the title in a .tex names the layer
    return write_file(
        path, (caption + "\n" if path.suffix.lower() == ".txt" else latex(spec, caption, path.stem)).encode()
    )


def caption_words(spec: Spec, *subject, **draw_arguments) -> str:
    content = layouts.content(*subjects(spec, *subject, **draw_arguments))
    return " ".join(filter(None, [content.caption, content.prefix if spec.prefix else ""]))


def latex(spec: Spec, caption: str, name: str) -> str:
    """A LaTeX figure environment with this caption, for the .pdf of the same name, as wide as the figure."""
    title, tex_caption = layouts.of(spec).title(published_spec(spec)), tex(caption)
    width = f"{spec.made_for.width:.4g}in"
    return (
        f"% {title}\n\\begin{{figure}}\n  \\centering\n  \\includegraphics[width={width}]{{{name}.pdf}}\n"
        f"  \\caption{{{tex_caption}}}\n  \\label{{fig:{re.sub(r'[^A-Za-z0-9-]', '-', name)}}}\n\\end{{figure}}\n"
    )


def tex(text: str) -> str:
    text = re.sub(r"1/√(\d+)", "\x00\\1\x00", text)  # \x00 stands for $, which would be escaped below
    special_texts = re.compile("|".join(map(re.escape, sorted(TEX, key=len, reverse=True))))
    return re.sub("\x00(\\d+)\x00", r"$1/\\sqrt{\1}$", special_texts.sub(lambda match: TEX[match[0]], text))


# Writes the numbers of a figure as .npz, .csv or .json, with the grid, the tokens and facts about the figure's origin.

NUMBER_SUFFIXES = (".npz", ".csv", ".json")


def write_numbers(
    path: str | Path, spec: Spec, trace: Trace | None = None, image: Image.Image | None = None, **draw_arguments
) -> Path:
    path = Path(path)
    if path.suffix.lower() not in NUMBER_SUFFIXES:
        raise PlaygroundError(f"Numbers are written as {', '.join(NUMBER_SUFFIXES)}; {path} ends in {path.suffix!r}.")
    return write_file(path, numbers_file(path.suffix.lower(), spec, trace, image, **draw_arguments))


def numbers_file(
    suffix: str, spec: Spec, trace: Trace | None = None, image: Image.Image | None = None, **draw_arguments
) -> bytes:
    """The bytes of a file of numbers: .npz, .csv or .json."""
    converters = {".npz": npz, ".csv": as_csv, ".json": as_json}
    return converters[suffix](*facts_and_tables(suffix, spec, trace, image, **draw_arguments))


def facts_and_tables(
    suffix: str, spec: Spec, trace: Trace | None = None, image: Image.Image | None = None, **draw_arguments
) -> tuple[dict, list[Table]]:
    """(the figure's facts, its tables)"""
    layout = layouts.of(spec)
    spec, subject, other = subjects(spec, trace, image, **draw_arguments)
    origin_facts = {"made by": f"Attention Playground {__version__}"}
    if command := repeat_command(spec, f"figure{suffix}"):
        origin_facts["command"] = command
    panels = layout.shown(spec, subject, other)
    return facts(spec, subject, other) | origin_facts, layout.numbers(layout.settled(spec), panels)


# As files -------------------------------------------------------------------------------------------------------------


def as_json(about: dict, tables: list[Table]) -> bytes:
    """JSON with numbers as short as float32 allows."""
    content = {
        "figure": about,
        "tables": [
            {
                **table.about, "grid": table.grid, "tokens": table.tokens,
                "maps": [
                    map_keys | {"values": [float(f"{x:.9g}") for x in row]}
                    for map_keys, row in zip(table.maps, table.values, strict=True)
                ],
            }
            for table in tables
        ],
    }  # fmt: skip
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


def npz(about: dict, tables: list[Table]) -> bytes:
    """Arrays: `values` (maps, tokens), `tokens`, `grid`, the trace's facts as JSON, `of`, and one array for each key of
    the maps, such as `layer`. `about` holds the figure's facts. Arrays of a second trace have names that end in _2."""
    arrays = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    for number, table in enumerate(tables, start=1):
        name_end = "" if number == 1 else f"_{number}"
        arrays[f"values{name_end}"], arrays[f"tokens{name_end}"] = table.values, np.array(table.tokens)
        arrays[f"of{name_end}"] = np.array(json.dumps(table.about, ensure_ascii=False))
        if table.grid:
            arrays[f"grid{name_end}"] = np.array(table.grid)
        for key in table.maps[0]:
            arrays[f"{key}{name_end}"] = np.array([map_keys.get(key) for map_keys in table.maps])
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def as_csv(about: dict, tables: list[Table]) -> bytes:
    """CSV with a line for each token of each map. Facts about the origin stand above, in lines with # (pandas:
    comment="#")."""
    buffer = io.StringIO()
    for key, value in about.items():
        buffer.write(f"# {key}: {value}\n")
    for table in tables:
        for label, share in table.about.get("predictions", []):
            buffer.write(f"# {table.about['model']} predicts {label}: {share}\n")
    keys = list(dict.fromkeys(key for table in tables for map_keys in table.maps for key in map_keys))
    subject_keys = ["model", "image"] if tables[0].about else []
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*subject_keys, *keys, "token", "value"])
    for table in tables:
        for map_keys, row in zip(table.maps, table.values, strict=True):
            first_cells = [*(table.about[key] for key in subject_keys), *(map_keys.get(key, "") for key in keys)]
            writer.writerows([*first_cells, token, f"{x:.9g}"] for token, x in zip(table.tokens, row, strict=True))
    return buffer.getvalue().encode()
