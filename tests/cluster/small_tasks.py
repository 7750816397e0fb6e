"""Builds the index of a small collection anew in several tasks, as only a larger one would have them.

python -m cluster.small_tasks FOLDER
"""

from __future__ import annotations

import sys
import time

from periplus.app import Collection
from periplus.errors import DatabaseBusy, LeaseLost, StorageBusy
from periplus.index.building import segment_tasks

PATIENCE = 240.0  # seconds for others that index now and then


def main() -> None:
    segment_tasks.LEAST_BYTES = 1  # type: ignore[misc]
    latest = time.monotonic() + PATIENCE
    with Collection.existing(sys.argv[1]) as collection:
        while True:
            try:
                manifest = collection.pipeline.index(rebuild=True, merge=False)
            except (DatabaseBusy, StorageBusy, LeaseLost):
                if time.monotonic() > latest:
                    raise
                time.sleep(0.2)
            else:
                break
    sys.stdout.write(f"{len(manifest.segments)} segments\n")


if __name__ == "__main__":
    main()
