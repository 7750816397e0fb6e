"""The language of the interface: chosen in a cookie, else what the browser asks for, else English.

Catalogues are JSON files of English text → translation, one a language; a text that is missing stays English.
Translations are plain text: they are escaped like everything else, and values put into them as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec
from jinja2.ext import Extension
from markupsafe import Markup, escape

from periplus.web.requests.public import YEAR, own_path, redirect, set_cookie

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

FOLDER = Path(__file__).parent.parent / "catalogues"
DEFAULT = "en"
COOKIE = "language"
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})

NAMES = {
    "ar": "العربية", "cs": "Čeština", "da": "Dansk", "de": "Deutsch", "el": "Ελληνικά", "en": "English",
    "es": "Español", "fa": "فارسی", "fi": "Suomi", "fr": "Français", "he": "עברית", "hi": "हिन्दी",
    "hu": "Magyar", "id": "Indonesia", "it": "Italiano", "ja": "日本語", "ko": "한국어", "nl": "Nederlands",
    "no": "Norsk", "pl": "Polski", "pt": "Português", "ro": "Română", "ru": "Русский", "sv": "Svenska",
    "th": "ไทย", "tr": "Türkçe", "uk": "Українська", "vi": "Tiếng Việt", "zh": "中文",
}  # fmt: skip

REMEMBERED = 4_096  # texts of a language kept escaped
_PLAIN = re.compile(r"""\{\{\s*_\(\s*(?:"([^"]+)"|'([^']+)')\s*\)\s*\}\}""")

Catalogues = dict[str, dict[str, str]]


def load(folder: Path = FOLDER) -> Catalogues:
    decoder = msgspec.json.Decoder(dict[str, str])
    return {DEFAULT: {}, **{path.stem: decoder.decode(path.read_bytes()) for path in sorted(folder.glob("*.json"))}}


def translator(catalogue: dict[str, str]) -> Callable[..., Markup]:
    """The templates' ``_()`` for one language: ``_("Page %(number)s", number=3)``."""

    @lru_cache(REMEMBERED)
    def escaped(text: str) -> Markup:
        return escape(catalogue.get(text, text))

    def translated(text: str, **values: Any) -> Markup:
        return escaped(text) % values if values else escaped(text)

    return translated


class Translation(Extension):
    """Puts translations in while a template is compiled, so that ``{{ _("Search") }}`` costs nothing when it is shown.

    What is not such a plain text (values, a text from data) is left to ``_()`` itself.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        catalogue: dict[str, str] = self.environment.catalogue  # type: ignore[attr-defined]

        def put(found: re.Match[str]) -> str:
            text = found[1] or found[2]
            shown = str(escape(catalogue.get(text, text)))
            return found[0] if "{" in shown else shown

        return _PLAIN.sub(put, source)


def language_name(code: str) -> str:
    """The language's own name for itself; the code when it is not in our list."""
    return NAMES.get(code, code)


def direction(language: str) -> str:
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


def language_of(request: Request, known: Catalogues) -> str:
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in known else next((code for code in _liked(request) if code in known), DEFAULT)


def reader_of(request: Request, known: Catalogues) -> str:
    """The language of who asks, one of ours or not; empty when the browser does not tell."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in known else next((code for code in _liked(request) if code.isalpha()), "")


def _liked(request: Request) -> tuple[str, ...]:
    return _codes(request.headers.get("accept-language", "")[:500])


@lru_cache(REMEMBERED)
def _codes(header: str) -> tuple[str, ...]:
    """The languages of an Accept-Language header, the best liked first; ``de-AT`` is ``de``."""
    liked = [(-_quality(part), place, _code(part)) for place, part in enumerate(header.split(","))]
    return tuple(code for weight, _, code in sorted(liked) if weight < 0)


def _code(part: str) -> str:
    return part.split(";", maxsplit=1)[0].strip().split("-")[0].lower()


def _quality(part: str) -> float:
    _, _, text = part.replace(" ", "").partition(";q=")
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0


async def choose(request: Request) -> Response:
    """POST /language with ``language`` and ``back``, the path to return to."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    language = form.get("language", [""])[-1]
    response = redirect(request, own_path(form.get("back", ["/"])[-1]))
    if language in request.app.state.catalogues:
        set_cookie(request, response, COOKIE, language, YEAR)
    return response
