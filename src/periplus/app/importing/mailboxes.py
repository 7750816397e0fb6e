"""Archives of mailing lists (mbox): each message is a document, known by its Message-ID."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from periplus import archive
from periplus.app.importing.items import MAX_ID, Entry, FilePortion, ImportedRecord, bad
from periplus.app.importing.opening import ask_for
from periplus.documents import parse
from periplus.errors import ParseError
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage
    from pathlib import Path

    from periplus.app.importing.opening import Opener

SUFFIXES: Final = tuple(f".mbox{packing}" for packing in ("", ".gz", ".zst", ".lz4"))
MAX_MESSAGE: Final = 8_000_000  # bytes
MESSAGES: Final = 500  # of a portion
PORTION: Final = 8_000_000  # bytes of a portion, or one message
_STEP: Final = 65_536
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


class Messages(FilePortion, frozen=True):
    """Messages of a file, the first of which has the number ``first``; a message that is too long is empty."""

    file: str
    first: int
    messages: list[bytes]
    size: int

    @property
    def count(self) -> int:
        return len(self.messages)

    @property
    def place(self) -> tuple[str, str]:
        return self.file, f"messages {self.first} to {self.first + len(self.messages) - 1}"

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        for number, data in enumerate(self.messages, self.first):
            yield _entry(data, self.file, number)


def portions(path: Path, opened: Opener) -> Iterator[Messages]:
    """The file in portions of whole messages."""
    waiting: list[bytes] = []
    number, size = 1, 0
    with ask_for(opened, path) as file:
        for data in _messages(archive.unpacked(file)):
            waiting.append(data)
            size += len(data)
            if len(waiting) >= MESSAGES or size >= PORTION:
                yield Messages(str(path), number, waiting, size)
                number, size, waiting = number + len(waiting), 0, []
    if waiting:
        yield Messages(str(path), number, waiting, size)


def _messages(lines: Any) -> Iterator[bytes]:
    """Each message as bytes; an empty one in place of one that is too long."""
    parts: list[bytes] = []
    size, begun, after_blank = 0, False, True
    while line := lines.readline(_STEP):
        if line.startswith(b"From ") and after_blank:
            if begun:
                yield b"".join(parts) if size <= MAX_MESSAGE else b""
            parts, size, begun = [], 0, True
        elif begun:
            size += len(line)
            if size <= MAX_MESSAGE:
                parts.append(line)
        after_blank = line in (b"\n", b"\r\n")
    if begun:
        yield b"".join(parts) if size <= MAX_MESSAGE else b""


def _entry(data: bytes, file: str, number: int) -> Entry:
    place = f"message {number}"
    if not data:
        return bad(file, place, f"longer than {MAX_MESSAGE} bytes", "too-large")
    try:
        message = message_from_bytes(_QUOTED.sub(rb"\1", data), policy=policy.default)
        name = _header(message, "message-id").strip("<> ")
        if not name or len(name) > MAX_ID:
            return bad(file, place, "no Message-ID that it could be known by")
        date = _date(_header(message, "date"))
        title, text, author = _header(message, "subject"), _body(message), _header(message, "from")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return bad(file, place, f"no message: {error}")
    source = "message" if date else ""
    return ImportedRecord(name, "", title, text, date, author=author, published=date, date_source=source)


def _header(message: EmailMessage, name: str) -> str:
    """As text on one line; empty where it is missing."""
    return " ".join(str(message.get(name) or "").split())


def _date(text: str) -> float:
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _body(message: EmailMessage) -> str:
    """The plain text; of a message in HTML only, what is read of that."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or "utf-8"
    if part.get_content_type() == "text/html":
        return _text_of(data, charset)
    try:
        return data.decode(charset, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _text_of(data: bytes, charset: str) -> str:
    try:
        return parse(Page("http://message.invalid/", data, f"text/html; charset={charset}")).text
    except ParseError:
        return ""
