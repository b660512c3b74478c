"""Plain file servers, without special headers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from browser.visitor import OWN_HOST

REQUEST_LOG: list[str] = []  # log lines of all plain servers


class RecordingHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *message_parts: object) -> None:
        REQUEST_LOG.append(" ".join(map(str, message_parts)))


class AnyOriginHandler(RecordingHandler):
    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


class StrictHandler(RecordingHandler):
    """A host with a policy of its own, which allows scripts from files alone, and no WebAssembly."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", "script-src 'self'")
        super().end_headers()


@contextmanager
def plain_server(folder: Path, handler: type[RecordingHandler] = RecordingHandler) -> Iterator[str]:
    server = ThreadingHTTPServer((OWN_HOST, 0), partial(handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{OWN_HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
