"""WACZ files: py-wacz finds ours valid, and what it packs is read here, where it is installed (``make research``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from archive_samples import exchange

from periplus.archive import ArchiveWriter, contents, write_package
from periplus.archive.foreign import Page
from periplus.archive.package import PackagedPage

pytest.importorskip("wacz")

PAGES = [f"http://example.org/{name}" for name in ("tides", "currents", "buoys?lit=1")]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    with ArchiveWriter(folder, 1_000_000, "Periplus") as writer:
        for url in PAGES:
            html = f"<html><title>{url}</title><p>Read at {url}.</p></html>".encode()
            writer.append(exchange(url=url, headers=(("Content-Type", "text/html"),), payload=html, body=html))
        writer.flush()
    return folder


def wacz(*words: object) -> subprocess.CompletedProcess[str]:
    program = "import sys; from wacz.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_ours_is_valid_to_them(archive: Path, tmp_path: Path) -> None:
    package = tmp_path / "ours.wacz"
    write_package(archive, package, [PackagedPage(url, url, 0.0) for url in PAGES], "Periplus", 1_700_000_000.0)
    told = wacz("validate", "-f", package)
    assert (told.returncode, "is valid" in told.stdout) == (0, True), told.stdout + told.stderr


def test_theirs_is_read_here(archive: Path, tmp_path: Path) -> None:
    package = tmp_path / "theirs.wacz"
    assert wacz("create", "-o", package, *archive.glob("*.warc.gz")).returncode == 0
    assert sorted(found.url for found in contents(package) if isinstance(found, Page)) == sorted(PAGES)
