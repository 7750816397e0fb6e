"""The usual search in one call: from the words on the desk (``wording.py``) to a page of written results.

Or from words that are laid out already, each step's in its memory: how much there is of them is on the desk.

The steps are kernels that are called by their addresses: the first pass of the index, the scores and the list of the
ranking, the texts of stored documents, what is shown of them. Where one of them asks for more memory, or anything is
not as usual, the query is left to ``execution.py``, which does the same step by step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from periplus.index.kernels.calls import FAILED, call_kernel
from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.plain import COUNT_SHIFT, EXACT
from periplus.index.kernels.plain_steps import ALL_ADMITTED, GIVEN, QUERY
from periplus.index.kernels.tables import HOST, HOST_NUMBERS, ROW, at_f64, at_i64, i64, u32
from periplus.index.kernels.types import F64, I64, signature
from periplus.index.kernels.weighing import fixed_weight
from periplus.search.kernels import layout
from periplus.search.kernels import wording as desks
from periplus.search.kernels.frames import IMPOSSIBLE
from periplus.search.kernels.learning import FACTS, FORMED, LISTED, idf
from periplus.search.kernels.texts import FRAMES

# What a search is done by, by place: the kernels; segments and how many; weight of the prior, postings up to which
# matches are counted; what the ranking has laid out, candidates, longest list; letters without accents; stored
# documents, the function that unpacks them; bounds of texts; documents in all, hits fetched at most, the host that
# stands for none.
FIRST_PASS, SHORTLIST, LOOK, SHOW, TABLE, SEGMENTS, PRIOR, LIMIT, RANKING, CANDIDATES, LONGEST = range(11)
BARE, BARE_SIZE, STORED, UNPACK, MAX_TEXT, MAX_PLACES, LIVE, FETCHED, NAMELESS = range(11, 20)
MEANS = 20
# Memory of a thread, by place: that of the index, of the list and of the page, each with how many numbers it has; what
# unpacks documents, and the judge of spellings with its size.
ROOM, ROOM_SIZE, LIST, LIST_SIZE, PAGE, PAGE_SIZE, UNPACKING, JUDGE, JUDGE_SIZE = range(9)
MEMORIES = 9

UNUSUAL, BROKEN, TO_JUDGE, NOTHING, PACKED = -1, -2, -3, -4, -5
STOP_SHARE = 0.1  # ``search.typed``
AGAIN = 4  # times as many are asked for, when hosts or duplicates left too few
NUMBER_BITS = 32  # of a document in its segment
MOST_HOSTS = 64  # that are told apart
WORD, FORM = 2, 4  # numbers of a word and of a form, for the ranking
# Of a word that occurs: where its facts, lists, forms and beginning are, how often it is asked for.
AT, LISTED_AT, FORMED_AT, BEGINNING_AT, TIMES = range(5)
KNOWN = 5
SHOWN, TOLD_OF_LIST = 2, 4  # of the list: how many hosts admit, numbers before its columns


@bare_helper
def _goes(desk: Any, word: Any, out: Any, live: Any) -> Any:
    """Whether a stop word may go."""
    row = desks.ROWS + desks.WORD_ROW * word
    if desk[row + desks.SAYS] & desks.STOPS == 0:
        return False
    if desk[row + desks.SAYS] & desks.STOPS_HERE != 0:
        return True
    return float(desk[out + 1 + desk[row + desks.BEGIN]]) >= STOP_SHARE * float(live)


@bare_helper
def _chosen(desk: Any, live: Any, chosen: Any, times: Any) -> Any:
    """The words that are looked for, each once, all others being stop words, and how often each is asked for; how many.
    And those typed that may be misspelt, as bits: where that can be told no form of them occurs, else not the one
    typed."""
    words, forms, out = desk[desks.WORDS], desk[desks.FORMS], desk[desks.OUTPUT]
    means, goes, missing = False, False, desk[desks.SIGNED]
    for word in range(words):
        row = desks.ROWS + desks.WORD_ROW * word
        means |= desk[row + desks.SAYS] & desks.STOPS == 0
        goes |= _goes(desk, word, out, live)
        form = out + 1 + desk[row + desks.BEGIN]
        there = desk[out + 1 + forms + FACTS * word] if desk[desks.IS_SPELT] else desk[form]
        missing |= np.int64(there == 0) << desk[row + desks.PLACE]
    count = np.int64(0)
    for word in range(words):
        if means and goes and _goes(desk, word, out, live):
            continue
        one, key = np.int64(0), desk[desks.ROWS + desks.WORD_ROW * word + desks.HASH]
        while one < count and desk[desks.ROWS + desks.WORD_ROW * chosen[one] + desks.HASH] != key:
            one += 1
        if one == count:
            chosen[one], times[one] = word, 0
            count += 1
        times[one] += 1
    return count, missing


@bare_helper
def _is_weak(desk: Any, formed: Any, forms: Any) -> Any:
    """Whether none of the forms of a word is strong: then no text is searched for it."""
    weak = True
    for form in range(forms):
        weak &= desk[formed + FORMED * form + 1] == 0
    return weak


@bare_helper
def _known(desk: Any, chosen: Any, times: Any, count: Any, places: Any) -> Any:
    """What there is of the words that occur; how many, -1 when one is unusual."""
    words, forms, out = desk[desks.WORDS], desk[desks.FORMS], desk[desks.OUTPUT]
    facts = out + 1 + forms
    listed = facts + FACTS * words
    formed = listed + LISTED * forms
    beginning = formed + FORMED * forms
    known, next_one = np.int64(0), 0
    for word in range(words):
        at = facts + FACTS * word
        if next_one < count and chosen[next_one] == word:
            if desk[at] > 0:
                if desk[at + 2] == 0 and not _is_weak(desk, formed, desk[at]):
                    return np.int64(-1)
                one = KNOWN * known
                places[one + AT], places[one + LISTED_AT] = at, listed
                places[one + FORMED_AT], places[one + BEGINNING_AT] = formed, beginning
                places[one + TIMES] = times[next_one]
                known += 1
            next_one += 1
        listed += LISTED * desk[at]
        formed += FORMED * desk[at]
        beginning += desk[at + 2] + desk[at + 3]
    return known


@bare_helper
def _weigh(query: Any, first: Any, desk: Any, reals: Any, formed: Any, forms: Any, times: Any, live: Any) -> Any:
    """The lists of a word that is asked for so often: ``index.plan.weights_of``, to the last bit."""
    strong = math.inf
    for form in range(forms):
        if desk[formed + FORMED * form + 1] != 0:
            strong = min(strong, idf(live, desk[first + LISTED * form + 2]))
    for form in range(forms):
        worth = min(strong, idf(live, desk[first + LISTED * form + 2]))
        query[GIVEN * form] = fixed_weight(float(times) * reals[formed + FORMED * form + 2] * worth)


@bare_helper
def _put_lists(desk: Any, reals: Any, places: Any, known: Any, live: Any, query: Any) -> Any:
    """The query as the first pass takes it; how many lists."""
    lists = np.int64(0)
    for word in range(known):
        one = places[KNOWN * word : KNOWN * (word + 1)]
        forms, first = desk[one[AT]], one[LISTED_AT]
        for i in range(LISTED * forms):
            query[GIVEN * lists + i] = desk[first + i]
        if one[TIMES] > 1:
            _weigh(query[GIVEN * lists :], first, desk, reals, one[FORMED_AT], forms, one[TIMES], live)
        lists += forms
    if lists != known:
        begin = np.int64(0)
        for word in range(known):
            query[GIVEN * lists + word] = begin
            begin += desk[places[KNOWN * word + AT]]
        query[GIVEN * lists + known] = begin
    return lists


@bare_helper
def _put_forms(desk: Any, places: Any, known: Any, query: Any, reals: Any) -> Any:
    """The query as the ranking takes it; how many numbers."""
    query[0] = known
    at = 1 + WORD * known
    for word in range(known):
        one = KNOWN * word
        forms, first = desk[places[one + AT]], places[one + FORMED_AT]
        query[1 + WORD * word], reals[1 + WORD * word + 1] = forms, float(places[one + TIMES])
        for i in range(FORM * forms):
            query[at + i] = desk[first + i]
        at += FORM * forms
    return at


@bare_helper
def _put_beginnings(desk: Any, places: Any, known: Any, query: Any) -> Any:
    """The query as texts are searched for it; how many numbers."""
    at, count = np.int64(2), np.int64(0)
    for word in range(known):
        facts, first = places[KNOWN * word + AT], places[KNOWN * word + BEGINNING_AT]
        query[at] = 0  # hashes, where no form is strong
        for i in range(desk[facts + 2]):
            query[at + i] = desk[first + i]
        at += max(desk[facts + 2], np.int64(1))
    for word in range(known):
        facts = places[KNOWN * word + AT]
        letters, first = desk[facts + 3], places[KNOWN * word + BEGINNING_AT] + desk[facts + 2]
        again = letters == 0
        for earlier in range(word):
            before = places[KNOWN * earlier + AT]
            other = places[KNOWN * earlier + BEGINNING_AT] + desk[before + 2]
            if desk[before + 3] == letters:
                same = True
                for i in range(letters):
                    same &= desk[other + i] == desk[first + i]
                again |= same
        if again:
            continue
        for i in range(letters):
            query[at + i] = desk[first + i]
        at += letters
        count += 1
    query[0], query[1] = count, known
    for word in range(known):
        query[at + word] = desk[places[KNOWN * word + AT] + 1]
    return at + known


@bare_helper
def _laid_out(means: Any, memories: Any, desk_at: Any, desk: Any) -> Any:
    """The words on the desk as each step takes them, each in its own memory; whether they are usual."""
    free = desk_at + 8 * desks.KEYS
    chosen, times = at_i64(free, desks.MOST_WORDS), at_i64(free + 8 * desks.MOST_WORDS, desks.MOST_WORDS)
    places = at_i64(free + 16 * desks.MOST_WORDS, KNOWN * desks.MOST_WORDS)
    count, desk[desks.MISSING] = _chosen(desk, means[LIVE], chosen, times)
    known = _known(desk, chosen, times, count, places)
    if count == 0 or known < 0:
        return False
    list_at = memories[LIST]
    desk[desks.GROUPS] = known
    reals, live = at_f64(desk_at, desks.DESK), means[LIVE]
    desk[desks.LISTS] = _put_lists(desk, reals, places, known, live, at_i64(memories[ROOM], QUERY))
    desk[desks.FORMS_SIZE] = _put_forms(desk, places, known, at_i64(list_at, QUERY), at_f64(list_at, QUERY))
    page_at = memories[PAGE] + 8 * layout.HEAD
    desk[desks.TEXT_SIZE] = _put_beginnings(desk, places, known, at_i64(page_at, QUERY))
    return True


@bare_helper
def _hosts_admit(table: Any, numbers: Any, limit: Any, nameless: Any, wanted: Any, known: Any) -> Any:
    """Whether so many hits are left when no host has more than its limit; as a rule the first few tell."""
    hosts, shown = np.int64(0), np.int64(0)
    for number in numbers:
        segment = number >> NUMBER_BITS
        host = i64(table, segment, HOST_NUMBERS)[u32(table, segment, HOST)[number & ((1 << NUMBER_BITS) - 1)]]
        at = np.int64(0)
        while at < hosts and known[2 * at] != host:
            at += 1
        if at == hosts:
            known[2 * at], known[2 * at + 1] = host, 0
            hosts += 1
        known[2 * at + 1] += 1
        shown += np.int64(host == nameless or known[2 * at + 1] <= limit)
        if shown >= wanted:
            return True
    return False


@bare_helper
def _listed(
    means: Any,
    memories: Any,
    desk: Any,
    asked: Any,
    wanted: Any,
    per_host: Any,
    folds: Any,
    languages_at: Any,
    languages_size: Any,
    now: Any,
) -> Any:
    """The list of so many first hits, in memory behind the query; how many hits there were, or why there is none. No
    list is made if hosts leave too few of as many hits as were asked for."""
    room_at = memories[ROOM]
    found = call_kernel(
        means[FIRST_PASS],
        (
            means[TABLE], room_at, memories[ROOM_SIZE], means[SEGMENTS], desk[desks.LISTS], desk[desks.GROUPS],
            np.int64(ALL_ADMITTED), means[PRIOR], asked, means[LIMIT],
        ),
    )  # fmt: skip
    if found < 0:
        return np.int64(BROKEN if found == FAILED else UNUSUAL)
    desk[desks.TOTAL], desk[desks.EXACT] = found >> COUNT_SHIFT, found & EXACT
    size = found & (EXACT - 1)
    if size == 0:
        return np.int64(NOTHING)
    numbers_at = room_at + 8 * QUERY
    if 0 < wanted <= MOST_HOSTS and per_host > 0 and size == asked < means[FETCHED]:
        table, hosts_at = at_i64(means[TABLE], means[SEGMENTS] * ROW), desk.ctypes.data + 8 * desks.KEYS
        numbers, known = at_i64(numbers_at, size), at_i64(hosts_at, 2 * MOST_HOSTS)
        if not _hosts_admit(table, numbers, per_host, means[NAMELESS], wanted, known):
            at_i64(memories[LIST] + 8 * desk[desks.FORMS_SIZE], TOLD_OF_LIST)[SHOWN] = 0
            return size
    needed = call_kernel(
        means[SHORTLIST],
        (
            means[RANKING], numbers_at, numbers_at + 8 * asked, size, desk[desks.FORMS_SIZE], languages_at,
            languages_size, now, per_host, folds, wanted, memories[LIST], memories[LIST_SIZE],
        ),
    )  # fmt: skip
    if needed != 0:
        return np.int64(BROKEN if needed == FAILED else UNUSUAL)
    return size


@bare_kernel(signature(I64, *[I64] * 12, F64, *[I64] * 3))
def search_usual(
    means_at: Any,
    memories_at: Any,
    desk_at: Any,
    wanted: Any,  # results of the list
    first: Any,  # of them on the page
    last: Any,
    per_host: Any,
    folds: Any,
    languages_at: Any,
    languages_size: Any,
    used: Any,  # of the table of spellings
    entries_at: Any,
    now: Any,
    entries_size: Any,
    slots_at: Any,
    slots_size: Any,
) -> Any:
    """How many results have to be made otherwise; or why there are none: the query is not usual, a kernel failed, some
    spellings have to be judged first, there are none on this page, documents have to be unpacked otherwise."""
    means, memories, desk = at_i64(means_at, MEANS), at_i64(memories_at, MEMORIES), at_i64(desk_at, desks.DESK)
    if desk[desks.LISTS] == 0 and not _laid_out(means, memories, desk_at, desk):
        return np.int64(UNUSUAL)
    desk[desks.TOTAL], desk[desks.EXACT], desk[desks.KEPT] = 0, 1, 0
    if desk[desks.LISTS] == 0:
        return np.int64(NOTHING)
    kept, size = np.int64(0), np.int64(0)
    facts = at_i64(memories[LIST] + 8 * desk[desks.FORMS_SIZE], TOLD_OF_LIST)
    most = means[CANDIDATES]
    for turn in range(2):  # once more when folding left too few
        wanted *= AGAIN if turn else 1
        asked = max(most, 2 * wanted if per_host > 0 else wanted)
        while True:
            size = _listed(means, memories, desk, asked, wanted, per_host, folds, languages_at, languages_size, now)
            if size < 0:
                return size
            enough = size >= most and size >= wanted and facts[SHOWN] >= wanted
            if size < asked or asked >= means[FETCHED] or enough:
                break
            asked = min(means[FETCHED], AGAIN * asked)
        kept = facts[0]
        if not (facts[1] < min(size, means[LONGEST]) and kept < wanted):
            break
    desk[desks.KEPT] = kept
    shown = min(kept, last) - first
    if shown <= 0:
        return np.int64(NOTHING)
    length = min(size, wanted) if per_host > 0 else min(size, means[LONGEST])
    listed = at_i64(memories[LIST] + 8 * (desk[desks.FORMS_SIZE] + TOLD_OF_LIST), 5 * length)
    text_size = desk[desks.TEXT_SIZE]
    rows = at_i64(memories[PAGE] + 8 * (layout.HEAD + text_size), layout.ROW * shown)
    for row in range(shown):
        rows[row], rows[shown + row] = listed[first + row], listed[length + first + row]
        for i in range(3):
            rows[2 * shown + 3 * row + i] = listed[2 * length + 3 * (first + row) + i]
    page = at_i64(memories[PAGE], layout.HEAD)
    page[layout.TEXTS], page[layout.QUERY_SIZE] = shown, text_size
    told = call_kernel(
        means[LOOK],
        (
            memories[PAGE], memories[PAGE_SIZE], np.int64(FRAMES), shown, text_size, np.int64(0), means[MAX_TEXT],
            means[MAX_PLACES], means[BARE], means[BARE_SIZE], used, entries_at, entries_size, slots_at, slots_size,
            means[STORED], means[SEGMENTS], means[UNPACK], memories[UNPACKING], memories[JUDGE], memories[JUDGE_SIZE],
        ),
    )  # fmt: skip
    if told == IMPOSSIBLE:
        return np.int64(PACKED)
    if told != 0:
        desk[desks.UNKNOWN] = told
        return np.int64(BROKEN if told == FAILED else UNUSUAL if told < 0 else TO_JUDGE)
    special = call_kernel(
        means[SHOW],
        (
            memories[PAGE],
            memories[PAGE_SIZE],
            entries_at,
            entries_size,
            np.int64(0),
            np.int64(0),
            first + 1,
            np.int64(1),
        ),
    )
    if special < 0:
        return np.int64(BROKEN if special == FAILED else UNUSUAL)
    return special
