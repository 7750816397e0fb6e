"""The index and the ranks of one collection: all that serving reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.graph.ranks import RankStore
from periplus.index import IndexStore

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.storage import Catalogs


class Stores:
    """Of the collection in a folder; with ``catalogs``, of all machines, and the folder is this machine's copy."""

    def __init__(self, folder: Path, catalogs: Catalogs | None = None) -> None:
        self.index = IndexStore(folder / "index", catalog=catalogs.index if catalogs else None)
        self.ranks = RankStore(folder / "ranks", catalogs.ranks if catalogs else None)
