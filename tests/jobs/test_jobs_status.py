"""The picture of a collection while others change it."""

from __future__ import annotations

import os
import shutil

from periplus.jobs.status import disk_use


def test_a_folder_that_vanishes_while_we_look_does_not_count(tmp_path, monkeypatch):
    """As segments do that a merge replaces, at any moment of a look."""
    for name in ("kept", "merged"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"12345")
    walk = os.walk

    def interrupted(folder):
        for step in walk(folder):
            shutil.rmtree(tmp_path / "merged", ignore_errors=True)
            yield step

    monkeypatch.setattr(os, "walk", interrupted)

    assert disk_use(tmp_path) == 5
