"""What is served at one address: bytes, their type and validators, and how the server should misbehave."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

from periplus.demo.messages import Reply

if TYPE_CHECKING:
    from periplus.demo.messages import Request
    from periplus.demo.request_log import Headers

DEFAULT_DATE = "2025-03-01"


@dataclass(frozen=True)
class Resource:
    body: bytes
    content_type: str
    date: str = DEFAULT_DATE  # ISO; becomes Last-Modified
    headers: Headers = ()
    status: int = 200
    gzip: bool = False  # content-encoded for clients that accept it
    delay: float = 0.0
    fails: int = 0

    def reply(self, request: Request) -> Reply:
        packed = self.gzip and "gzip" in request.header("accept-encoding").lower()
        body = gzip.compress(self.body, mtime=0) if packed else self.body
        etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
        modified = moment(self.date)
        common = (("ETag", etag), ("Last-Modified", format_datetime(modified, usegmt=True)), *self.headers)
        if self.gzip:
            common += (("Vary", "Accept-Encoding"),)
        if self.status == 200 and _unchanged(request, etag, modified):
            return Reply(304, b"", common, self.delay)
        if packed:
            common += (("Content-Encoding", "gzip"),)
        return Reply(self.status, body, (("Content-Type", self.content_type), *common), self.delay)


def moment(date: str) -> datetime:
    """An ISO date or time as a moment in UTC."""
    parsed = datetime.fromisoformat(date)
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _unchanged(request: Request, etag: str, modified: datetime) -> bool:
    """RFC 9110, 13.2.2: If-None-Match decides alone where it is sent."""
    tags = request.header("if-none-match")
    if tags:
        return tags.strip() == "*" or etag in [tag.strip().removeprefix("W/") for tag in tags.split(",")]
    try:
        since = parsedate_to_datetime(request.header("if-modified-since"))
    except (TypeError, ValueError):
        return False
    return modified <= (since.replace(tzinfo=UTC) if since.tzinfo is None else since)
