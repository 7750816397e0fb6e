"""Where words of a query stand, the slow and obvious way: what ``search/shards/highlighter.py`` finds by its kernel."""

from __future__ import annotations

from periplus.search.query.plan import stops
from periplus.search.shards.highlighter import BARE_CODES, MAX_PLACES, Match, lowered
from periplus.text import analyze

STRETCH = 64
TRAILING = ".,'&@-»’”…"
INSIDE = ".,'&@+#"  # ASCII signs that may be part of a word


def is_wordly(c):
    if c < "\x80":
        return c.isalnum() or c == "_"
    if c < "\xc0":
        return c in "ªµº"
    signs = ("\u2000", "\u2bff"), ("\u3000", "\u3020"), ("\uff00", "\uff0f")
    return c not in "×÷" and not any(low <= c <= high for low, high in signs)


def parts(c, mail):
    if c >= "\x80" or is_wordly(c):
        return c.isspace()
    return not mail if c == "-" else c not in INSIDE


def stretch_end(text, start, size):
    stop, mail = start + size, False
    while stop < len(text) and stop - start < STRETCH and not parts(text[stop], mail):
        mail = mail or text[stop] == "@"
        stop += 1
    while stop > start + size and text[stop - 1] in TRAILING:
        stop -= 1
    return stop


def plain(c):
    """A letter without accent and of usual width."""
    if "\uff10" <= c <= "\uff5a":
        c = chr(ord(c) - 0xFEE0)
    return lowered(c) if ord(c) < BARE_CODES else c


def size_of(letters, bare, start):
    """How much of the text the letters take there, with the accents that stand behind them; 0 where they do not."""
    at = start
    for place, letter in enumerate(letters):
        while place and "\u0300" <= bare[at : at + 1] <= "\u036f" and bare[at] != letter:
            at += 1
        if bare[at : at + 1] != letter:
            return 0
        at += 1
    return at - start


def oracle(text, words, language):
    """The matches of ``words`` (each ``SoughtWord``) in one text."""
    terms = {}
    for place, word in enumerate(words):
        for term in word.terms:
            terms.setdefault(term, place)
    beginnings = list(dict.fromkeys(one for word in words for one in word.beginnings))
    counts = dict.fromkeys(beginnings, 0)
    bare = "".join(map(plain, text))
    found = {}
    for i in range(len(text)):
        inside = i > 0 and is_wordly(text[i - 1])
        for letters, opens in reversed(beginnings):
            one = letters, opens
            if (inside and opens) or counts[one] >= MAX_PLACES or not (size := size_of(letters, bare, i)):
                continue
            counts[one] += 1
            stretch = text[i : stretch_end(text, i, size)]
            for token in analyze(stretch, language):
                word = next((terms[form.term] for form in token.forms if form.term in terms), None)
                if word is not None:
                    stop = stops(stretch[token.start : token.end].lower(), language)
                    found.setdefault(i + token.start, Match(i + token.start, i + token.end, word, stop))
            break
    return [found[start] for start in sorted(found)]
