"""Whether the hub answers: found out within seconds and remembered, for its own library tries for half a minute."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request

from playground.errors import PlaygroundError
from playground.names import plain_name

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
        answered = threading.Event()
        threading.Thread(target=_ask, args=(constants.ENDPOINT, answered), daemon=True).start()
        if answered.wait(PATIENCE):
            return
        _silent_since = time.monotonic()
    raise PlaygroundError(
        f"{plain_name(name)} could not be fetched: the hub, {constants.ENDPOINT}, can't be reached from this server. "
        f"Check the network, or fetch it with `python -m playground download {name}` where there is one."
    )


def _ask(address: str, answered: threading.Event) -> None:
    """In a thread of its own: looking up a host's name can hang for longer than any timeout."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        pass  # a refusal is an answer too
    except (OSError, ValueError):
        return
    answered.set()
