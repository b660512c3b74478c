"""The image's command: starts nginx and, behind it, the app. When one of them ends, this script ends the other.

    python deploy/start.py                        the app on port 8501
    python deploy/start.py --replicas app:8501    nginx alone, in front of all machines with this host name

nginx runs in a folder that holds the app's Unix socket; only its owner can open this socket.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from playground.errors import PlaygroundError  # noqa: E402
from playground.serving import settings  # noqa: E402

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or "nginx"
LOOK_EVERY = 5.0  # seconds between two look-ups of the replicas' addresses
LAST_SECONDS = 4.0  # the longest time from a signal to the end of this script
MOST_FILES = 65536
# Host names that are always accepted, as a pattern of nginx: IP addresses, because a hostile page has a domain name.
ADDRESS_PATTERN = r"~^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$"


def network_settings(wanted: settings.Settings) -> str:
    """The nginx settings about trusted proxies, the header with the user's name, and the server's own host names."""
    login = f"$http_{wanted.user_header.replace('-', '_')}" if wanted.user_header else '""'
    names = {"localhost", socket.gethostname().lower(), *wanted.hosts}
    trusted_lines = "".join(f"    {network} 1;\n" for network in wanted.proxies)
    return (
        "".join(f"set_real_ip_from {network};\n" for network in wanted.proxies)
        + f"geo $realip_remote_addr $believed {{\n    default 0;\n{trusted_lines}}}\n"
        + f'map $believed $login {{\n    default "";\n    1 {login};\n}}\n'
        + 'map "$believed$http_x_forwarded_proto" $scheme_there {\n    default $scheme;\n    1http http;\n'
        + "    1https https;\n}\n"
        + f'map $host $known_host {{\n    default 0;\n    "" 1;\n    "{ADDRESS_PATTERN}" 1;\n'
        + "".join(f"    {name} 1;\n" for name in sorted(names))
        + "}\n"
    )


def upstream_lines(servers: list[str]) -> str:
    """The list of servers for nginx. max_fails=0, because the app closes the connection of an upload that it refuses,
    which nginx would count as a failure. A missing replica refuses the connection, and nginx tries the next one."""
    return "".join(f"server {server} max_fails=0;\n" for server in servers)


def addresses(replicas: list[str]) -> list[str]:
    """The addresses of all machines that these names resolve to now."""
    servers = set()
    for replica in replicas:
        name, _, port = replica.rpartition(":")
        with suppress(OSError):
            address_infos = socket.getaddrinfo(name, int(port), type=socket.SOCK_STREAM)
            servers |= {
                f"[{address[0]}]:{port}" if ":" in str(address[0]) else f"{address[0]}:{port}"
                for *_, address in address_infos
            }
    return sorted(servers)


def open_more_files() -> None:
    """Raises the limit of open files: each person takes two connections of nginx and four files of the app."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MOST_FILES if hard_limit == resource.RLIM_INFINITY else min(hard_limit, MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft_limit, limit), hard_limit))


def write(folder: Path, port: int, servers: list[str], host: str = "") -> None:
    streamlit = importlib.util.find_spec("streamlit")
    files = Path(streamlit.origin).parent / "static" / "static" if streamlit and streamlit.origin else folder
    wanted = settings.read()
    shutil.copy(HERE / "nginx.conf", folder)
    (folder / "networks.conf").write_text(network_settings(wanted))
    (folder / "upstream.conf").write_text(upstream_lines(servers))
    site_lines = f"{listen_lines(port, host)}access_log requests {wanted.log};\nset $files {files};\n"
    (folder / "site.conf").write_text(site_lines)


def copy_log(log: Path) -> None:
    """Copies nginx's log to the standard output through a pipe, because nginx opens its log by name, which a container
    may forbid for the standard output."""
    os.mkfifo(log)
    pipe = os.fdopen(os.open(log, os.O_RDWR), "rb", buffering=0)

    def copy() -> None:
        while piece := pipe.read(2**16):
            with suppress(OSError):
                os.write(sys.stdout.fileno(), piece)

    threading.Thread(target=copy, name="log", daemon=True).start()


def nginx_command(folder: Path) -> list[str]:
    """The command that starts nginx. If nginx runs as root, its workers must too, because the app's socket is closed to
    other users."""
    as_root = ["-g", "user root;"] if os.getuid() == 0 else []
    return [NGINX, "-e", "stderr", "-p", f"{folder}/", "-c", str(folder / "nginx.conf"), *as_root]


def listen_lines(port: int, host: str = "") -> str:
    """The lines that make nginx listen at this address; without one at all, with IPv6 if this machine has it."""
    if host:
        return f"listen {host}:{port};\n"
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return f"listen {port};\nlisten [::]:{port};\n"
    return f"listen {port};\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="", help="listen at this address of the machine, not at all of them")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--replicas", nargs="+", metavar="NAME:PORT", help="the machines behind it, and no app here")
    options = parser.parse_args()
    open_more_files()
    with tempfile.TemporaryDirectory(prefix="playground-") as folder_name:
        folder = Path(folder_name)
        app_socket = folder / "app.sock"
        servers = addresses(options.replicas) if options.replicas else [f"unix:{app_socket}"]
        # Until `watch` finds a replica, nginx is given port 9, where no server listens.
        write(folder, options.port, servers or ["127.0.0.1:9"], options.host)
        copy_log(folder / "requests")
        processes = []
        if not options.replicas:
            processes.append(
                subprocess.Popen([sys.executable, "-m", "playground.ui.run", str(app_socket)], cwd=HERE.parent)
            )
        processes.append(subprocess.Popen(nginx_command(folder), cwd=folder))
        return watch(processes, folder, options.replicas or [], servers)


def watch(processes: list[subprocess.Popen], folder: Path, replicas: list[str], servers: list[str]) -> int:
    """Waits until one of the processes ends or this process gets a signal; returns the exit status."""
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: signals.append(number))
    last_look = time.monotonic()
    while not signals and all(process.poll() is None for process in processes):
        time.sleep(0.1)
        if replicas and time.monotonic() - last_look > LOOK_EVERY:
            last_look = time.monotonic()
            if (new_servers := addresses(replicas)) and new_servers != servers:
                servers = new_servers
                (folder / "upstream.conf").write_text(upstream_lines(servers))
                processes[-1].send_signal(signal.SIGHUP)
    statuses = [process.poll() for process in processes]
    for process in processes:  # nginx, the last, goes on with what it has begun
        process.send_signal(signal.SIGQUIT if process is processes[-1] else signal.SIGTERM)
    deadline = time.monotonic() + LAST_SECONDS
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
    return 0 if signals else next((abs(status) or 1 for status in statuses if status is not None), 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PlaygroundError as error:  # a wrong setting
        sys.exit(str(error))
