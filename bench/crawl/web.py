"""The local web: real pages on many host names, served by an nginx of its own on a loopback port.

The folder of pages is never changed: nginx serves a tree of links to it with a packed copy beside every HTML file, so
that packing costs the server nothing while it is measured. Its access log is the referee: what a contender fetched is
what the server says it sent.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isal import igzip

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
MAKER = ROOT.parent / "shared" / "localweb" / "get"
NGINX_PLACES = ("nginx", "/usr/sbin/nginx")
START_SECONDS = 10.0

ROBOTS = (
    "User-agent: *\\nDisallow: /_sources/\\nDisallow: /_downloads/\\nDisallow: /cgi-bin/\\nDisallow: /*?replytocom=\\n"
)

CONFIG = """
{user}
daemon off;
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log error;
events {{ worker_connections 4096; }}
http {{
    include {types};
    default_type application/octet-stream;
    log_format referee "$status\\t$sent_http_content_type\\t$body_bytes_sent\\t$host\\t$request_uri";
    access_log {run}/access.log referee buffer=256k flush=1s;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 120s;
    keepalive_requests 1000000;
    gzip_static on;
    absolute_redirect off;
    server_names_hash_bucket_size 128;
    client_body_temp_path {run}/t1; proxy_temp_path {run}/t2; fastcgi_temp_path {run}/t3;
    uwsgi_temp_path {run}/t4; scgi_temp_path {run}/t5;
    server {{
        listen 127.0.0.1:{port} default_server backlog=4096;
        server_name _;
        return 404;
    }}
    server {{
        listen 127.0.0.1:{port};
        server_name *.test;
        root {pages}/$host;
        index index.html index.en.html;
        location = /robots.txt {{ try_files $uri @robots; }}
        location @robots {{ default_type text/plain; return 200 "{robots}"; }}
    }}
}}
"""


class Served(NamedTuple):
    """What the server sent since the last look."""

    pages: int  # distinct addresses answered with 200 and HTML
    repeats: int  # HTML answers beyond those
    others: int  # 200 with another type, robots.txt left out
    redirects: int
    missing: int
    robots: int
    megabytes: float  # of all bodies, as sent


class LocalWeb:
    """The running server. ``port`` is where every ``*.test`` host answers."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], run: Path, hosts: dict[str, str]) -> None:
        self.port = port
        self.hosts = hosts
        self._process = process
        self._log = run / "access.log"
        self._place = 0

    @property
    def seeds(self) -> list[str]:
        return [f"http://{host}{path}" for host, path in self.hosts.items()]

    def cpu(self) -> float:
        """CPU seconds of the server so far."""
        listed = subprocess.run(["pgrep", "-P", str(self._process.pid)], capture_output=True, text=True, check=False)
        return sum(_cpu_of(int(pid)) for pid in (self._process.pid, *listed.stdout.split()))

    def served(self) -> Served:
        """What was sent since the last call; waits until the log's buffer is written."""
        time.sleep(1.3)
        with self._log.open("rb") as log:
            log.seek(self._place)
            lines = log.read().decode("utf-8", "replace").splitlines()
            self._place = log.tell()
        return _count(lines)


def _count(lines: list[str]) -> Served:
    pages: set[tuple[str, str]] = set()
    html = others = redirects = missing = robots = size = 0
    for line in lines:
        status, kind, sent, host, path = line.split("\t", 4)
        size += int(sent)
        if path == "/robots.txt":
            robots += 1
        elif status == "200" and kind.startswith("text/html"):
            html += 1
            pages.add((host, path))
        else:
            others += status == "200"
            redirects += status[0] == "3"
            missing += status[0] == "4"
    return Served(len(pages), html - len(pages), others, redirects, missing, robots, size / 1e6)


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def find_web(folder: Path | None, cache: Path) -> Path:
    """The folder of pages: the one that was named, else one made by the script beside the repository."""
    if folder is None:
        folder = cache / "web"
        if not (folder / "hosts.tsv").exists():
            if not MAKER.exists():
                raise SystemExit(f"no local web: name its folder with --web (or provide {MAKER})")
            subprocess.run([str(MAKER), str(folder), "medium"], check=True)
    if not (folder / "hosts.tsv").exists():
        raise SystemExit(f"{folder} is no local web: it has no hosts.tsv")
    return folder


def read_hosts(folder: Path) -> dict[str, str]:
    """Host name to start path; hosts whose start page is not there are left out."""
    lines = (line.split("\t") for line in (folder / "hosts.tsv").read_text(encoding="utf-8").splitlines())
    return {host: start for host, _, start in lines if (folder / host / start.lstrip("/")).is_file()}


def prepare(folder: Path, cache: Path) -> Path:
    """The tree that is served: links to the pages, and a packed copy of each HTML file."""
    tree = cache / "tree"
    stamp = tree / ".from"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == str(folder.resolve()):
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    for host in read_hosts(folder):
        for path in (folder / host).rglob("*"):
            if path.is_file():
                _place(path.resolve(), tree / path.relative_to(folder))
    stamp.write_text(str(folder.resolve()), encoding="utf-8")
    return tree


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(source)
    if target.suffix == ".html":
        packed = target.with_name(target.name + ".gz")
        if not packed.exists():
            packed.write_bytes(igzip.compress(source.read_bytes(), 3, mtime=0))


@contextmanager
def serve(folder: Path, cache: Path, run: Path) -> Iterator[LocalWeb]:
    """nginx over the prepared tree, ended with the block; ``run`` takes its log, pid and temporary files."""
    tree = prepare(folder, cache)
    port = _free_port()
    run.mkdir(parents=True, exist_ok=True)
    (run / "access.log").unlink(missing_ok=True)  # of an earlier run that kept its folder
    config = run / "nginx.conf"
    types = Path("/etc/nginx/mime.types")
    config.write_text(
        CONFIG.format(
            run=run,
            port=port,
            pages=tree.resolve(),
            types=types,
            robots=ROBOTS,
            user="user root;" if os.geteuid() == 0 else "",  # else its worker could not read our folders
        ),
        encoding="utf-8",
    )
    process = subprocess.Popen([_nginx(), "-c", str(config), "-p", str(run), "-e", str(run / "error.log")])
    try:
        _wait_for(port, process)
        yield LocalWeb(port, process, run, read_hosts(folder))
    finally:
        process.terminate()
        process.wait(timeout=START_SECONDS)


def _nginx() -> str:
    found = next((place for place in map(shutil.which, NGINX_PLACES) if place), None)
    if found is None:
        raise SystemExit("nginx was not found; on Debian: apt-get install nginx")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("nginx did not start; see its error.log")
