"""Titles of a result list, without what a site repeats in each of them.

``Tide tables | Tide Office`` and ``Ostrel | Tide Office`` are shown as ``Tide tables`` and ``Ostrel`` where both stand
in one list: the name of their site stands above them. Only what all results of a host have in common is left out (one
that is called ``Tide Office`` and nothing else has it, too), and never a part with a digit, by which versions are told
apart. Answers of the API have titles as pages have them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from periplus.addresses import SEPARATOR
from periplus.text import TITLE_BORDER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.records import SearchResult

    Parted = Callable[[str], tuple[str, str]]  # a title's own part, and what may be the name of its site

_WORD = re.compile(r"[^\W_]")
_DIGIT = re.compile(r"\d")
CUT = "…"


def listed_titles(results: Sequence[SearchResult]) -> list[str]:
    """The title of each result as its list shows it."""
    titles = [result.title for result in results]
    by_host: dict[str, list[int]] = {}
    for place, result in enumerate(results):
        by_host.setdefault(result.display_url.partition(SEPARATOR)[0], []).append(place)
    for places in by_host.values():
        if len(places) > 1:
            own = without_common_part([titles[place] for place in places])
            for place, title in zip(places, own, strict=True):
                titles[place] = title
    return titles


def without_common_part(titles: Sequence[str]) -> Sequence[str]:
    """Titles of one site without the last or first part that all of them have.

    Of a title that was cut short the end is not known.
    """
    whole = [title for title in titles if not title.endswith(CUT)]
    own = dict(zip(whole, _own_parts(whole, _before_last), strict=True))
    if any(own[title] != title for title in whole):
        return [own.get(title, title) for title in titles]
    return _own_parts(titles, _behind_first)


def _own_parts(titles: Sequence[str], parted: Parted) -> Sequence[str]:
    pairs = [parted(title) for title in titles]
    own, names = [rest for rest, _ in pairs], [name for _, name in pairs if name]
    name = names[0] if len(names) > 1 else ""
    # A front page is mostly called as its site is, and keeps its title.
    is_common = all(named == name or (not named and rest == name) for rest, named in pairs)
    tells = _WORD.search(name) and not _DIGIT.search(name)
    return own if is_common and tells and len(set(own)) > 1 and all(map(_WORD.search, own)) else titles


def _before_last(title: str) -> tuple[str, str]:
    borders = list(TITLE_BORDER.finditer(title))
    return (title[: borders[-1].start()], title[borders[-1].end() :]) if borders else (title, "")


def _behind_first(title: str) -> tuple[str, str]:
    border = TITLE_BORDER.search(title)
    return (title[border.end() :], title[: border.start()]) if border else (title, "")
