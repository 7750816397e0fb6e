"""SearchContext: what one search has at hand, and pages found with it by their address."""

from __future__ import annotations

from msgspec import Struct

from periplus import addresses
from periplus.errors import Corrupt, ShardsMissing
from periplus.search.opening.generations import Generation
from periplus.search.query.text import clean
from periplus.search.shards.broker import Broker


class SearchContext(Struct):
    """The generation that answers a search as a whole, and the search's own asking of the shards."""

    generation: Generation
    shards: Broker


def find(context: SearchContext, url: str) -> int | None:
    """By address in any spelling, or by the id of a document without one."""
    plain = clean(url)
    names = [name for name in (addresses.try_canonical(plain), plain, f"id:{plain}") if name]
    found = context.shards.find([addresses.key(name) for name in names])
    return next((number for number in found if number is not None), None)


def find_in_all(context: SearchContext, url: str) -> int | None:
    """A page by address or id; an error where it may be in a part of the index that is damaged or does not answer."""
    number = find(context, url)
    losses = context.generation.losses
    if number is None and "index" in losses.codes:
        raise Corrupt(losses.damage[0])
    if number is None and context.shards.missing:
        raise ShardsMissing(f"{', '.join(context.shards.degraded)} may have {url} and does not answer; ask again")
    return number
