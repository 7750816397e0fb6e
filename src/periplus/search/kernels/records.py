"""Stored documents, packed as MessagePack, cut into their fields without making anything of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.packed import behind, string_at
from periplus.search.kernels.layout import SPAN

# Fields of a ``StoredDocument``, by their places.
FIELDS = 14
URL, ID, TITLE, DESCRIPTION, TEXT, LANGUAGE, TYPE, PUBLISHED, FETCHED, HOST, SITE = 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11
HEADINGS, AUTHOR, NOARCHIVE = 5, 12, 13
RECORD = 2 * FIELDS  # numbers of a document: start and end of each field; of a string without its head
MAX_LANGUAGE = 15  # bytes of a language's name that count
MAX_BYTE = 255


@bare_helper
def _is_string(field: Any) -> Any:
    return field != HEADINGS and field != PUBLISHED and field != FETCHED and field != NOARCHIVE


@bare_helper
def _name(packed: Any, start: Any, end: Any) -> Any:
    """The name of a language as two numbers: its bytes, and how many in the last one."""
    one, other = np.uint64(0), np.uint64(min(end - start, MAX_BYTE)) << np.uint64(56)
    for k in range(min(end - start, MAX_LANGUAGE)):
        byte = np.uint64(packed[start + k])
        if k < 8:
            one |= byte << np.uint64(8 * k)
        else:
            other |= byte << np.uint64(8 * (k - 8))
    return np.int64(one), np.int64(other)


@bare_helper
def cut(
    packed: Any,  # documents, one behind the other
    fields: Any,  # ``RECORD`` numbers of each
    spans: Any,  # ``SPAN`` numbers of each text
    starts: Any,  # where each document begins, and where the last ends
) -> Any:
    """Find the fields of all documents; 0 when these are not what was expected."""
    at = np.int64(0)
    starts[len(starts) - 1] = len(packed)
    for document in range(len(starts) - 1):
        starts[document] = at
        if at >= len(packed) or packed[at] != 0x90 + FIELDS:
            return 0
        at += 1
        for field in range(FIELDS):
            place = RECORD * document + 2 * field
            if _is_string(field):
                fields[place], fields[place + 1] = string_at(packed, at)
            else:
                fields[place], fields[place + 1] = at, behind(packed, at)
            at = fields[place + 1]
            if at < 0:
                return 0
        record, span = RECORD * document, SPAN * document
        spans[span], spans[span + 1] = fields[record + 2 * TEXT], fields[record + 2 * TEXT + 1]
        name = record + 2 * LANGUAGE
        spans[span + 2], spans[span + 3] = _name(packed, fields[name], fields[name + 1])
    return 1 if at == len(packed) else 0
