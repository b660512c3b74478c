"""What stands in the address: the model, the sample, the detail and every choice of the microscope.

Addresses are hostile: whatever is not one of the expected values is dropped, and the page shows its default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from playground.samples import SAMPLES

_NUMBER = r"-?\d{1,3}(\.\d{1,6})?"
VIEW = {  # a key of the microscope's view (see microscope/view.js) -> what it may be
    "layer": r"\d{1,3}",
    "head": r"\d{1,3}",
    "query": r"\d{1,3},\d{1,3}|cls|dist|reg\d{1,2}",
    "locked": r"true|false",
    "scale": rf"on|off|{_NUMBER}|\d\.\d+(e-\d+)?",
    "pass": r"layer|whole",
    "what": r"weight|value|score|similarity|rollout",
    "direction": r"row|column",
    "colours": r"shared|own",
    "ceiling": rf"auto|{_NUMBER}",
    "log": r"true|false",
    "smooth": r"true|false",
    "grid": r"true|false",
    "opacity": r"[01](\.\d+)?",
    "k": r"[357]",
    "depth": r"follow|\d{1,3}",
    "beside": r"convolution|wall|compare",
}
PAGE = {
    "model": r"[A-Za-z0-9_./-]{1,80}",
    "sample": "|".join(re.escape(s.name) for s in SAMPLES),
    "detail": r"[1-4]",
    "with": r"[A-Za-z0-9_./:-]{1,90}",  # what it is compared with: sample:NAME or model:NAME
}


def read(address: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(page, view): the choices of the page and of the microscope that an address holds."""
    return _matching(address, PAGE), _matching(address, VIEW)


def _matching(address: Mapping[str, str], allowed: dict[str, str]) -> dict[str, str]:
    return {
        key: address[key]
        for key, pattern in allowed.items()
        if key in address and re.fullmatch(pattern, address[key], re.ASCII)
    }


def view_of(text: str) -> dict[str, str]:
    """The microscope's view from the text that it sends, which is written like an address."""
    return _matching(dict(parse_qsl(text[:500])), VIEW)


def readable(words: dict[str, str]) -> dict[str, str]:
    """Only what would be read again."""
    return _matching(words, PAGE)
