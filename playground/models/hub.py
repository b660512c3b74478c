"""Fetches files from the hub: checks before a download for a few seconds whether it answers, and remembers a failure
for a minute. The hub's own library would try for half a minute each time."""

from __future__ import annotations

import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from inspect import signature
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tqdm import tqdm

from playground.assets import PROGRAM
from playground.errors import PlaygroundError
from playground.models.names import plain_name

PATIENCE = 2.5  # seconds to wait for an answer
REMEMBERED_SECONDS = 60.0  # seconds for which a failed check is remembered
LINE_SECONDS = 10.0  # seconds between two lines about a download's progress in a log

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
    raise _unreachable(name, f"the hub, {constants.ENDPOINT}, can't be reached from here")


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
    repository: str, file: str, name: str, offline: bool = False, again: bool = False, report: type | None = None
) -> Path:
    """The path of a repository's file, for the model of this name; from the cache, or fetched unless `offline`."""
    from huggingface_hub import hf_hub_download

    if not offline:
        check(name)
    options: Any = {"local_files_only": offline, "force_download": again}
    if "tqdm_class" in signature(hf_hub_download).parameters:  # since 1.2; before, the hub draws a bar of its own
        options["tqdm_class"] = report or bar()
    try:
        return Path(hf_hub_download(repository, file, **options))
    except Exception as error:  # the hub's library raises exceptions of several libraries
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        if "local_files_only" in reason:  # the message names an option of huggingface_hub that users can't set here
            reason = "they are not on this machine, and nothing is to be fetched"
        raise _unreachable(name, reason) from error


def _unreachable(name: str, reason: str) -> PlaygroundError:
    return PlaygroundError(
        f"The weights of {plain_name(name)} could not be fetched: {reason}. "
        f"Check the network, or fetch them once with `{PROGRAM} download {name}` where there is one."
    )


class _Lines(tqdm):  # type: ignore[misc]
    """A line from time to time. In a log, a progress bar would print hundreds of lines."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options | {"mininterval": LINE_SECONDS, "miniters": 1})

    def display(self, *_: Any, **__: Any) -> None:
        print(self, file=self.fp)


def bar() -> type[tqdm]:
    return tqdm if sys.stderr.isatty() else _Lines
