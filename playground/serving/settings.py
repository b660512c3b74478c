"""Reads a server's settings from environment variables, whose defaults suit a laptop, and finds a temporary folder.

PLAYGROUND_MODELS    names to offer beside the bundled model, with spaces between; default: a curated list of timm's
PLAYGROUND_MODELS_DIR  a folder whose model files (*.safetensors) are offered too, under their own names
PLAYGROUND_OPEN      "no": nothing but the models offered may be asked for; default: any plain ViT of timm
PLAYGROUND_OFFLINE   "yes": nothing is fetched; only models whose weights are on this machine can be had
PLAYGROUND_BORROWED  a second folder with fetched weights and photographs (playground/models/borrowed.py reads it)
PLAYGROUND_FRAMED_BY sites whose pages may show the app in a frame, such as https://huggingface.co; default: none
PLAYGROUND_HOSTS     names by which browsers call the server, beside localhost, this machine's own and its addresses
PLAYGROUND_PROXIES   addresses and networks of proxies that may say for whom they ask (X-Forwarded-For); default: none
PLAYGROUND_OPERATORS addresses and networks from which /metrics may be read; default: this machine's own
PLAYGROUND_USER_HEADER  the header in which one of these proxies names who has logged in, such as X-Forwarded-User
PLAYGROUND_LOG       "json": a line of JSON for each event; default: "text"
PLAYGROUND_COMPUTE   "browser": a browser runs models on its owner's photographs, where it can; default: "server"
PLAYGROUND_WORKBENCH "no": without the workbench, for servers where strangers come; default: it stands at /workbench
PLAYGROUND_DEVICE    cpu, cuda, cuda:1 or mps; default: the fastest that this machine has
PLAYGROUND_AT_ONCE   forward passes at the same time; default 1, with all cores
PLAYGROUND_CACHE_MB  three limits, for models, the samples' traces and the uploads' traces; default 3000 600 1200
PLAYGROUND_CIFAR     a folder with CIFAR-10's binary files, to browse (playground/serving/pictures.py reads it)
"""

from __future__ import annotations

import atexit
import difflib
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

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
    compute: str = "server"
    workbench: bool = True
    proxies: tuple[str, ...] = ()
    operators: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    user_header: str | None = None
    log: str = "text"
    at_once: int = 1
    model_mb: int = 3000
    sample_mb: int = 600
    upload_mb: int = 1200


TEXTS = (
    "MODELS", "MODELS_DIR", "OPEN", "OFFLINE", "DEVICE", "FRAMED_BY", "HOSTS", "COMPUTE", "PROXIES", "OPERATORS",
    "USER_HEADER", "LOG", "WORKBENCH",
)  # fmt: skip
NAMES = [f"PLAYGROUND_{name}" for name in (*TEXTS, "AT_ONCE", "CACHE_MB", "BORROWED", "CIFAR")]


@app.part
def now() -> Settings:
    """The settings of this server, read when they are first needed."""
    return read()


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """Parses the settings. An invalid value or an unknown name raises PlaygroundError, so that a server with a typing
    error doesn't start."""
    _check_names(environment)
    texts = {name: environment.get(f"PLAYGROUND_{name}", "").strip() for name in TEXTS}
    model_mb, sample_mb, upload_mb = _numbers(environment, "CACHE_MB", (3000, 600, 1200))
    (at_once,) = _numbers(environment, "AT_ONCE", (1,))
    return Settings(
        models=tuple(texts["MODELS"].split()) or None,
        models_dir=texts["MODELS_DIR"] or None,
        open=_yes_or_no("OPEN", texts["OPEN"], True),
        offline=_yes_or_no("OFFLINE", texts["OFFLINE"], False),
        framed_by=_sites(texts["FRAMED_BY"]),
        hosts=_host_names(texts["HOSTS"]),
        device=_device(texts["DEVICE"]),
        compute=_one_of("COMPUTE", texts["COMPUTE"], ("server", "browser")),
        workbench=_yes_or_no("WORKBENCH", texts["WORKBENCH"], True),
        proxies=_networks("PROXIES", texts["PROXIES"]),
        operators=_networks("OPERATORS", texts["OPERATORS"]) or Settings.operators,
        user_header=_header("USER_HEADER", texts["USER_HEADER"]),
        log=_one_of("LOG", texts["LOG"], ("text", "json")),
        at_once=at_once,
        model_mb=model_mb,
        sample_mb=sample_mb,
        upload_mb=upload_mb,
    )


# What Kubernetes sets in every pod if a Service there is called playground.
SERVICE_LINK = re.compile(r"PLAYGROUND\w*_(SERVICE_(HOST|PORT)\w*=.*|PORT_\d+_\w+=.*|PORT=\w+://.*)")


def _check_names(environment: Mapping[str, str]) -> None:
    for name, text in environment.items():
        if name.startswith("PLAYGROUND_") and name not in NAMES and not SERVICE_LINK.fullmatch(f"{name}={text}"):
            nearest = difflib.get_close_matches(name, NAMES, n=1)
            raise PlaygroundError(
                f"There is no setting {name}; {f'the nearest is {nearest[0]}' if nearest else 'leave it out'}."
            )


def _device(text: str) -> str | None:
    if not re.fullmatch(r"(cpu|mps|cuda(:\d+)?)?", text):
        raise PlaygroundError(f"PLAYGROUND_DEVICE is cpu, cuda, cuda:1 or mps; given was {text!r}.")
    return text or None


def _sites(text: str) -> tuple[str, ...]:
    sites = tuple(text.split())
    if wrong_site := next((site for site in sites if not re.fullmatch(r"https?://[\w.*:-]+", site)), None):
        raise PlaygroundError(
            f"PLAYGROUND_FRAMED_BY is sites such as https://huggingface.co, with spaces between; "
            f"given was {wrong_site!r}."
        )
    return sites


def _host_names(text: str) -> tuple[str, ...]:
    names = tuple(text.lower().split())
    if wrong_name := next((name for name in names if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", name)), None):
        raise PlaygroundError(
            "PLAYGROUND_HOSTS is names such as attention.example.org, without a port and with spaces between; "
            f"given was {wrong_name!r}."
        )
    return names


def _networks(name: str, text: str) -> tuple[str, ...]:
    networks = []
    for word in text.split():
        try:
            networks.append(str(ip_network(word, strict=False)))
        except ValueError:
            raise PlaygroundError(
                f"PLAYGROUND_{name} is addresses and networks such as 10.0.0.0/8, with spaces between; "
                f"given was {word!r}."
            ) from None
    return tuple(networks)


def _header(name: str, text: str) -> str | None:
    if text and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text):
        raise PlaygroundError(f"PLAYGROUND_{name} is a header such as X-Forwarded-User; given was {text!r}.")
    return text.lower() or None


def _one_of(name: str, text: str, words: tuple[str, ...]) -> str:
    """A setting that is one of `words`; an empty text means the first of them."""
    if (text or words[0]) not in words:
        raise PlaygroundError(f"PLAYGROUND_{name} is {' or '.join(words)}; given was {text!r}.")
    return text or words[0]


def _yes_or_no(name: str, text: str, default: bool) -> bool:
    answers = {"": default, "yes": True, "1": True, "true": True, "no": False, "0": False, "false": False}
    if text.lower() not in answers:
        raise PlaygroundError(f"PLAYGROUND_{name} is yes or no; given was {text!r}.")
    return answers[text.lower()]


def _numbers(environment, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    words = environment.get(f"PLAYGROUND_{name}", "").split()
    if not words:
        return default
    if len(words) != len(default) or not all(word.isdecimal() and 0 < int(word) < 10**7 for word in words):
        count = {1: "one number", 3: "three numbers"}[len(default)]
        raise PlaygroundError(f"PLAYGROUND_{name} is {count} above 0; given was {' '.join(words)!r}.")
    return tuple(int(word) for word in words)


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
