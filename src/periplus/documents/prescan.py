"""The HTML standard's prescan: the encoding label that the first bytes of a page declare, without parsing them.

It walks tag by tag: comments are skipped, attributes are read with the standard's rules, a ``meta`` with ``charset``,
or with ``http-equiv=content-type`` and a ``content`` that holds ``charset=``, ends the search. An XML declaration with
an ``encoding`` counts too, as in browsers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE: Final = b"\t\n\x0c\r "
_XML: Final = re.compile(rb"""^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["'][^>]*>""")
_CONTENT_CHARSET: Final = re.compile(
    rb"""charset[\t\n\x0c\r ]*=[\t\n\x0c\r ]*("[^"]*"|'[^']*'|[^\t\n\x0c\r ;"']+)""", re.IGNORECASE
)
_META: Final = re.compile(rb"<meta[\t\n\x0c\r /]", re.IGNORECASE)
_TAG: Final = re.compile(rb"</?[a-z]", re.IGNORECASE)


def declared_in(head: bytes) -> Iterator[str]:
    """The labels declared in ``head``, in order; the first one that names an encoding decides."""
    position = 0
    while (position := head.find(b"<", position)) >= 0:
        if head.startswith(b"<!--", position):
            end = head.find(b"-->", position + 2)
            position = end + 3 if end >= 0 else len(head)
        elif _META.match(head, position):
            attributes, position = _attributes(head, position + 5)
            if label := _meta_label(attributes):
                yield label
        elif _TAG.match(head, position):
            position = _after_tag_name(head, position)
            _, position = _attributes(head, position)
        elif head.startswith((b"<!", b"</", b"<?"), position):
            end = head.find(b">", position)
            position = end + 1 if end >= 0 else len(head)
        else:
            position += 1
    declaration = _XML.match(head)
    if declaration:
        yield declaration.group(1).decode("ascii")


def _meta_label(attributes: dict[bytes, bytes]) -> str:
    if b"charset" in attributes:
        return attributes[b"charset"].strip(_SPACE).decode("ascii", "replace")
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return ""
    found = _CONTENT_CHARSET.search(attributes.get(b"content", b""))
    return found.group(1).strip(b"\"'").decode("ascii", "replace") if found else ""


def _after_tag_name(head: bytes, position: int) -> int:
    while position < len(head) and head[position] not in b"\t\n\x0c\r >":
        position += 1
    return position


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes from ``position`` to the end of the tag, first of a name wins, and where the tag ends."""
    found: dict[bytes, bytes] = {}
    while True:
        while position < len(head) and head[position] in b"\t\n\x0c\r /":
            position += 1
        if position >= len(head):
            return {}, position  # the tag is not whole: it decides nothing
        if head[position] == 0x3E:
            return found, position + 1
        name, value, position = _attribute(head, position)
        found.setdefault(name.lower(), value)


_NAME: Final = re.compile(rb"=?[^\t\n\x0c\r />=]*")
_VALUE: Final = re.compile(
    rb"""[\t\n\x0c\r ]*=[\t\n\x0c\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\x0c\r >"'][^\t\n\x0c\r >]*)|(?=>))"""
)


def _attribute(head: bytes, position: int) -> tuple[bytes, bytes, int]:
    name = _NAME.match(head, position)
    assert name is not None  # the pattern matches the empty text
    value = _VALUE.match(head, name.end())
    if value is None:
        rest = len(head) if head[name.end() : name.end() + 1] == b"=" else max(name.end(), position + 1)
        return name.group(), b"", rest
    return name.group(), value.group(1) or value.group(2) or value.group(3) or b"", value.end()
