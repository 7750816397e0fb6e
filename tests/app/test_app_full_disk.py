"""A disk that fills up in the middle of the voyage: one clear line, and nothing lost once there is room again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from support.components import missing

TIME_LIMIT = 180

# A small file system of its own, filled up but for a little; it is gone when the namespace ends.
SCRIPT = """
set -eu
folder=$1; python=$2
mount -t tmpfs -o size=60m tmpfs "$folder"
head -c 61300000 /dev/zero >"$folder/ballast"
set +e
"$python" -m periplus demo --once --dir "$folder/c" >"$folder.out1" 2>"$folder.err1"
echo $? >"$folder.code1"
set -e
rm "$folder/ballast"
"$python" -m periplus demo --once --json --dir "$folder/c" >"$folder.out2"
"$python" -m periplus politeness --json --dir "$folder/c" >"$folder.audit"
"""


def test_a_full_disk_is_said_in_one_line_and_loses_nothing(tmp_path: Path):
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        missing("a mount namespace (unshare -rm)")
    folder = tmp_path / "small"
    folder.mkdir()

    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", SCRIPT, "sh", str(folder), sys.executable],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert read(folder, "code1") == "1"
    said = read(folder, "err1").splitlines()
    assert said[-1].startswith("periplus: no space left")
    assert not any("Traceback" in line for line in said)
    result = json.loads(read(folder, "out2"))
    assert result["pages"] >= 80
    assert result["documents"] >= 70
    assert json.loads(read(folder, "audit"))["violations"] == []


def read(folder: Path, kind: str) -> str:
    return Path(f"{folder}.{kind}").read_text(encoding="utf-8").strip()
