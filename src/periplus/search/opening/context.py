"""SearchContext: what one search has at hand."""

from __future__ import annotations

from msgspec import Struct

from periplus.search.opening.generations import Generation
from periplus.search.shards.broker import Broker


class SearchContext(Struct):
    """The generation that answers a search as a whole, and the search's own asking of the shards."""

    generation: Generation
    shards: Broker
