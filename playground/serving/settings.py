"""Reads a server's settings from environment variables, whose defaults suit a laptop, and finds a temporary folder.
docs/pages/deploying.md says what each does."""

from __future__ import annotations

import atexit
import difflib
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.serving import app


@dataclass(frozen=True)
class Settings:
    models: tuple[str, ...] | None = None
    models_dir: str | None = None
    open: bool = True
    offline: bool = False
    framed_by: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    device: str | None = None
    workbench: bool = True
    proxies: tuple[str, ...] = ()
    operators: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    user_header: str | None = None
    log: str = "text"
    at_once: int = 1
    model_mb: int = 3000
    sample_mb: int = 600
    upload_mb: int = 1200


Reader = Callable[[str, str], object]  # (a setting's name, its text) -> its value


def _words(pattern: str, what: str) -> Reader:
    """Reads words with spaces between, each of this pattern."""

    def read(name: str, text: str) -> tuple[str, ...]:
        if wrong_word := next((word for word in text.split() if not re.fullmatch(pattern, word)), None):
            raise PlaygroundError(f"PLAYGROUND_{name} is {what}; given was {wrong_word!r}.")
        return tuple(text.split())

    return read


def _word(pattern: str, what: str) -> Reader:
    def read(name: str, text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise PlaygroundError(f"PLAYGROUND_{name} is {what}; given was {text!r}.")
        return text

    return read


def _in_small_letters(reader: Reader) -> Reader:
    return lambda name, text: reader(name, text.lower())


def _yes_or_no(name: str, text: str) -> bool:
    answers = {"yes": True, "1": True, "true": True, "no": False, "0": False, "false": False}
    if text.lower() not in answers:
        raise PlaygroundError(f"PLAYGROUND_{name} is yes or no; given was {text!r}.")
    return answers[text.lower()]


def _networks(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(str(ip_network(word, strict=False)) for word in text.split())
    except ValueError:
        raise PlaygroundError(
            f"PLAYGROUND_{name} is addresses and networks such as 10.0.0.0/8, with spaces between; given was {text!r}."
        ) from None


NUMBER = r"0*[1-9]\d{0,6}"
READERS: dict[str, Reader] = {
    "MODELS": _words(".+", "names"),
    "MODELS_DIR": _word(".+", "a folder"),
    "OPEN": _yes_or_no,
    "OFFLINE": _yes_or_no,
    "FRAMED_BY": _words(r"https?://[\w.*:-]+", "sites such as https://huggingface.co, with spaces between"),
    "HOSTS": _in_small_letters(
        _words(
            r"[a-z0-9_-]+(\.[a-z0-9_-]+)*",
            "names such as attention.example.org, without a port and with spaces between",
        )
    ),
    "DEVICE": _word(r"cpu|mps|cuda(:\d+)?", "cpu, cuda, cuda:1 or mps"),
    "WORKBENCH": _yes_or_no,
    "PROXIES": _networks,
    "OPERATORS": _networks,
    "USER_HEADER": _in_small_letters(_word(r"[a-z][a-z0-9-]*", "a header such as X-Forwarded-User")),
    "LOG": _word("text|json", "text or json"),
    "AT_ONCE": _word(NUMBER, "one number above 0"),
    "CACHE_MB": _word(rf"{NUMBER}(\s+{NUMBER}){{2}}", "three numbers above 0"),
}
NAMES = [f"PLAYGROUND_{name}" for name in (*READERS, "BORROWED", "CIFAR")]


@app.part
def now() -> Settings:
    """The settings of this server, read when they are first needed."""
    return read()


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """Parses the settings. An invalid value or an unknown name raises PlaygroundError, so that a server with a typing
    error doesn't start."""
    _check_names(environment)
    texts = {name: environment.get(f"PLAYGROUND_{name}", "").strip() for name in READERS}
    values: dict[str, Any] = {name.lower(): READERS[name](name, text) for name, text in texts.items() if text}
    if "at_once" in values:
        values["at_once"] = int(values["at_once"])
    if "cache_mb" in values:
        megabytes = map(int, values.pop("cache_mb").split())
        values |= zip(("model_mb", "sample_mb", "upload_mb"), megabytes, strict=True)
    return Settings(**values)


# What Kubernetes sets in every pod if a Service there is called playground.
SERVICE_LINK = re.compile(r"PLAYGROUND\w*_(SERVICE_(HOST|PORT)\w*=.*|PORT_\d+_\w+=.*|PORT=\w+://.*)")


def _check_names(environment: Mapping[str, str]) -> None:
    for name, text in environment.items():
        if name.startswith("PLAYGROUND_") and name not in NAMES and not SERVICE_LINK.fullmatch(f"{name}={text}"):
            nearest = difflib.get_close_matches(name, NAMES, n=1)
            raise PlaygroundError(
                f"There is no setting {name}; {f'the nearest is {nearest[0]}' if nearest else 'leave it out'}."
            )


# A server needs a folder for temporary files even if no file system is writable, and a home even for an unknown user.


MEMORY_FOLDER = "/dev/shm"  # a folder in memory, which every container has
NO_FOLDER_SENTENCE = (
    "No folder for temporary files can be written, so that no figure can be drawn. Name one by TMPDIR, or mount a "
    "tmpfs at /tmp."
)

log = logging.getLogger("playground")


def find_a_folder() -> bool:
    """Finds a folder for temporary files, at worst in memory: matplotlib needs one. Returns False if there is none."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        if not os.access(MEMORY_FOLDER, os.W_OK):
            log.warning(NO_FOLDER_SENTENCE)
            return False
        tempfile.tempdir = MEMORY_FOLDER
    return True


def find_a_home() -> None:
    """Makes a home folder if the system does not know the user and HOME is not set: Streamlit needs one. The folder is
    new, so nobody else can have put anything into it."""
    try:
        Path.home()
    except RuntimeError:
        if not find_a_folder():
            os.environ["HOME"] = "/"
            return
        os.environ["HOME"] = home = tempfile.mkdtemp(prefix="playground-home-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
