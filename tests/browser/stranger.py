"""Somebody without a browser, who may send the server whatever they like: over HTTP, and as a session's WebSocket."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from urllib.parse import parse_qsl

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from waiting import PATIENCE
from websockets.sync.client import connect

MOST = 2**28  # bytes of a message


def ask(url: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data=data, method=method, headers=named)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)


def form(data: bytes, name: str = "picture.jpg") -> tuple[bytes, str]:
    """A file as a browser sends it, and the content type to say of it."""
    head = f'--edge\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + data + b"\r\n--edge--\r\n", "multipart/form-data; boundary=edge"


class Stranger:
    """A session of one page. `said` is every sentence that came as a toast; `elements` what the page holds last;
    `brought` the status of the last upload."""

    def __init__(self, url: str, address: str = ""):
        self.url, self.address, self.page = url, address, ""
        self.said: list[str] = []
        self.elements: dict[str, object] = {}
        self.fragments: dict[str, str] = {}
        stream = url.replace("http", "ws") + "/_stcore/stream"
        self.socket = connect(stream, subprotocols=["streamlit"], max_size=MOST, open_timeout=PATIENCE, legacy=True)
        self.run(BackMsg())

    # What there is to do

    def choose(self, label: str, value: str) -> Stranger:
        """In the selectbox of this label, whatever its options are."""
        message = BackMsg()
        message.rerun_script.widget_states.widgets.add(id=self.elements[label].id, string_value=value)
        return self.run(message)

    def press(self, label: str) -> Stranger:
        """The button whose label begins so."""
        button = next(e for name, e in self.elements.items() if name.startswith(label))
        message = BackMsg()
        message.rerun_script.widget_states.widgets.add(id=button.id, trigger_value=True)
        return self.run(message)

    def open(self, label: str) -> Stranger:
        """A popover."""
        message = BackMsg()
        message.rerun_script.widget_states.widgets.add(id=self.elements[label].id, bool_value=True)
        return self.run(message)

    def ask_for_file(self, number: int = 0) -> None:
        """The one behind the button Download, without waiting for it."""
        button = next(e for name, e in self.elements.items() if name.startswith("Download"))
        request = BackMsg().backend_operation_request
        request.request_id, request.session_id = str(number), self.id
        request.deferred_file.file_id = button.deferred_file_id
        self.socket.send(BackMsg(backend_operation_request=request).SerializeToString())

    def file(self) -> str:
        """The address of one that was asked for."""
        said = self.hear(lambda said: said.WhichOneof("type") == "backend_operation_response")
        return said.backend_operation_response.deferred_file.url

    def trigger(self, event: str, value: object) -> Stranger:
        """Of the microscope."""
        message, lens = BackMsg(), self.elements["attention_lens"].id
        message.rerun_script.fragment_id = self.fragments["attention_lens"]
        message.rerun_script.widget_states.widgets.add(id=lens, json_value="{}")
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{lens}__events"
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        return self.run(message)

    def drop(self, data: bytes, name: str = "picture.jpg") -> Stranger:
        """As the page does it: the file goes first, then the message that names it."""
        return self.trigger("photo", {"name": name, "file": self.bring(data), "stamp": 1})

    def bring(self, data: bytes) -> str:
        """An upload; gives its name on the server."""
        _, headers = ask(f"{self.url}/_stcore/health")
        token = headers["set-cookie"].partition("=")[2].partition(";")[0]
        where, (body, kind) = self.upload_url(), form(data)
        self.brought, _ = ask(
            where, "PUT", body, Content_Type=kind, Cookie=f"_streamlit_xsrf={token}", X_Xsrftoken=token
        )
        return where.rpartition("/")[2]

    def run(self, message: BackMsg) -> Stranger:
        """Until the run that this message asked for has finished."""
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.query_string = self.address
        self.socket.send(message.SerializeToString())
        started = False
        while True:
            said = ForwardMsg.FromString(self.socket.recv(PATIENCE))
            kind = said.WhichOneof("type")
            if kind == "new_session":
                started, self.page = True, said.new_session.page_script_hash
                self.id = said.new_session.initialize.session_id
            elif kind == "delta":
                self._see(said.delta)
            elif kind == "page_info_changed":
                self.address = said.page_info_changed.query_string
            elif kind == "script_finished" and started:
                return self

    def upload_url(self, name: str = "picture.jpg") -> str:
        message = BackMsg()
        message.file_urls_request.request_id = "1"
        message.file_urls_request.file_names.append(name)
        self.socket.send(message.SerializeToString())
        said = self.hear(lambda said: said.WhichOneof("type") == "file_urls_response")
        return self.url + said.file_urls_response.file_urls[0].upload_url

    def close(self) -> None:
        self.socket.close()

    # What there is to see

    @property
    def words(self) -> dict[str, str]:
        """Of the address."""
        return dict(parse_qsl(self.address))

    def hear(self, condition: Callable[[ForwardMsg], bool]) -> ForwardMsg:
        while not condition(said := ForwardMsg.FromString(self.socket.recv(PATIENCE))):
            pass
        return said

    def _see(self, delta) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "toast":
            self.said.append(element.toast.body)
        elif kind == "exception":
            raise RuntimeError(element.exception.message)
        elif kind == "bidi_component":
            self.elements[element.bidi_component.component_name] = element.bidi_component
            self.fragments[element.bidi_component.component_name] = delta.fragment_id
        elif kind in ("button", "selectbox", "download_button"):
            found = getattr(element, kind)
            self.elements[found.label] = found
        if delta.add_block.HasField("popover"):
            self.elements[delta.add_block.popover.label] = delta.add_block.popover
