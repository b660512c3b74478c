"""A listener in place of the internet, which accepts connections and never answers."""

import socket
import threading


class Hole:
    """Accepts all connections that the server would open to the internet, and never answers."""

    def __init__(self):
        self.connections: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            self.connections.append(self._listening.accept()[0])

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        return {"http_proxy": url, "https_proxy": url, "no_proxy": "127.0.0.1"}
