"""What stands in a page for machines: its meta, link and time tags, scripts, JSON-LD and the texts of its images."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from turbohtml import Element

from periplus.documents import bounds
from periplus.documents.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from periplus.documents.html.pieces import Findings

_DEFINING: Final = "p,dd,dt,li"
_MAIN: Final = "main,article,[role=main],[role=article]"
_WRAPPED: Final = 3  # elements around a picture within its figure, such as a link
_NEAR: Final = 4  # siblings of a picture that are looked at for its caption
_FOREIGN: Final = "svg,math"
_ATTRIBUTES: Final = 64  # attributes of one tag that are looked at
_READ: Final = frozenset({"canonical", "icon", "alternate", "amphtml", "search", "license", "author"})


def gather(elements: Iterable[Element], found: Findings) -> None:
    """Fill ``found`` with all but texts and links; ``elements`` are those of the page that ``tags.GATHERED`` names."""
    for element in elements:
        taker = _TAKERS.get(element.tag)
        if taker is not None:
            taker(element, found)


def named(element: Element) -> dict[str, str]:
    """The attributes of an element, the first ones where there are very many."""
    attributes = element.attrs
    if len(attributes) <= _ATTRIBUTES:
        return {name: _text(value) for name, value in attributes.items()}
    kept = list(attributes)[:_ATTRIBUTES]
    return {name: _text(attributes[name]) for name in kept}


def _text(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else " ".join(value or ())


def _take_title(element: Element, found: Findings) -> None:
    if not found.title and element.closest(_FOREIGN) is None:
        found.title = clean(element.text)


def _take_meta(element: Element, found: Findings) -> None:
    if len(found.metas) < bounds.METADATA:
        found.metas.append(named(element))


def _take_link(element: Element, found: Findings) -> None:
    relations = element.attr("rel")
    if relations and len(found.link_tags) < bounds.METADATA and not _READ.isdisjoint(relations.lower().split()):
        found.link_tags.append(named(element))


def _take_base(element: Element, found: Findings) -> None:
    found.base = found.base or element.attr("href") or ""


def _take_script(element: Element, found: Findings) -> None:
    found.scripts += 1
    source = element.attr("src")
    if source:
        found.script_sources.append(source[: bounds.ADDRESS_CHARS])
        return
    text = element.text
    if (element.attr("type") or "").strip().lower() != "application/ld+json":
        found.script_sources.append(text[: bounds.ADDRESS_CHARS])
    elif sum(map(len, found.json_ld)) + len(text) <= bounds.JSON_CHARS:
        found.json_ld.append(text)


def _take_time(element: Element, found: Findings) -> None:
    if len(found.times) < bounds.TIMES:
        found.times.append({**named(element), "in_main": "1" if element.closest(_MAIN) is not None else ""})


def _take_image(element: Element, found: Findings) -> None:
    """A picture with its text: the one that stands for it, else its caption."""
    source = element.attr("src") or element.attr("data-src") or ""
    if not source or len(found.images) >= bounds.IMAGES:
        return
    text = clean(element.attr("alt") or "") or _caption(element)
    if text:
        found.images.append((source, text[: bounds.ALT_CHARS]))


def _caption(element: Element) -> str:
    """The caption beside the first picture of a figure. Only what is next to it is looked at, so that
    no page makes this slow.
    """
    inside = element
    for _ in range(_WRAPPED):
        if not isinstance(inside.parent, Element) or _beside(inside.previous_siblings) is not None:
            return _caption_text(_beside(inside.previous_siblings))
        if inside.parent.tag == "figure":
            return _caption_text(_beside(inside.next_siblings))
        inside = inside.parent
    return ""


def _beside(siblings: Iterable[object]) -> Element | None:
    return next(
        (one for one in itertools.islice(siblings, _NEAR) if isinstance(one, Element) and one.tag != "source"), None
    )


def _caption_text(element: Element | None) -> str:
    return clean(element.text) if element is not None and element.tag == "figcaption" else ""


def _take_definition(element: Element, found: Findings) -> None:
    """A term that the page marks as defined here (``dfn``), with the text that defines it."""
    around = element.closest(_DEFINING)
    if around is None or len(found.definitions) >= bounds.DEFINITIONS:
        return
    if around.tag == "dt":
        around = next((one for one in around.next_siblings if isinstance(one, Element)), None)
        if around is None or around.tag != "dd":
            return
    term = clean(element.attr("title") or element.text)[: bounds.TERM_CHARS]
    text = clean(around.text)[: bounds.DEFINITION_CHARS]
    if term and len(text) > len(term):
        found.definitions.append((term, text))


_TAKERS: Final[dict[str, Callable[[Element, Findings], None]]] = {
    "title": _take_title,
    "meta": _take_meta,
    "link": _take_link,
    "base": _take_base,
    "script": _take_script,
    "time": _take_time,
    "img": _take_image,
    "dfn": _take_definition,
}
