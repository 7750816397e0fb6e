"""What an import is made of: portions of files, records in them to be parsed, and what comes of those."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from periplus import addresses
from periplus.app.importing.opening import nothing
from periplus.app.importing.report import ImportProblem
from periplus.documents import parse, parse_text
from periplus.errors import ParseError
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.app.importing.opening import Opener

MAX_ID: Final = 1_000  # characters
_SHOWN: Final = 80


class LeftOut(Struct, frozen=True, tag=True):
    """A record without a document, or a place where none could be read."""

    reason: str
    kind: str = ""  # the content type that has no reader
    problem: ImportProblem | None = None


class Line(Struct, frozen=True):
    """One line of a ``.jsonl`` file, or a row of a Parquet file."""

    id: str | int | float | None = None
    url: str | None = None
    title: str | UnsetType | None = UNSET
    text: str | UnsetType | None = UNSET


class Kept(Struct, frozen=True, tag=True):
    """A document, and how much of the file it took."""

    document: Document
    size: int
    is_without_address: bool = False


Outcome = Kept | LeftOut


class Item(Struct, frozen=True, tag=True):
    """A page to be parsed."""

    page: Page

    @property
    def size(self) -> int:
        return len(self.page.body)

    is_without_address = False

    def document(self) -> Document | LeftOut:
        try:
            return parse(self.page)
        except ParseError as error:
            return LeftOut(error.reason, error.detail if error.reason == "unsupported-type" else "")


class ImportedRecord(Struct, frozen=True, tag=True):
    """A text to be taken as it is: one document by its id, whatever its address; without an id, by its address."""

    id: str
    url: str
    title: str
    text: str
    moment: float
    is_without_address: bool = False
    author: str = ""
    published: float = 0.0
    date_source: str = ""  # what told when it was published

    @property
    def size(self) -> int:
        return len(self.text)

    def document(self) -> Document | LeftOut:
        name = f"id:{self.id}"
        try:
            page = Page(self.url or name, self.text.encode("utf-8", "replace"), fetched=self.moment)
            document = parse_text(page, self.text, self.title)
        except ParseError as error:
            return LeftOut(error.reason)
        key = addresses.key(name) if self.id else document.key
        refusal = "" if document.title else document.refusal
        document = msgspec.structs.replace(document, key=key, id=self.id, refusal=refusal)
        if not self.date_source:
            return document
        return msgspec.structs.replace(
            document, author=self.author, published=self.published, date_source=self.date_source, date_confidence=1.0
        )


Entry = Item | ImportedRecord | LeftOut


class BadRecord(Exception):
    """A line or row that is no record; the message says why."""


def outcome_of(entry: Entry) -> Outcome:
    """What becomes of a record."""
    if isinstance(entry, LeftOut):
        return entry
    found = entry.document()
    return found if isinstance(found, LeftOut) else Kept(found, entry.size, entry.is_without_address)


def given_up(place: tuple[str, str], entry: Entry) -> LeftOut:
    """A record that its reader broke off at."""
    if isinstance(entry, LeftOut):
        return entry
    file, part = place
    name = entry.page.url if isinstance(entry, Item) else entry.id or entry.url
    what = f"{name}: its reader broke a bound of time, memory or output, or ended"
    return LeftOut("parse-bound", problem=ImportProblem(file, part, "parse-bound", what))


class FilePortion(Struct, frozen=True, tag=True):
    """Some records of a file, which can be sent to a process that reads them.

    Each kind has ``count`` and ``size``, how many records and bytes there are about, and ``entries``, which gives each
    record; what cannot be read is left out, and says why.
    """

    @property
    def place(self) -> tuple[str, str]:
        """The file, and which part of it."""
        return "", ""

    @contextmanager
    def opening(self) -> Iterator[Opener]:
        """Opens what ``entries`` asks for, on this side of the fence."""
        yield nothing


def record_of(line: Line, moment: float) -> ImportedRecord:
    """The record that a line gives; raises ``BadRecord``."""
    name = _name(line.id)
    address = addresses.try_canonical(line.url) if line.url else None
    if not name and address is None:
        raise BadRecord(f"no id, and {line.url[:_SHOWN]!r} is no http address" if line.url else "neither id nor url")
    if len(name) > MAX_ID:
        raise BadRecord(f"an id of {len(name)} characters; at most {MAX_ID} are taken")
    if line.text is UNSET and line.title is UNSET:
        raise BadRecord("neither text nor title")
    is_without = bool(line.url) and address is None
    return ImportedRecord(name, address or "", _text(line.title), _text(line.text), moment, is_without)


def _name(given: str | int | float | None) -> str:
    """An id as text; numbers that a table holds as fractions because others are missing are whole again."""
    if given is None or (isinstance(given, float) and math.isnan(given)):
        return ""
    return str(int(given)) if isinstance(given, float) and given.is_integer() else str(given)


def _text(given: str | UnsetType | None) -> str:
    return given.strip() if isinstance(given, str) else ""


def bad(file: str, place: str, what: str, reason: str = "bad-record") -> LeftOut:
    return LeftOut(reason, problem=ImportProblem(file, place, reason, what))
