"""Main text or boilerplate: the decision for each block of a page.

An article is read by rules of its own (``article.py``). For all other pages:

1. Firm zones (nav, footer, aside, controls) are boilerplate, and short blocks with a link that says of itself that it
   leads on or back (``rel=next``); hinted zones too, at first.
2. Where the page marks a main part (``main``, ``article``, their roles) that holds enough of the text, what lies
   outside is boilerplate.
3. Where there is no such part, a run of short blocks that are mostly links (a list of links) is boilerplate, unless it
   stands in a chapter or section, or the page is little else. So is a row of letters or numbers.
4. When hints left too little, hinted blocks that are not link lists come back: a page's odd class names must not
   empty it.
"""

from __future__ import annotations

from collections import Counter
from itertools import compress, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from periplus.documents.html import article, zones

if TYPE_CHECKING:
    from periplus.documents.html.pieces import Block, Findings

_ENOUGH_MAIN: Final = 200  # characters from which a marked main part is believed
_MAIN_SHARE: Final = 0.25  # … or this share of all text outside firm zones
_TOO_LITTLE: Final = 0.15  # share of the text below which hints are doubted
_LINKED: Final = 0.6  # share of link text from which a block counts as linked
_SHORT: Final = 80  # characters; a linked block longer than this is prose with a link …
_SHORT_LINK: Final = 16  # … unless it is a row of links of no more characters than this each (*A B C D …*)
_ONWARD: Final = frozenset({"next", "prev", "previous", "up", "contents", "index"})  # of links that lead through a work
_STEP: Final = 300  # characters; a longer block with such a link has something to say
_HUB: Final = 0.5  # share of the text in link lists from which the page is a hub and keeps them


def choose(found: Findings) -> list[bool]:
    """For each block whether it belongs to the main text."""
    blocks = found.blocks
    sizes = [block.size for block in blocks]
    inside = article.narrowed(found)
    if inside is not None:
        if not found.article:
            _drop_link_lists(found, inside, sum(compress(sizes, inside)))
        return inside
    steps = _steps(found)
    chosen = [block.zone == zones.CONTENT and place not in steps for place, block in enumerate(blocks)]
    size = sum(compress(sizes, chosen))
    if size < _TOO_LITTLE * sum(sizes):
        chosen = [kept or _may_return(block) for block, kept in zip(blocks, chosen, strict=True)]
        size = sum(compress(sizes, chosen))
    inside = _narrowed_to_main(blocks, chosen, sizes, size)
    if inside is None:
        inside = chosen
        _drop_link_lists(found, inside, size)
    return inside


def _steps(found: Findings) -> set[int]:
    """Blocks that only lead on or back: ``Next: Loops, Up: Contents``."""
    leading = {link.block for link in found.links if link.rel and not _ONWARD.isdisjoint(link.rel.lower().split())}
    return {
        place
        for place in leading
        if place < len(found.blocks) and found.blocks[place].size < _STEP and not found.blocks[place].heading
    }


def _may_return(block: Block) -> bool:
    return block.zone in zones.HINTED and not _is_linked(block)


def _narrowed_to_main(blocks: list[Block], chosen: list[bool], sizes: list[int], total: int) -> list[bool] | None:
    """Only the marked main part, by the strongest mark that holds enough text; None where there is none."""
    marks = [block.in_main for block in blocks]
    for mark in range(max(marks, default=0), 0, -1):
        inside = [kept and found >= mark for found, kept in zip(marks, chosen, strict=True)]
        size = sum(compress(sizes, inside))
        if size and (size >= _ENOUGH_MAIN or size >= _MAIN_SHARE * total):
            return inside
    return None


def _drop_link_lists(found: Findings, chosen: list[bool], total: int) -> None:
    """Runs of two and more short linked blocks, or a lone one at either end, where enough else remains."""
    blocks, links = found.blocks, Counter([link.block for link in found.links])
    linked = [
        kept
        and block.link_chars > _LINKED * block.size
        and block.size < max(_SHORT, _SHORT_LINK * links[place])
        and not block.heading
        for place, (block, kept) in enumerate(zip(blocks, chosen, strict=True))
    ]
    if True not in linked:
        return
    ends = (chosen.index(True), len(chosen) - 1 - chosen[::-1].index(True))
    around = [False, *linked, False]
    dropped = [
        number
        for number in compress(range(len(blocks)), linked)
        if not (blocks[number].in_text or blocks[number].in_main)
        and (around[number] or around[number + 2] or number in ends)
    ]
    if sum([blocks[number].size for number in dropped]) < _HUB * total:
        for number in dropped:
            chosen[number] = False


def _is_linked(block: Block) -> bool:
    return block.link_chars > _LINKED * block.size and block.size < _SHORT and not block.heading


def joined(blocks: list[Block], limit: int) -> str:
    """Blocks as paragraphs; the cells of one table row become one line."""
    lines = [block.text for block in blocks]
    if any(block.row for block in blocks):
        lines = []
        for row, group in groupby(blocks, key=attrgetter("row")):
            texts = [block.text for block in group]
            lines.extend([" ".join(texts)] if row else texts)
    return "\n".join(lines)[:limit]
