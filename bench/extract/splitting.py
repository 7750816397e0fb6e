"""A page cut into numbered blocks: the ruler that labels are measured with.

The cut is plain on purpose. The page is parsed as HTML5 (lexbor), comments, doctype and the elements of ``SILENT`` are
left out, and everything else is walked in document order. Text gathers in a block until any element starts or ends that
is not in ``INLINE``. White space is folded; blocks without text get no number. Nothing is judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

SILENT = frozenset({"script", "style", "template"})
_INLINE = """
a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt ruby s samp small
span strike strong sub sup time tt u var wbr
"""
INLINE = frozenset(_INLINE.split())
_PLAIN = "div p li ul ol dl dt dd td th tr tbody thead table br hr pre blockquote"
PLAIN = frozenset(_PLAIN.split())  # elements that say nothing about where in the page a block stands


class Block(NamedTuple):
    text: str
    place: str  # the nearest ancestors that have a name, an identifier or a class: for the reader of `show`


def blocks(markup: str) -> list[Block]:
    """The blocks of a page, in document order; their numbers are their positions."""
    found: list[Block] = []
    pieces: list[str] = []
    place = ""
    for event, node in _events(LexborHTMLParser(markup).root):
        if event == "text":
            if not pieces:
                place = _place(node)
            pieces.append(node.text_content or "")
        elif node.tag not in INLINE:
            _flush(found, pieces, place)
    _flush(found, pieces, place)
    return found


def _flush(found: list[Block], pieces: list[str], place: str) -> None:
    if text := " ".join("".join(pieces).split()):
        found.append(Block(text, place))
    pieces.clear()


def _events(root: LexborNode | None) -> Iterator[tuple[str, LexborNode]]:
    """Text nodes, and the start and end of elements, without recursion: pages may be nested deeper than the stack."""
    node = root
    while node is not None:
        if node.tag == "-text":
            yield "text", node
        elif not node.tag.startswith(("-", "!")) and node.tag not in SILENT:
            yield "start", node
            if (child := node.child) is not None:
                node = child
                continue
            yield "end", node
        while node.next is None:
            parent = node.parent
            if parent is None or parent == root or node == root:
                return
            node = parent
            yield "end", node
        node = node.next


def _place(node: LexborNode, depth: int = 3) -> str:
    names: list[str] = []
    above = node.parent
    while above is not None and len(names) < depth and above.tag != "body":
        if above.tag not in INLINE:
            mark = (
                above.attributes.get("id") or "",
                above.attributes.get("class") or "",
                above.attributes.get("role") or "",
            )
            if any(mark) or above.tag not in PLAIN:
                label = above.tag + (f"#{mark[0]}" if mark[0] else "") + (f".{mark[1]}" if mark[1] else "")
                names.append(label + (f"[{mark[2]}]" if mark[2] else ""))
        above = above.parent
    return " < ".join(names)
