"""Reads a server's settings from environment variables, whose defaults suit a laptop. docs/pages/deploying.md says what
each does."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
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


def _text(pattern: str, what: str, convert: Callable[[str], object] = str) -> Reader:
    """Reads a text of this pattern."""

    def read(name: str, text: str) -> object:
        if not re.fullmatch(pattern, text):
            raise PlaygroundError(f"PLAYGROUND_{name} is {what}; given was {text!r}.")
        return convert(text)

    return read


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


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
SITE, HOST = r"https?://[\w.*:-]+", r"[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*"
HOSTS_HELP = "names such as attention.example.org, without a port and with spaces between"
READERS: dict[str, Reader] = {
    "MODELS": _text(".+", "names", _words),
    "MODELS_DIR": _text(".+", "a folder"),
    "OPEN": _yes_or_no,
    "OFFLINE": _yes_or_no,
    "FRAMED_BY": _text(rf"{SITE}(\s+{SITE})*", "sites such as https://huggingface.co, with spaces between", _words),
    "HOSTS": _text(rf"{HOST}(\s+{HOST})*", HOSTS_HELP, lambda text: _words(text.lower())),
    "DEVICE": _text(r"cpu|mps|cuda(:\d+)?", "cpu, cuda, cuda:1 or mps"),
    "WORKBENCH": _yes_or_no,
    "PROXIES": _networks,
    "OPERATORS": _networks,
    "USER_HEADER": _text(r"[a-zA-Z][a-zA-Z0-9-]*", "a header such as X-Forwarded-User", str.lower),
    "LOG": _text("text|json", "text or json"),
    "AT_ONCE": _text(NUMBER, "one number above 0", int),
    "CACHE_MB": _text(rf"{NUMBER}(\s+{NUMBER}){{2}}", "three numbers above 0"),
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
