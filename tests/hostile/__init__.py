"""Broken and hostile files: name -> a function that builds the bytes.

The large ones keep a Pillow without our checks busy for seconds or minutes, or make it take gigabytes.
"""

from hostile.gifs_and_bmps import BMPS, GIFS
from hostile.heics import HEICS
from hostile.jpegs import JPEGS
from hostile.pngs import PNGS
from hostile.sizes import LIMITS
from hostile.strangers import CUT, SIGNATURES, STRANGERS
from hostile.tiffs import TIFFS
from hostile.webps_and_avifs import WEBPS_AND_AVIFS

KINDS = {
    **STRANGERS, **SIGNATURES, **CUT, **LIMITS, **PNGS, **JPEGS, **GIFS, **BMPS, **TIFFS, **WEBPS_AND_AVIFS, **HEICS,
}  # fmt: skip
