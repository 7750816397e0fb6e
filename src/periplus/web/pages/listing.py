"""A result list as a page: its parts are precompiled templates, filled in (``precompiled.py``) and put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.responses import HTMLResponse

from periplus.addresses import SEPARATOR
from periplus.reasons import lacking
from periplus.web.api.beside import picture_address
from periplus.web.api.paging import Links, pages
from periplus.web.backend import TABS
from periplus.web.pages.filters import ALWAYS, filters
from periplus.web.pages.lenses import read_lens
from periplus.web.pages.side_panels import PanelColumn, card_context
from periplus.web.pages.titles import listed_titles
from periplus.web.rendering.highlights import marked
from periplus.web.rendering.languages import language_name
from periplus.web.rendering.rendering import (
    count,
    day_in,
    framed,
    host_of,
    href,
    precompiled_for,
    quoted,
    segment,
    type_name,
)
from periplus.web.rendering.themes import theme_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.records import PanelCard, SearchAnswer, SearchResult
    from periplus.verticals import PendingPanels
    from periplus.web.api.paging import Pages
    from periplus.web.pages.filters import Filter
    from periplus.web.rendering.precompiled import Lists, PrecompiledTemplates, Ready, Texts

    Known = dict[str, PanelCard]  # by the id of a result: what is known of a page in one of the tabs
    Pictures = dict[str, tuple[str, str]]  # by the id of a result: address and text of its page's picture

PRECISE = 10  # milliseconds below which tenths are told
FOR_OPERATORS = ("ranks", "spelling")  # the list is whole without them; the API and the console tell of them


def result_page(
    request: Request,
    answer: SearchAnswer,
    *,
    values: dict[str, Any],
    kept: dict[str, Any],
    known: Known,
    pictures: Pictures,
    tabs: tuple[str, ...],
    beside: PendingPanels | None = None,
) -> Response:
    """``values`` is what was asked for; ``kept`` is what of it stays in the links of the page; ``beside``: panels."""
    precompiled, frame = precompiled_for(request), framed(request)
    link = Links(f"{precompiled.root}/search", kept)
    lens = answer.lens or values["lens"]
    levels = read_lens(lens) if lens else {}
    made = filters(kept, answer, precompiled.root)
    explain_link = "" if kept["tab"] else link(explain=True)
    items = Items(
        precompiled,
        values["q"],
        link,
        levels,
        explain_link,
        request.query_params.get("why", "") if values["explain"] else "",
        kept["tab"],
        pictures,
    )
    plain = {
        "theme": theme_of(request),
        "tab": tabs.index(kept["tab"]) if tabs else 0,
        "at_least": answer.total.relation == "gte",
        "one": answer.total.value == 1,
        "as_pictures": kept["tab"] == "images",
        "clicks": request.app.state.settings.search.clicks,
    }
    texts: Texts = {**frame, "q": values["q"], "lens": lens, **_around(answer, link)}
    lists = {
        "tab_names": [precompiled.say(TABS.get(name, "All")) for name in tabs],
        "tab_links": [link(tab=name, page=1) for name in tabs],
    }
    ready: Ready = {
        "filters": _joined(_filter(precompiled, link, item, answer, kept) for item in made),
        "instant": precompiled.render("_instant.html", {"found": answer.answers[0]}) if answer.answers else "",
        "notices": _notices(precompiled, link, answer, values, frame["lens_given"], levels),
        "results": items.all(answer.results, known),
        "nothing": ""
        if answer.results
        else _nothing(precompiled, link, answer, values["q"], kept["tab"], made, beside),
        "related": precompiled.render("_related.html", {"suggestions": answer.suggestions})
        if answer.suggestions
        else "",
        "page_numbers": _pages(precompiled, link, pages(answer)),
        "side": _side(precompiled, link, beside) if beside else "",
    }
    return HTMLResponse(precompiled.fill("results.html", texts, plain=plain, lists=lists, ready=ready))


def _around(answer: SearchAnswer, link: Links) -> Texts:
    """What is told of a list, and where one goes from it."""
    numbers, took = pages(answer), answer.took_ms
    return {
        "feed": link(format="rss", page=1),
        "previous": link(page=numbers.previous) if numbers.previous else "",
        "next": link(page=numbers.next) if numbers.next else "",
        "total": count(answer.total.value),
        "took": f"{took:.0f}" if took >= PRECISE else f"{took:.1f}",
        "first": str(answer.results[0].rank) if answer.results else "",
    }


def similar_items(request: Request, found: Sequence[SearchResult]) -> Markup:
    """Results that answer no query: without menus and explanations."""
    return Items(precompiled_for(request), "", None, {}).all(found, {})


class Items:
    """The results of a list."""

    def __init__(
        self,
        precompiled: PrecompiledTemplates,
        query: str,
        link: Links | None,
        levels: dict[str, str],
        explain_link: str = "",
        opened: str = "",
        tab: str = "",
        pictures: Pictures | None = None,
    ) -> None:
        self._precompiled = precompiled
        self._query = query
        self._of_site = f"{link(site='', page=1)}&site=" if link else ""
        self._unfolded = link(duplicates=True, page=1) if link else ""
        self._levels = levels
        self._explain_link = explain_link
        self._opened = opened
        self._tab = tab
        self._pictures = pictures or {}

    def all(self, results: Sequence[SearchResult], known: Known) -> Markup:
        titled = zip(results, listed_titles(results), strict=True)
        return _joined([self.one(result, title, known.get(result.id)) for result, title in titled])

    def one(self, result: SearchResult, title: str, known: PanelCard | None) -> Markup:
        if self._tab == "images" and known is not None:
            item = card_context(self._precompiled, known, with_picture=True)
            return self._precompiled.render("_picture.html", {"item": item, "result": result})
        url, site, language = result.url, result.site, result.language
        root = self._precompiled.root
        host = host_of(url) or site
        place = segment(host)
        target, address = href(url), quoted(url)
        name, _, path = result.display_url.partition(SEPARATOR)
        listed = self._of_site
        explained = result.explain is not None
        picture, picture_text = self._pictures.get(result.id, ("", ""))
        texts: Texts = {
            "rank": str(result.rank),
            "result_language": language,
            "icon": f"{root}/icon/{place}" if host else "",
            "place": f"{root}/site/{place}",
            "name": name,
            "path": path,
            "site": site if listed else "",
            "only_site": f"{listed}{quoted(site)}" if listed and site else "",
            "similar": f"{root}/similar?url={address}",
            "target": target,
            "picture": picture_address(root, picture),
            "picture_text": picture_text,
            "title": title or (result.display_url if target else result.id),
            "published": result.published or "",
            "fetched": result.fetched,
            "day": day_in(self._precompiled.language, result.published or result.fetched),
            "tongue": language_name(language) if language != self._precompiled.language else "",
            "badge": type_name(result.type),
            "cached": self._cached(address) if target else "",
            "duplicates": str(result.duplicates) if listed and result.duplicates else "",
            "unfolded": self._unfolded,
            "more": str(result.more_from_site) if listed and result.more_from_site else "",
            "why": f"{self._explain_link}&why={result.rank}#why-{result.rank}"
            if self._explain_link and not explained
            else "",
        }
        ready: Ready = {
            "snippet": marked(result.snippet, result.highlights),
            "known": self._known(known) if known else "",
            "bars": self._bars(result, target) if explained else "",
        }
        level = (self._levels.get(site) or self._levels.get(host, "")) if self._levels else ""
        return self._precompiled.fill(
            "_result.html", texts, plain={"level": level, "pinned": result.pinned}, ready=ready
        )

    def _known(self, card: PanelCard) -> Markup:
        told = {**card_context(self._precompiled, card), "day": ""}  # the last line of a result says when
        context = {"item": told, "kind": self._tab}
        return self._precompiled.render("_known.html", context)

    def _cached(self, address: str) -> str:
        copy = f"{self._precompiled.root}/cached?url={address}"
        return f"{copy}&q={quoted(self._query)}" if self._query else copy

    def _bars(self, result: SearchResult, target: str) -> Markup:
        context = {
            "explanation": result.explain,
            "rank": result.rank,
            "opened": self._opened == str(result.rank),
            "target": target,
            "q": self._query,
        }
        return self._precompiled.render("_why.html", context)


def _side(precompiled: PrecompiledTemplates, link: Links, beside: PendingPanels) -> Markup:
    """What is there; and where services are still at it, the address of the rest."""
    context = {
        "panels": PanelColumn(precompiled, link).all(beside.now()),
        "awaited": ", ".join(beside.awaited),
        "fragment": link(page=1).replace("/search?", "/panels?", 1),
        "waiting": link(panels=True, page=1),
    }
    return precompiled.render("_side.html", context)


def _notices(
    precompiled: PrecompiledTemplates,
    link: Links,
    answer: SearchAnswer,
    values: dict[str, Any],
    given: str,
    levels: dict[str, str],
) -> Markup:
    corrected, corrections = answer.query.corrected or "", list(answer.corrections)
    texts: Texts = {
        "q": values["q"],
        "corrected": corrected,
        "corrected_link": link(q=corrected, page=1) if corrected else "",
        "exact_link": link(exact=True, page=1) if corrected else "",
        "change_lens": f"{precompiled.root}/preferences" + (f"?lens={quoted(given)}" if given else "")
        if levels
        else "",
        "without_lens": link(lens="none", page=1) if levels else "",
        "fold": link(duplicates=False, page=1) if values["duplicates"] else "",
        "apply_lens": link(lens="", page=1) if given == "none" else "",
        "parts": ", ".join([part for part in answer.degraded if not lacking(part)]),
    }
    lists: Lists = {
        "corrections": corrections,
        "correction_links": [link(q=text, page=1) for text in corrections],
        "warnings": [precompiled.say(sentence) for sentence in _warnings(answer)],
    }
    return precompiled.fill("_notices.html", texts, lists=lists)


def _warnings(answer: SearchAnswer) -> list[str]:
    """What the list is without, each sentence once however many shards it is said of."""
    said = [lacking(part) for part in answer.degraded if part not in FOR_OPERATORS]
    return [sentence for sentence in dict.fromkeys(said) if sentence]


def _nothing(
    precompiled: PrecompiledTemplates,
    link: Links,
    answer: SearchAnswer,
    query: str,
    tab: str,
    made: list[Filter],
    beside: PendingPanels | None,
) -> Markup:
    context = {
        "is_answered": bool(answer.answers) or (beside is not None and bool(beside.ready or beside.coming)),
        "q": query,
        "link": link,
        "answer": answer,
        "kind": TABS.get(tab, ""),
        "narrowed": any(item.active and item.name != "sort" for item in made),
        "unfiltered": link(page=1, lang="", site="", type="", before="", after="", safe=False),
    }
    return precompiled.render("_no-results.html", context)


def _filter(
    precompiled: PrecompiledTemplates, link: Links, item: Filter, answer: SearchAnswer, kept: dict[str, Any]
) -> Markup:
    can_count = not answer.counts and not kept["tab"] and item.name not in ALWAYS and answer.results
    plain = {
        "name": item.name,
        "active": item.active,
        "more": item.more,
        "chosen": next((place for place, choice in enumerate(item.choices) if choice.chosen), -1),
    }
    texts = {"text": precompiled.say(item.text), "ask": link(counts=True) if can_count else ""}
    hidden = link.values(without=("after", "before", "page")) if item.name == "time" else {}
    texts |= {"after": kept["after"], "before": kept["before"]} if hidden else {"after": "", "before": ""}
    lists = {
        "texts": [precompiled.say(choice.text) for choice in item.choices],
        "addresses": [choice.address for choice in item.choices],
        "counts": [count(choice.count) if choice.count else "" for choice in item.choices],
        "hidden_names": list(hidden),
        "hidden_values": list(hidden.values()),
    }
    return precompiled.fill("_filter.html", texts, plain=plain, lists=lists)


def _pages(precompiled: PrecompiledTemplates, link: Links, shown: Pages) -> Markup | str:
    if len(shown.numbers) < 2 and not shown.previous:
        return ""
    texts = {
        "previous": link(page=shown.previous) if shown.previous else "",
        "next": link(page=shown.next) if shown.next else "",
    }
    lists = {
        "numbers": [str(number) for number in shown.numbers],
        "addresses": [link(page=number) for number in shown.numbers],
    }
    return precompiled.fill("_pages.html", texts, plain={"current": shown.numbers.index(shown.current)}, lists=lists)


def _joined(pieces: Iterable[Markup]) -> Markup:
    return Markup("".join(pieces))  # noqa: S704 - every piece was made by a template
