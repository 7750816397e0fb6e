"""The text of an article: the element that holds its prose, without what stands around and between it.

News, blogs and magazines put an article among related stories, comments, captions, bylines and boxes to sign up. Most
of it has no tag of its own, so it is told by how it stands. *Prose* is a block that is long or ends as a sentence does,
and is not mostly links.

1. *Margins* are captions and what is one by its tag, role or names (``names.py``); but what holds most of the prose is
   none. Comments are margins as long as there is any other text.
2. The part that the page marks as its main one counts where it holds most of the prose.
3. The *core* is the innermost element that holds nearly all prose that is left. What lies outside is no text of the
   article, but for prose right in the two elements around the core.
4. The headline with all before it, and short lines before the first prose and after the last one, are left out.
5. Lines that are links (``Read more: …``), and headings that nothing follows, are left out.

A page that does not call itself an article is read so only where it is prose and little else, and rule 5 is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from periplus.documents.html import names

if TYPE_CHECKING:
    from periplus.documents.html.pieces import Block, Findings, Margin

_LONG: Final = 80  # characters from which a block is prose however it ends …
_SENTENCE: Final = 25  # … and from which it is when it ends as a sentence does
_ENDS: Final = tuple(".!?…:;。！？．।\"'”’»）)")
_LINKED: Final = 0.5  # share of link text from which a block is a link
_CORE: Final = 0.7  # share of the prose that the core holds at least
_LEAST: Final = 140  # characters of prose that make an article …
_ALL_PROSE: Final = 1000  # … and those that make one of a page that does not call itself so, …
_ALL_PROSE_SHARE: Final = 0.93  # … with this share of the text in its core
_OUTSIDE: Final = 0.1  # … and at most so much text besides links outside of it
# The share of the prose from which what is named or tagged as a margin is none.
_DOUBTED: Final = {names.MARGINAL: 0.5, names.FIRM: 0.8}
_LINE: Final = 160  # characters; a linked block longer than this is prose with links
MARKS: Final = ".hentry,.h-entry,[itemtype$=NewsArticle],[itemtype$=BlogPosting]"  # elements that hold an article
_META: Final = frozenset({"article:published_time", "article:modified_time", "article:author", "article:section"})
_TYPE: Final = re.compile(r'"@type"\s*:\s*\[?\s*"(?:[A-Za-z]*Article|BlogPosting|Report)"')


def declared(found: Findings) -> bool:
    """Whether a page says that it is an article."""
    return any(map(_TYPE.search, found.json_ld)) or any(map(_says_article, found.metas))


def _says_article(meta: dict[str, str]) -> bool:
    name = meta.get("property", "")
    return name in _META or (name == "og:type" and meta.get("content", "").strip().lower() == "article")


def narrowed(found: Findings) -> list[bool] | None:
    """Which blocks are text of the article; None for a page that is none."""
    blocks = found.blocks
    prose = [_prose(block) for block in blocks]
    marginal = _believed(found.margins, blocks, prose)
    read = [not marginal[block.margin] for block in blocks]
    prose = _of(prose, read)
    if sum(prose) < _LEAST:
        return None
    read = _in_main(blocks, read, prose)
    prose = _of(prose, read)
    core = _core(blocks, found.frames, prose)
    if not found.article and not _is_all_prose(blocks, read, prose, core):
        return None
    around = {found.frames[core[0]], found.frames[found.frames[core[0]]]}
    within = set(core)
    inside = [
        kept and (block.frame in within or (size > 0 and block.frame in around))
        for block, kept, size in zip(blocks, read, prose, strict=True)
    ]
    found.headline = _drop_ends(found, inside, prose)
    if found.article:
        _drop_links(blocks, inside)
        _drop_bare_headings(blocks, inside)
    return inside


def _of(prose: list[int], read: list[bool]) -> list[int]:
    return [size if kept else 0 for size, kept in zip(prose, read, strict=True)]


def _in_main(blocks: list[Block], read: list[bool], prose: list[int]) -> list[bool]:
    """What is read of the part that the page marks as its main one, where that holds most of the prose."""
    for mark in (2, 1):
        inside = [kept and block.in_main >= mark for block, kept in zip(blocks, read, strict=True)]
        if sum(_of(prose, inside)) > sum(prose) / 2:
            return inside
    return read


def _is_all_prose(blocks: list[Block], read: list[bool], prose: list[int], core: list[int]) -> bool:
    """Whether the core is prose and little else, and hardly any text but links stands outside.

    So look articles that do not say that they are one; manuals have lists, tables and code.
    """
    within = set(core)
    sizes = [
        (block.frame in within, size, block.size, block.link_chars)
        for block, kept, size in zip(blocks, read, prose, strict=True)
        if kept
    ]
    told = sum(size for inside, size, _, _ in sizes if inside)
    text = sum(size for inside, _, size, _ in sizes if inside)
    outside = sum(size - linked for inside, _, size, linked in sizes if not inside)
    return told >= _ALL_PROSE and told >= _ALL_PROSE_SHARE * text and outside <= _OUTSIDE * told


def _prose(block: Block) -> int:
    """How much prose a block holds, in characters."""
    size = block.size
    if block.heading or block.link_chars > _LINKED * size:
        return 0
    if size < _LONG and (size < _SENTENCE or not block.text.endswith(_ENDS)):
        return 0
    return size - block.link_chars


def _believed(margins: list[Margin], blocks: list[Block], prose: list[int]) -> list[bool]:
    """For each margin whether it, or one around it, is one: what holds most of the prose is none, whatever its name."""
    kinds = _kinds(margins)
    held = [0] * len(margins)
    for block, size in zip(blocks, prose, strict=True):
        held[block.margin] += size
    said = sum(size for size, kind in zip(held, kinds, strict=True) if kind == names.COMMENTS)
    written = sum(held) - said
    for number in range(len(margins) - 1, 0, -1):  # an inner one has the higher number
        outer = margins[number].outer
        if kinds[number] != names.COMMENTS or kinds[outer] == names.COMMENTS:
            held[outer] += held[number]
    believed = [False] * len(margins)
    for number, margin in enumerate(margins[1:], start=1):
        if margin.kind == names.COMMENTS:
            own = written >= min(_LEAST, said)
        else:
            own = held[number] < _DOUBTED[margin.kind] * written
        believed[number] = own or believed[margin.outer]
    return believed


def _kinds(margins: list[Margin]) -> list[int]:
    """What each margin is with those around it: what stands among comments is one."""
    kinds = [margin.kind for margin in margins]
    for number, margin in enumerate(margins):
        kinds[number] = max(kinds[number], kinds[margin.outer])
    return kinds


def _core(blocks: list[Block], frames: list[int], prose: list[int]) -> list[int]:
    """The innermost frame that holds nearly all prose, and those in it."""
    held = [0] * len(frames)
    for block, size in zip(blocks, prose, strict=True):
        held[block.frame] += size
    for frame in range(len(frames) - 1, 0, -1):  # an inner one has the higher number
        held[frames[frame]] += held[frame]
    core = max([frame for frame, size in enumerate(held) if size >= _CORE * held[0]], default=0)
    found = {core: None}
    for frame in range(core + 1, len(frames)):
        if frames[frame] in found:
            found[frame] = None
    return list(found)


def _drop_ends(found: Findings, inside: list[bool], prose: list[int]) -> int:
    """Drop the headline with all before it, and what stands before the first prose and after the last one in other
    elements; answers where the headline is, -1 for none.

    A list right below the element of the last prose belongs to the text.
    """
    blocks, frames = found.blocks, found.frames
    numbers = [number for number, kept in enumerate(inside) if kept and prose[number]]
    first, last = numbers[0], numbers[-1]
    headline = max([number for number in range(first) if blocks[number].heading == 1], default=-1)
    for number in range(first):
        if number <= headline or blocks[number].frame != blocks[first].frame:
            inside[number] = False
    end = blocks[last].frame
    for number in range(last + 1, len(blocks)):
        if end not in (blocks[number].frame, frames[blocks[number].frame]):
            inside[number] = False
    return headline


def _drop_links(blocks: list[Block], inside: list[bool]) -> None:
    """Lines that are links and little else."""
    for number, block in enumerate(blocks):
        if inside[number] and block.link_chars > _LINKED * block.size and block.size < _LINE:
            inside[number] = False


def _drop_bare_headings(blocks: list[Block], inside: list[bool]) -> None:
    """Headings that nothing follows, or only a heading as high."""
    following = 1  # the level of the heading that comes next; 0 for text
    for number in range(len(blocks) - 1, -1, -1):
        if not inside[number]:
            continue
        level = blocks[number].heading
        if level and following and following <= level:
            inside[number] = False
        else:
            following = level
