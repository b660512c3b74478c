"""Words of somebody else in a sentence of ours."""

import re


def plain(text: str) -> str:
    """As it stands: what a person typed, or called a file, is no Markdown and fetches no picture from elsewhere."""
    return re.sub(r"[\\`*$<>\[\]~]|_(?!\w)|(?<!\w)_|:(?=\w)", r"\\\g<0>", " ".join(text.split()))
