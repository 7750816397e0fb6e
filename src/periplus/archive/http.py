"""HTTP messages as they stand in the block of a request, response or revisit record.

Bodies are kept as sent, content encoding and all, but without transfer encoding. Where that makes the framing headers
untrue, they are kept under an ``X-Archive-Orig-`` name beside a Content-Length that is true, and put back on reading.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.archive.record import one_line
from periplus.errors import Corrupt

ORIGINAL = "X-Archive-Orig-"
_FRAMING = frozenset({"transfer-encoding", "content-length"})
_KEPT_FRAMING = frozenset(ORIGINAL.lower() + name for name in _FRAMING)
_END = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")

Headers = tuple[tuple[str, str], ...]


class Message(NamedTuple):
    start: str  # the first line
    headers: Headers
    payload: bytes  # without transfer encoding
    stored: bytes  # as it stands in the block


def encode(start: str, headers: Headers, payload: bytes) -> bytes:
    lines = [one_line(start), *(f"{_name(name)}: {one_line(value).strip()}" for name, value in headers)]
    return b"".join((_bytes("\r\n".join(lines)), b"\r\n\r\n", payload))


def framed(headers: Headers, length: int) -> Headers:
    """Headers that are true of a body of ``length`` bytes without transfer encoding."""
    framing = [(name.lower(), value.strip()) for name, value in headers if name.lower() in _FRAMING]
    if not framing or framing == [("content-length", str(length))]:
        return headers
    kept = ((ORIGINAL + name if name.lower() in _FRAMING else name, value) for name, value in headers)
    return (*kept, ("Content-Length", str(length)))


def as_sent(headers: Headers) -> Headers:
    """The reverse of ``framed``."""
    if not any(name.lower() in _KEPT_FRAMING for name, _ in headers):
        return headers
    return tuple(
        (name[len(ORIGINAL) :] if name.lower() in _KEPT_FRAMING else name, value)
        for name, value in headers
        if name.lower() != "content-length"
    )


def decode(block: bytes) -> Message:
    """A message; one whose headers never end has no payload, as some servers answer so."""
    found = _END.search(block)
    head, stored = (block[: found.start()], block[found.end() :]) if found else (block, b"")
    first, *lines = _LINE_END.split(head)
    headers = as_sent(_headers(lines))
    chunked = any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers)
    payload = unchunked(stored) if chunked and not _was_unchunked(lines) else stored
    return Message(_text(first).strip(), headers, payload, stored)


def status_of(start: str) -> tuple[int, str]:
    """Status and reason of ``HTTP/1.1 200 OK``; raises ``Corrupt`` for anything else."""
    version, _, rest = start.partition(" ")
    code, _, reason = rest.strip().partition(" ")
    if not version.upper().startswith(("HTTP", "ICY")) or not (code.isascii() and code.isdigit() and len(code) == 3):
        raise Corrupt(f"a response begins with {start[:40]!r}, not with an HTTP status")
    return int(code), reason.strip()


def unchunked(stored: bytes) -> bytes:
    """The body without chunks; as it is where it is not chunked after all, which happens in others' archives."""
    parts: list[bytes] = []
    at = 0
    while match := _CHUNK.match(stored, at):
        size = int(match[1], 16)
        if size == 0:
            return b"".join(parts)
        parts.append(stored[match.end() : match.end() + size])
        at = match.end() + size
        at += 2 if stored[at : at + 2] == b"\r\n" else stored[at : at + 1] == b"\n"
    return b"".join(parts) if parts and at >= len(stored) else stored


def _was_unchunked(lines: list[bytes]) -> bool:
    return any(line.lower().startswith((ORIGINAL + "transfer-encoding").lower().encode()) for line in lines)


def _headers(lines: list[bytes]) -> Headers:
    headers: list[tuple[str, str]] = []
    for line in lines:
        text = _text(line)
        if text[:1] in (" ", "\t") and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {text.strip()}".strip())
            continue
        name, colon, value = text.partition(":")
        if colon:
            headers.append((name.strip(), value.strip()))
    return tuple(headers)


def _name(name: str) -> str:
    return one_line(name).replace(":", "").strip()


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
