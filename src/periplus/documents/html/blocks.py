"""Main text or boilerplate: the decision for each block of a page.

1. Firm zones (nav, footer, aside, controls) are boilerplate; hinted zones too, at first.
2. Where the page marks a main part (``main``, ``article``, their roles) that holds enough of the text, what lies
   outside is boilerplate.
3. A run of short blocks that are mostly links (a list of links) is boilerplate, unless the page is little else.
4. When hints left too little, hinted blocks that are not link lists come back: a page's odd class names must not
   empty it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from periplus.documents.html import zones

if TYPE_CHECKING:
    from periplus.documents.html.walk import Block

_ENOUGH_MAIN: Final = 200  # characters from which a marked main part is believed
_MAIN_SHARE: Final = 0.25  # … or this share of all text outside firm zones
_TOO_LITTLE: Final = 0.15  # share of the text below which hints are doubted
_LINKED: Final = 0.6  # share of link text from which a block counts as linked
_SHORT: Final = 80  # characters; a linked block longer than this is prose with a link
_HUB: Final = 0.5  # share of the text in link lists from which the page is a hub and keeps them


def choose(blocks: list[Block]) -> list[bool]:
    """For each block whether it belongs to the main text."""
    chosen = _by_zone(blocks)
    if sum(len(block.text) for block, kept in zip(blocks, chosen, strict=True) if kept) < _TOO_LITTLE * _size(blocks):
        _readmit(blocks, chosen)
    _narrow_to_main(blocks, chosen)
    _drop_link_lists(blocks, chosen)
    return chosen


def _by_zone(blocks: list[Block]) -> list[bool]:
    return [block.zone == zones.CONTENT for block in blocks]


def _readmit(blocks: list[Block], chosen: list[bool]) -> None:
    for number, block in enumerate(blocks):
        if block.zone in zones.HINTED and not _is_linked(block):
            chosen[number] = True


def _narrow_to_main(blocks: list[Block], chosen: list[bool]) -> None:
    """Keep only the marked main part, the strongest mark that holds enough text."""
    total = sum(len(block.text) for block, kept in zip(blocks, chosen, strict=True) if kept)
    for mark in (2, 1):
        inside = sum(
            len(block.text) for block, kept in zip(blocks, chosen, strict=True) if kept and block.in_main >= mark
        )
        if inside and (inside >= _ENOUGH_MAIN or inside >= _MAIN_SHARE * total):
            for number, block in enumerate(blocks):
                chosen[number] = chosen[number] and block.in_main >= mark
            return


def _drop_link_lists(blocks: list[Block], chosen: list[bool]) -> None:
    """Runs of two and more short linked blocks, or a lone one at either end, where enough else remains."""
    numbers = [number for number, kept in enumerate(chosen) if kept]
    total = sum(len(blocks[number].text) for number in numbers)
    dropped: list[int] = []
    for linked, run in groupby(numbers, key=lambda number: _is_linked(blocks[number])):
        members = list(run)
        if linked and (len(members) > 1 or members[0] in (numbers[0], numbers[-1])):
            dropped.extend(members)
    if sum(len(blocks[number].text) for number in dropped) < _HUB * total:
        for number in dropped:
            chosen[number] = False


def _is_linked(block: Block) -> bool:
    return not block.heading and len(block.text) < _SHORT and block.link_chars > _LINKED * len(block.text)


def _size(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def joined(blocks: list[Block], limit: int) -> str:
    """Blocks as paragraphs; the cells of one table row become one line."""
    lines: list[str] = []
    size = 0
    for row, group in groupby(blocks, key=lambda block: block.row):
        texts = [block.text for block in group]
        lines.extend([" ".join(texts)] if row else texts)
        size += sum(map(len, texts))
        if size > limit:
            break
    return "\n".join(lines)[:limit]
