"""What stands in the address: the model, the sample, the detail and every choice of the microscope.

Addresses are hostile: whatever is not one of the expected values is dropped, and the page shows its default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from playground.figures import view
from playground.samples import PHOTOGRAPHS, SAMPLES

PAGE = {  # a choice of the page -> what it may be; those of the microscope are in figures/view.py
    "model": r"[A-Za-z0-9_./-]{1,80}",
    "mine": r"[0-9a-f]{16}",
    "sample": "|".join(re.escape(s.name) for s in (*PHOTOGRAPHS, *SAMPLES)),
    "detail": r"[1-4]",
    "with": r"[A-Za-z0-9_./:-]{1,90}",  # what it is compared with: sample:NAME or model:NAME
}


def read(address: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(page, view): the choices of the page and of the microscope that an address holds."""
    return view.kept(address, PAGE), view.matching(address)


def view_of(words: Mapping[str, str]) -> dict[str, str]:
    """Of these words the choices of the microscope."""
    return view.matching(words)


def readable(words: dict[str, str]) -> dict[str, str]:
    """Of a page's choices those that an address can hold: a model may have a name that `read` would drop."""
    return view.kept(words, PAGE)
