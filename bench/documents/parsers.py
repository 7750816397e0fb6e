"""The same work on two HTML parsers: parse a page, take its title, metas, links with their texts, and blocks of text.

Both walk the tree in document order and begin a new block wherever a block-level element starts, and both leave out
scripts and styles. ``agreement`` says how far they find the same, so that the times compare like with like.
"""

from __future__ import annotations

from typing import NamedTuple

import turbohtml
from selectolax.lexbor import LexborHTMLParser

from periplus.documents.html import tags

SILENT = frozenset({"script", "style", "template", "title", "head"})


class Found(NamedTuple):
    title: str
    metas: int
    links: list[tuple[str, str]]
    blocks: list[str]


def by_turbohtml(markup: str) -> Found:
    document = turbohtml.parse(markup, positions=False)
    title = document.select_one("title")
    links = [(anchor.attr("href") or "", anchor.text) for anchor in document.select("a[href]")]
    blocks: list[str] = []
    parts: list[str] = []
    for node in document.descendants:
        if type(node) is turbohtml.Text:
            if node.parent.tag not in SILENT:
                parts.append(node.data)
        elif type(node) is turbohtml.Element and node.tag in tags.BLOCKS and parts:
            blocks.append(" ".join("".join(parts).split()))
            parts = []
    blocks.append(" ".join("".join(parts).split()))
    metas = len(document.select("meta"))
    return Found(title.text if title else "", metas, links, [block for block in blocks if block])


def by_selectolax(markup: str) -> Found:
    document = LexborHTMLParser(markup)
    title = document.css_first("title")
    links = [(anchor.attributes.get("href") or "", anchor.text()) for anchor in document.css("a[href]")]
    blocks: list[str] = []
    parts: list[str] = []
    for node in document.root.traverse(include_text=True):
        if node.is_text_node:
            if node.parent.tag not in SILENT:
                parts.append(node.text_content or "")
        elif node.tag in tags.BLOCKS and parts:
            blocks.append(" ".join("".join(parts).split()))
            parts = []
    blocks.append(" ".join("".join(parts).split()))
    metas = len(document.css("meta"))
    return Found(title.text() if title else "", metas, links, [block for block in blocks if block])


def agreement(left: Found, right: Found) -> float:
    """The share of what the two found that is the same."""
    pairs = (
        ({left.title.strip()}, {right.title.strip()}),
        (set(left.links), set(right.links)),
        (set(left.blocks), set(right.blocks)),
    )
    shares = [len(one & other) / len(one | other) if one | other else 1.0 for one, other in pairs]
    return sum(shares) / len(shares)
