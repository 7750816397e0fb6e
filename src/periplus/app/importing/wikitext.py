"""Wikitext as plain HTML: headings, paragraphs and links; templates, tables, references and files are left out.

No template is expanded and no extension is run, so what a page takes from those is missing. It is prose that is wanted.
"""

from __future__ import annotations

import html
import re
from typing import Final
from urllib.parse import quote

DEEPEST: Final = 40  # templates inside each other; what is deeper is left out as a whole
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DROPPED: Final = re.compile(
    r"<(ref|math|gallery|timeline|score|syntaxhighlight|source|nowiki|pre)\b[^<>]*?(?:/>|>.*?</\1\s*>)",
    re.DOTALL | re.IGNORECASE,
)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_MARKS: Final = re.compile(r"\{\{|\}\}|\{\||\|\}")
_MEDIA: Final = re.compile(r"\[\[(?:file|image|category|datei|bild|kategorie|fichier|catégorie)\s*:", re.IGNORECASE)
_LINK: Final = re.compile(r"\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]*))?\]\]([a-zA-Z]*)")
_OUTER: Final = re.compile(r"\[(https?://[^\s\]]{1,2000})(?:\s+([^\]\n]*))?\]")
_QUOTES: Final = re.compile(r"'{2,5}")
_HEADING: Final = re.compile(r"(={1,6})\s*(.+?)\s*\1")
_LIST: Final = re.compile(r"[*#:;]+\s*")
_SWITCH: Final = re.compile(r"__[A-Z]{3,20}__")
_HOLE: Final = re.compile("\ue000(\\d+)\ue001")


def to_html(title: str, text: str, prefix: str) -> str:
    """A page in HTML; links to other pages begin with ``prefix``."""
    plain = _DROPPED.sub(" ", _COMMENT.sub("", text))
    plain = _without_media(_without_nested(plain))
    made: list[str] = []

    def linked(address: str, words: str) -> str:
        made.append(f'<a href="{html.escape(address)}">{html.escape(_TAG.sub("", words))}</a>')
        return f"\ue000{len(made) - 1}\ue001"

    plain = plain.replace("\ue000", "").replace("\ue001", "")
    plain = _LINK.sub(lambda found: linked(_address(found[1], prefix), (found[2] or found[1]) + found[3]), plain)
    plain = _OUTER.sub(lambda found: linked(found[1], found[2] or found[1]), plain)
    plain = _SWITCH.sub("", _QUOTES.sub("", _TAG.sub(" ", plain)))
    body = "\n".join(_block(line.strip()) for line in plain.splitlines() if line.strip())
    body = _HOLE.sub(lambda found: made[int(found[1])], body)
    return f"<!doctype html><title>{html.escape(title)}</title><main><h1>{html.escape(title)}</h1>\n{body}</main>"


def _address(name: str, prefix: str) -> str:
    page, mark, section = name.strip().lstrip(":").partition("#")
    return (
        prefix + quote(page.strip().replace(" ", "_"), safe="/:@!$&'()*+,;=~") + (f"#{quote(section)}" if mark else "")
    )


def _block(line: str) -> str:
    if heading := _HEADING.fullmatch(line):
        level = max(2, len(heading[1]))
        return f"<h{level}>{html.escape(html.unescape(heading[2]))}</h{level}>"
    words = _LIST.match(line)
    return f"<p>{html.escape(html.unescape(line[words.end() :] if words else line))}</p>"


def _without_nested(text: str) -> str:
    """Without templates and tables, which may stand inside each other; what is left open ends with the page."""
    kept: list[str] = []
    depth = place = 0
    for mark in _MARKS.finditer(text):
        opens = mark[0] in ("{{", "{|")
        if depth == 0:
            kept.append(text[place : mark.start()])
            if not opens:  # one that closes nothing
                place = mark.end()
                continue
        depth = min(depth + 1, DEEPEST) if opens else depth - 1
        place = mark.end()
    return "".join([*kept, text[place:]] if depth == 0 else kept)


def _without_media(text: str) -> str:
    """Without pictures and categories, whose captions may hold links."""
    kept: list[str] = []
    place = 0
    while found := _MEDIA.search(text, place):
        kept.append(text[place : found.start()])
        place = _end_of_link(text, found.start())
    return "".join([*kept, text[place:]])


def _end_of_link(text: str, start: int) -> int:
    """Behind the brackets that close those at ``start``, or the end of the line where nothing does."""
    depth = 0
    for mark in re.compile(r"\[\[|\]\]|\n\n").finditer(text, start):
        depth += {"[[": 1, "]]": -1}.get(mark[0], 0)
        if depth == 0 or mark[0] == "\n\n":
            return mark.end()
    return len(text)
