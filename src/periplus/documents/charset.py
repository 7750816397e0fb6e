"""Bytes to text: which encoding a body is in, and how sure that is.

Order of trust, as browsers do it: byte-order mark, the HTTP header, the page's own declaration, then a look at the
bytes. Labels and decoders are those of the WHATWG Encoding standard (through turbohtml), so ``latin1`` means
windows-1252 as on the rest of the web. One departure: a body that is valid UTF-8 beyond ASCII is read as UTF-8
although a single-byte encoding was declared, because servers declare their default for files they know nothing about.

``sure`` is False when nothing was declared and the bytes were asked, or when the declared encoding does not fit the
bytes: the text may then be garbled, and the document says that its encoding was guessed. UTF-8 that is valid throughout
is no guess.

The detector does not know Mac Cyrillic and takes it for windows-1251, which has the same small letters but for one. The
two are told by what does not stand inside of words: capitals after small letters, and signs beside them.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final, NamedTuple

import turbohtml
from turbohtml.detect import detect

from periplus.documents.prescan import declared_in

_PRESCAN: Final = 1024  # bytes, by the HTML standard
_WIDE_PRESCAN: Final = 16 * 1024  # browsers parse again when a declaration comes late; we look further instead
_SAMPLE: Final = 64 * 1024  # bytes given to the detector
_GARBLED: Final = 0.002  # share of replacement characters from which a decoding is doubted
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_HEADER: Final = 500  # characters of a Content-Type that are looked at
_IN_HEADER: Final = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_SINGLE_BYTE: Final = ("windows-", "iso-8859-", "koi8-", "macintosh", "x-mac-", "ibm866")
_CYRILLIC: Final = ("windows-1251", "x-mac-cyrillic")
# A capital or a sign after a small letter, or a sign other than quotes, dashes and the like before one.
_ODD: Final = re.compile(r"""[а-яёјљњћ][А-ЯЁЂ-Џ€√ƒ≈∆¬¡¿]|[^\sА-Яа-яЁёіїєґўјљњћђќѓџѕA-Za-z0-9"'(«“„\[\-–—/>][а-яё]""")


class Decoded(NamedTuple):
    text: str
    charset: str
    sure: bool


def decode(body: bytes, content_type: str = "", *, markup: bool = True) -> Decoded:
    """``body`` as text; ``markup`` lets a declaration inside the body count."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(_decoded(body[len(mark) :], name), name, sure=True)
    declared = from_header(content_type) or (from_markup(body) if markup else "")
    utf8 = _strict_utf8(body, declared)
    if utf8 is not None:
        return Decoded(utf8, "utf-8", sure=True)
    if not declared and markup:
        declared = from_markup(body, _WIDE_PRESCAN)
    return _as_declared(body, declared) if declared else _as_detected(body)


def from_header(content_type: str) -> str:
    """The encoding that a Content-Type names, by its standard name; empty when there is none or it is unknown."""
    found = _IN_HEADER.search(content_type[:_HEADER])
    return standard_name(found.group(1)) if found else ""


def from_markup(body: bytes, window: int = _PRESCAN) -> str:
    """The encoding that the markup declares about itself in its first ``window`` bytes."""
    name = next(filter(None, map(standard_name, declared_in(body[:window]))), "")
    return "utf-8" if name.startswith("utf-16") else name  # ASCII bytes that say they are UTF-16 are not


@lru_cache(maxsize=256)
def standard_name(label: str) -> str:
    """The Encoding standard's name of ``label``, in lower case; empty when it names no encoding."""
    try:
        name = turbohtml.parse(b"", encoding=label.strip()).encoding if label else None
    except (LookupError, ValueError):
        return ""
    return "windows-1252" if name == "x-user-defined" else (name or "").lower()


def _strict_utf8(body: bytes, declared: str) -> str | None:
    """The body as UTF-8 where that is what it is; None where another encoding must be asked."""
    if declared not in ("", "utf-8") and not (declared.startswith(_SINGLE_BYTE) and not body.isascii()):
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _as_declared(body: bytes, declared: str) -> Decoded:
    text = _decoded(body, declared)
    broken = text.count("\ufffd")
    if broken <= len(text) * _GARBLED:
        return Decoded(text, declared, sure=True)
    guess = _as_detected(body)
    if guess.text.count("\ufffd") < broken // 2:
        return Decoded(guess.text, guess.charset, sure=False)
    return Decoded(text, declared, sure=False)


def _as_detected(body: bytes) -> Decoded:
    name = (detect(body[:_SAMPLE]).encoding or "windows-1252").lower().removesuffix("-sig")
    if name in _CYRILLIC:
        name = min(_CYRILLIC, key=lambda other: len(_ODD.findall(_decoded(body[:_SAMPLE], other))))
    return Decoded(_decoded(body, name), name, sure=False)


def _decoded(body: bytes, name: str) -> str:
    if name == "utf-8":
        return body.decode("utf-8", "replace")
    return codecs.decode(body, f"whatwg-{name}")
