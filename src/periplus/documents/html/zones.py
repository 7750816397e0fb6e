"""Which part of a page an element opens: content, navigation, footer, an aside … by its tag or role.

A zone found by tag or role is firm; one found by the words in ``class`` and ``id`` (``names.py``) is a hint, and is
taken back when the page would otherwise have no main text.
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


# Text moved so far to the left or up that nobody sees it.
_FAR_AWAY: Final = re.compile(r"(?:^|;)(?:left|top|text-indent|margin-left):-\d{3,}")


def wins(zone: int, around: int) -> bool:
    """Whether a zone counts inside another: a firm one within a hinted one, and any within content."""
    if around == CONTENT:
        return True
    return around in HINTED and zone not in HINTED


@lru_cache(maxsize=4096)
def hides(style: str) -> bool:
    """Whether an inline style takes the element out of sight."""
    squeezed = style.replace(" ", "").lower()
    return "display:none" in squeezed or "visibility:hidden" in squeezed or _FAR_AWAY.search(squeezed) is not None
