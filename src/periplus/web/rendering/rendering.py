"""Templates: the Jinja environment with its filters, and ``page``, which every HTML answer goes through.

Everything is escaped unless a filter of ours made it; templates use no ``safe``. Strings that people read go through
``_()``, which finds the translation for the page's language (English is the text itself).
"""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import jinja2
import msgspec
from starlette.responses import HTMLResponse

from periplus.addresses import host, try_canonical
from periplus.reasons import sentence
from periplus.web.rendering.bars import bar_list
from periplus.web.rendering.highlights import mark_words, marked
from periplus.web.rendering.languages import Translation, direction, language_name, language_of, translator
from periplus.web.rendering.plots import curve
from periplus.web.rendering.precompiled import PrecompiledTemplates
from periplus.web.rendering.themes import THEMES, theme_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.web.rendering.assets import Assets
    from periplus.web.rendering.languages import Catalogues

FOLDER = Path(__file__).parent.parent / "templates"

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BYTE_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_TYPE_NAMES = {
    "application/pdf": "PDF",
    "text/plain": "text",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
}
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
LEVEL_ACTIONS = {"pin": "Pin to the top", "raise": "Raise this site", "lower": "Lower this site", "block": "Never show"}
LEVEL_NAMES = {"pin": "pinned", "raise": "raised", "lower": "lowered", "block": "blocked"}
ABSENT = ("", None, False)
_EPOCH = 1e9  # a number of seconds that large is a time, not a duration
_DURATIONS = ("seconds", "delay", "gap")
_SIZES = ("bytes", "disk", "size")
_CONTROLS = (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20))
_ILLEGAL_IN_XML = dict.fromkeys((*_CONTROLS, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF))


class Templates:
    """One environment a language, made when it is first asked for: texts are translated while templates compile."""

    def __init__(self, assets: Assets, catalogues: Catalogues, root: str = "") -> None:
        """``root`` is the path below which readers see our pages."""
        self._assets = assets
        self._root = root
        self._catalogues = catalogues
        self._precompiled: dict[str, PrecompiledTemplates] = {}

    def precompiled(self, language: str) -> PrecompiledTemplates:
        made = self._precompiled.get(language)
        if made is None:
            env = environment(self._assets, self._catalogues.get(language, {}))
            env.globals.update(
                language=language,
                root=self._root,
                direction=direction(language),
                languages={code: language_name(code) for code in self._catalogues},
            )
            made = self._precompiled[language] = PrecompiledTemplates(env)
        return made


def environment(assets: Assets, catalogue: dict[str, str]) -> jinja2.Environment:
    env = jinja2.Environment(
        extensions=[Translation],
        auto_reload=False,
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.extend(catalogue=catalogue)
    env.globals.update(_=translator(catalogue), asset=assets.address, themes=THEMES, sentence=sentence, curve=curve)
    said = translator(catalogue)
    env.globals.update(
        levels=tuple(LEVEL_ACTIONS),
        level_actions={level: said(text) for level, text in LEVEL_ACTIONS.items()},
        level_names={level: said(text) for level, text in LEVEL_NAMES.items()},
    )
    env.filters.update(
        marked=marked,
        mark_words=mark_words,
        href=href,
        day=day,
        moment=moment,
        bytes=human_bytes,
        count=count,
        type_name=type_name,
        fact=fact,
        label=label,
        query=query_string,
        segment=segment,
        bar_list=bar_list,
        host=host_of,
        xml=xml_text,
        span=span,
        rate=rate,
        pretty=pretty,
        without_scheme=without_scheme,
        language_name=language_name,
        digits=digits,
    )
    return env


def page(
    request: Request,
    template: str,
    context: dict[str, Any],
    status: int = 200,
    media_type: str = "text/html",
) -> Response:
    fields = {**framed(request), "bot": request.app.state.settings.bot, "theme": theme_of(request)}
    return HTMLResponse(precompiled_for(request).render(template, fields | context), status, media_type=media_type)


def precompiled_for(request: Request) -> PrecompiledTemplates:
    """The templates in the language that this request wants."""
    state = request.app.state
    made: PrecompiledTemplates = state.templates.precompiled(language_of(request, state.catalogues))
    return made


def framed(request: Request) -> dict[str, Any]:
    """What the frame of every page shows of this request."""
    query = request.scope["query_string"].decode("latin-1")
    path: str = request.scope["path"]
    return {
        "here": f"{path}?{query}" if query else path,
        "q": "",
        "lens_given": lens_given(request),
    }


def lens_given(request: Request) -> str:
    """The lens that the address names; empty when it names none."""
    given = request.query_params.get("lens", "") if b"lens" in request.scope["query_string"] else ""
    return given.strip()[:2_000]


def href(url: str) -> str:
    """``url`` if a link may lead there: only the web, never javascript: or data:."""
    return url if url.lower().startswith(("http://", "https://")) else ""


@jinja2.pass_context
def day(context: jinja2.runtime.Context, value: Any) -> str:
    """``2025-01-31T…`` or seconds since the epoch as ``31 Jan 2025``; what is no date is given back as it is.

    English months in other languages would be odd, so those get the form that all can read: 2025-01-31.
    """
    return day_in(context.get("language") or "", value)


def day_in(language: str, value: Any) -> str:
    when = _time(value)
    if when is None:
        return str(value or "")
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}" if language == "en" else f"{when:%Y-%m-%d}"


@jinja2.pass_context
def moment(context: jinja2.runtime.Context, value: Any) -> str:
    when = _time(value)
    return f"{day(context, value)} {when:%H:%M} UTC" if when else str(value or "")


@lru_cache(4_096)
def _read_time(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def _time(value: Any) -> datetime.datetime | None:
    try:
        if isinstance(value, str):
            return _read_time(value)
        return datetime.datetime.fromtimestamp(value, datetime.UTC) if value else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def human_bytes(size: float) -> str:
    unit = 0
    while size >= 1000 and unit < len(_BYTE_UNITS) - 1:
        size /= 1000
        unit += 1
    return f"{size:.0f} {_BYTE_UNITS[unit]}" if unit == 0 or size >= 10 else f"{size:.1f} {_BYTE_UNITS[unit]}"


def count(number: float) -> str:
    """A whole number in groups of three, parted by narrow spaces."""
    return f"{number:,.0f}".replace(",", "\u202f")


@jinja2.pass_context
def fact(context: jinja2.runtime.Context, thing: Any, name: str) -> str:
    """A time, a size or a duration in a form for people; empty when ``thing`` is none of these."""
    is_number = isinstance(thing, int | float) and not isinstance(thing, bool)
    if isinstance(thing, str) and _ISO_TIME.match(thing):
        return moment(context, thing)
    if is_number and _EPOCH <= thing < 2 * _EPOCH and isinstance(thing, float):
        return moment(context, thing)
    if is_number and name.endswith(_SIZES):
        return human_bytes(thing)
    return f"{thing:.4g} s" if is_number and name.endswith(_DURATIONS) else ""


def span(seconds: float | None) -> str:
    """A duration for people: ``12 s``, ``5 min``, ``3 h``, ``2 days``."""
    if seconds is None:
        return ""
    for limit, unit, name in ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}" if seconds / unit < 10 else f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"


def pretty(value: Any) -> str:
    """A JSON value for people to read, without what is empty."""
    return msgspec.json.format(msgspec.json.encode(_told(value)), indent=2).decode()


def _told(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _told(item) for name, item in value.items() if item not in ("", 0, None, [], {}, ())}
    return [_told(item) for item in value] if isinstance(value, list | tuple) else value


def rate(number: float) -> str:
    """A rate with as many digits as tell something."""
    return f"{number:.0f}" if number >= 100 or not number else f"{number:.3g}"


def type_name(media_type: str) -> str:
    """The badge of a result; nothing for ordinary pages."""
    plain = media_type.split(";", maxsplit=1)[0].strip().lower()
    if plain in ("", "text/html", "application/xhtml+xml"):
        return ""
    return _TYPE_NAMES.get(plain, plain.rsplit("/", 1)[-1])


def label(name: str) -> str:
    """``links_in`` as ``Links in``."""
    return name.replace("_", " ").capitalize()


@lru_cache(4_096, typed=True)
def quoted(value: str | int) -> str:
    """As it stands in a query string; the links of a page repeat the same few values."""
    return quote_plus(str(value))


def query_string(values: dict[str, Any]) -> str:
    """``{"q": "a b", "page": 2}`` as ``q=a+b&page=2``; empty values are left out."""
    return "&".join(f"{name}={quoted(value)}" for name, value in values.items() if value not in ABSENT)


@lru_cache(4_096)
def segment(text: str) -> str:
    """``text`` as one segment of a path."""
    return quote(text, safe=":")


def digits(text: str) -> str:
    """What of a telephone number is dialled."""
    return "".join(letter for letter in text if letter in "+0123456789")[:30]


@lru_cache(4_096)
def host_of(url: str) -> str:
    """The host of ``url`` as the crawler names it; empty when there is none."""
    known = try_canonical(url)
    return host(known) if known else ""


def without_scheme(url: str) -> str:
    """Addresses in lists all begin alike; what tells them apart comes after."""
    return url.removeprefix("http://").removeprefix("https://")


def xml_text(text: str) -> str:
    """``text`` without the characters that XML cannot hold at all, however they are escaped."""
    return text.translate(_ILLEGAL_IN_XML)
