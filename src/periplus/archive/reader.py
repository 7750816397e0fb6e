"""Reading exchanges back: one by its place, or all of a file, with their digests checked."""

from __future__ import annotations

from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from periplus.archive import encoding, http, member, record, thinned
from periplus.archive.blanking import is_blank
from periplus.archive.writer import ELAPSED, IDENTICAL
from periplus.errors import Corrupt, NotFound, PeriplusError, StorageError, Truncated
from periplus.records import ArchiveLocation, Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from periplus.archive.member import PlacedRecord
    from periplus.archive.record import Record

MAX_REFERENCES = 4  # revisits that are followed back to a payload

RESPONSES = ("response", "revisit")
_REPETITIONS = (IDENTICAL, IDENTICAL.replace("1.1", "1.0"))


class ArchiveSource(Protocol):
    """Where the files of an archive are, if not in a folder."""

    def opened(self, name: str) -> BinaryIO:
        """A file to be read from any place; ``NotFound`` when there is none of that name."""


def opened(path: Path, source: ArchiveSource | None) -> BinaryIO:
    """The file at ``path``, which ``source`` gives where there is one."""
    return path.open("rb") if source is None else source.opened(path.name)


def read(
    folder: Path | str | ArchiveSource, location: ArchiveLocation, max_unpacked: int = encoding.MAX_UNPACKED
) -> Exchange:
    """The exchange at ``location``, verified; a revisit of an identical payload is given with that payload.

    A body that unpacks to more than ``max_unpacked`` bytes is cut there, and ``truncated`` says so.
    """
    response, request = _at(folder, location)
    payload = _referred_payload(folder, response) if is_repetition(response) else None
    return _exchange(response, request, max_unpacked, payload)


def iterate(
    path: Path | str,
    offset: int = 0,
    others: ArchiveSource | None = None,
) -> Iterator[tuple[ArchiveLocation, Exchange]]:
    """Every HTTP response and revisit of a file with its request, from the record at ``offset`` on, with their places.

    Raises ``Corrupt``, ``Truncated`` or ``Incompatible`` where the file cannot be read further. A revisit of an
    identical payload has that payload if the record it names is in the same folder, or among ``others``; if not,
    ``truncated`` is "unspecified". Others' files are read too, plain or packed, with the request before or after the
    response.
    """
    path = Path(path)
    with _opened(path) as file:
        yield from _exchanges(path, _told(path, thinned.records(file, offset)), others)


def iterate_as_it_stands(path: Path, file: BinaryIO) -> Iterator[tuple[ArchiveLocation, Exchange]]:
    """Every response of an open file, with the bytes where it is in there; of a thinned file these are no places."""
    yield from _exchanges(path, _told(path, member.placed_records(file)), None)


def _exchanges(
    path: Path, records: Iterator[PlacedRecord], others: ArchiveSource | None
) -> Iterator[tuple[ArchiveLocation, Exchange]]:
    for placed, request in _pairs(records):
        try:
            payload = _payload_at_hand(others or path.parent, placed.record)
            exchange = _exchange(placed.record, request, encoding.MAX_UNPACKED, payload)
        except Corrupt as error:
            raise type(error)(f"{path} at {placed.offset}: {error}") from error
        yield ArchiveLocation(path.name, placed.offset, placed.length), exchange


def references(folder: Path | str | ArchiveSource, location: ArchiveLocation) -> list[ArchiveLocation]:
    """Where the records stand by which the one at ``location`` is given with its payload; none when it has its own."""
    response, _ = _at(folder, location)
    found: list[ArchiveLocation] = []
    while is_repetition(response) and len(found) < MAX_REFERENCES:
        earlier = _earlier(response)
        if earlier is None:
            break
        found.append(earlier)
        response, _ = _at(folder, earlier)
    return found


def exchange_of(response: Record, folder: Path | ArchiveSource) -> Exchange:
    """The exchange in a response or revisit, without its request; ``folder`` holds what a revisit may refer to.

    Where the digest of the whole record agrees, that of the payload, which is a part of it, is not computed.
    """
    return _exchange(response, None, encoding.MAX_UNPACKED, _payload_at_hand(folder, response), trusting=True)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist; the archive has lost a file") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error


def _told(path: Path, records: Iterator[PlacedRecord], at: int = 0) -> Iterator[PlacedRecord]:
    """The records, which begin at ``at``; an error says where in the file it is."""
    try:
        for placed in records:
            at = placed.offset + placed.length
            yield placed
    except PeriplusError as error:
        raise type(error)(f"{path} at {at}: {error}") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error


def _pairs(records: Iterator[PlacedRecord]) -> Iterator[tuple[PlacedRecord, Record | None]]:
    """Responses with their requests; a request stands right before or right after its response."""
    waiting: PlacedRecord | None = None
    request: Record | None = None
    try:
        for placed in records:
            current = placed.record
            if current.type == "request":
                request = current
            elif current.type in RESPONSES and is_http(current):
                if waiting is not None:
                    yield waiting, None
                waiting = placed
            if waiting is not None and request is not None and belong(request, waiting.record):
                yield waiting, request
                waiting = request = None
    except PeriplusError:
        if waiting is not None:
            yield waiting, None  # damage further on does not take away a response that is whole
        raise
    if waiting is not None:
        yield waiting, None


def belong(request: Record, response: Record) -> bool:
    named = (request.fields.get("warc-concurrent-to", ""), response.fields.get("warc-concurrent-to", ""))
    return (bool(response.id) and named[0] == response.id) or (bool(request.id) and named[1] == request.id)


def is_http(found: Record) -> bool:
    """Whether a record holds an HTTP message of a page's address."""
    kind = found.fields.get("content-type", "application/http").lower()
    return kind.startswith("application/http") and found.url.lower().startswith(("http:", "https:"))


def _at(folder: Path | str | ArchiveSource, location: ArchiveLocation) -> tuple[Record, Record | None]:
    """The response at a place, and the request that follows it."""
    path = Path(folder, location.file) if isinstance(folder, Path | str) else Path(location.file)
    with _opened(path) if isinstance(folder, Path | str) else folder.opened(location.file) as file:
        records = _told(path, _from(path, file, location.offset), location.offset)
        placed = next(records, None)
        if placed is not None and is_blank(placed.record):
            raise NotFound(f"{path} at {location.offset}: this record was taken down")
        if placed is None or placed.record.type not in RESPONSES:
            raise Corrupt(f"{path} at {location.offset}: no response record there")
        if location.length and placed.length != location.length:
            raise Corrupt(f"{path} at {location.offset}: a record of {placed.length} bytes, not {location.length}")
        return placed.record, _following_request(records, placed)


def _from(path: Path, file: BinaryIO, offset: int) -> Iterator[PlacedRecord]:
    """The record at a place, and what stands behind it."""
    try:
        places = thinned.places_of(file)
    except Corrupt as error:
        raise Corrupt(f"{path}: {error}") from error
    at = offset if places is None else places.of(offset)
    if at is None:
        raise NotFound(f"{path} at {offset}: this record was left out when the file was thinned")
    if at >= file.seek(0, SEEK_END):
        raise Truncated(f"{path} ends before {offset}, where a record should be")
    return member.placed_records(file, at)


def _following_request(records: Iterator[PlacedRecord], placed: PlacedRecord) -> Record | None:
    """The request after a response; the response is whole without it, so damage there is no concern here."""
    try:
        following = next(records, None)
    except PeriplusError:
        return None
    belongs = following is not None and following.record.type == "request" and belong(following.record, placed.record)
    return following.record if following is not None and belongs else None


def is_repetition(found: Record) -> bool:
    return found.type == "revisit" and found.fields.get("warc-profile", "").lower() in _REPETITIONS


def _payload_at_hand(folder: Path | str | ArchiveSource, found: Record) -> bytes | None:
    try:
        return _referred_payload(folder, found) if is_repetition(found) else None
    except (NotFound, Corrupt):
        return None


def _referred_payload(folder: Path | str | ArchiveSource, found: Record) -> bytes | None:
    """The payload that a revisit repeats, or None when the earlier record is not at hand."""
    for _ in range(MAX_REFERENCES):
        earlier = _earlier(found)
        if earlier is None:
            return None
        found, _request = _at(folder, earlier)
        if found.type == "response":
            return http.decode(found.block).payload
    return None


def _earlier(revisit: Record) -> ArchiveLocation | None:
    """The record that a revisit names, where it names one of an archive of ours; its length is not known."""
    name = revisit.fields.get("warc-refers-to-filename", "")
    offset = revisit.fields.get("warc-refers-to-file-offset", "")
    if not offset.isdigit() or not name or Path(name).name != name:
        return None
    return ArchiveLocation(name, int(offset), 0)


def _exchange(
    response: Record, request: Record | None, max_unpacked: int, payload: bytes | None, *, trusting: bool = False
) -> Exchange:
    message = http.decode(response.block)
    _check_digests(response, message, payload, trusting=trusting)
    status, reason = http.status_of(message.start)
    body, cut = encoding.unpack(
        message.payload if payload is None else payload,
        ",".join(value for name, value in message.headers if name.lower() == "content-encoding"),
        max_unpacked,
    )
    asked = http.decode(request.block) if request is not None else None
    return Exchange(
        url=response.url,
        method=asked.start.partition(" ")[0] if asked else "GET",
        request_headers=asked.headers if asked else (),
        status=status,
        reason=reason,
        headers=message.headers,
        payload=message.payload if payload is None else payload,
        body=body,
        ip=response.fields.get("warc-ip-address", ""),
        started=record.date_seconds(response.fields.get("warc-date", "")),
        elapsed=seconds_taken(response),
        truncated="length" if cut else _truncation(response, payload),
    )


def _truncation(response: Record, payload: bytes | None) -> str:
    if is_repetition(response) and payload is None:
        return "unspecified"
    return response.fields.get("warc-truncated", "")


def _check_digests(response: Record, message: http.Message, referred: bytes | None, *, trusting: bool) -> None:
    if not record.agrees(response.fields.get("warc-block-digest", ""), response.block):
        raise Corrupt(f"the record of {response.url} does not agree with its digest")
    stated = response.fields.get("warc-payload-digest", "")
    if response.type == "revisit" and referred is None:
        return
    if trusting and referred is None and record.is_digest(response.fields.get("warc-block-digest", "")):
        return
    # Others' files give the digest of the body with its chunks, or without them.
    candidates = (referred,) if referred is not None else (message.stored, message.payload)
    if not any(record.agrees(stated, candidate) for candidate in candidates):
        raise Corrupt(f"the payload of {response.url} does not agree with its digest")


def seconds_taken(response: Record) -> float:
    try:
        return float(response.fields.get(ELAPSED.lower(), "0")) / 1000
    except ValueError:
        return 0.0
