"""Who is compared. Each contender maps a labelled page to the text that it takes for the main text.

All are given the decoded page, with their own default settings, except where a setting would add what no label holds
(marks of list items, addresses of links): such words would be counted against them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.extract.labels import Reference

    from periplus.records import Page

    Contender = Callable[[Reference], str]

STOP_LISTS = {
    "ar": "Arabic", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French",
    "it": "Italian", "ko": "Korean", "ru": "Russian",
}  # fmt: skip


def everything() -> Contender:
    """All text of the page, titles and menus included: what an extractor must beat."""
    return lambda page: page.all_text


def periplus() -> Contender:
    """The text of the complete document: links, fields, dates, language, fingerprint and signals are made as well."""
    from periplus.documents import parse

    return lambda page: parse(_page(page)).text


def periplus_reader() -> Contender:
    """The same text from the HTML reader alone: links, fields and dates, but no language, fingerprint or signals."""
    from periplus.documents.html import read

    return lambda page: read(_page(page)).text


def _page(page: Reference) -> Page:
    from periplus.records import Page

    url = f"http://{page.label.site}/{page.label.path.removeprefix('/')}"
    return Page(url, page.body, f"text/html; charset={page.label.charset}")


def trafilatura(**settings: bool) -> Contender:
    from trafilatura import extract

    return lambda page: extract(page.markup, **settings) or ""


def resiliparse() -> Contender:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda page: extract_plain_text(page.markup, main_content=True, list_bullets=False, links=False)


def justext() -> Contender:
    """With the stop words of the page's language; in its language-independent mode where it has no list for it."""
    from justext import get_stoplist
    from justext import justext as classify

    lists = {code: get_stoplist(name) for code, name in STOP_LISTS.items()}
    without = {"stoplist": frozenset(), "stopwords_low": 0, "stopwords_high": 0}

    def extract(page: Reference) -> str:
        words = lists.get(page.label.language)
        paragraphs = classify(page.markup, **({"stoplist": words} if words else without))
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


CONTENDERS: dict[str, Callable[[], Contender]] = {
    "periplus": periplus,
    "trafilatura": trafilatura,
    "trafilatura, favor_recall": lambda: trafilatura(favor_recall=True),
    "resiliparse, main_content": resiliparse,
    "jusText": justext,
    "all text": everything,
}
TIMED = {
    "periplus, reader alone": periplus_reader
}  # gives the text of another contender: of interest for its time only
UNTIMED = "all text"  # is made with the label
OURS = "periplus"
