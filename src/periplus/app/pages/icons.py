"""The pictures of sites and of pages, where the archive holds them: asked for by the crawl, or imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from periplus import addresses, archive
from periplus.errors import PeriplusError
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from periplus.app.collection import Collection

NAMES = ("favicon.ico", "favicon.png", "favicon.gif")
_PLACE = "SELECT file, place, length FROM urls WHERE host = ? AND length > 0"
_GOT = "kind = 4 AND status = 200 AND length > 0"


def stored_icon(collection: Collection, host: str) -> bytes | None:
    """The bytes as the site sent them; whoever shows them must look what they are."""
    wanted = [
        url
        for scheme in ("https", "http")
        for name in NAMES
        if (url := addresses.try_canonical(f"{scheme}://{host}/{name}"))
    ]
    if not wanted:
        return None
    places = ", ".join("?" * len(wanted))
    key = addresses.host_key(addresses.host(wanted[0]))
    crawled = f"{_PLACE} AND kind = 3 ORDER BY fetched_at DESC LIMIT 1"
    with collection.database.read() as tx:
        row = tx.row(crawled, (key,)) or tx.row(f"{_PLACE} AND key IN ({places})", (key, *map(addresses.key, wanted)))
    return None if row is None else _archived(collection, row)


def stored_picture(collection: Collection, address: str) -> bytes | None:
    """The picture of a page at ``address``, as the crawl got it."""
    url = addresses.try_canonical(address)
    if url is None:
        return None
    wanted = (addresses.host_key(addresses.host(url)), addresses.key(url))
    with collection.database.read() as tx:
        row = tx.row(f"{_PLACE} AND key = ? AND kind = 4", wanted)
    return None if row is None else _archived(collection, row)


def stored_pictures(collection: Collection, wanted: Iterable[str]) -> frozenset[str]:
    """Those of these addresses whose picture the crawl got; none where the state cannot be read."""
    urls = {url: address for address in wanted if (url := addresses.try_canonical(address))}
    if not urls:
        return frozenset()
    keys = {addresses.key(url): address for url, address in urls.items()}
    hosts = {addresses.host_key(addresses.host(url)) for url in urls}
    of_hosts, of_keys = (", ".join("?" * len(given)) for given in (hosts, keys))
    sql = f"SELECT key FROM urls WHERE host IN ({of_hosts}) AND key IN ({of_keys}) AND {_GOT}"  # noqa: S608 - marks only
    try:
        with collection.database.read() as tx:
            rows = tx.rows(sql, (*hosts, *keys))
    except PeriplusError:
        return frozenset()  # a list without pictures is better than none
    return frozenset(keys[int(key)] for (key,) in rows)


def _archived(collection: Collection, row: Sequence[Any]) -> bytes | None:
    try:
        exchange = archive.read(collection.archive, ArchiveLocation(str(row[0]), int(row[1]), int(row[2])))
    except PeriplusError:
        return None  # taken down, or its file is gone
    return exchange.body if exchange.status == 200 else None
