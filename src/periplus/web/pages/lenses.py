"""A reader's preferences among sites: pin, raise, lower or block one, without an account.

They are kept in a cookie of this browser, or stand in the address as ``lens=raise:a.example,block:b.example``; what the
address says wins, so a link with a lens shows everybody the same. The engine applies them. Buttons are plain forms:
pressed on a page whose address has a lens they change the address, elsewhere the cookie.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from periplus.addresses import host, try_canonical
from periplus.web.pages.scrolling import is_endless
from periplus.web.rendering.rendering import lens_given, page
from periplus.web.requests.access import require_own_page
from periplus.web.requests.positions import place_kept
from periplus.web.requests.public import YEAR, own_path, public_of, redirect, set_cookie

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

COOKIE = "lens"
LEVELS = ("pin", "raise", "lower", "block")
NONE = "none"  # in an address: no lens, whatever this browser keeps
MAX_SITES = 100
MAX_LENGTH = 1_900  # characters of a lens; an address and a cookie hold more than that
_ENTRY = re.compile(r"(pin|raise|lower|block):([^\s,]+)")

Lens = dict[str, str]  # site → level


def read_lens(text: str) -> Lens:
    """What can be understood of ``text``; a site that is named twice has the later level."""
    found: Lens = {}
    for entry in re.split(r"[\s,]+", text[:4_000]):
        match = _ENTRY.fullmatch(entry)
        site = _site(match[2]) if match else ""
        if match and site and (site in found or len(found) < MAX_SITES):
            found[site] = match[1]
    return found


def written(lens: Lens) -> str:
    """As an address says it; the last sites are left out where it would grow too long."""
    entries: list[str] = []
    for site, level in sorted(lens.items(), key=lambda item: (LEVELS.index(item[1]), item[0])):
        entries.append(f"{level}:{site}")
        if len(",".join(entries)) > MAX_LENGTH:
            return ",".join(entries[:-1])
    return ",".join(entries)


def changed(text: str, level: str, site: str) -> str:
    """The lens with one site's level set, or forgotten where the level is empty."""
    lens, known = read_lens(text), _site(site)
    lens.pop(known, None)
    if known and level in LEVELS:
        lens[known] = level
    return written(lens)


def _site(text: str) -> str:
    address = try_canonical(f"http://{text.lower()}/") if len(text) <= 255 else None
    return host(address) if address and address.endswith("/") and address.count("/") == 3 else ""


def lens_of(request: Request) -> str:
    """The lens in force: the address's, else this browser's."""
    given = lens_given(request)
    if given:
        return "" if given == NONE else given
    return written(read_lens(request.cookies.get(COOKIE, "")))


async def preferences(request: Request) -> Response:
    """GET /preferences: the sites of the lens in force, and a link to share it."""
    lens = read_lens(lens_of(request))
    ordered = sorted(lens.items(), key=lambda item: (LEVELS.index(item[1]), item[0]))
    text = written(lens)
    shared = f"{public_of(request).base(request)}/?{urlencode({'lens': text})}"
    context = {"sites": ordered, "levels": LEVELS, "lens": text, "shared": shared, "from_address": lens_given(request)}
    kept = {"place": place_kept(request), "endless": is_endless(request)}
    return page(request, "preferences.html", {**context, **kept})


async def choose(request: Request) -> Response:
    """POST /lens: ``choice`` is ``level:site`` (or ``:site`` to forget it), ``keep`` or ``forget-all``.

    ``lens`` is the lens on the page where the button stood, ``back`` its path.
    """
    require_own_page(request)
    form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
    given = {name: values[-1] for name, values in form.items()}
    back, kept = own_path(given.get("back", "/")), given.get("lens", "")
    choice = given.get("choice", "")
    if choice in ("keep", "forget-all"):
        return _kept(request, _with_lens(back, ""), written(read_lens(kept)) if choice == "keep" else "")
    level, _, site = choice.partition(":")
    lens = changed(kept, given.get("level", level), given.get("site", site))
    if _has_lens(back):
        return redirect(request, _with_lens(back, lens or NONE))
    return _kept(request, back, lens)


def _kept(request: Request, path: str, lens: str) -> Response:
    response = redirect(request, path)
    set_cookie(request, response, COOKIE, lens, YEAR)
    return response


def _has_lens(path: str) -> bool:
    return any(name == "lens" for name, _ in parse_qsl(urlsplit(path).query, keep_blank_values=True))


def _with_lens(path: str, lens: str) -> str:
    """``path`` with that lens, or without any; back to the first page of a list, whose order changes."""
    parts = urlsplit(path)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("lens", "page")]
    query = urlencode([*kept, *([("lens", lens)] if lens else [])])
    return f"{parts.path}?{query}" if query else parts.path
