"""Host ranks for the frontier: what the last rank run published, from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.errors import NotFound, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.app.collection import Collection


def host_ranks(collection: Collection) -> Callable[[Sequence[int]], Sequence[float]] | None:
    """A look-up by host key, relative to the best host; ``None`` before the first rank run."""
    if collection.depot is None and not (collection.folder / "ranks").is_dir():
        return None  # the first crawl goes without loading what ranks need
    import numpy as np

    try:
        table = collection.stores.ranks.current()
    except (StorageError, NotFound):  # another process may be about to remove what is old
        return None  # a head start is not worth a failed crawl; `periplus rank` will say what is wrong
    if table is None or not table.hosts:
        return None
    best = float(np.max(table.host_ranks))

    def look_up(keys: Sequence[int]) -> Sequence[float]:
        return [float(rank) / best for rank in table.host(np.array(keys, np.int64))]

    return look_up
