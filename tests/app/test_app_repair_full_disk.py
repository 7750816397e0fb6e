"""``doctor --repair`` on a disk that is full: one clear line, nothing lost, and mended once there is room."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from periplus import Collection
from periplus.demo import DemoWeb
from support.components import missing

TIME_LIMIT = 180

# A small file system of its own with a damaged collection on it, filled up; it is gone when the namespace ends.
SCRIPT = """
set -eu
sound=$1; disk=$2; python=$3; room=$4
mount -t tmpfs -o size=40m tmpfs "$disk"
cp -a "$sound" "$disk/c"
cat /dev/zero >"$disk/ballast" 2>/dev/null || true
truncate -s "-$room" "$disk/ballast"
find "$disk/c" -type f -name '*.parquet' -exec sha256sum {} + | sort >"$disk.before"
set +e
"$python" -m periplus doctor --repair --dir "$disk/c" >"$disk.out1" 2>"$disk.err1"
echo $? >"$disk.code1"
set -e
find "$disk/c" -type f -name '*.parquet' -exec sha256sum {} + | sort >"$disk.after"
rm "$disk/ballast"
"$python" -m periplus doctor --repair --json --dir "$disk/c" >"$disk.out2" || true  # it says that the disk is small
"$python" -m periplus search tide --json --dir "$disk/c" >"$disk.search"
"""


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """Its index and its ranks are damaged, and can be made again."""
    folder = tmp_path_factory.mktemp("damaged") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=12, scope="host", delay=0.01, resolve=web.resolve)
        made.rank()
        made.index()
    for pattern in ("index/segments/*/postings.bin", "ranks/*/page_ranks.npy"):
        path = next(folder.glob(pattern))
        path.write_bytes(path.read_bytes()[:-9])
    return folder


@pytest.mark.parametrize("room", [0, 45_000])
def test_a_repair_on_a_full_disk_is_said_in_one_line_and_done_later(damaged: Path, tmp_path: Path, room: int):
    namespace = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
    if not shutil.which("unshare") or subprocess.run([*namespace, "true"], check=False).returncode:
        missing("a mount namespace (unshare -m)")
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        [*namespace, "sh", "-c", SCRIPT, "sh", str(damaged), str(disk), sys.executable, str(room)],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert read(disk, "code1") == "1"
    said = read(disk, "err1").splitlines()
    assert "no space left" in said[-1]
    assert said[-1].startswith("periplus: ")
    assert not any("Traceback" in line for line in said)
    assert read(disk, "before") == read(disk, "after")  # what cannot be made again is as it was
    states = {finding["check"]: finding["state"] for finding in json.loads(read(disk, "out2"))}
    assert states["index"] == states["ranks"] == states["documents"] == "ok"
    assert json.loads(read(disk, "search"))["results"]


def read(disk: Path, kind: str) -> str:
    return Path(f"{disk}.{kind}").read_text(encoding="utf-8").strip()
