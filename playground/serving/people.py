"""Keeps each person's pictures.

A key, a random secret, stands for a person. The person's browser makes the key, keeps it and sends it in a header; no
address and no log holds it. The data are forgotten ten minutes after the last request with the key, or on demand.
"""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from playground.serving import app, pictures, traces, worked
from playground.serving.ledger import Visitor, network
from playground.serving.pictures import Picture

KEY_HEADER = "x-playground-key"
LOGIN_HEADER = "x-playground-login"  # the header in which the image's proxy names the login: see PLAYGROUND_USER_HEADER
KEY_PATTERN = re.compile(r"[A-Za-z0-9_-]{22,64}")
FORGOTTEN_AFTER = 600.0  # seconds after a person's last request
MOST_PICTURES = 3  # pictures of one person; their browser keeps more and sends them again
MOST_PEOPLE = 2000  # people with own pictures; the one whose last request is oldest is dropped first


class Person:
    def __init__(self, key: str):
        self.key = key
        self.pictures: OrderedDict[str, Picture] = OrderedDict()  # by id, the latest last
        self.asked_at = time.monotonic()

    def take(self, picture: Picture) -> None:
        self.pictures.pop(picture.id, None)
        self.pictures[picture.id] = picture
        while len(self.pictures) > MOST_PICTURES:
            self.drop(next(iter(self.pictures)))

    def drop(self, picture_id: str) -> bool:
        """Forgets one picture, and all that was computed from it."""
        picture = self.pictures.pop(picture_id, None)
        for cache in (traces.own_traces(), worked.own_results()):
            cache.drop_where(lambda key: key[0] == picture_id)
        return picture is not None


def visitor(scope: Scope) -> Visitor:
    """The visitor of a request or socket: the network, and the browser's key if it was sent. Behind a company's proxy,
    requests with the same login come from the same person, from any network."""
    headers, client = Headers(scope=scope), scope.get("client")
    key, login = headers.get(KEY_HEADER, ""), headers.get(LOGIN_HEADER, "") if is_behind_proxy(scope) else ""
    network_key = f"login {sha256(login.encode()).hexdigest()[:16]}" if login else network(client[0] if client else "")
    return Visitor(key if KEY_PATTERN.fullmatch(key) else "", network_key)


def is_behind_proxy(scope: Scope) -> bool:
    """Whether the request came through the Unix socket, which only the Docker image's own proxy can reach."""
    server = scope.get("server")
    return server is not None and server[1] is None


def key_of(request: Request) -> str | None:
    return visitor(request.scope).person or None


def person_of(request: Request) -> Person | None:
    """The person who asks; None without a key."""
    key = key_of(request)
    return everybody().find(key) if key else None


class People:
    def __init__(self) -> None:
        self._people: OrderedDict[str, Person] = OrderedDict()  # key -> person, in the order of their last requests
        pictures.own_pictures().on_drop = self.drop
        self._lock = threading.Lock()

    def find(self, key: str) -> Person | None:
        """The person of this key, if there is one. Counts as a request, so that the person is kept for longer."""
        with self._lock:
            person = self._people.get(key)
            if person is None:
                return None
            if _is_gone(person):
                self._forget(key)
                return None
            person.asked_at = time.monotonic()
            self._people.move_to_end(key)
            return person

    def enter(self, key: str) -> Person:
        person = self.find(key)
        if person is None:
            with self._lock:
                person = self._people.setdefault(key, Person(key))
                while len(self._people) > MOST_PEOPLE:
                    self._forget(next(iter(self._people)))
        return person

    def forget(self, key: str) -> None:
        with self._lock:
            self._forget(key)

    def forget_the_gone(self) -> None:
        """Forgets people without recent requests, and what was made of a picture while it was dropped. Called now and
        then."""
        with self._lock:
            for key in [key for key, person in self._people.items() if _is_gone(person)]:
                self._forget(key)
            kept_ids = {picture_id for person in self._people.values() for picture_id in person.pictures}
        for cache in (traces.own_traces(), worked.own_results()):
            cache.drop_where(lambda key: key[0] not in kept_ids)

    def drop(self, picture: Picture) -> None:
        """Drops a picture from its person, because there is no room."""
        with self._lock:
            for person in self._people.values():
                if person.pictures.get(picture.id) is picture:
                    person.drop(picture.id)

    def _forget(self, key: str) -> None:
        if person := self._people.pop(key, None):
            for picture_id in list(person.pictures):
                person.drop(picture_id)


everybody = app.part(People)


def _is_gone(person: Person) -> bool:
    return time.monotonic() - person.asked_at > FORGOTTEN_AFTER
