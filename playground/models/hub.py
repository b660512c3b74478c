"""Fetches files from the hub: checks before a download whether it answers, and shows the progress.

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
from pathlib import Path
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


def fetch(
    repository: str, file: str, name: str, *, revision: str | None = None, offline: bool = False, again: bool = False,
    report: type | None = None,
) -> Path:  # fmt: skip
    """The path of a repository's file, for the model of this name; from the cache, or fetched unless `offline`."""
    from huggingface_hub import hf_hub_download

    if not offline:
        check(name)
    options = {"revision": revision, "local_files_only": offline, "force_download": again}
    try:
        return Path(hf_hub_download(repository, file, tqdm_class=_patient_bar(report), **options))
    except Exception as error:  # the hub's library, its cache and httpx each raise exceptions of their own
        raise unreachable(name, error) from error


def unreachable(name: str, error: Exception) -> PlaygroundError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    if "local_files_only" in reason:  # the message names an option of huggingface_hub that users can't set here
        reason = "they are not on this machine, and nothing is to be fetched"
    return PlaygroundError(
        f"The weights of {name} could not be fetched ({reason}). "
        f"Check the network, or fetch them once with `{PROGRAM} download {name}` where there is one."
    )


def _patient_bar(report: type | None) -> type:
    """The class of a progress bar that raises as soon as twice the file's size has arrived. If a connection always
    breaks at the same place, the hub's library would retry for ever."""
    arrived_bytes: float = 0

    class Patient(report or bar()):  # type: ignore[misc]
        def update(self, n: float | None = 1) -> bool | None:
            nonlocal arrived_bytes
            arrived_bytes += max(0, n or 0)
            if self.total and arrived_bytes > 2 * self.total:
                raise ConnectionError("the connection breaks off again and again")
            return super().update(n)

    return Patient


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
