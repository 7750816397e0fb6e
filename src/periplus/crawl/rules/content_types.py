"""Which bodies are worth taking, by the Content-Type of a response: looked at before the body is taken.

There is no HEAD before a GET (docs/decisions/0103). ``crawl.types`` narrows what is taken, by the names of ``TYPES``.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = {  # what ``crawl.types`` may name, and how its media types begin
    "html": ("text/html", "application/xhtml"),
    "text": ("text/plain", "text/markdown", "text/x-markdown"),
    "xml": ("text/xml", "application/xml", "application/rss", "application/atom", "application/rdf", "text/rss",
            "application/ld+json"),
    "pdf": ("application/pdf", "application/x-pdf"),
    "office": ("application/vnd.openxmlformats-officedocument.wordprocessingml", "application/msword",
               "application/vnd.oasis.opendocument.text"),
    "epub": ("application/epub",),
}  # fmt: skip
_UNTOLD: Final = ("application/octet-stream", "application/gzip", "application/x-gzip")  # the bytes tell
_KEPT: Final = ("text/", *_UNTOLD, *(prefix for prefixes in TYPES.values() for prefix in prefixes))
_JSON: Final = frozenset({"application/json", "text/json", "application/feed+json"})  # as a page, a program's data


def wanted_type(content_type: str) -> bool:
    """Is a body of this Content-Type worth taking? An unknown or missing one is; films and pictures are not."""
    kind = _media_type(content_type)
    return not kind or (kind.startswith(_KEPT) and kind not in _JSON) or "/" not in kind


def wanted_feed(content_type: str) -> bool:
    """Is a body worth taking at an address announced as a feed? Some feeds are JSON, and say no more than that."""
    return wanted_type(content_type) or _media_type(content_type) in _JSON


def is_chosen(content_type: str, types: tuple[str, ...]) -> bool:
    """Whether ``crawl.types`` takes a page of this type: any where it names none; what says no type is taken."""
    kind = _media_type(content_type)
    if not types or not kind or "/" not in kind or kind.startswith(_UNTOLD):
        return True
    return kind.startswith(tuple(prefix for name in types for prefix in TYPES[name]))


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
