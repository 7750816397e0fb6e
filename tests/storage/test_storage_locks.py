from __future__ import annotations

import threading

import pytest

from periplus.errors import StorageBusy, StorageError
from periplus.storage import awaited_lock, folder_lock

HOLD = (
    "import sys\n"
    "from pathlib import Path\n"
    "from periplus.storage import folder_lock\n"
    "with folder_lock(Path(sys.argv[1]), 'crawling'):\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.readline()\n"
)


def test_one_holder_at_a_time(tmp_path):
    path = tmp_path / "collection" / "lock"
    refused = pytest.raises(StorageBusy, match="another process is indexing")
    with folder_lock(path, "crawling"), refused, folder_lock(path, "indexing"):
        pass
    with folder_lock(path, "indexing"):
        pass


def test_the_lock_ends_with_its_holder(tmp_path, start):
    path = tmp_path / "lock"
    process = start(HOLD, str(path))
    assert process.stdout.readline() == "held\n"
    with pytest.raises(StorageBusy), folder_lock(path, "crawling"):
        pass
    process.kill()
    process.wait()
    with folder_lock(path, "crawling"):
        pass


def test_a_place_that_cannot_be_locked(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError), folder_lock(tmp_path / "file" / "lock", "crawling"):
        pass


def test_who_waits_has_the_lock_when_it_is_let_go(tmp_path):
    held, had = threading.Event(), []

    def wait() -> None:
        held.wait()
        with awaited_lock(tmp_path / "lock", "waiting", 60.0):
            had.append(True)

    waiter = threading.Thread(target=wait)
    waiter.start()
    with folder_lock(tmp_path / "lock", "holding"):
        held.set()
        with pytest.raises(StorageBusy), awaited_lock(tmp_path / "lock", "hurrying", 0.0):
            pass
        assert not had
    waiter.join(60)
    assert had == [True]
