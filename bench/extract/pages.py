"""The labelled pages as bytes: files of Debian packages, and pages of the demo web.

A package is fetched with ``apt-get download`` and kept; nothing is installed. Only the pages asked for are unpacked,
from the package itself: a local web made for crawling has rewritten links.
"""

from __future__ import annotations

import http.client
import subprocess
import tarfile
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DEMO = "demo"
DEMO_PORT = 8640  # the port that the demo's pages speak of


class Missing(Exception):
    """A page cannot be had; the message says why."""


def fetch(wanted: Iterable[tuple[str, str, str]], cache: Path) -> dict[tuple[str, str], bytes]:
    """The bytes of every (package, site, path); the key of the answer is (site, path)."""
    rows = sorted(set(wanted))
    found: dict[tuple[str, str], bytes] = {}
    for package in sorted({row[0] for row in rows}):
        paths = {path: site for name, site, path in rows if name == package}
        if package == DEMO:
            found.update(_demo_pages([(site, path) for name, site, path in rows if name == DEMO]))
        else:
            pages = _package_pages(_package_file(package, cache), set(paths))
            found.update({(paths[path], path): body for path, body in pages.items()})
    return found


def _package_file(package: str, cache: Path) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    if not list(cache.glob(f"{package}_*.deb")):
        _download(package, cache)
    return min(cache.glob(f"{package}_*.deb"))


def _download(package: str, cache: Path) -> None:
    """Fetch a package; a machine that has no lists of packages yet is given them first."""
    for verb in (["download", package], ["update"], ["download", package]):
        done = subprocess.run(["apt-get", "-qq", *verb], check=False, cwd=cache, capture_output=True, text=True)
        if done.returncode == 0 and verb[0] == "download":
            return
    reason = done.stderr.strip() or "no reason given"
    raise Missing(f"package {package} cannot be fetched: {reason.splitlines()[-1]}")


def _package_pages(package: Path, paths: set[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    unpacking = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE)
    assert unpacking.stdout
    with tarfile.open(fileobj=unpacking.stdout, mode="r|") as tar:
        for member in tar:
            path = member.name.removeprefix(".").removeprefix("/")
            if path in paths and (file := tar.extractfile(member)):
                found[path] = file.read()
    unpacking.stdout.close()
    unpacking.wait()
    if absent := paths - set(found):
        raise Missing(f"{package.name} has no {min(absent)}")
    return found


def _demo_pages(wanted: list[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    from periplus.demo import DemoWeb

    found = {}
    with DemoWeb(port=0, public_port=DEMO_PORT) as demo:
        for site, path in wanted:
            client = http.client.HTTPConnection("127.0.0.1", demo.port, timeout=10)
            client.request("GET", quote(path, safe="/?=&%"), headers={"Host": f"{site}:{DEMO_PORT}"})
            answer = client.getresponse()
            found[site, path] = answer.read()
            client.close()
            if answer.status != http.HTTPStatus.OK:
                raise Missing(f"the demo web answers {answer.status} for {site}{path}")
    return found
