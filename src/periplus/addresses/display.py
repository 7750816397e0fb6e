"""Addresses as people read them: host, then the steps of the path, parted by a small angle.

International names are decoded only where the letters cannot pass for others: each label keeps to one script (or to
the mixtures that Japanese, Korean and Chinese really use), and a label made only of letters that look Latin stays
encoded. Escapes of a path are decoded where they hold printable UTF-8.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote_to_bytes

import ada_url

from periplus.addresses.address import split, split_port

SEPARATOR = " \u203a "  # a single right-pointing angle
MAX_LENGTH = 90  # characters; the middle of a longer path is left out
_ELLIPSIS = "…"

_MIXTURES = (
    frozenset({"CJK", "HIRAGANA", "KATAKANA", "LATIN"}),
    frozenset({"CJK", "HANGUL", "LATIN"}),
    frozenset({"CJK", "BOPOMOFO", "LATIN"}),
)
# Cyrillic, Greek and Armenian letters that cannot be told from Latin ones in common fonts.
_LATIN_LOOKALIKES = frozenset("аеорсухіјѕһԁԛԝӏьвкмнтгпіυοναικρτχωյօսոհց")


def display(url: str) -> str:
    """A canonical address for people; not meant to be read back."""
    parts = split(url)
    place = f"{_readable_host(parts.hostname)}:{parts.port}" if parts.port else _readable_host(parts.hostname)
    steps = [_readable(segment) for segment in parts.path.split("/") if segment]
    if parts.query:
        steps.append("?" + _readable(parts.query))
    return _shortened(place, steps)


def _shortened(place: str, steps: list[str]) -> str:
    """Leaves out steps from the middle, then the end of the last one, until the text fits."""
    left_out = False
    while len(steps) > 1 and len(_trail(place, steps, left_out=left_out)) > MAX_LENGTH:
        del steps[(len(steps) - 1) // 2]
        left_out = True
    text = _trail(place, steps, left_out=left_out)
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + _ELLIPSIS


def _trail(place: str, steps: list[str], *, left_out: bool) -> str:
    middle = len(steps) // 2
    shown = [*steps[:middle], _ELLIPSIS, *steps[middle:]] if left_out else steps
    return SEPARATOR.join([place, *shown])


def _readable(component: str) -> str:
    if "%" not in component:
        return component
    try:
        text = unquote_to_bytes(component).decode("utf-8")
    except UnicodeDecodeError:
        return component
    return text if text.isprintable() and not _turns_direction(text) else component


def _turns_direction(text: str) -> bool:
    return any(
        unicodedata.bidirectional(letter) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "FSI") for letter in text
    )


def _readable_host(hostname: str) -> str:
    name, _ = split_port(hostname)
    if "xn--" not in name:
        return hostname
    labels = name.split(".")
    decoded = [ada_url.idna_to_unicode(label) if label.startswith("xn--") else label for label in labels]
    latin_top = decoded[-1].isascii()
    return ".".join(
        plain if _is_safe(plain, latin_top=latin_top) else label for plain, label in zip(decoded, labels, strict=True)
    )


def _is_safe(label: str, *, latin_top: bool) -> bool:
    if label.isascii():
        return True
    letters = [letter for letter in label if letter.isalpha()]
    if latin_top and letters and all(letter in _LATIN_LOOKALIKES for letter in letters):
        return False
    scripts = {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters}
    return len(scripts) == 1 or any(scripts <= mixture for mixture in _MIXTURES)
