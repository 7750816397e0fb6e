"""Where words of a query may stand in texts: all pages of a list in one call, every spelling told apart only once.

Texts come in UTF-8 and are written as code points with a line's end behind each, and as bytes (``lanes.py``). A query
is the number of beginnings and of words; of each word how many terms it has and their hashes; of each beginning how
many letters it has, 1 if it stands only at the start of a word, and its letters in lower case and without accents.
``search/hits.py`` says what these loops do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import LANES, first_lanes, lowest_of, ones_of
from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.memory import load64, plain_bits
from periplus.index.kernels.tables import at_i64, at_u8, at_u32
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels.characters import MAX_POINT, is_space, is_stop, is_wordly, put_point
from periplus.search.kernels.frames import IMPOSSIBLE, SEGMENT, unpacked
from periplus.search.kernels.lanes import CASE, EIGHT, FOREIGN, FOREIGN_BITS, FOREIGN_STOP, folded, foreign, spread
from periplus.search.kernels.layout import (
    ENDS,
    FIELDS,
    FOUND,
    FREE,
    FRONT,
    HEAD,
    NAMES,
    NAMES_SIZE,
    PLACES,
    POINTS,
    QUERY_SIZE,
    RAW,
    RAW_SIZE,
    ROW,
    SIGNS,
    SPAN,
    SPANS,
    STARTS,
    TEXTS,
    TOLD,
    UNKNOWN_AT,
    part,
    signs_of,
)
from periplus.search.kernels.queried import terms_room, words_of_terms
from periplus.search.kernels.records import RECORD, cut
from periplus.search.kernels.spellings import UNKNOWN, is_simple, known, noted, spelling_hash
from periplus.search.kernels.stemming import (
    JUDGEMENTS,
    SCRATCH,
    UNJUDGED,
    clear_judgements,
    judged_at,
    language_of,
    one_of_several_at,
)

MAX_STRETCH = 64  # code points analysed behind the beginning of a word
PLACE = 3  # numbers of a place: text, where it is in all of them, and what stands there
# What stands there: where the table of spellings tells it, or a judgement (from -1 on downwards), or, from ``CERTAIN``
# on, a word of the query, how many code points it has there, and whether it is a stop word.
CERTAIN, SIZE_BITS, MAX_SIZE = 1 << 40, 8, 127
BEGINNING = 2  # numbers of a beginning before its letters
ASCII_END, MAX_BYTE = 127, 255
# How a beginning begins: three letters with the bit of case, whether it may stand anywhere, whether it has no second or
# third letter (all bits, or none); eight letters, which of their bits of case say nothing, and their bits.
HEADS, ANYWHERE, SECOND, THIRD, WORD, CASES, WANTED = 7, 1, 2, 3, 4, 5, 6
THREE = 3
NEWLINE = 10
FRAMES, PACKED, ALONE = 0, 1, 2  # what is given: numbers of stored documents, these as they are packed, texts
SHARE_OF_RAW = 8  # of the memory, this part at most for unpacked documents: their code points take four times as much


@bare_helper
def find_beginnings(query: Any, starts: Any) -> Any:
    """Where the beginnings of a query stand in it, behind the terms of its words."""
    at = 2
    for _ in range(query[1]):
        at += 1 + query[at]
    for p in range(len(starts)):
        starts[p] = at
        at += BEGINNING + query[at]


@bare_helper
def first_of(ends: Any, document: Any) -> Any:
    """Where a text begins."""
    return ends[document - 1] + 1 if document > 0 else 0


@bare_helper
def _trails(c: Any) -> Any:
    """A sign behind a word that is no part of it: . , ' & @ - and closing quotes and dots beyond ASCII."""
    if c >= 128:
        return c == 0xBB or c == 0x2019 or c == 0x201D or c == 0x2026
    return c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 45


@bare_helper
def _parts(c: Any, mail: Any) -> Any:
    """What always parts words; a hyphen does so unless it may belong to a mail address."""
    if c >= 128 or is_wordly(c):
        return is_space(c)
    if c == 45:
        return not mail
    return not (c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 43 or c == 35)


@bare_helper
def _decoded(
    packed: Any,
    packed_at: Any,
    at: Any,
    stop: Any,
    limit: Any,
    text: Any,
    text_at: Any,
    size: Any,
    signs: Any,
    signs_at: Any,
) -> Any:
    """Write one text as code points and signs, from ``size`` on and at most so many; where it ends. It is UTF-8."""
    limit += size
    while at < stop and size < limit:
        spread(packed_at + at, signs_at + size, text_at + 4 * size)
        plain = min(lowest_of(foreign(packed_at + at)), stop - at, limit - size)
        at += plain
        size += plain
        while at < stop and size < limit and packed[at] >= 0x80:
            first = np.int64(packed[at])
            if first < 0xE0:
                c = ((first & 0x1F) << 6) | (packed[at + 1] & 0x3F)
                at += 2
            elif first < 0xF0:
                c = ((first & 0x0F) << 12) | ((packed[at + 1] & 0x3F) << 6) | (packed[at + 2] & 0x3F)
                at += 3
            else:
                middle = ((packed[at + 1] & 0x3F) << 12) | ((packed[at + 2] & 0x3F) << 6)
                c = ((first & 0x07) << 18) | middle | (packed[at + 3] & 0x3F)
                at += 4
            text[size] = c
            signs[size] = FOREIGN_STOP if is_stop(c) else FOREIGN
            size += 1
    text[size], signs[size] = NEWLINE, NEWLINE
    return size


@bare_helper
def _set_heads(query: Any, starts: Any, heads: Any) -> Any:
    """Lay out how each beginning begins: for comparing it with 64 places at once, and with one (``_begins``)."""
    for p in range(len(starts)):
        size, begin, row = query[starts[p]], starts[p] + BEGINNING, HEADS * p
        letters, word, case, wanted = np.int64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        is_plain = True
        for k in range(min(size, EIGHT)):
            c, shift = query[begin + k], np.uint64(8 * k)
            if k < THREE:
                letters |= ((c | CASE) if c <= ASCII_END else MAX_BYTE) << (8 * k)
            is_plain = is_plain and c <= ASCII_END
            if is_plain:
                word |= np.uint64(c) << shift
                wanted |= np.uint64(MAX_BYTE) << shift
                case |= np.uint64(CASE if 97 <= c <= 122 else 0) << shift
        heads[row], heads[row + ANYWHERE] = letters, -1 if query[starts[p] + 1] == 0 else 0
        heads[row + SECOND], heads[row + THIRD] = -1 if size < 2 else 0, -1 if size < THREE else 0
        heads[row + WORD], heads[row + CASES], heads[row + WANTED] = np.int64(word), np.int64(case), np.int64(wanted)


@bare_helper
def _candidates(signs: Any, at: Any, signs_at: Any, heads: Any) -> Any:
    """Of 64 places those whose three letters a beginning may begin with, as far as they are of ASCII; but none behind
    a letter where a beginning stands only at the start of a word."""
    here = signs_at + at
    others, second, third = foreign(here), foreign(here + 1), foreign(here + 2)
    opening, every = ~plain_bits(signs, at - 1), np.uint64(0)
    for head in range(0, len(heads), HEADS):
        letters = heads[head]
        found = folded(here, np.uint8(letters)) | others
        found &= folded(here + 1, np.uint8(letters >> 8)) | second | np.uint64(heads[head + SECOND])
        found &= folded(here + 2, np.uint8(letters >> 16)) | third | np.uint64(heads[head + THIRD])
        every |= found & (opening | np.uint64(heads[head + ANYWHERE]))
    return every


@bare_helper
def _begins(text: Any, signs: Any, i: Any, end: Any, bare: Any, query: Any, at: Any, heads: Any, head: Any) -> Any:
    """Whether the letters of a beginning stand at a place of the text, in any case and with any accents."""
    size, first = query[at], 0
    if i + size > end:
        return False
    here, wanted = load64(signs, i), np.uint64(heads[head + WANTED])
    if not here & wanted & FOREIGN_BITS:
        if (here | np.uint64(heads[head + CASES])) & wanted != np.uint64(heads[head + WORD]):
            return False
        first = ones_of(wanted) >> 3
    for k in range(first, size):
        other = text[i + k]
        if other < len(bare):
            other = bare[other]
        if other != query[at + BEGINNING + k]:
            return False
    return True


@bare_helper
def _beginning(
    text: Any,
    signs: Any,
    i: Any,
    end: Any,
    inside: Any,
    bare: Any,
    query: Any,
    starts: Any,
    heads: Any,
    counts: Any,
    most: Any,
) -> Any:
    """The last of the beginnings that stand at a place, which is in the middle of a word or not; -1: there is none.

    One is enough: another one at the same place has the same stretch behind it.
    """
    for p in range(len(starts) - 1, -1, -1):
        if (inside and query[starts[p] + 1]) or counts[p] >= most:
            continue
        if _begins(text, signs, i, end, bare, query, starts[p], heads, HEADS * p):
            return p
    return -1


@bare_helper
def _stretch_end(text: Any, signs: Any, start: Any, size: Any, end: Any) -> Any:
    """Where that ends which is to be analysed behind a beginning."""
    stop = start + size
    if size < MAX_STRETCH:  # letters at once; a text ends with a sign that is none
        stop = min(stop + lowest_of(~plain_bits(signs, stop)), start + MAX_STRETCH)
    mail = False
    while stop < end and stop - start < MAX_STRETCH and not _parts(text[stop], mail):
        mail = mail or text[stop] == 64
        stop += 1
    while stop > start + size and _trails(text[stop - 1]):  # the fewer spellings, the fewer to analyse
        stop -= 1
    return stop


@bare_helper
def _look_in(
    text: Any,
    start: Any,
    end: Any,
    document: Any,
    spans: Any,
    query: Any,
    bare: Any,
    most: Any,
    used: Any,
    entries: Any,
    slots: Any,
    starts: Any,
    heads: Any,
    counts: Any,
    signs: Any,
    signs_at: Any,
    judge: Any,
    scratch: Any,
    scratch_at: Any,
    terms: Any,
    judgements: Any,
    table: Any,
    places: Any,
    found: Any,
    unknown: Any,
    told: Any,
) -> Any:
    """Add the places of one text to those found, and its unknown spellings to those told; how many these are then."""
    language = language_of(judge, spans, document)
    for block in range(start, end, LANES):
        left = _candidates(signs, block, signs_at, heads) & first_lanes(end - block)
        while left:
            i = block + lowest_of(left)
            left &= left - np.uint64(1)
            inside = i > start and is_wordly(text[i - 1])
            p = _beginning(text, signs, i, end, inside, bare, query, starts, heads, counts, most)
            if p < 0:
                continue
            counts[p] += 1
            stop = _stretch_end(text, signs, i, query[starts[p]], end)
            if language > 0:
                begin, behind = i, stop
                word, is_stop = judged_at(text, signs, i, stop, language, scratch, scratch_at, judge, terms, judgements)
                if word == UNJUDGED:
                    word, is_stop, begin, behind = one_of_several_at(
                        text, i, stop, language, scratch, scratch_at, judge, terms
                    )
                if word >= 0:
                    places[PLACE * found], places[PLACE * found + 1] = document, begin
                    places[PLACE * found + 2] = CERTAIN + (word << SIZE_BITS) + ((behind - begin) << 1) + is_stop
                    found += 1
                if word != UNJUDGED:
                    continue
            simple = np.int64(is_simple(text, i, stop))
            key = spelling_hash(text, i, stop, simple, spans, document)
            entry, _ = known(text, i, stop, simple, spans, document, key, used, entries, slots)
            if entry == 0:
                if told == 0:
                    for slot in range(len(table)):
                        table[slot] = -1
                row = UNKNOWN * told
                unknown[row], unknown[row + 1], unknown[row + 2] = document, i, stop
                unknown[row + 3], unknown[row + 4] = simple, np.int64(key)
                which, told = noted(text, spans, row, told, table, unknown)
                entry = -1 - which
            places[PLACE * found], places[PLACE * found + 1], places[PLACE * found + 2] = document, i, entry
            found += 1
    return found, told


@bare_helper
def _laid_out(memory: Any, stage: Any, texts: Any, query_size: Any, raw_size: Any, most: Any) -> Any:
    """Say where each part is; where the memory to work in begins, and where that ends which is needed."""
    memory[TEXTS], memory[QUERY_SIZE], memory[RAW_SIZE] = texts, query_size, raw_size
    rows = HEAD + query_size
    memory[RAW] = rows + ROW * texts
    memory[FIELDS] = memory[RAW] + (raw_size >> 3) + 2
    memory[STARTS] = memory[FIELDS] + RECORD * texts
    memory[ENDS] = memory[STARTS] + texts + 1
    behind = memory[ENDS] + texts
    memory[SPANS] = rows if stage == ALONE else behind
    memory[POINTS] = behind + SPAN * texts
    memory[SIGNS] = memory[POINTS] + ((raw_size + texts) >> 1) + LANES
    memory[PLACES] = memory[SIGNS] + ((raw_size + texts + FRONT) >> 3) + 3 * EIGHT
    memory[UNKNOWN_AT] = memory[PLACES] + PLACE * most
    memory[NAMES] = memory[UNKNOWN_AT] + UNKNOWN * most
    return memory[NAMES]


@bare_helper
def _table_room(most: Any) -> Any:
    room = 256
    while room < 2 * most:
        room *= 2
    return room


@bare_helper
def _all_decoded(
    packed: Any, packed_at: Any, spans: Any, limit: Any, text: Any, text_at: Any, signs: Any, signs_at: Any, ends: Any
) -> Any:
    """Write all texts as code points and signs."""
    size = np.int64(0)
    for document in range(len(ends)):
        start, stop = spans[SPAN * document], spans[SPAN * document + 1]
        size = _decoded(packed, packed_at, start, stop, limit, text, text_at, size, signs, signs_at)
        ends[document] = size
        size += 1


@bare_helper
def _named(memory: Any, text: Any, unknown: Any, out: Any) -> Any:
    """Write the unknown spellings in UTF-8, a line each; -1 when there is no room for them."""
    at, room = np.int64(0), len(out) - MAX_POINT - 1
    for row in range(0, len(unknown), UNKNOWN):
        for i in range(unknown[row + 1], unknown[row + 2]):
            if at > room:
                return np.int64(-1)
            at = put_point(out, at, np.int64(text[i]))
        out[at] = NEWLINE
        at += 1
    memory[NAMES_SIZE] = at
    memory[FREE] = memory[NAMES] + (at >> 3) + 1
    return at


@bare_kernel(signature(I64, *[I64] * 21))
def look(
    memory_at: Any,
    words: Any,  # of memory
    stage: Any,  # FRAMES: documents are to be unpacked; PACKED: they are there; ALONE: there are texts without more
    texts: Any,
    query_size: Any,
    raw_size: Any,  # bytes of documents or texts that are there
    limit: Any,  # code points of a text that are looked at
    most: Any,  # places of one beginning in one text
    bare_at: Any,  # code point -> the same in lower case and without accent
    bare_size: Any,
    used: Any,  # the table of spellings, as far as it may be read
    entries_at: Any,
    entries_size: Any,
    slots_at: Any,
    slots_size: Any,
    segments_at: Any,  # frames of stored documents, by segment
    segments: Any,
    function: Any,  # that unpacks them
    context: Any,
    judge_at: Any,  # what spellings are judged by, if they can be here
    judge_size: Any,
) -> Any:
    """Where the beginnings stand; how many unknown spellings, or -1 when texts are not what was expected.

    Less is how many words of memory it takes at least when there are too few.
    """
    memory, raw = at_i64(memory_at, words), HEAD + query_size + ROW * texts
    if stage == FRAMES:
        numbers = at_i64(memory_at + 8 * (HEAD + query_size), texts)
        room = 8 * (words - raw) // SHARE_OF_RAW
        raw_size = unpacked(
            at_i64(segments_at, SEGMENT * segments), numbers, function, context, memory_at + 8 * raw, room
        )
        if raw_size < 0:
            return np.int64(-1) if raw_size == IMPOSSIBLE else -2 * words
    query = at_i64(memory_at + 8 * HEAD, query_size)
    bound = most * query[0] * texts
    work = _laid_out(memory, stage, texts, query_size, raw_size, bound)
    slots = _table_room(bound)
    more = work + slots + (2 + HEADS) * query[0]  # to work with
    terms_size = terms_room(query)
    needed = more + terms_size + JUDGEMENTS + (SCRATCH >> 3) + EIGHT
    if needed > words:
        return -2 * needed
    packed = at_u8(memory_at + 8 * raw, raw_size)
    spans = part(memory, memory_at, SPANS, SPAN * texts)
    if stage != ALONE and not cut(
        packed, part(memory, memory_at, FIELDS, RECORD * texts), spans, part(memory, memory_at, STARTS, texts + 1)
    ):
        return np.int64(-1)
    text = at_u32(memory_at + 8 * memory[POINTS], raw_size + texts)
    ends = part(memory, memory_at, ENDS, texts)
    text_at, signs_at = memory_at + 8 * memory[POINTS], signs_of(memory, memory_at)
    signs = at_u8(signs_at, raw_size + texts)
    part(memory, memory_at, SIGNS, 1)[0] = 0  # nothing before the first sign
    _all_decoded(packed, memory_at + 8 * raw, spans, limit, text, text_at, signs, signs_at, ends)
    table = at_i64(memory_at + 8 * work, slots)
    starts = at_i64(memory_at + 8 * (work + slots), query[0])
    counts = at_i64(memory_at + 8 * (work + slots + query[0]), query[0])
    heads = at_i64(memory_at + 8 * (work + slots + 2 * query[0]), HEADS * query[0])
    terms, judgements = (
        at_i64(memory_at + 8 * more, terms_size),
        at_i64(memory_at + 8 * (more + terms_size), JUDGEMENTS),
    )
    scratch_at = memory_at + 8 * (more + terms_size + JUDGEMENTS)
    scratch, judge = at_u8(scratch_at, SCRATCH), at_i64(judge_at, judge_size)
    words_of_terms(query, terms)
    places = part(memory, memory_at, PLACES, PLACE * bound)
    unknown = part(memory, memory_at, UNKNOWN_AT, UNKNOWN * bound)
    entries, known_slots = at_i64(entries_at, entries_size), at_i64(slots_at, slots_size)
    bare = at_u32(bare_at, bare_size)
    find_beginnings(query, starts)
    _set_heads(query, starts, heads)
    clear_judgements(judgements)
    found, told, start = np.int64(0), np.int64(0), np.int64(0)
    for document in range(texts):
        for p in range(query[0]):
            counts[p] = 0
        found, told = _look_in(
            text, start, ends[document], document, spans, query, bare, most, used, entries, known_slots,
            starts, heads, counts, signs, signs_at, judge, scratch, scratch_at, terms, judgements, table, places, found,
            unknown, told,
        )  # fmt: skip
        start = ends[document] + 1
    memory[FOUND], memory[TOLD] = found, told
    names = at_u8(memory_at + 8 * work, 8 * (words - work))
    if _named(memory, text, part(memory, memory_at, UNKNOWN_AT, UNKNOWN * told), names) < 0:
        return -2 * words
    return told
