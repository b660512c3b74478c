"""What the image runs: starts nginx and, behind it, the app; when one of them ends, it ends the other.

    python deploy/start.py                        the app on port 8501
    python deploy/start.py --replicas app:8501    nginx alone, in front of all machines that this name stands for

nginx runs in a folder of its own, which holds the app's Unix socket: nobody else reaches the app.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path

HERE = Path(__file__).resolve().parent
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or "nginx"
LOOK_EVERY = 5.0  # seconds, at which machines a name stands for
LAST_SECONDS = 4.0  # from the signal to the end
FILES = 65536
# An address as such names no host elsewhere: a page there can't give it to this machine. nginx's own words for it
ADDRESSES = r"~^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$"


def words(name: str) -> list[str]:
    return os.environ.get(f"PLAYGROUND_{name}", "").split()


def networks() -> str:
    """Who may say for whom they ask, what of it the app is told, and by which names the server is called."""
    try:
        proxies = [str(ip_network(word, strict=False)) for word in words("PROXIES")]
    except ValueError as error:
        sys.exit(f"PLAYGROUND_PROXIES is addresses and networks such as 10.0.0.0/8, with spaces between: {error}.")
    header = os.environ.get("PLAYGROUND_USER_HEADER", "").strip().lower().replace("-", "_")
    if not re.fullmatch(r"(?:[a-z][a-z0-9_]*)?", header):
        sys.exit("PLAYGROUND_USER_HEADER is a header such as X-Forwarded-User.")
    login = f"$http_{header}" if header else '""'
    names = {"localhost", socket.gethostname().lower(), *(word.lower() for word in words("HOSTS"))}
    if wrong := next((name for name in names if not re.fullmatch(r"[a-z0-9_.-]+", name)), None):
        sys.exit(f"PLAYGROUND_HOSTS is names such as attention.example.org, with spaces between; given was {wrong!r}.")
    believed = "".join(f"    {network} 1;\n" for network in proxies)
    return (
        "".join(f"set_real_ip_from {network};\n" for network in proxies)
        + f"geo $realip_remote_addr $believed {{\n    default 0;\n{believed}}}\n"
        + f'map $believed $login {{\n    default "";\n    1 {login};\n}}\n'
        + 'map "$believed$http_x_forwarded_proto" $scheme_there {\n    default $scheme;\n    1http http;\n'
        + "    1https https;\n}\n"
        + f'map $host $known_host {{\n    default 0;\n    "" 1;\n    "{ADDRESSES}" 1;\n'
        + "".join(f"    {name} 1;\n" for name in sorted(names))
        + "}\n"
    )


def upstream(servers: list[str]) -> str:
    """Never max_fails: the app hangs up on an upload that it refuses, and nobody else shall lose their seat by that. A
    replica that is gone refuses the connection, and the next one is asked."""
    return "".join(f"server {server} max_fails=0;\n" for server in servers)


def addresses(replicas: list[str]) -> list[str]:
    """Of all machines that these names stand for now."""
    addresses = set()
    for replica in replicas:
        name, _, port = replica.rpartition(":")
        with suppress(OSError):
            address_infos = socket.getaddrinfo(name, int(port), type=socket.SOCK_STREAM)
            addresses |= {
                f"[{address[0]}]:{port}" if ":" in str(address[0]) else f"{address[0]}:{port}"
                for *_, address in address_infos
            }
    return sorted(addresses)


def open_more_files() -> None:
    """Each person takes two lines of nginx, and the app four files."""
    has, may_have = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = FILES if may_have == resource.RLIM_INFINITY else min(may_have, FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(has, limit), may_have))


def write(folder: Path, port: int, servers: list[str]) -> None:
    streamlit = importlib.util.find_spec("streamlit")
    files = Path(streamlit.origin).parent / "static" / "static" if streamlit and streamlit.origin else folder
    log = "json" if os.environ.get("PLAYGROUND_LOG") == "json" else "text"
    shutil.copy(HERE / "nginx.conf", folder)
    (folder / "networks.conf").write_text(networks())
    (folder / "upstream.conf").write_text(upstream(servers))
    (folder / "files.conf").write_text(f"set $files {files};\n")
    (folder / "site.conf").write_text(f"{listen(port)}access_log requests {log};\n")


def pass_on(log: Path) -> None:
    """nginx opens its log by name, and a container's output may be closed to whoever opens it so."""
    os.mkfifo(log)
    lines = os.fdopen(os.open(log, os.O_RDWR), "rb", buffering=0)

    def copy() -> None:
        while piece := lines.read(2**16):
            with suppress(OSError):
                os.write(sys.stdout.fileno(), piece)

    threading.Thread(target=copy, name="log", daemon=True).start()


def nginx(folder: Path) -> list[str]:
    """Its command. Root's workers would be of another user, whom the app's socket is closed for."""
    as_root = ["-g", "user root;"] if os.getuid() == 0 else []
    return [NGINX, "-e", "stderr", "-p", f"{folder}/", "-c", str(folder / "nginx.conf"), *as_root]


def listen(port: int) -> str:
    """Some machines have no addresses of the new kind."""
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return f"listen {port};\nlisten [::]:{port};\n"
    return f"listen {port};\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--replicas", nargs="+", metavar="NAME:PORT", help="the machines behind it, and no app here")
    options = parser.parse_args()
    open_more_files()
    with tempfile.TemporaryDirectory(prefix="playground-") as name:
        folder = Path(name)
        app = folder / "app.sock"
        servers = addresses(options.replicas) if options.replicas else [f"unix:{app}"]
        write(folder, options.port, servers or ["127.0.0.1:9"])  # nobody yet
        pass_on(folder / "requests")
        started = []
        if not options.replicas:
            started.append(subprocess.Popen([sys.executable, "-m", "playground.ui.run", str(app)], cwd=HERE.parent))
        started.append(subprocess.Popen(nginx(folder), cwd=folder))
        return watch(started, folder, options.replicas or [], servers)


def watch(started: list[subprocess.Popen], folder: Path, replicas: list[str], servers: list[str]) -> int:
    """Until one of them ends, or somebody tells this process to."""
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: signals.append(number))
    looked = time.monotonic()
    while not signals and all(process.poll() is None for process in started):
        time.sleep(0.1)
        if replicas and time.monotonic() - looked > LOOK_EVERY:
            looked = time.monotonic()
            if (now := addresses(replicas)) and now != servers:
                servers = now
                (folder / "upstream.conf").write_text(upstream(servers))
                started[-1].send_signal(signal.SIGHUP)
    ended = [process.poll() for process in started]
    for process in started:
        process.terminate()
    until = time.monotonic() + LAST_SECONDS
    for process in started:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
    return 0 if signals else next((abs(status) or 1 for status in ended if status is not None), 1)


if __name__ == "__main__":
    sys.exit(main())
