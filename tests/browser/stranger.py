"""A client without a browser, which can send the server anything."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from urllib.parse import quote, urlencode

from waiting import PATIENCE


def answer(url: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, dict, bytes]:
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data=data, method=method, headers=named_headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def ask(url: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, dict[str, str]]:
    return answer(url, method, data, **headers)[:2]


class Stranger:
    """HTTP requests with a key. `sentences` lists all refusals, `upload_status` is the status of the last upload."""

    def __init__(self, url: str):
        self.url = url
        self.key = secrets.token_urlsafe(24)
        self.sentences: list[str] = []

    def get(self, path: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        status, _, body = answer(f"{self.url}/{path}", method, data, X_Playground_Key=self.key, **headers)
        if status >= 400 and "says" in (refusal := json.loads(body)):
            self.sentences.append(refusal["says"])
        return status, body

    def describe(self, **parameters: str) -> dict:
        return json.loads(self.get(f"api/trace?{urlencode(parameters)}")[1])

    def bring(self, data: bytes, name: str = "picture.jpg") -> str:
        """Uploads a picture; returns its id on the server, or "" where the server refused it."""
        self.upload_status, body = self.get("api/pictures", "POST", data, X_Playground_Name=quote(name))
        return json.loads(body).get("id", "") if self.upload_status < 400 else ""
