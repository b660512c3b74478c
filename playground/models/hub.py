"""Whether the hub answers: found out within seconds and remembered, for its own library tries for half a minute."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from queue import Empty, Queue

from playground.assets import PROGRAM
from playground.errors import PlaygroundError
from playground.models.names import plain_name

PATIENCE = 2.5  # seconds
REMEMBERED = 60.0  # seconds

_silent_since = -REMEMBERED


def check(name: str) -> None:
    """PlaygroundError if the hub can't be reached, from which the model of this name would come."""
    global _silent_since
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return  # its library says at once that it is not to be asked
    if time.monotonic() - _silent_since > REMEMBERED:
        answers: Queue[bool] = Queue()
        threading.Thread(target=lambda: answers.put(_answers(constants.ENDPOINT)), daemon=True).start()
        with suppress(Empty):  # it keeps silent
            if answers.get(timeout=PATIENCE):
                return
        _silent_since = time.monotonic()
    raise PlaygroundError(
        f"{plain_name(name)} could not be fetched: the hub, {constants.ENDPOINT}, can't be reached from here. "
        f"Check the network, or fetch it with `{PROGRAM} download {name}` where there is one."
    )


def _answers(address: str) -> bool:
    """In a thread of its own: looking up a host's name can hang for longer than any timeout."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        return True  # a refusal is an answer too
    except (OSError, ValueError):
        return False
    return True
