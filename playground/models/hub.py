"""Checks before a download whether the hub answers, and shows the progress of downloads.

The check takes at most a few seconds, and a failure is remembered for a minute. The hub's own library would try for
half a minute each time.
"""

from __future__ import annotations

import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from queue import Empty, Queue

from tqdm import tqdm

from playground.assets import PROGRAM
from playground.errors import PlaygroundError
from playground.models.names import plain_name

PATIENCE = 2.5  # seconds to wait for an answer
REMEMBERED_SECONDS = 60.0  # seconds for which a failed check is remembered

_silent_since = -REMEMBERED_SECONDS


def check(name: str) -> None:
    """Raises PlaygroundError if the hub, which has this model's weights, can't be reached."""
    global _silent_since
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return  # in offline mode the hub's library raises at once
    if time.monotonic() - _silent_since > REMEMBERED_SECONDS:
        answers: Queue[bool] = Queue()
        threading.Thread(target=lambda: answers.put(_hub_answers(constants.ENDPOINT)), daemon=True).start()
        with suppress(Empty):  # no answer in time
            if answers.get(timeout=PATIENCE):
                return
        _silent_since = time.monotonic()
    raise PlaygroundError(
        f"{plain_name(name)} could not be fetched: the hub, {constants.ENDPOINT}, can't be reached from here. "
        f"Check the network, or fetch it with `{PROGRAM} download {name}` where there is one."
    )


def _hub_answers(address: str) -> bool:
    """Whether the hub answers. Called in a thread, because looking up a host can take longer than any timeout."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        return True  # a refusal is an answer too
    except (OSError, ValueError):
        return False
    return True


# Progress is shown as a bar in a terminal, and as a line from time to time in a log.


LINE_SECONDS = 10.0  # seconds between two lines


class ProgressLines(tqdm):
    """Prints a line every ten seconds. In a log, a progress bar would print hundreds of lines."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options | {"mininterval": LINE_SECONDS, "miniters": 1, "leave": True})

    def display(self, *_, **__) -> None:
        progress = f"{100 * self.n / self.total:.0f} %" if self.total else f"{self.n:,.0f}"
        if self.n:
            self.fp.write(f"{self.desc.rstrip(': ') or 'done'}: {progress}\n")


def bar() -> type[tqdm]:
    return tqdm if sys.stderr.isatty() else ProgressLines
