"""The picture of a site, where the archive holds one: crawled or imported as ``/favicon.ico`` of its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus import addresses, archive
from periplus.errors import PeriplusError
from periplus.records import ArchiveLocation

if TYPE_CHECKING:
    from periplus.app.collection import Collection

NAMES = ("favicon.ico", "favicon.png", "favicon.gif")


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
    sql = f"SELECT file, place, length FROM urls WHERE host = ? AND key IN ({places}) AND length > 0"  # noqa: S608
    with collection.database.read() as tx:
        row = tx.row(sql, (addresses.host_key(addresses.host(wanted[0])), *map(addresses.key, wanted)))
    if row is None:
        return None
    try:
        exchange = archive.read(collection.folder / "archive", ArchiveLocation(str(row[0]), int(row[1]), int(row[2])))
    except PeriplusError:
        return None  # taken down, or its file is gone
    return exchange.body if exchange.status == 200 else None
