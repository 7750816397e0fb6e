"""Tokens: words with their place in the text and the terms they stand for; documents and queries alike."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from periplus.text.characters import normalized
from periplus.text.forms import PART_SHARE, FormLines, TermForm, exact_term, forms_of, lines_of_forms
from periplus.text.stemming import base_language
from periplus.text.words import ascii_pattern, letter_pattern, unspaced_pattern, words

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE_SIZE = 200_000  # words a language and thread

_local = threading.local()


class Token(Struct, frozen=True):
    """A word of a text: where it stands (code points), its position, and the terms it is indexed under."""

    text: str
    start: int
    end: int
    position: int
    forms: tuple[TermForm, ...]


def analyze(text: str, language: str = "") -> list[Token]:
    """The tokens of ``text``; ``language`` (ISO 639-1) decides how they are stemmed."""
    if text.isascii():
        return _ascii_tokens(text, base_language(language))
    plain, places = normalized(text)
    tokens = [
        Token(forms[0].term, start, end, position, forms)
        for position, (start, end, forms) in enumerate(_placed_forms(plain, base_language(language)))
    ]
    return tokens if places is None else [_moved(token, places) for token in tokens]


def _ascii_tokens(text: str, language: str) -> list[Token]:
    """Tokens of a text of ASCII, which most queries are, with nothing between the pattern and the tokens."""
    known = _cache(language)
    tokens: list[Token] = []
    words = text.split(" ")
    if "".join(words).isalnum():  # nothing but words and spaces
        start = 0
        for word in words:
            if word:
                forms = known.get(word) or _learnt(known, word, language)
                tokens.append(Token(forms[0].term, start, start + len(word), len(tokens), forms))
            start += len(word) + 1
        return tokens
    for match in ascii_pattern().finditer(text):
        word = match[0]
        forms = known.get(word) or _learnt(known, word, language)
        tokens.append(Token(forms[0].term, match.start(), match.end(), len(tokens), forms))
    return tokens


@lru_cache(maxsize=CACHE_SIZE)
def forms_of_bytes(word: bytes, language: str) -> list[bytes]:
    """The terms of one word of a text, as the kernel cuts it out: a spaced word, or one or two unspaced letters."""
    text = word.decode("utf-8", "surrogatepass")
    forms = next(_pairs(text, 0))[2] if unspaced_pattern().match(text) else forms_of(text, language)
    return [form.term.encode("utf-8", "surrogatepass") for form in forms]


def forms_of_words(words: list[str], language: str) -> FormLines | list[list[bytes]]:
    """The terms of many words at once, as lines where that can be done, which takes a fifth of the time."""
    joined = "\n".join(words)
    if unspaced_pattern().search(joined) is None:
        lines = lines_of_forms(words, language)
        if lines is not None:
            return lines
    return [forms_of_bytes(word.encode("utf-8", "surrogatepass"), language) for word in words]


def analysis_steps(text: str, language: str = "") -> list[dict[str, Any]]:
    """Every step of the analysis, for people who wonder why a word is found or not."""
    tokens = analyze(text, language)
    return [
        {"step": "text", "text": text, "language": base_language(language)},
        {"step": "normalize", "text": normalized(text)[0]},
        {
            "step": "words",
            "words": [
                {"word": text[token.start : token.end], "start": token.start, "end": token.end} for token in tokens
            ],
        },
        {
            "step": "terms",
            "terms": [
                {
                    "position": token.position,
                    "exact": token.text,
                    "forms": [{"term": form.term, "share": form.share} for form in token.forms],
                }
                for token in tokens
            ],
        },
    ]


def _placed_forms(plain: str, language: str) -> Iterator[tuple[int, int, tuple[TermForm, ...]]]:
    known = _cache(language)
    for word in words(plain):
        if word.unspaced:
            yield from _pairs(word.text, word.start)
            continue
        yield word.start, word.end, known.get(word.text) or _learnt(known, word.text, language)


def _learnt(known: dict[str, tuple[TermForm, ...]], word: str, language: str) -> tuple[TermForm, ...]:
    if len(known) >= CACHE_SIZE:
        known.clear()
    forms = known[word] = forms_of(word, language)
    return forms


def _pairs(run: str, offset: int) -> Iterator[tuple[int, int, tuple[TermForm, ...]]]:
    """Overlapping pairs of letters, each with its first letter alone beside it; the last letter stands alone."""
    letters = list(letter_pattern().finditer(run)) or []
    for place, letter in enumerate(letters):
        single = exact_term(letter.group())
        if place + 1 == len(letters):
            yield offset + letter.start(), offset + letter.end(), (TermForm(single),)
            return
        pair = exact_term(letter.group() + letters[place + 1].group())
        yield (
            offset + letter.start(),
            offset + letters[place + 1].end(),
            (TermForm(pair), TermForm(single, PART_SHARE)),
        )


def _moved(token: Token, places: list[int]) -> Token:
    """The token with offsets in the text as it was given."""
    following = token.end  # one character may have become several: the next one from another place ends it
    while places[following] == places[token.end - 1]:
        following += 1
    return Token(token.text, places[token.start], places[following], token.position, token.forms)


def _cache(language: str) -> dict[str, tuple[TermForm, ...]]:
    caches: dict[str, dict[str, tuple[TermForm, ...]]] = _local.__dict__.setdefault("forms", {})
    return caches.setdefault(language, {})
