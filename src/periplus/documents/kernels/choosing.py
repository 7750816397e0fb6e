"""Main text or boilerplate: the decisions of ``html.blocks`` over the blocks of a walk."""

from __future__ import annotations

from typing import Any

from periplus.core import bare_helper
from periplus.documents.kernels.names import CONTENT
from periplus.documents.kernels.places import is_hinted
from periplus.documents.kernels.typed import NONE, ZERO
from periplus.documents.kernels.walking import (
    B_CHOSEN,
    B_HEADING,
    B_IN_TEXT,
    B_LINKED,
    B_MAIN,
    B_SIZE,
    B_ZONE,
)

ENOUGH_MAIN, MAIN_SHARE, TOO_LITTLE, LINKED, SHORT, HUB = 200, 0.25, 0.15, 0.6, 80, 0.5  # those of html.blocks


@bare_helper
def _is_linked(block: Any) -> Any:
    return block[B_LINKED] > LINKED * block[B_SIZE] and block[B_SIZE] < SHORT and block[B_HEADING] == 0


@bare_helper
def _chosen_size(blocks: Any, count: Any) -> Any:
    size = ZERO
    for one in range(count):
        if blocks[one, B_CHOSEN]:
            size += blocks[one, B_SIZE]
    return size


@bare_helper
def choose(blocks: Any, count: Any) -> Any:
    """Set ``B_CHOSEN`` of each block that belongs to the main text."""
    total = ZERO
    for one in range(count):
        blocks[one, B_CHOSEN] = blocks[one, B_ZONE] == CONTENT
        total += blocks[one, B_SIZE]
    size = _chosen_size(blocks, count)
    if size < TOO_LITTLE * total:
        for one in range(count):
            if is_hinted(blocks[one, B_ZONE]) and not _is_linked(blocks[one]):
                blocks[one, B_CHOSEN] = 1
        size = _chosen_size(blocks, count)
    if not _narrow_to_main(blocks, count, size):
        _drop_link_lists(blocks, count, size)


@bare_helper
def _narrow_to_main(blocks: Any, count: Any, total: Any) -> Any:
    for mark in (2, 1):
        size = 0
        for one in range(count):
            if blocks[one, B_CHOSEN] and blocks[one, B_MAIN] >= mark:
                size += blocks[one, B_SIZE]
        if size and (size >= ENOUGH_MAIN or size >= MAIN_SHARE * total):
            for one in range(count):
                if blocks[one, B_MAIN] < mark:
                    blocks[one, B_CHOSEN] = 0
            return True
    return False


@bare_helper
def _is_listed(blocks: Any, one: Any, count: Any) -> Any:
    return 0 <= one < count and blocks[one, B_CHOSEN] != 0 and _is_linked(blocks[one])


@bare_helper
def _is_dropped(blocks: Any, one: Any, count: Any, first: Any, last: Any) -> Any:
    """Whether a block is in a run of short linked blocks, or one at either end."""
    if not _is_listed(blocks, one, count) or blocks[one, B_IN_TEXT]:
        return False
    is_end = one in (first, last)
    return is_end or _is_listed(blocks, one - 1, count) or _is_listed(blocks, one + 1, count)


@bare_helper
def _drop_link_lists(blocks: Any, count: Any, total: Any) -> Any:
    first: Any = count
    last: Any = NONE
    for one in range(count):
        if blocks[one, B_CHOSEN]:
            first = min(first, one)
            last = one
    size = 0
    for one in range(count):
        if _is_dropped(blocks, one, count, first, last):
            size += blocks[one, B_SIZE]
    if size == 0 or size >= HUB * total:
        return
    before = False  # whether the block before was listed: it may have been dropped meanwhile
    for one in range(count):
        listed = _is_listed(blocks, one, count)
        is_end = one in (first, last)
        near = is_end or before or _is_listed(blocks, one + 1, count)
        before = listed
        if listed and not blocks[one, B_IN_TEXT] and near:
            blocks[one, B_CHOSEN] = 0
