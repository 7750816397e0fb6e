"""One WARC record as bytes and back: named fields, a block, two empty lines; nothing of HTTP.

A record is written as WARC 1.1 and packed as one gzip member of its own, so that its offset is enough to read it.
Reading takes any version, line ends of either kind and folded fields, because others' files have them.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import re
import uuid
import zlib
from typing import NamedTuple

from isal import igzip

from periplus.errors import Corrupt, Incompatible, StorageError, Truncated

VERSION = "WARC/1.1"
COMPRESSION_LEVEL = 2  # isal, on HTML: 420 MB/s at ratio 5.1; zlib's level 6 does 50 MB/s at 6.0
MAX_FIELDS = 65_536  # bytes of the named fields of one record

_LINE_END = re.compile(r"\r?\n")
_FOLDING = (" ", "\t")
_FIELDS_END = re.compile(rb"\r?\n\r?\n")
_BREAKS = re.compile(r"[\r\n\x00]+")
_UTC = datetime.UTC
_ALGORITHMS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha512": hashlib.sha512, "md5": hashlib.md5}

_SHA1_BYTES, _SHA1_LETTERS = 20, 32  # as they are, and in base 32
_SHA1 = re.compile("[A-Za-z2-7]+")
_DIGITS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567",
    "0123456789abcdefghijklmnop0123456789abcdefghijklmnopqrstuv",
)

Fields = list[tuple[str, str]]


class Record(NamedTuple):
    """A record as read: field names in lower case, the block untouched."""

    fields: dict[str, str]
    block: bytes

    @property
    def type(self) -> str:
        return self.fields.get("warc-type", "").lower()

    @property
    def id(self) -> str:
        return self.fields.get("warc-record-id", "")

    @property
    def url(self) -> str:
        return self.fields.get("warc-target-uri", "").strip("<>")


def new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def encode(fields: Fields, block: bytes) -> bytes:
    """A whole record; Content-Length and the block's digest are added here."""
    named = [*fields, ("WARC-Block-Digest", digest(block)), ("Content-Length", str(len(block)))]
    lines = "".join(f"{name}: {one_line(value)}\r\n" for name, value in named)
    return b"".join((f"{VERSION}\r\n{lines}\r\n".encode("utf-8", "replace"), block, b"\r\n\r\n"))


def pack(record: bytes, *, packed: bool = False) -> bytes:
    """The record as one standard gzip member; where most of it is ``packed`` already, in stored blocks."""
    if packed:
        return zlib.compress(record, 0, 31)
    member: bytes = igzip.compress(record, COMPRESSION_LEVEL, mtime=0)
    return member


def fields_end(data: bytes) -> int:
    """Where the block begins in ``data``; -1 when the fields are not whole yet."""
    end = data.find(b"\r\n\r\n", 0, MAX_FIELDS)
    if end >= 0 and data.find(b"\n\n", 0, end) < 0 and data.find(b"\n\r\n", 0, end + 1) < 0:
        return end + 4
    found = _FIELDS_END.search(data, 0, MAX_FIELDS)
    if found:
        return found.end()
    if len(data) >= MAX_FIELDS:
        raise Corrupt(f"the fields of a record are longer than {MAX_FIELDS} bytes")
    return -1


def parse_fields(head: bytes) -> dict[str, str]:
    """Named fields of the bytes before the block; raises ``Corrupt`` when they are not those of a record."""
    lines = _lines(head.rstrip(b"\r\n").decode("utf-8", "replace"))
    if not lines[0].startswith("WARC/"):
        raise foreign(head)
    fields: dict[str, str] = {}
    name = ""
    for line in lines[1:]:
        if line[:1] in _FOLDING and name:
            fields[name] = f"{fields[name]} {line.strip()}".strip()
            continue
        name, colon, value = line.partition(":")
        if not colon:
            raise Corrupt(f"a field of a WARC record has no colon: {line[:40]!r}")
        name = name.strip().lower()
        fields[name] = value.strip()
    return fields


def _lines(head: str) -> list[str]:
    lines = head.split("\r\n")
    return lines if len(lines) == head.count("\n") + 1 else _LINE_END.split(head)


def foreign(start: bytes) -> StorageError:
    """The error for bytes that begin no WARC record."""
    if start.startswith(b"filedesc://"):
        return Incompatible("an ARC file, not a WARC file; periplus import reads it")
    return Corrupt(f"no WARC record here, but {start[:20]!r}")


def block_length(fields: dict[str, str]) -> int:
    text = fields.get("content-length", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Corrupt(f"a WARC record has no usable Content-Length but {text!r}")
    return int(text)


def decode(data: bytes) -> Record:
    """The one record in ``data``; raises ``Truncated`` when the block is short."""
    start = fields_end(data)
    if start < 0:
        raise Truncated(f"a WARC record ends inside its fields, after {len(data)} bytes")
    fields = parse_fields(data[:start])
    length = block_length(fields)
    if len(data) < start + length:
        raise short(len(data) - start, length)
    return Record(fields, data[start : start + length])


def short(found: int, length: int) -> Truncated:
    """The error for a block that ends too soon."""
    return Truncated(f"a record has {found} of {length} bytes")


def digest(data: bytes) -> str:
    """SHA-1 in base 32, the customary spelling in WARC files."""
    return "sha1:" + _base32(hashlib.sha1(data, usedforsecurity=False).digest())


def agrees(stated: str, data: bytes) -> bool:
    """Whether a digest field is that of ``data``; a digest of an unknown kind proves nothing, so it agrees."""
    name, colon, value = stated.partition(":")
    algorithm = _ALGORITHMS.get(name.lower().replace("-", ""))
    if not colon or algorithm is None:
        return True
    found = algorithm(data, usedforsecurity=False)
    if len(value) == _SHA1_LETTERS and _SHA1.fullmatch(value) and found.digest_size == _SHA1_BYTES:
        # As one number, in a tenth of the time that base64 takes to spell it.
        return int(value.translate(_DIGITS), 32) == int.from_bytes(found.digest(), "big")
    return value.lower() == found.hexdigest() or value.upper().rstrip("=") == _base32(found.digest())


def is_digest(stated: str) -> bool:
    """Whether ``agrees`` proves anything about a digest field."""
    name, colon, _ = stated.partition(":")
    return bool(colon) and name.lower().replace("-", "") in _ALGORITHMS


def _base32(found: bytes) -> str:
    return base64.b32encode(found).decode().rstrip("=")


def date_text(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, _UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def date_seconds(text: str) -> float:
    """Seconds of a WARC date; 0.0 when it cannot be read."""
    try:
        moment = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=_UTC)).timestamp()


def one_line(text: str) -> str:
    """``text`` without line breaks, which would end a field early."""
    return text if text.isprintable() else _BREAKS.sub(" ", text)
