"""Tags, roles and the words of class names as tables for the kernels, made of ``tags`` and ``zones``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from periplus.documents.html import tags, zones
from periplus.documents.kernels import names, nodes, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_VOID: Final = frozenset(
    [
        "area",
        "base",
        "basefont",
        "bgsound",
        "br",
        "col",
        "embed",
        "frame",
        "hr",
        "img",
        "input",
        "keygen",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
_RAW: Final = frozenset(["script", "style", "xmp", "iframe", "noembed", "noframes"])
_WHO: Final = {
    "a": nodes.ANCHOR,
    "br": nodes.BREAK,
    "tr": nodes.ROW,
    "main": nodes.MAIN,
    "article": nodes.ARTICLE,
    "section": nodes.SECTION,
    "header": nodes.HEADER,
    "body": nodes.BODY,
    "img": nodes.IMAGE,
    "script": nodes.SCRIPT,
    "plaintext": nodes.PLAINTEXT,
    **dict.fromkeys(tags.FRAMES, nodes.FRAME),
    **dict.fromkeys(tags.HEADINGS, nodes.HEADING),
    **dict.fromkeys(tags.CODE - {"plaintext"}, nodes.CODE),
}


class Tables:
    def __init__(self) -> None:
        named = tags.PARTING | _VOID | _RAW | frozenset(_WHO)
        self.tags = table({name: _tag_value(name) for name in named})
        self.roles = table(
            {"main": places.MAIN_ROLE, "article": places.ARTICLE_ROLE}
            | {role: zone + 1 for role, zone in zones.ROLES.items()}
        )
        self.words = table({word: _word_value(word) for word in frozenset().union(*zones.WORDS.values())})


@cache
def tables() -> Tables:
    return Tables()


def _tag_value(name: str) -> int:
    value = tags.KINDS.get(name, tags.INLINE) | nodes.KNOWN_TAG
    value |= _WHO.get(name, nodes.OTHER) << nodes.WHO_SHIFT
    value |= tags.HEADINGS.get(name, 0) << nodes.LEVEL_SHIFT
    value |= zones.TAGS.get(name, zones.CONTENT) << nodes.ZONE_SHIFT
    value |= nodes.VOID_TAG if name in _VOID else 0
    value |= nodes.RAW_TAG if name in _RAW else 0
    return value | (nodes.PARTING_TAG if name in tags.PARTING else 0)


def _word_value(word: str) -> int:
    bits = {
        "content": names.CONTENT_WORD,
        "navigation": names.NAVIGATION_WORD,
        "soft": names.SOFT_WORD,
        "footer": names.FOOTER_WORD,
        "aside": names.ASIDE_WORD,
        "text": names.TEXT_WORD,
    }
    return sum(bit for kind, bit in bits.items() if word in zones.WORDS[kind])


def table(values: Mapping[str, int]) -> NDArray[np.uint64]:
    """Names with their values, none of which is 0, as ``kernels.names`` looks them up."""
    slots = 1 << names.SLOTS_BITS
    made = np.zeros(slots * names.SLOT, dtype=np.uint64)
    for name in sorted(values):
        packed = name.encode("ascii").ljust(names.LONGEST, b"\0")
        first, second = int.from_bytes(packed[:8], "little"), int.from_bytes(packed[8:], "little")
        mixed = (first * int(names.FACTOR_1)) % 2**64 ^ (second * int(names.FACTOR_2)) % 2**64
        slot = mixed >> int(names.SHIFT)
        while made[slot * names.SLOT + 2]:
            slot = (slot + 1) % slots
        made[slot * names.SLOT : slot * names.SLOT + 3] = (first, second, values[name])
    made.setflags(write=False)
    return made
