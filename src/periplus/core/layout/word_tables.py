"""Words while a segment is built: texts in, numbers and forms out."""

from __future__ import annotations

from typing import NamedTuple

from periplus.core.layout.kinds import ReadI64, ReadU8, ReadU32, WriteI64, WriteU8, WriteU32, WriteU64

MAX_TERM_BYTES = 64
NO_STEM = 0
STEM = 1  # letters and apostrophes alone
FOREIGN = 2  # a word whose forms Python finds

# Of ``TokenStream.state``: words so far, offset in the text, whether a sign may not begin a word there, room wanted,
# whether the bits are there.
WORDS, OFFSET, IS_BOUND, WANTED, HAS_BITS = range(5)
STATE = 5


class SpellingTable(NamedTuple):
    """Byte strings with numbers (``build.spellings``)."""

    slots: WriteU64
    pool: WriteU8
    start: WriteI64
    owner: WriteU32
    used: WriteI64  # one number: how many there are


class Spans(NamedTuple):
    """Texts (NFKC in UTF-8) inside a buffer: behind each stands a byte that is no ASCII letter, digit or sign."""

    data: ReadU8
    begin: ReadI64
    end: ReadI64


class TokenStream(NamedTuple):
    """What a tokenizer writes."""

    plain: WriteU8  # a bit for each byte, and 64 more: ASCII letters, digits, underscores
    stops: WriteU8  # and for all that may begin a word
    numbers: WriteU32  # of words
    words: WriteU32  # how many each text has
    state: WriteI64


class WordsAdded(NamedTuple):
    """Words whose forms are not known yet, and what tells characters apart."""

    pool: ReadU8
    start: ReadI64
    classes: ReadU8
    letters: ReadU32


class FormsFound(NamedTuple):
    """Forms of some words as the kernel found them."""

    exact: WriteU32
    kind: WriteU8  # NO_STEM, STEM or FOREIGN
    parts: WriteU32
    part_start: WriteI64
