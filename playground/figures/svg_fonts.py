"""The letters that an SVG uses, inside it: where Source Sans is missing, its words are as wide as they were drawn."""

from __future__ import annotations

import base64
import io
import xml.etree.ElementTree as ET
from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont

FREE = {"Source Sans Pro": "OFL", "DejaVu Sans": "Bitstream Vera"}  # may be embedded; of other fonts nobody knows


def faces(root: ET.Element) -> str:
    """CSS with one embedded font for each family and weight that the texts use."""
    used: dict[tuple[str, str], set[str]] = {}
    for element in root.iter():
        style, text = element.get("style", ""), "".join(element.itertext())
        if "font" not in style or not text.strip():
            continue
        weight = "bold" if "bold" in style or "700" in style else "normal"
        for family in FREE:
            if family in style:
                used.setdefault((family, weight), set()).update(text)
    made = [(one, weight, _subset(one, weight, "".join(sorted(letters)))) for (one, weight), letters in used.items()]
    return "".join(
        f"@font-face{{font-family:'{family}';font-weight:{weight};src:url(data:font/woff;base64,{data})}}"
        for family, weight, data in sorted(made)
        if data
    )


@lru_cache(200)
def _subset(family: str, weight: str, letters: str) -> str:
    """The part of a font's file that draws these letters, as WOFF; nothing if the font has none of them."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    found = findfont(FontProperties(family=family, weight=weight))
    font = TTFont(found, recalcTimestamp=False)
    if family not in font["name"].getDebugName(1) or not set(map(ord, letters)) & font.getBestCmap().keys():
        return ""
    options = Options(layout_features=["kern"], notdef_outline=True, name_IDs=[1, 2], hinting=False, flavor="woff")
    subsetter = Subsetter(options)
    subsetter.populate(text=letters)
    subsetter.subset(font)
    font.flavor = "woff"
    out = io.BytesIO()
    font.save(out, reorderTables=None)
    return base64.b64encode(out.getvalue()).decode()
