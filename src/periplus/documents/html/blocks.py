"""Main text or boilerplate: the decision for each block of a page.

1. Firm zones (nav, footer, aside, controls) are boilerplate; hinted zones too, at first.
2. Where the page marks a main part (``main``, ``article``, their roles) that holds enough of the text, what lies
   outside is boilerplate.
3. Where there is no such part, a run of short blocks that are mostly links (a list of links) is boilerplate, unless it
   stands in a chapter or section, or the page is little else.
4. When hints left too little, hinted blocks that are not link lists come back: a page's odd class names must not
   empty it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from periplus.documents.html import zones

if TYPE_CHECKING:
    from periplus.documents.html.pieces import Block

_ENOUGH_MAIN: Final = 200  # characters from which a marked main part is believed
_MAIN_SHARE: Final = 0.25  # … or this share of all text outside firm zones
_TOO_LITTLE: Final = 0.15  # share of the text below which hints are doubted
_LINKED: Final = 0.6  # share of link text from which a block counts as linked
_SHORT: Final = 80  # characters; a linked block longer than this is prose with a link
_HUB: Final = 0.5  # share of the text in link lists from which the page is a hub and keeps them


def choose(blocks: list[Block]) -> list[bool]:
    """For each block whether it belongs to the main text."""
    chosen = [block.zone == zones.CONTENT for block in blocks]
    if _size(blocks, chosen) < _TOO_LITTLE * sum(block.size for block in blocks):
        chosen = [kept or _may_return(block) for block, kept in zip(blocks, chosen, strict=True)]
    inside = _narrowed_to_main(blocks, chosen)
    if inside is chosen:
        _drop_link_lists(blocks, inside)
    return inside


def _size(blocks: list[Block], chosen: list[bool]) -> int:
    return sum([block.size for block, kept in zip(blocks, chosen, strict=True) if kept])


def _may_return(block: Block) -> bool:
    return block.zone in zones.HINTED and not _is_linked(block)


def _narrowed_to_main(blocks: list[Block], chosen: list[bool]) -> list[bool]:
    """Only the marked main part, by the strongest mark that holds enough text."""
    total = _size(blocks, chosen)
    for mark in (2, 1):
        inside = [kept and block.in_main >= mark for block, kept in zip(blocks, chosen, strict=True)]
        size = _size(blocks, inside)
        if size and (size >= _ENOUGH_MAIN or size >= _MAIN_SHARE * total):
            return inside
    return chosen


def _drop_link_lists(blocks: list[Block], chosen: list[bool]) -> None:
    """Runs of two and more short linked blocks, or a lone one at either end, where enough else remains."""
    numbers = [number for number, kept in enumerate(chosen) if kept]
    linked = [number for number in numbers if _is_linked(blocks[number]) and not blocks[number].in_text]
    if not linked:
        return
    dropped = [number for number in linked if _in_run(number, chosen, blocks, (numbers[0], numbers[-1]))]
    if sum(blocks[number].size for number in dropped) < _HUB * sum(blocks[number].size for number in numbers):
        for number in dropped:
            chosen[number] = False


def _in_run(number: int, chosen: list[bool], blocks: list[Block], ends: tuple[int, int]) -> bool:
    if number in ends:
        return True
    return any(chosen[other] and _is_linked(blocks[other]) for other in (number - 1, number + 1))


def _is_linked(block: Block) -> bool:
    return block.link_chars > _LINKED * block.size and block.size < _SHORT and not block.heading


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
