"""The links that count: of every page its newest version.

The log of batches is walked twice: first over the states of documents, to know which row of which batch is the newest
of its address, then over the links of those rows. Texts are looked at once per distinct text of a batch. Memory holds
the addresses of all documents and the links of one batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from periplus import addresses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

FOLLOWED_ALIASES = 8  # hops from a page to the address that stands for it

# A page with one of these states hands its rank on to the address it names.
_ALIASES = ("canonical-elsewhere", "redirected")
# A page with one of these has nothing to link with any more, whatever its row holds.
_WITHOUT_LINKS = frozenset({"gone", "removed", "redirected"})


class Batches(Protocol):
    """What is asked of ``documents.BatchLog``."""

    def numbers(self, after: int = 0) -> list[int]: ...

    def document_table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table: ...

    def links(self, number: int, columns: Sequence[str] | None = None) -> pa.Table: ...


class Pages(NamedTuple):
    """The newest version of every address in the log."""

    urls: dict[int, str]  # of pages that were read, by page key
    counted: dict[int, Booleans]  # by batch: rows whose links count
    aliases: dict[int, str]  # page key to the address that stands for it
    last_batch: int


class Texts(NamedTuple):
    """A column by its distinct texts: row ``r`` has ``distinct[places[r]]``."""

    distinct: list[str]
    places: Integers


class LinkRows(NamedTuple):
    """Links of one batch that count."""

    sources: Texts
    targets: Texts
    followed: Booleans  # neither nofollow nor ugc nor sponsored
    table: pa.Table


class _State(NamedTuple):
    url: str
    refusal: str
    canonical: str
    batch: int
    row: int


def newest_pages(batches: Batches) -> Pages:
    """Which rows count, and which pages stand for others."""
    newest: dict[int, _State] = {}
    counted: dict[int, Booleans] = {}
    for number in batches.numbers():
        table = batches.document_table(number, ("key", "url", "refusal", "canonical"))
        counted[number] = np.zeros(table.num_rows, np.bool_)
        columns = [table.column(name).to_pylist() for name in ("key", "url", "refusal", "canonical")]
        for row, (key, url, refusal, canonical) in enumerate(zip(*columns, strict=True)):
            if "://" in url:  # imported documents may have no address, and then no place in the graph
                newest[key] = _State(url, refusal, canonical, number, row)
    for state in newest.values():
        counted[state.batch][state.row] = state.refusal not in _WITHOUT_LINKS
    return Pages(_read_pages(newest), counted, _aliases(newest), max(counted, default=0))


def link_rows(batches: Batches, pages: Pages, columns: Sequence[str] = ()) -> Iterator[LinkRows]:
    """The links of the newest versions, batch by batch; further ``columns`` are in ``table``."""
    wanted = ("source", "target", "rel", "row", *columns)
    for number, counted in pages.counted.items():
        table = batches.links(number, wanted)
        table = table.filter(counted[table.column("row").to_numpy()])
        if table.num_rows:
            yield LinkRows(texts(table.column("source")), texts(table.column("target")), _followed(table), table)


def texts(column: pa.ChunkedArray) -> Texts:
    encoded = column.combine_chunks().dictionary_encode()
    return Texts(encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))


def _followed(table: pa.Table) -> Booleans:
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(table.column("rel")), 0).to_numpy()
    return np.asarray(lengths == 0, np.bool_)


def _read_pages(newest: dict[int, _State]) -> dict[int, str]:
    """Pages that have or had content of their own; those that must not be found link all the same."""
    return {
        addresses.page_key(state.url): state.url
        for state in newest.values()
        if not state.refusal or state.refusal in ("noindex", "duplicate", "wrong-language")
    }


def _aliases(newest: dict[int, _State]) -> dict[int, str]:
    """From each page that names another one to the last of the chain; a chain that turns in a circle is left alone."""
    named = (
        (state.url, addresses.try_canonical(state.canonical)) for state in newest.values() if _names_another(state)
    )
    direct = {addresses.page_key(url): canonical for url, canonical in named if canonical}
    found = {key: _end_of_chain(url, direct) for key, url in direct.items()}
    return {key: end for key, end in found.items() if end and addresses.page_key(end) != key}


def _names_another(state: _State) -> bool:
    return state.refusal in _ALIASES and bool(state.canonical)


def _end_of_chain(url: str, direct: dict[int, str]) -> str:
    for _ in range(FOLLOWED_ALIASES):
        following = direct.get(addresses.page_key(url))
        if following is None:
            return url
        url = following
    return ""
