"""XML as events, within bounds: local names in lower case, namespaces ignored, no entities of the document's own.

Feeds and sitemaps on the web are often not well formed. What was read before an error stays read; a bare ``&``
and HTML's named entities are mended first.
"""

from __future__ import annotations

import re
import time
from html import unescape
from typing import Final, Protocol
from xml.parsers import expat

from periplus.documents import bounds

_DEPTH: Final = 200  # levels that are walked; a deeper document is cut
_XML_ENTITIES: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_AMPERSAND: Final = re.compile(r"&(?:(#\d{1,8}|#[xX][0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}))?(;?)")
_INVALID: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CDATA: Final = "<![CDATA["
_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")


class Handler(Protocol):
    """Receives the events; ``start`` and ``end`` get the local name in lower case."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...


class _Stop(Exception):
    pass


class _Walk:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._elements = 0
        self._depth = 0
        self._deadline = time.monotonic() + bounds.SECONDS

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._depth > _DEPTH or self._elements > bounds.ELEMENTS:
            raise _Stop
        if not self._elements % bounds.CLOCK_EVERY and time.monotonic() > self._deadline:
            raise _Stop
        self._handler.start(local(tag), attributes)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._handler.end(local(tag))

    def declared(self, *_: object) -> None:
        raise _Stop  # a document that declares entities of its own is up to no good


def local(name: str) -> str:
    """A name without its prefix, in lower case."""
    return name.rpartition(":")[2].lower()


def attribute(attributes: dict[str, str], name: str) -> str:
    """An attribute by its local name; empty when it is not there."""
    if name in attributes:
        return attributes[name]
    return next((value for key, value in attributes.items() if local(key) == name), "")


def walk(markup: str, handler: Handler) -> bool:
    """Send the events of ``markup``; whether it was whole and well formed."""
    inner = _Walk(handler)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = inner.start
    parser.EndElementHandler = inner.end
    parser.CharacterDataHandler = handler.data
    parser.EntityDeclHandler = inner.declared
    try:
        parser.Parse(_mended(markup).encode("utf-8"), True)  # noqa: FBT003 (expat takes it by place)
    except (expat.ExpatError, _Stop):
        return False
    return True


def _mended(markup: str) -> str:
    """Without an XML declaration (it is text already), invalid characters, and with entities that XML knows."""
    text = _INVALID.sub("", _DECLARATION.sub("", markup, count=1)).lstrip("\ufeff \t\r\n")
    if "&" not in text:
        return text
    first, *parts = text.split(_CDATA)
    mended = [_AMPERSAND.sub(_entity, first)]
    for part in parts:
        literal, end, rest = part.partition("]]>")  # inside CDATA nothing is an entity
        mended.extend((_CDATA, literal, end, _AMPERSAND.sub(_entity, rest)))
    return "".join(mended)


def _entity(match: re.Match[str]) -> str:
    number, name, semicolon = match.groups()
    whole = match.group()
    if semicolon and (number or name in _XML_ENTITIES):
        return whole
    meant = unescape(whole) if semicolon and name else whole
    return meant if meant != whole and "&" not in meant and "<" not in meant else whole.replace("&", "&amp;")
