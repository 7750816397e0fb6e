"""What columns of the index say of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from periplus.index import Snapshot
    from periplus.search.shards.exchange import Numbers, Scores


def dates(snapshot: Snapshot, numbers: Numbers) -> Scores:
    """When each document was published, else fetched."""
    published = np.asarray(snapshot.column("published", numbers), dtype=np.float64)
    fetched = np.asarray(snapshot.column("fetched", numbers), dtype=np.float64)
    return np.where(published > 0, published, fetched)
