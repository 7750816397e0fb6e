"""Which part of a page an element opens: content, navigation, footer, an aside … by its tag, role and class names.

A zone found by tag or role is firm; one found by the words in ``class`` and ``id`` is a hint, and is taken back when
the page would otherwise have no main text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

CONTENT: Final = 0
NAVIGATION: Final = 1
FOOTER: Final = 2
ASIDE: Final = 3
HINTED_NAVIGATION: Final = 4
HINTED_FOOTER: Final = 5
HINTED_ASIDE: Final = 6
CONTROLS: Final = 7  # labels of buttons and choices
HIDDEN: Final = 8

NAME_CHARS: Final = 400  # of class names or a style that are looked at; the caches below hold no more either

HINTED: Final = frozenset({HINTED_NAVIGATION, HINTED_FOOTER, HINTED_ASIDE})
FOOTERS: Final = frozenset({FOOTER, HINTED_FOOTER})

TAGS: Final = {
    "nav": NAVIGATION,
    "menu": NAVIGATION,
    "footer": FOOTER,
    "aside": ASIDE,
    "dialog": ASIDE,
    "noscript": ASIDE,
    "button": CONTROLS,
    "select": CONTROLS,
    "datalist": CONTROLS,
    "label": CONTROLS,
}
ROLES: Final = {
    "navigation": NAVIGATION,
    "menu": NAVIGATION,
    "menubar": NAVIGATION,
    "toolbar": CONTROLS,
    "search": CONTROLS,
    "contentinfo": FOOTER,
    "complementary": ASIDE,
    "banner": ASIDE,
    "dialog": ASIDE,
    "alertdialog": ASIDE,
}
MAIN_ROLES: Final = frozenset({"main", "article"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAVIGATION_WORDS: Final = _words(
    "nav navbar navigation menubar breadcrumb breadcrumbs sidenav pagination pager paginator topbar skiplink skip"
    " sitemap tabs related prev next prevnext headerlink navheader navfooter"
)
_NAVIGATION_ENDS: Final = ("nav", "menu")  # of words such as "docnav" and "mainmenu"
# Navigation too, but not inside a chapter or section: there a side bar or a table of contents belongs to the text.
_SOFT_WORDS: Final = _words("sidebar toc menu")
_TEXT_WORDS: Final = _words("chapter section article entry post story appendix preface refentry")
_FOOTER_WORDS: Final = _words("footer foot colophon copyright legal imprint footnav")
_ASIDE_WORDS: Final = _words(
    "cookie cookies consent gdpr banner newsletter subscribe subscription signup share sharing social promo promotion"
    " advert advertisement ads ad sponsor sponsored popup modal overlay login masthead recommended recommendations"
    " outbrain taboola widget toolbar printonly noprint searchbox"
)
# Words that say the element holds the content itself, whatever else its name says ("content-with-sidebar").
_CONTENT_WORDS: Final = _words(
    "content main article body post entry story text page wrapper container layout has no with"
)
# Text moved so far to the left or up that nobody sees it.
_FAR_AWAY: Final = re.compile(r"(?:^|;)(?:left|top|text-indent|margin-left):-\d{3,}")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@lru_cache(maxsize=8192)
def named(names: str, in_text: bool) -> tuple[int, bool]:
    """The zone that class names and an id hint at, and whether they say that a part of the text begins, such as a
    chapter; ``in_text`` says that one is around it already."""
    opens = any(word.lower() in _TEXT_WORDS for word in _WORD.findall(names))
    return _hinted(names, in_text=in_text), opens


def _hinted(names: str, *, in_text: bool) -> int:
    for name in names.split():
        words = {word.lower() for word in _WORD.findall(name)}
        if words & _CONTENT_WORDS:
            continue
        if words & _NAVIGATION_WORDS or (not in_text and words & _SOFT_WORDS):
            return HINTED_NAVIGATION
        if any(word.endswith(_NAVIGATION_ENDS) for word in words - _SOFT_WORDS):
            return HINTED_NAVIGATION
        if words & _FOOTER_WORDS:
            return HINTED_FOOTER
        if words & _ASIDE_WORDS:
            return HINTED_ASIDE
    return CONTENT


@lru_cache(maxsize=4096)
def hides(style: str) -> bool:
    """Whether an inline style takes the element out of sight."""
    squeezed = style.replace(" ", "").lower()
    return "display:none" in squeezed or "visibility:hidden" in squeezed or _FAR_AWAY.search(squeezed) is not None
