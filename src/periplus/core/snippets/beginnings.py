"""Where the words of a query may stand in texts: each place where the letters that their forms begin with stand.

Texts are code points, one behind the other with a line's end behind each. ``search/highlighter.py`` decides which of
the places are matches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_I64, R_U32, helper, kernel, signature
from periplus.core.snippets.characters import is_space, is_wordly

MAX_STRETCH = 64  # code points analysed behind the beginning of a word
ASCII = 128
PLACE = 3  # numbers of a place: text, start and end of what is to be analysed


@helper
def _trails(c: Any) -> Any:
    """A sign behind a word that is no part of it: . , ' & @ - and closing quotes and dots beyond ASCII."""
    if c >= 128:
        return c == 0xBB or c == 0x2019 or c == 0x201D or c == 0x2026
    return c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 45


@helper
def _parts(c: Any, mail: Any) -> Any:
    """What always parts words; a hyphen does so unless it may belong to a mail address."""
    if c >= 128 or is_wordly(c):
        return is_space(c)
    if c == 45:
        return not mail
    return not (c == 46 or c == 44 or c == 39 or c == 38 or c == 64 or c == 43 or c == 35)


@helper
def _stretch_end(text: Any, start: Any, size: Any, end: Any) -> Any:
    """Where that ends which is to be analysed behind a beginning."""
    stop, mail = start + size, False
    while stop < end and stop - start < MAX_STRETCH and not _parts(text[stop], mail):
        mail = mail or text[stop] == 64
        stop += 1
    while stop > start + size and _trails(text[stop - 1]):  # the fewer spellings, the fewer to analyse
        stop -= 1
    return stop


@helper
def _bare(text: Any, i: Any, bare: Any) -> Any:
    """A code point in lower case and without accent."""
    c = text[i]
    return bare[c] if c < len(bare) else c


@helper
def _stands(text: Any, i: Any, end: Any, bare: Any, letters: Any, first: Any, behind: Any) -> Any:
    """Whether letters stand at a place of the text, in any case and with any accents."""
    same = i + behind - first <= end
    k = first
    while same and k < behind:
        same = _bare(text, i + k - first, bare) == letters[k]
        k += 1
    return same


@kernel(signature(I64, R_U32, R_I64, R_U32, R_U32, R_I64, R_I64, I64, M_I64))
def find_beginnings(
    text: Any,
    ends: Any,  # of each text
    bare: Any,  # code point -> the same in lower case and without accent
    letters: Any,  # of all beginnings
    starts: Any,  # where those of each begin, and where the last end
    opens: Any,  # 1 if a beginning stands only at the start of a word
    most: Any,  # places of one beginning in one text
    places: Any,  # ``PLACE`` numbers of each place that is found
) -> Any:
    """How many places there are. One beginning a place is enough: another one there has the same stretch behind it."""
    count, begin, found = len(opens), np.int64(0), np.int64(0)
    counts = np.empty(count, np.int64)
    firsts = np.zeros(ASCII, np.bool_)  # letters that a beginning may begin with; of others it is not told
    for c in range(ASCII):
        for p in range(count):
            firsts[c] |= bare[c] == letters[starts[p]]
    for document in range(len(ends)):
        end = ends[document]
        counts[:] = 0
        for i in range(begin, end):
            if text[i] < ASCII and not firsts[text[i]]:
                continue
            inside = i > begin and is_wordly(text[i - 1])
            for p in range(count - 1, -1, -1):
                if (inside and opens[p]) or counts[p] >= most:
                    continue
                if _stands(text, i, end, bare, letters, starts[p], starts[p + 1]):
                    counts[p] += 1
                    row = PLACE * found
                    places[row], places[row + 1] = document, i
                    places[row + 2] = _stretch_end(text, i, starts[p + 1] - starts[p], end)
                    found += 1
                    break
        begin = end + 1
    return found
