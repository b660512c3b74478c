"""The time of a small answer on an open connection, with and without TCP_NODELAY.

    python benchmarks/small_answers.py [--times 100]

Asks two servers in turns: ours, whose sockets get the option from asyncio (see ui/run.py), and one started by
Streamlit's own command, whose sockets do not. Prints medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.server import Server  # noqa: E402

BAR_MS = 5.0  # most milliseconds of an answer
PATHS = ("/healthz", "/api/models", "/api/trace?sample=meadow&model=bundled")


class WithoutOption(Server):
    """The app without TCP_NODELAY: the second packet of an answer waits for the acknowledgement of the first."""

    def start(self) -> WithoutOption:
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address=127.0.0.1"]
        command += [f"--server.port={self.port}"]
        with (self.home / "log.txt").open("a") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        return self


def milliseconds(connection: HTTPConnection, path: str) -> float:
    began = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, (path, answer.status)
    return 1000 * (time.perf_counter() - began)


def measure(servers: list[Server], times: int) -> None:
    connections = [HTTPConnection("127.0.0.1", server.port) for server in servers]
    print(f"{'ms':42}{'with':>8}{'without':>9}{'bar':>6}")
    for path in PATHS:
        for connection in connections:
            milliseconds(connection, path)  # the first answer takes a computation
        rounds = [[milliseconds(connection, path) for connection in connections] for _ in range(times)]
        with_option, without_option = map(statistics.median, zip(*rounds, strict=True))
        print(f"{path:42}{with_option:8.2f}{without_option:9.2f}{BAR_MS:6.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=100, metavar="N", help="answers of each kind (default: 100)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as first_folder, tempfile.TemporaryDirectory() as second_folder:
        servers = [Server(Path(first_folder)).start(), WithoutOption(Path(second_folder)).start()]
        try:
            measure([server.wait() for server in servers], options.times)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
