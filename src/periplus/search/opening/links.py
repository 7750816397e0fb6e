"""``link:``: the pages that link to an address, as the last ranking published them.

Links of pages that were read since are found after the next ranking; pages that left the index are not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus import addresses

if TYPE_CHECKING:
    from periplus.graph import Backlinks

Keys = np.ndarray[Any, np.dtype[np.int64]]


class InLinks:
    def __init__(self, published: Backlinks | None) -> None:
        self._published = published

    @property
    def known(self) -> bool:
        """Whether a ranking has published links."""
        return self._published is not None

    def sources(self, url: str) -> Keys:
        """Keys of the documents whose newest version links to ``url``, by http or https."""
        return np.empty(0, np.int64) if self._published is None else self._published.to(addresses.page_key(url))
