"""Shows the Attention Playground in this folder: python3 start.py, or a double click. It asks no network."""

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT = 8765  # the same each time: a browser keeps guesses and photographs by address
SimpleHTTPRequestHandler.extensions_map |= {".js": "text/javascript", ".wasm": "application/wasm"}  # Windows may differ


def main() -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(Path(__file__).resolve().parent))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", PORT), handler)
    except OSError:  # something else uses the port
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"The playground is at {address}; close this window to end it.", flush=True)
    webbrowser.open(address)
    server.serve_forever()


if __name__ == "__main__":
    main()
