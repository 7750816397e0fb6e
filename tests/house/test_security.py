"""The threat model names a test for each line, and each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
TEST = re.compile(r"`(test_\w+)`")


def test_each_line_of_the_threat_model_has_a_test_that_exists():
    written = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        written |= set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    threats = [line for line in lines if not line.startswith("| they try")]

    assert len(threats) > 20
    assert [line for line in threats if not TEST.search(line)] == []
    assert {name for line in threats for name in TEST.findall(line)} - written == set()
