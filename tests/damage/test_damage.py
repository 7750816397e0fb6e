"""Damage of every kind of file: one clear line, no signal, no other answer in silence, and what can be made again is.

``make soak-damage`` tries thousands; here are some of each kind of file and way, in turn. The trials fork, so they
run in a process of their own, which has no other threads.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from damage.trials import MENDABLE

TRIALS = Path(__file__).with_name("trials.py")
MENDED = ["manifest", "postings", "rank columns", "documents", "links", "words of the whole", "titles of the whole"]
SECONDS = 600


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("damage")


def trials(home, *options):
    words = [sys.executable, TRIALS, "--keep", home, "--pages", 16, "--seed", 18, "--jobs", 1, *options]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def test_damage_is_met_with_one_clear_line(home):
    code, said = trials(home, "--mutations", 30, "--mend", 0)
    assert code == 0, said
    assert "30 mutations, 0 mended, 0 badly met" in said


def test_what_can_be_made_again_is_mended(home):
    assert set(MENDED) <= set(MENDABLE)
    code, said = trials(home, "--mutations", len(MENDED), "--mend", 1, "--kinds", ",".join(MENDED))
    assert code == 0, said
    assert f"{len(MENDED)} mutations, {len(MENDED)} mended, 0 badly met" in said
