"""Forms: the terms under which one word is indexed and looked up.

The first form is the exact one (lower case, share 1). Others have a smaller share of the word's weight: the folded
form (``cafe`` for ``café``), the stem (marked, so that it is never taken for a word), and the parts of a composed name
(``node`` and ``js`` of ``node.js``). A word with signs around it (``main()``, ``&str``) also has all forms of the word
without them. All forms of a word stand at the same position.
"""

from __future__ import annotations

import re
from itertools import compress
from typing import NamedTuple

from msgspec import Struct

from periplus.text.characters import fold
from periplus.text.stemming import stem, stems

MAX_TERM_BYTES = 64
STEM_MARK = "~"  # no word contains it
EXACT_SHARE = 1.0
FOLDED_SHARE = 0.9
STEM_SHARE = 0.7
PART_SHARE = 0.3
SIGNLESS_SHARE = 0.45  # of the share of a form that it has without its signs: below what counts as a match of the word
CALL_SHARE = 0.9  # the same of main(): who writes of a function leaves the brackets out as often
MAX_PARTS = 8

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SIGNS = re.compile(r"[^\w]+|_+")
_INITIALS = re.compile(r"(?:\w\.)+\w")
_SHORT_NAME = re.compile(r"([A-Za-z]{1,2}\+\+)(\d*)")
_SIGNS_BEHIND = "()[]*&+-/%^|~!=<>"


class TermForm(Struct, frozen=True):
    """One indexed form of a word, with its share of the group's weight (1.0 for the exact form)."""

    term: str
    share: float = 1.0


def exact_term(word: str) -> str:
    """The term of a word as it is written: case folded, grouped digits joined, at most 64 bytes."""
    term = word.casefold()
    if term.isascii() and len(term) <= MAX_TERM_BYTES:
        return term.replace(",", "")
    return clipped(term.replace(",", "").replace("\u2019", "'"))


def clipped(term: str) -> str:
    """At most 64 bytes of UTF-8, cut between characters."""
    data = term.encode("utf-8", "ignore")
    return term if len(data) <= MAX_TERM_BYTES else data[:MAX_TERM_BYTES].decode("utf-8", "ignore")


def stem_term(term: str, language: str) -> str:
    """The marked stem of an exact term; empty for what has no stem (numbers, names with signs)."""
    if not term.replace("'", "").isalpha():
        return ""
    return clipped(STEM_MARK + fold(stem(term, language)))


def stem_lines(terms: list[str], language: str) -> bytes:
    """The marked stems of many exact terms that have one, one a line."""
    found = stems(terms, language)
    foreign = [row for row, stem in enumerate(found) if not stem.isascii()]
    if foreign:  # folded all at once, parted by line ends, which nothing is composed with
        found = list(found)
        for row, folded in zip(foreign, fold("\n".join([found[row] for row in foreign])).split("\n"), strict=True):
            found[row] = folded
    lines = [line.encode() for line in found] if foreign else found
    marked = f"\n{STEM_MARK}".join(["", *found])[1:].encode("utf-8", "surrogatepass")
    if max(map(len, lines), default=0) < MAX_TERM_BYTES:
        return marked
    return "\n".join([clipped(STEM_MARK + stem) for stem in found]).encode()


def parts(word: str) -> list[str]:
    """The parts of a composed name: ``readFile`` → read, file; ``node.js`` → node, js; none of ``3.11``, ``u.s.a``."""
    if _is_simple(word):
        return []
    if _INITIALS.fullmatch(word):
        return []
    found: list[str] = []
    for piece in _SIGNS.split(word):
        if piece != word or piece.islower():
            found.append(piece)
        if not piece.islower():
            found += _CAMEL.split(piece)
    exact = str.lower if word.isascii() and len(word) <= MAX_TERM_BYTES else exact_term
    terms = [exact(piece) for piece in found if len(piece) > 1 and not piece.isdigit()]
    return list(dict.fromkeys(terms))[:MAX_PARTS]


def signless(word: str) -> str:
    """The word inside the signs of another: ``main`` of ``main()``, ``C++`` of ``C++17``; empty for all others."""
    if short := _SHORT_NAME.fullmatch(word):
        return short[1] if short[2] else ""
    inner = word[1:-1] if word[0] == "<" else word.removeprefix("&").rstrip(_SIGNS_BEHIND)
    return inner if inner != word else ""


def forms_of(word: str, language: str) -> tuple[TermForm, ...]:
    """All forms of a word, the exact one first, none twice."""
    if word.isascii() and len(word) <= MAX_TERM_BYTES and word.isalnum() and word.islower():
        return _plain_forms(word, language)
    exact = exact_term(word)
    shares = {exact: EXACT_SHARE}
    if folded := clipped(fold(exact)):
        shares.setdefault(folded, FOLDED_SHARE)
    if inner := signless(word):
        less = CALL_SHARE if word.endswith("()") and not inner.startswith("operator") else SIGNLESS_SHARE
        for form in forms_of(inner, language):
            shares.setdefault(form.term, form.share * less)
        return tuple(TermForm(term, share) for term, share in shares.items())
    stemmed = stem_term(exact, language)
    if stemmed:
        shares.setdefault(stemmed, STEM_SHARE)
    for part in parts(word):
        shares.setdefault(part, PART_SHARE)
    return tuple(TermForm(term, share) for term, share in shares.items())


def _plain_forms(word: str, language: str) -> tuple[TermForm, ...]:
    """Forms of a word of small ASCII letters and digits alone, which most words of queries are: it has no parts."""
    if not word.isalpha():
        return (TermForm(word),)
    stemmed = stem(word, language)
    plain = stemmed.isascii() and len(stemmed) < MAX_TERM_BYTES
    term = STEM_MARK + stemmed if plain else clipped(STEM_MARK + fold(stemmed))
    return TermForm(word), TermForm(term, STEM_SHARE)


class FormLines(NamedTuple):
    """The terms of many words, one a line. Some of a word's terms may be the same."""

    exact: bytes
    folded: bytes
    stems: bytes
    has_stem: list[bool]  # of every word
    others: dict[int, list[bytes]]  # more terms of some words: their parts, or what they are without their signs


def lines_of_forms(words: list[str], language: str) -> FormLines | None:
    """What ``forms_of`` gives for many words; ``None`` when some has to be looked at by itself (too long a term).

    What is done to characters is done to all words at once, parted by line ends, which nothing is composed with.
    """
    joined = "\n".join(words).casefold().replace(",", "").replace("\u2019", "'")
    exact = joined.split("\n")
    has_stem = [term.isalpha() or term.replace("'", "").isalpha() for term in exact]
    stemmed = stems(list(compress(exact, has_stem)), language)
    folded = fold(joined)
    if "\n\n" in f"\n{folded}\n":  # words of nothing but marks
        folded = "\n".join([plain or term for plain, term in zip(folded.split("\n"), exact, strict=True)])
    lines = [_encoded(text) for text in (joined, folded, fold(f"\n{STEM_MARK}".join(["", *stemmed])))]
    if max(max(map(len, some.split(b"\n"))) for some in lines) > MAX_TERM_BYTES:
        return None
    composed = [(row, word) for row, word in enumerate(words) if not _is_simple(word)]
    others = {row: list(map(_encoded, _others(word, language))) for row, word in composed}
    return FormLines(lines[0], lines[1], lines[2][1:], has_stem, others)


def _others(word: str, language: str) -> list[str]:
    """The terms of a word beside its exact form, its folded one and its stem."""
    inner = signless(word)
    return [form.term for form in forms_of(inner, language)] if inner else parts(word)


def _is_simple(word: str) -> bool:
    """Whether it is plain to see that a word has no parts."""
    return word.isalpha() and (word.islower() or word.istitle() or word.isupper())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
