"""``Engine``: one collection, open for questions from many threads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from periplus.index import analysis_steps
from periplus.index.analysis import analyze
from periplus.index.query import Filters
from periplus.records import (
    FilterCounts,
    QueryReading,
    SearchAnswer,
    SearchRequest,
    SearchResult,
    Suggestion,
    Total,
)
from periplus.search import conditions, requests
from periplus.search.among import Among
from periplus.search.answers import Page
from periplus.search.asked import PastQueries
from periplus.search.cache import Cache, Repeated
from periplus.search.completion import FEW_RESULTS, by_words
from periplus.search.counting import counted
from periplus.search.execution import Listing, Task, candidates, run, without
from periplus.search.explaining import explain, find
from periplus.search.generations import Generation, Generations
from periplus.search.held_back import held_back, keeps_back, pages_of
from periplus.search.language import without_dashes, words_read
from periplus.search.lens import NO_LENS, spelled, without_blocked
from periplus.search.links import linking
from periplus.search.reading import Understood, name_of, understand
from periplus.search.requests import Checked
from periplus.search.rules import Rules, read_rules
from periplus.search.similar import likeness
from periplus.search.spelling import FEW_RESULTS as FEW_FOUND
from periplus.search.spelling import suspects, unknown_among
from periplus.search.syntax import Reading
from periplus.search.terms import Kept, Terms
from periplus.search.text import clean
from periplus.search.usual import documents_on_desk

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.index import StoredDocument
    from periplus.ranking import Evidence
    from periplus.records import Explanation
    from periplus.search.spelling import Speller
    from periplus.search.usual import Usual
    from periplus.settings import Settings

CACHED_ANSWERS = 1_024  # of about 10 kB each, asked for at least twice
FIRST_BUDGET = 10.0  # seconds, at least, for the first answer: what all searches need has to be loaded for it
REMEMBERED = 8_192  # questions, to tell which are asked again
PASSING = frozenset({"budget", "spelling"})  # degradations that may be gone at the next call: not cached
SUGGESTIONS = 4
MIXED_SCRIPTS = "tide\u6f6e\u6c50 e\u0301"  # needs all the patterns that words are found by
MAX_TEXT = 100_000  # code points that ``analyze`` takes


class Engine:
    """Answers queries over the newest published generation of the collection in ``folder``.

    All methods may be called from any thread. ``reload`` swaps to a newer generation while searches run on.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._settings = settings
        self._past = PastQueries(folder) if settings.search.past_queries else None
        self._generations = Generations(folder, lambda: self._past.counts if self._past else {})
        self._answers: Cache[SearchAnswer] = Cache(CACHED_ANSWERS)
        self._repeated = Repeated(REMEMBERED)
        self._folder = folder
        self._has_answered = False
        self._rules = read_rules(folder, settings.search.rules)
        self._generations.reload()

    @property
    def generation(self) -> int:
        """The number of the open generation; 0 when there is none yet."""
        return self._generations.number

    @property
    def ready(self) -> bool:
        return self._generations.ready

    def reload(self) -> bool:
        """Take up a newer generation and the operator's rules; true when there was a newer generation."""
        rules = read_rules(self._folder, self._settings.search.rules)
        if rules != self._rules:
            self._rules = rules
            self._answers.clear()
        return self._generations.reload()

    def warm(self) -> None:
        """Build the speller, the completion and the tables of letters now instead of on demand."""
        analyze(MIXED_SCRIPTS)
        with self._generations.use() as generation:
            generation.warm()

    def close(self) -> None:
        self._generations.close()
        self._answers.clear()
        if self._past is not None:
            self._past.close()

    def search(
        self, request: SearchRequest, *, per_host: int | None = None, among: Among | None = None
    ) -> SearchAnswer:
        """The answer to ``request``. ``per_host`` overrides the setting; 0 turns host diversity off.

        ``among`` are the only documents that may be found.
        """
        started = time.perf_counter()
        rules = self._rules
        checked = requests.check(request, self._settings, rules)
        generation = self._generations.enter()
        try:
            limit = self._per_host(generation) if per_host is None else per_host
            query = clean(request.query)
            asked = request if query == request.query else structs.replace(request, query=query)
            # Corrections by the words of the generation before are not kept for longer than these serve.
            key = (asked, limit, generation.number, generation.lazy_speller.is_built, among)
            asked_before = self._repeated.again(key)
            answer = self._answers.get(key) if asked_before else None
            if answer is None:
                deadline = started + self._budget()
                search = _Search(self._generations, generation, request, query, checked, limit, deadline, rules, among)
                answer = search.answer(started)
                self._has_answered = True
                if asked_before and not PASSING.intersection(answer.degraded):
                    self._answers.put(key, answer)
                return answer
        finally:
            self._generations.leave(generation)
        return structs.replace(answer, took_ms=_since(started))

    def _per_host(self, generation: Generation) -> int:
        """Results of one host in a list; 0 where there is only one site, of which nobody would see the rest."""
        return 0 if generation.is_one_site else self._settings.search.per_host

    def _budget(self) -> float:
        """Seconds that an answer may take."""
        usual = self._settings.search.budget_ms / 1000
        return usual if self._has_answered else max(usual, FIRST_BUDGET)

    def ranking(self, query: str, k: int = 1_000, profile: str = "", *, plain: bool = True) -> list[tuple[str, float]]:
        """Ids and scores of the best ``k``, without host diversity, correction or snippets: for evaluation.

        Judged queries are prose: unless ``plain`` is false, their quotes, brackets and signs are not operators.
        """
        checked = requests.check(SearchRequest(query, profile=profile), self._settings)
        with self._generations.use() as generation:
            understood = understand(generation, query, plain=plain)
            task = _task(generation, understood, checked, 0, float("inf"))
            listing = run(generation, task, k)
            ids = generation.snapshot.ids(listing.numbers[:k])
            return list(zip(ids, listing.scores[:k].tolist(), strict=True))

    def evidence(self, query: str, profile: str = "") -> tuple[list[str], Evidence]:
        """Ids of the candidates that a profile orders, and what it knows of them: for learning its weights."""
        checked = requests.check(SearchRequest(query, profile=profile), self._settings)
        with self._generations.use() as generation:
            understood = understand(generation, query, plain=True)
            task = _task(generation, understood, checked, 0, float("inf"))
            known = candidates(generation, task)
            return generation.snapshot.ids(known.numbers), known.evidence

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Completions of what was typed so far, best first."""
        with self._generations.use() as generation:
            completion = self._generations.completion(generation)
            never = self._rules.never
            if completion is None:
                return by_words(generation.snapshot, text, limit, never)
            return completion.complete(text, limit, never)

    def asked(self, query: str, person: str) -> None:
        """Count a query for completion, unless the setting is off; ``person`` tells people apart and is not kept."""
        if self._past is not None:
            self._past.note(query, person)

    def explain(self, query: str, url: str, profile: str = "", reader: str = "") -> Explanation:
        """Why the page at ``url`` has the score that it has for ``query``, or why it is not found at all."""
        checked = requests.check(SearchRequest(query, profile=profile), self._settings)
        with self._generations.use() as generation:
            understood = understand(generation, query, rules=self._rules, reader=conditions.language(reader))
            return explain(generation, understood, _task(generation, understood, checked, 0, float("inf")), url)

    def stored(self, url: str) -> StoredDocument | None:
        """The page at ``url`` as the index keeps it; ``None`` when it is not indexed."""
        with self._generations.use() as generation:
            number = find(generation.snapshot, url)
            return None if number is None else generation.snapshot.stored(number)

    def similar(self, url: str, k: int = 10) -> list[SearchResult]:
        """Pages with the telling words of the page at ``url``, best first; none when it is not indexed."""
        request = SearchRequest("", size=min(max(k, 1), requests.MAX_SIZE))
        checked = requests.check(request, self._settings)
        with self._generations.use() as generation:
            number = find(generation.snapshot, url)
            if number is None:
                return []
            plan = likeness(generation.snapshot, generation.snapshot.stored(number))
            understood = Understood("", Reading(), plan, "", wants_fresh=False, named=frozenset())
            task = _task(generation, understood, checked, self._per_host(generation), float("inf"))
            listing = without(run(generation, task, checked.last + 1), number)
            return list(Page(generation, request, checked.first, understood, listing).results())

    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]:
        """The steps by which ``text`` becomes terms."""
        return analysis_steps(text[:MAX_TEXT], language)


def _task(
    generation: Generation,
    understood: Understood,
    checked: Checked,
    per_host: int,
    deadline: float,
    *,
    fold: bool = False,
) -> Task:
    limit = 0 if understood.plan.query.filters.sites else per_host  # who asks for one site wants all of it
    return Task(
        understood.plan,
        checked.profile,
        checked.order,
        deadline,
        limit,
        understood.language,
        understood.wants_fresh,
        understood.named,
        linking(generation, understood.plan.link) if understood.plan.link else None,
        fold=fold,
        words=understood.words,
    )


class _Search(Struct, gc=False):
    """One search in one generation."""

    generations: Generations
    generation: Generation
    request: SearchRequest
    query: str  # as people may see it
    checked: Checked
    per_host: int
    deadline: float
    rules: Rules
    among: Among | None
    notes: list[str] = []
    task: Task | None = None

    def answer(self, started: float) -> SearchAnswer:
        outcome = self._outcome(self.request.query)
        corrections = self._corrections(outcome)
        corrected = None
        if outcome.total.value == 0 and corrections and self.request.correct:
            other = self._outcome(corrections[0])
            if other.total.value:
                outcome, corrected = other, corrections[0]
        return self._assembled(outcome, corrections, corrected, started)

    def _outcome(self, text: str) -> _Outcome:
        outcome = self._found(text)
        if not self.per_host or outcome.listed > self.checked.last or outcome.listed >= outcome.total.value:
            return outcome
        if outcome.listed == self.per_host:  # if it keeps anything back, then of its only host: nobody needs the room
            self.per_host = 0
            return self._found(text)
        return self._continued(outcome)

    def _continued(self, outcome: _Outcome) -> _Outcome:
        """A list that has come to its end, with what host diversity keeps back of it."""
        page, size = self.request.page, self.request.size
        if page == 1 and outcome.listing is None:  # all of the list is on this page
            if any(result.more_from_site for result in outcome.results):
                outcome.listed = size + 1
            return outcome
        understood = outcome.understood or self._understood(outcome.text)
        listing = outcome.listing or self._listed(understood)
        if self.task is None or not keeps_back(listing):
            return outcome
        before, pages = len(listing.numbers), pages_of(len(listing.numbers), size)
        if page <= pages:
            outcome.listed = page * size + 1
            return outcome
        first = (page - 1 - pages) * size
        rest = held_back(self.generation, self.task, listing, first + size + 1)
        listed = len(rest.numbers) - first + (page - 1) * size
        return structs.replace(
            outcome, listed=listed, results=[], understood=understood, listing=rest, first=first, before=before
        )

    def _found(self, text: str) -> _Outcome:
        usual = self._usual()
        asked = (self.checked.first, self.checked.last, self.per_host, not self.request.duplicates)
        plain = without_dashes(text)
        if usual is not None and self._is_usual(plain):
            found = usual.found(self.generation, plain, self._reader(), *asked)
            if found is not None:
                told = (found.missing, found.is_certain, found.kept, found.words)
                return _Outcome(plain, found.total, found.listed, found.results, *told)
        understood = self._understood(text)
        words = understood.words
        if usual is not None and words is not None and words.known and not understood.named:
            terms = Terms.of(words.words, words.known)
            now = time.time() if understood.wants_fresh else 0.0
            found = usual.found_of(self.generation, terms, understood.language, now, *asked)
            if found is not None:
                return _Outcome(text, found.total, found.listed, found.results, understood=understood)
        listing = self._listed(understood)
        return _Outcome(text, listing.total, len(listing.numbers), [], understood=understood, listing=listing)

    def _usual(self) -> Usual | None:
        """Searches by kernels alone, if nothing is asked for that these do not know."""
        request, checked, rules = self.request, self.checked, self.rules
        asks_more = request.safe or request.explain or request.counts or rules.pinned or rules.synonyms
        if asks_more or not checked.is_plain or self.among is not None:
            return None
        return self.generation.usual_of(checked.profile)

    def _is_usual(self, text: str) -> bool:
        """Whether a query may be left to kernels from its first letter on: it is on one line, and names no site."""
        return (text is self.query or clean(text) == text) and name_of(text) not in self.generation.hosts_by_name

    def _understood(self, text: str) -> Understood:
        language, filters = self.checked.language, self.checked.filters
        return understand(self.generation, text, language, filters, rules=self.rules, reader=self._reader())

    def _reader(self) -> str:
        """Whose language browsers tell in many ways; one that makes no sense is none."""
        return conditions.language(self.request.reader) if self.request.reader else ""

    def _listed(self, understood: Understood) -> Listing:
        if understood.contradictory:
            return _nothing()
        if self.checked.lens.block:
            understood = structs.replace(understood, plan=without_blocked(understood.plan, self.checked.lens))
        fold = not self.request.duplicates
        task = _task(self.generation, understood, self.checked, self.per_host, self.deadline, fold=fold)
        self.task = self._arranged(task)
        if self.among is not None:
            self.task = self.among.narrowed(self.task, self.generation)
        return run(self.generation, self.task, self.checked.last + 1)

    def _arranged(self, task: Task) -> Task:
        """The task with what the reader and the operator prefer."""
        pinned: tuple[int, ...] = ()
        if not (self.rules.pinned or self.request.safe) and self.checked.lens is NO_LENS:
            return task
        if self.rules.pinned and task.plan.query.filters == Filters():
            found = (find(self.generation.snapshot, url) for url in self.rules.pins(self.request.query))
            pinned = tuple(dict.fromkeys(number for number in found if number is not None))
        unfit = self.generation.unfit if self.request.safe else None
        if unfit is not None:
            pinned = tuple(number for number in pinned if number not in unfit)
        return structs.replace(task, lens=self.checked.lens, pinned=pinned, unfit=unfit)

    def _corrections(self, outcome: _Outcome) -> tuple[str, ...]:
        found, understood = outcome.total.value, outcome.understood
        if understood is None:
            return self._usual_corrections(outcome) if outcome.missing or found <= FEW_FOUND else ()
        occur = understood.words is not None and understood.words.occurs
        return () if occur and found > FEW_FOUND else self._corrected(understood.reading, found)

    def _usual_corrections(self, outcome: _Outcome) -> tuple[str, ...]:
        """Those of a query that kernels read, by a kernel, too, if that can be."""
        words, few = outcome.text.split(), outcome.total.value <= FEW_FOUND
        speller = self.generations.speller(self.generation) if outcome.is_certain and self._is_in_time() else None
        corrections = speller.respeller.corrections(words, every=few) if speller is not None else None
        if corrections is not None:
            return corrections
        lexicon = self.generation.lexicon
        if outcome.kept is not None:  # what the speller asks next
            outcome.kept.frequencies.update(documents_on_desk())
        if few:
            return self._corrected(words_read(outcome.text), outcome.total.value)
        doubtful = unknown_among(lexicon, words, outcome.missing, is_certain=outcome.is_certain)
        speller = self._speller(doubtful)
        return speller.corrections_of_words(words, doubtful) if speller is not None else ()

    def _corrected(self, reading: Reading, found: int) -> tuple[str, ...]:
        doubtful = suspects(self.generation.lexicon, reading, found)
        speller = self._speller(doubtful)
        return speller.corrections(reading, found, doubtful) if speller is not None else ()

    def _speller(self, doubtful: list[str]) -> Speller | None:
        """The one to ask about some words, if there are any and there is time left."""
        if not doubtful:
            return None
        if not self._is_in_time():
            self.notes.append("budget")
            return None
        speller = self.generations.speller(self.generation)
        if speller is None:
            self.notes.append("spelling")
        return speller

    def _is_in_time(self) -> bool:
        """Whether there is time for corrections."""
        return time.perf_counter() <= self.deadline

    def _assembled(
        self, outcome: _Outcome, corrections: tuple[str, ...], corrected: str | None, started: float
    ) -> SearchAnswer:
        request, lens, understood, listing = self.request, self.checked.lens, outcome.understood, outcome.listing
        if listing is not None and understood is not None:
            first = self.checked.first if outcome.first is None else outcome.first
            page = Page(self.generation, request, first, understood, listing, outcome.before)
            results, parsed = page.results(), understood.parsed
        else:
            results, parsed = tuple(outcome.results), understood.parsed if understood else clean(outcome.text)
        return SearchAnswer(
            QueryReading(self.query, parsed, corrected),
            results,
            outcome.total,
            request.page,
            request.size,
            requests.next_link(request, self.query, outcome.listed),
            corrections,
            self._suggestions(outcome) if outcome.total.value < FEW_RESULTS else (),
            _since(started),
            self._degraded(understood, listing),
            self.generation.number,
            self._counts() if request.counts else None,
            spelled(lens) if lens is not NO_LENS else "",
        )

    def _counts(self) -> FilterCounts:
        if self.task is None or self.task.plan.empty:
            return FilterCounts()
        return counted(self.generation.snapshot, self.task)

    def _suggestions(self, outcome: _Outcome) -> tuple[str, ...]:
        """Other queries to try, where this one found little."""
        words = outcome.words
        if not words:
            understood = outcome.understood or self._understood(outcome.text)
            words = tuple([word.text for word in understood.plan.words])
        if not words:
            return ()
        completion = self.generations.completion(self.generation)
        found = completion.related(words, SUGGESTIONS, self.rules.never) if completion else []
        typed = self.query.casefold()
        return tuple(suggestion.text for suggestion in found if suggestion.text.casefold() != typed)

    def _degraded(self, understood: Understood | None, listing: Listing | None) -> tuple[str, ...]:
        if understood is None and not self.notes:  # mostly
            return self.generation.snapshot.degraded
        notes = [*(listing.degraded if listing else ()), *self.generation.snapshot.degraded, *self.notes]
        if understood and (understood.reading.cut or understood.plan.cut):
            notes.append("query-cut")
        if understood and understood.plan.link and not self.generation.in_links.known:
            notes.append("links")
        if self.request.safe and self.generation.unfit is None:
            notes.append("safe")
        return tuple(dict.fromkeys(notes)) if len(notes) > 1 else tuple(notes)


class _Outcome(Struct, gc=False):
    """What one search found: a page of results, or a list of which the page is still to be made."""

    text: str
    total: Total
    listed: int  # results of the list, as far as it was made
    results: list[SearchResult]
    missing: int = 0  # words that may be misspelt, as bits; only where kernels read the text
    is_certain: bool = False  # none of the plain ones among them occurs in any form
    kept: Kept | None = None  # what is known of them for as long as the speller asks
    words: tuple[str, ...] = ()  # that were looked for, where little was found; only there, too
    understood: Understood | None = None  # except there
    listing: Listing | None = None
    first: int | None = None  # result of the listing on this page, where it has only what was kept back
    before: int = 0  # results, in the list that kept it back


def _since(started: float) -> float:
    """In milliseconds."""
    return round((time.perf_counter() - started) * 1000, 3)


def _nothing() -> Listing:
    return Listing(np.zeros(0, np.int64), np.zeros(0), Total(0), complete=True)
