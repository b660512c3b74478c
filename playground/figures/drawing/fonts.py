"""Finds a font for each letter: Source Sans, else DejaVu, else any font of this machine."""

from __future__ import annotations

import difflib
from functools import cache, lru_cache
from importlib.util import find_spec

import matplotlib
from matplotlib.font_manager import FontEntry, FontProperties, fontManager, get_font
from matplotlib.ft2font import FT2Font, LoadFlags

from playground.errors import PlaygroundError

FALLBACK_FONT = "DejaVu Sans"  # comes with matplotlib, and has letters that others lack: ₖ, Greek, Cyrillic, Arabic
BOX_FONT = "Last Resort"  # comes with matplotlib too: it has every letter, and draws a box for each
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def families(font: str | None) -> list[str]:
    """The font asked for, by default Source Sans as in the app; then FALLBACK_FONT, which has the most letters."""
    if font is None:
        return [*_source_sans(), FALLBACK_FONT]
    family_names = sorted({entry.name for entry in fontManager.ttflist})
    if font not in family_names:
        similar_names = difflib.get_close_matches(font, family_names, n=3, cutoff=0.4) or family_names[:3]
        raise PlaygroundError(f"There is no font {font!r} on this machine; there are {', '.join(similar_names)}.")
    return list(dict.fromkeys([font, FALLBACK_FONT]))


@cache
def _source_sans() -> list[str]:
    """Registers Source Sans with matplotlib and returns its name; [] without the package font-source-sans-pro. Its
    files are TrueType, which a PDF can embed."""
    package = find_spec("font_source_sans_pro")
    if package is None or not package.submodule_search_locations:
        return []
    for style in ("Regular", "Bold"):
        fontManager.addfont(f"{package.submodule_search_locations[0]}/files/SourceSansPro-{style}.ttf")
    return ["Source Sans Pro"]


def fonts_for(text: str) -> list[str]:
    """The fonts of the house style, then fonts of this machine for letters that those lack, such as 猫."""
    house_family = tuple(matplotlib.rcParams["font.family"])
    extra_fonts = (_font_with(letter) for letter in dict.fromkeys(text) if not _has(letter, house_family))
    return [*house_family, *dict.fromkeys(entry.name for entry in extra_fonts if entry)]


def writable(text: str) -> str:
    """The text with REPLACEMENT in place of letters that no font here has, which would be empty boxes."""
    missing_letters = lacking_letters(text)
    return "".join(REPLACEMENT if letter in missing_letters else letter for letter in text)


def printable(text: str) -> str:
    """The text with REPLACEMENT in place of characters that can't be printed, such as surrogates."""
    return "".join(letter if letter.isprintable() else REPLACEMENT for letter in text)


def lacking_letters(text: str) -> str:
    """The letters that no font here has."""
    house_family = tuple(matplotlib.rcParams["font.family"])
    return "".join(letter for letter in dict.fromkeys(text) if not (_has(letter, house_family) or _font_with(letter)))


def warning(letters: str, option: str) -> str:
    """The warning about letters that no font has. `option`: the option for a font, as the reader types it."""
    return (
        f"no font on this machine has {', '.join(letters)}: the figure shows {REPLACEMENT} instead, only an .svg keeps "
        f"them. Install a font such as Noto Sans CJK, or name one with {option}"
    )


def has_cubic_outlines(families: list[str]) -> bool:
    """Whether one of the fonts is OpenType with PostScript outlines, which a PDF can't hold as TrueType."""
    return any(_begins_with(entry.fname) == b"OTTO" for entry in fontManager.ttflist if entry.name in families)


@cache
def _begins_with(file: str) -> bytes:
    """The first four bytes of a font, or of the first font of a collection."""
    with open(file, "rb") as stream:
        header = stream.read(16)
        if header[:4] != b"ttcf":
            return header[:4]
        stream.seek(int.from_bytes(header[12:16], "big"))
        return stream.read(4)


@lru_cache(maxsize=4096)
def _has(letter: str, family: tuple[str, ...]) -> bool:
    fonts = (get_font(fontManager.findfont(name)) for name in family)
    return letter.isascii() or any(font.get_char_index(ord(letter)) for font in fonts)


@lru_cache(maxsize=4096)
def _font_with(letter: str) -> FontEntry | None:
    """A font of this machine that has the letter. Of several, preferably one that is upright and regular, without
    serifs, with TrueType outlines."""
    for entry in _local_fonts():
        if get_font(entry.fname).get_char_index(ord(letter)):
            return entry
    return None


@cache
def _local_fonts() -> list[FontEntry]:
    usable_fonts = [entry for entry in fontManager.ttflist if BOX_FONT not in entry.name and "Emoji" not in entry.name]
    return sorted(usable_fonts, key=lambda entry: (
        entry.style != "normal", entry.weight != 400, "Sans" not in entry.name,
        _begins_with(entry.fname) == b"OTTO", entry.name,
    ))  # fmt: skip


@lru_cache(maxsize=8192)
def width(text: str, bold: bool, family: tuple[str, ...]) -> float:
    """The width of a text in type of one point, in points. FreeType measures it faster than matplotlib's outlines."""
    font = _font(bold, family)
    font.set_size(100, 72)
    font.set_text(text, 0, flags=LoadFlags.NO_HINTING)
    return font.get_width_height()[0] / 64 / 100


def _font(bold: bool, family: tuple[str, ...]) -> FT2Font:
    styles = (FontProperties(family=name, weight="bold" if bold else "normal") for name in family)
    return get_font([fontManager.findfont(style) for style in styles])
