"""The light markup in which the demo's pages are written, to HTML.

Blocks: ``# heading``, paragraphs, ``- `` and ``1. `` lists, ``> `` quotes, fenced code, ``| tables |`` whose first row
is the heading, ``term`` over ``: definition``, and raw HTML when a block begins with ``<``.
Inline: ``**strong**``, ``*emphasis*``, backquoted code, ``[text](address)`` and ``[text](address){nofollow}``.
"""

from __future__ import annotations

import re
from html import escape
from itertools import groupby

_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)(?:\{([a-z ]+)\})?")
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"\*(.+?)\*")
_HEADING = re.compile(r"(#{1,4}) (.+)")
_ORDERED = re.compile(r"\d+\. ")
_FENCE = "```"


def to_html(text: str) -> str:
    return "\n".join(_block(lines) for lines in _blocks(text.split("\n")))


def plain(text: str) -> str:
    """Markup without its signs, for plain outputs such as PDF and feeds."""
    text = _LINK.sub(lambda match: match[1], text)
    return _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", _CODE.sub(r"\1", text)))


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines parted at empty ones, except inside fences."""
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in lines:
        if line.startswith(_FENCE):
            fenced = not fenced
        if line.strip() or fenced:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _block(lines: list[str]) -> str:
    first = lines[0]
    if first.startswith(_FENCE):
        return f"<pre><code>{escape(chr(10).join(lines[1:-1]))}</code></pre>"
    if first.startswith("<"):
        return "\n".join(lines)
    heading = _HEADING.fullmatch(first)
    if heading:
        level = len(heading[1])
        rest = f"\n{_block(lines[1:])}" if lines[1:] else ""
        return f"<h{level}>{inline(heading[2])}</h{level}>{rest}"
    for sign, render in ((first[:2] == "- ", _unordered), (bool(_ORDERED.match(first)), _ordered)):
        if sign:
            return render(lines)
    if first.startswith("|"):
        return _table(lines)
    if first.startswith("> "):
        return f"<blockquote><p>{inline(' '.join(line[2:] for line in lines))}</p></blockquote>"
    if any(line.startswith(": ") for line in lines):
        return _definitions(lines)
    return f"<p>{inline(' '.join(lines))}</p>"


def inline(text: str) -> str:
    parts = _CODE.split(text)  # every second part is code
    return "".join(f"<code>{escape(part)}</code>" if at % 2 else _marked(part) for at, part in enumerate(parts))


def _marked(text: str) -> str:
    text = _LINK.sub(_anchor, escape(text, quote=False))
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", text))


def _anchor(match: re.Match[str]) -> str:
    rel = f' rel="{match[3]}"' if match[3] else ""
    return f'<a href="{match[2]}"{rel}>{match[1]}</a>'


def _items(lines: list[str], start: re.Pattern[str]) -> str:
    """A line without the sign goes on with the item above it."""
    items: list[str] = []
    for line in lines:
        if start.match(line):
            items.append(start.sub("", line, count=1))
        else:
            items[-1] += " " + line.strip()
    return "".join(f"<li>{inline(item)}</li>\n" for item in items)


def _unordered(lines: list[str]) -> str:
    return f"<ul>\n{_items(lines, re.compile('- '))}</ul>"


def _ordered(lines: list[str]) -> str:
    return f"<ol>\n{_items(lines, _ORDERED)}</ol>"


def _table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    head = "".join(f"<th>{inline(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>\n" for row in rows[1:])
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _definitions(lines: list[str]) -> str:
    parts = []
    for is_definition, group in groupby(lines, lambda line: line.startswith(": ")):
        tag = "dd" if is_definition else "dt"
        parts += [f"<{tag}>{inline(line.removeprefix(': '))}</{tag}>\n" for line in group]
    return f"<dl>\n{''.join(parts)}</dl>"
