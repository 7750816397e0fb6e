"""The benchmark of growth, over corpora that take seconds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKE = """
import hashlib, sys
from pathlib import Path
from bench.scale.corpus import pages, read_sentences
made = list(pages(read_sentences(Path(sys.argv[1])), int(sys.argv[2])))
print(len({page.url for page in made}), sum(len(page.text.encode()) for page in made) // len(made))
print(hashlib.sha256(repr(made[:100]).encode()).hexdigest())
"""


@pytest.fixture
def passages(tmp_path):
    path = tmp_path / "passages.jsonl"
    lines = [
        f"Tide {number} turns. The harbour of port {number * 7} sleeps. Who rows there? " * 3 for number in range(40)
    ]
    path.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines), encoding="utf-8")
    return path


def run(*words):
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def test_corpora_are_the_same_in_every_run_and_smaller_ones_begin_larger_ones(passages):
    small, large = run("-c", MAKE, passages, 500).split(), run("-c", MAKE, passages, 1_000).split()
    assert small[2] == large[2]
    assert (small[0], large[0]) == ("500", "1000")
    assert 2_100 < int(large[1]) < 2_700


def test_a_short_run_tells_speed_memory_disk_and_searches(passages, tmp_path):
    result = tmp_path / "result.json"
    words = ("--passages", passages, "--folder", tmp_path / "scale", "--json", result, "--queries", 5)
    printed = run("-m", "bench.scale", "--sizes", 100, 300, *words)
    rows = json.loads(result.read_text(encoding="utf-8"))
    assert [row["documents"] for row in rows] == [100, 300]
    assert all(row["index_rate"] > 0 and row["segments"] == 1 and row["search_p50"] > 0 for row in rows)
    assert all(30 < row["index_peak"] < 1_200 for row in rows)
    assert rows[1]["index_disk"] > 2 * rows[0]["index_disk"]
    assert "| ×3.00 |" in printed
    assert not (tmp_path / "scale" / "collection").exists()
