"""A page as Markdown, for programs that read prose.

What the page says is text: whatever could be read as markup is escaped, so that a renderer shows it and makes nothing
of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.web.api.operations import PageAnswer, PageLink

MARKDOWN = "text/markdown"
DEEPEST = 6  # levels of headings
# What means something anywhere: escapes, code, emphasis, links, HTML, entities, and tables and strokes of dialects.
_INLINE = re.compile(r"[\\`*_\[\]<>&~|]")
# What means something only where a line begins: headings, lists, rules and underlines.
_OPENING = re.compile(r"^(\d{0,9})([#+\-=.)])")
_ENDING = re.compile(r"[<>\s\\]")
_WHITE = re.compile(r"\s+")


def page_markdown(page: PageAnswer) -> str:
    """The part of a page that ``page`` holds, with what is known of it at its head."""
    return "\n\n".join([f"# {escaped(page.title or page.url)}", _known(page), *_body(page), *_end(page)]) + "\n"


def escaped(text: str) -> str:
    """``text`` as one line that a renderer shows as it is."""
    line = _INLINE.sub(r"\\\g<0>", _WHITE.sub(" ", text).strip())
    return _OPENING.sub(r"\1\\\2", line)


def _known(page: PageAnswer) -> str:
    facts = {
        "Address": _target(page.url) if page.url else escaped(page.id),
        "Author": escaped(page.author),
        "Published": page.published or "",
        "Modified": page.modified or "",
        "Fetched": page.fetched,
        "Language": page.language,
        "Part": f"{page.part} of {page.parts}" if page.parts > 1 else "",
    }
    return "\n".join(f"- {name}: {fact}" for name, fact in facts.items() if fact)


def _body(page: PageAnswer) -> Iterator[str]:
    levels = {heading.text: heading.level for heading in page.headings}
    for paragraph in page.text.split("\n"):
        if not paragraph.strip():
            continue
        level = levels.get(paragraph)
        mark = "#" * min(level + 1, DEEPEST) + " " if level else ""
        yield mark + escaped(paragraph)


def _end(page: PageAnswer) -> Iterator[str]:
    if page.links:
        yield "## Links"
        yield "\n".join(map(_link, page.links))
    if page.next:
        yield f"The next part: {_target(page.next)}"


def _link(link: PageLink) -> str:
    return f"- [{escaped(link.text or link.url)}]({_target(link.url)})"


def _target(url: str) -> str:
    """An address between angles; what could end it there is encoded."""
    return f"<{_ENDING.sub(lambda found: quote(found[0]), url)}>"
