"""What the class names and the id of an element say about the part of the page that it opens.

A name is a few words (``article-footer``, ``relatedStories``, ``post__author``). Navigation, footers and asides are
known by any of their words, unless another word says that the element holds the content itself. The margins of an
article are known by the last word that means something, as the last noun of a name says what a thing is:
``article-author`` is an author, ``author-article`` an article.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from periplus.documents.html.zones import CONTENT, HINTED_ASIDE, HINTED_FOOTER, HINTED_NAVIGATION

# Margins of an article: captions, bylines, other stories and the like; what tags and roles set apart; what readers say.
NO_MARGIN, MARGINAL, FIRM, COMMENTS = range(4)


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
_FOOTER_END: Final = "footer"  # of words such as "printfooter" and "pagefooter"
_ASIDE_WORDS: Final = _words(
    "cookie cookies consent gdpr banner newsletter subscribe subscription signup share sharing social promo promotion"
    " advert advertisement ads ad sponsor sponsored popup modal overlay login masthead recommended recommendations"
    " outbrain taboola widget toolbar printonly noprint searchbox"
)
# Words that say the element holds the content itself, whatever else its name says ("content-with-sidebar").
_CONTENT_WORDS: Final = _words(
    "content main article body post entry story text page wrapper container layout has no with enabled disabled"
)
COMMENT_IDS: Final = frozenset({"comments", "respond"})  # of sections
_COMMENT_WORDS: Final = _words("comment comments commentlist respond replies disqus livefyre discussion reactions")
# What else stands around an article and within it, by what it is about …
_MARGINAL_WORDS: Final = _words(
    # other stories
    "related recommended recommendations trending popular latest recent recirculation recirc teaser teasers promo"
    " promos readmore readnext upnext nextup suggested suggestions headlines ticker breaking"
    # who, when, about what
    " author authors byline bylines bio biography contributor contributors dateline date timestamp published pubdate"
    " updated meta metadata tag tags taglist topics categories keywords labels eyebrow kicker counter counters rating"
    " ratings votes"
    # pictures and films
    " caption captions credit credits gallery slideshow carousel lightbox thumbnail thumbnails"
    # what the reader shall do
    " share sharing social follow sharedaddy newsletter subscribe subscription signup donate donation poll survey quiz"
    " tools disclaimer disclosure advert advertisement ad ads sponsor sponsored promotion popup modal overlay login"
    " register"
    # for those who print or listen
    " print printonly"
)
_MARGINAL_NAMES: Final = frozenset({"sr-only", "visually-hidden", "screen-reader-text", "screen-reader-only"})
# … whatever these words at their end say about shape and place.
_SHAPE_WORDS: Final = _words(
    "wrapper wrap container box block inner outer list lists item items area section module group row col column left"
    " right top bottom header footer head heading title desktop mobile bar button buttons btn btns link links icon"
    " icons form panel card cards widget slot unit zone region embed inline default large small wide info name names"
    " text details line new holder stories story posts articles news count label feed grid full short stack"
)
# A name with one of these says how the element is, not what it is ("no-sidebar", "modal-enabled").
_MODIFIERS: Final = _words("has no with without is not enabled disabled hide show js")
_SUBJECT: Final = ("tag-", "category-")  # blogs name an article by its subjects: "tag-newsletter"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@lru_cache(maxsize=8192)
def named(names: str, in_text: bool) -> tuple[int, bool, int]:
    """The zone that class names and an id hint at; whether they say that a part of the text begins, such as a chapter
    (``in_text`` says that one is around it already); and which margin of an article they speak of."""
    opens = any(word.lower() in _TEXT_WORDS for word in _WORD.findall(names))
    zone = _hinted(names, in_text=in_text)
    margin = max(map(_margin, names.split()), default=NO_MARGIN)
    return zone, opens, max(margin, MARGINAL) if zone else margin


def _hinted(names: str, *, in_text: bool) -> int:
    for name in names.split():
        words = {word.lower() for word in _WORD.findall(name)}
        if words & _CONTENT_WORDS or name.startswith(_SUBJECT):
            continue
        if words & _NAVIGATION_WORDS or (not in_text and words & _SOFT_WORDS):
            return HINTED_NAVIGATION
        if any(word.endswith(_NAVIGATION_ENDS) for word in words - _SOFT_WORDS):
            return HINTED_NAVIGATION
        if words & _FOOTER_WORDS or any(word.endswith(_FOOTER_END) for word in words):
            return HINTED_FOOTER
        if words & _ASIDE_WORDS:
            return HINTED_ASIDE
    return CONTENT


def _margin(name: str) -> int:
    """Which margin of an article a name speaks of, if any."""
    if name in _MARGINAL_NAMES:
        return MARGINAL
    words = [word.lower() for word in _WORD.findall(name)]
    if not _MODIFIERS.isdisjoint(words):
        return NO_MARGIN
    while len(words) > 1 and words[-1] in _SHAPE_WORDS:
        words.pop()
    if not words or (len(words) > 1 and name.startswith(_SUBJECT)):
        return NO_MARGIN
    if words[-1] in _COMMENT_WORDS:
        return COMMENTS
    return MARGINAL if words[-1] in _MARGINAL_WORDS else NO_MARGIN
