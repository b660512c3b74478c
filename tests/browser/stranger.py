"""A client without a browser, which can send the server anything over HTTP and over a session's WebSocket."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Callable
from itertools import count
from urllib.parse import quote, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from waiting import PATIENCE
from websockets.sync.client import connect

MOST_BYTES = 2**28  # most bytes of a message
_stamps = count(1)


def answer(url: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, dict, bytes]:
    """The status, the headers and the body of an answer."""
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data=data, method=method, headers=named_headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def ask(url: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer."""
    return answer(url, method, data, **headers)[:2]


class Stranger:
    """A session on one page, and HTTP requests with this client's key. `sentences` lists all toasts and refusals that
    came, `elements` holds the page's last elements by name, `upload_status` is the status of the last upload."""

    def __init__(self, url: str, address: str = "", page: str = ""):
        self.url, self.address, self.page = url, address, ""
        self.key = secrets.token_urlsafe(24)
        self.sentences: list[str] = []
        self.elements: dict[str, object] = {}
        self.kinds: set[str] = set()  # the kinds of all messages received
        stream = url.replace("http", "ws") + "/_stcore/stream"
        self.socket = connect(
            stream, subprotocols=["streamlit"], max_size=MOST_BYTES, open_timeout=PATIENCE, legacy=True
        )
        first_message = BackMsg()
        first_message.rerun_script.page_name = page
        self.run(first_message)

    # HTTP requests

    def get(self, path: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """The status and the body of a request with the key. While the server says to wait, it asks again with the
        ticket that the server gave."""
        request_headers = {"X_Playground_Key": self.key, **headers}
        while True:
            status, headers, body = answer(f"{self.url}/{path}", method, data, **request_headers)
            if status != 202:
                break
            request_headers["X_Playground_Ticket"] = {name.lower(): word for name, word in headers.items()}[
                "x-playground-ticket"
            ]
        if status >= 400 and "says" in (refusal := json.loads(body)):
            self.sentences.append(refusal["says"])
        return status, body

    def describe(self, **parameters: str) -> dict:
        """The server's description of the trace that these parameters of an address name."""
        return json.loads(self.get(f"api/trace?{urlencode(parameters)}")[1])

    def bring(self, data: bytes, name: str = "picture.jpg") -> str:
        """Uploads a picture; returns its id on the server, or "" where the server refused it."""
        self.upload_status, body = self.get("api/pictures", "POST", data, X_Playground_Name=quote(name))
        return json.loads(body).get("id", "") if self.upload_status < 400 else ""

    # Messages over the session's WebSocket

    def choose(self, view: dict | None = None, **parameters: str) -> Stranger:
        """Chooses something, as the toolbar of a lesson's page reports it to Python."""
        choice = {"choice": parameters, "view": view or {}, "key": self.key, "stamp": next(_stamps)}
        return self.send_state({"choice": choice})

    def go(self, page: str, **parameters: str) -> Stranger:
        """Goes to another page, as the toolbar's menu does."""
        return self.trigger("go", {"page": page, "words": parameters, "key": self.key, "stamp": next(_stamps)})

    def send_state(self, state: object) -> Stranger:
        """Sends `state` as the state of the toolbar's component."""
        message = BackMsg()
        widgets = message.rerun_script.widget_states.widgets
        widgets.add(id=self.elements["attention_toolbar"].id, json_value=json.dumps(state))
        return self.run(message)

    def trigger(self, event: str, value: object) -> Stranger:
        """Sends an event of the toolbar's component."""
        message, toolbar = BackMsg(), self.elements["attention_toolbar"].id
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{toolbar}__events"
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        return self.run(message)

    def run(self, message: BackMsg) -> Stranger:
        """Sends a message that asks for a run of the script, and waits for the end of that run and of its reruns."""
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.query_string = self.address
        self.socket.send(message.SerializeToString())
        has_started = False
        while True:
            reply = ForwardMsg.FromString(self.socket.recv(PATIENCE))
            self.kinds.add(kind := reply.WhichOneof("type"))
            if kind == "new_session":
                has_started = True
                self.id = reply.new_session.initialize.session_id
            elif kind == "delta":
                self._record_element(reply.delta)
            elif kind == "navigation":
                self.page = reply.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.address = reply.page_info_changed.query_string
            elif (
                kind == "script_finished"
                and has_started
                and reply.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                return self

    def upload_url(self, name: str = "picture.jpg") -> str:
        message = BackMsg()
        message.file_urls_request.request_id = "1"
        message.file_urls_request.file_names.append(name)
        self.socket.send(message.SerializeToString())
        reply = self.wait_for_message(lambda message: message.WhichOneof("type") == "file_urls_response")
        return self.url + reply.file_urls_response.file_urls[0].upload_url

    def close(self) -> None:
        self.socket.close()

    # What the page shows

    @property
    def picture(self) -> str:
        """The id of the picture that the lesson's question is about."""
        return json.loads(self.elements["attention_guess"].json)["context"].split()[0]

    def wait_for_message(self, condition: Callable[[ForwardMsg], bool]) -> ForwardMsg:
        while not condition(message := ForwardMsg.FromString(self.socket.recv(PATIENCE))):
            pass
        return message

    def _record_element(self, delta) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "toast":
            self.sentences.append(element.toast.body)
        elif kind == "exception":
            raise RuntimeError(element.exception.message)
        elif kind == "bidi_component":
            self.elements[element.bidi_component.component_name] = element.bidi_component
        elif kind in ("button", "selectbox", "download_button"):
            content = getattr(element, kind)
            self.elements[content.label] = content
