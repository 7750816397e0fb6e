"""Addresses that have been missing for so long that their rows go, so that a frontier does not grow with time alone.

A page that is gone is asked for again after a day, then after twice as long each time. One that was missing at
``FORGOTTEN_AFTER`` visits in a row is forgotten, 255 days after the first of them where pages are visited daily. When a
link leads there again it is found as any new address is: it is asked for no more often than once in four weeks. Seeds
stay, and so does what was taken down, which must not come back.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Final

from periplus.crawl.frontier.rows import FAILED

if TYPE_CHECKING:
    from periplus.storage import Database

FORGOTTEN_AFTER: Final = 9
AGAIN: Final = 86_400.0  # seconds between two looks for them
UNDER_WAY: Final = 3_600.0  # before its next visit a worker may have a row in memory
_CHUNK: Final = 500
_LOOKED: Final = "urls.forgotten"  # in meta: when it was last looked for them
_MISSING: Final = f"state = {FAILED} AND missing >= {FORGOTTEN_AFTER} AND depth > 0 AND pending = 0 AND next_at > ?"
_FIND: Final = f"SELECT host, key FROM urls WHERE {_MISSING}"  # noqa: S608 - numbers of ours
_FORGET: Final = f"DELETE FROM urls WHERE host = ? AND key = ? AND {_MISSING}"  # noqa: S608


def forget_missing(database: Database) -> int:
    """Forget addresses that are missing for good, once a day; how many."""
    now = time.time()
    with database.read() as tx:
        looked = float(tx.value("SELECT value FROM meta WHERE key = ?", (_LOOKED,)) or 0)
        if abs(now - looked) < AGAIN:
            return 0
        found = tx.stream(_FIND, (now + UNDER_WAY,))
        gone = [(int(host), int(key)) for host, key in islice(found, _CHUNK)]
    with database.write() as tx:
        tx.executemany(_FORGET, [(host, key, now + UNDER_WAY) for host, key in gone])
        if len(gone) < _CHUNK:
            tx.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (_LOOKED, str(now)),
            )
    return len(gone)
