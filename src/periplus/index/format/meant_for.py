"""For readers of which language a page is meant, where that is another one than its text is in.

A manual in 26 languages has pages that nobody translated: their text is English, their address says Czech. The column
of languages has them as ``en/cs``: the language of the text, then of the readers. A page says whom it is meant for by
its own entry among its alternates (``hreflang``), by a part of its path (``/cs/``, ``/pt-BR/``, ``guide.de.html``), or
by the language that it declares. English is declared by many pages that only kept what their template says, so that
counts for nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_PARTS = 3  # of a path, which may name a language
_PATH = re.compile(r"[^:/?#]+://[^/?#]*([^?#]*)")  # behind the host; urlsplit takes ten times as long
_CODE = re.compile(r"([a-z]{2})(?:[-_][a-z]{2,4})?$", re.IGNORECASE)
_IN_FILE = re.compile(r"\.([a-z]{2})(?:[-_][a-z]{2,4})?\.(?:html?|xhtml|php|txt|pdf)$", re.IGNORECASE)
_CODES = """
af ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lt lv
mk ml mn mr ms nb ne nl nn no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh
"""
_LANGUAGES = frozenset(_CODES.split())
_SAME = {"nb": "no", "nn": "no"}


def language_name(language: str, url: str, declared: str, alternates: Mapping[str, str]) -> str:
    """What the column of languages has of a page whose text is in ``language``."""
    readers = _by_alternates(url, alternates) or by_address(url) or _declared(declared)
    return f"{language}/{readers}" if readers and readers != _SAME.get(language, language) else language


def text_language(name: str) -> str:
    """The language of the text; empty when it is not known."""
    return name.partition("/")[0]


def meant_for(name: str) -> str:
    """The language of the readers, where it is another one than that of the text; else empty."""
    return name.partition("/")[2]


def by_address(url: str) -> str:
    """The language that a path names; empty when it names none."""
    address = _PATH.match(url)
    path = address.group(1) if address else ""
    in_file = _IN_FILE.search(path)
    parts = [in_file.group(1)] if in_file else []
    parts += [match.group(1) for part in path.split("/")[1 : FIRST_PARTS + 1] if (match := _CODE.match(part))]
    return next((known for part in parts if (known := _known(part))), "")


def _by_alternates(url: str, alternates: Mapping[str, str]) -> str:
    return next((known for tag, other in alternates.items() if other == url and (known := _known(tag[:2]))), "")


def _declared(declared: str) -> str:
    code = _known(declared[:2])
    return code if code != "en" else ""


def _known(code: str) -> str:
    lowered = code.lower()
    return _SAME.get(lowered, lowered) if lowered in _LANGUAGES else ""
