"""One search in one generation, from what was asked to the answer.

The usual search is left to kernels (``usual.py``); whatever they do not know goes step by step (``execution.py``). Then
come corrections, suggestions and what is told of the list.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from periplus.index.query import Filters
from periplus.records import FilterCounts, QueryReading, SearchAnswer, SearchRequest, SearchResult, Total
from periplus.search import requests
from periplus.search.among import Among
from periplus.search.answers import Page
from periplus.search.completion import FEW_RESULTS
from periplus.search.counting import counted
from periplus.search.execution import Listing, Task, run
from periplus.search.explaining import find
from periplus.search.generations import Generation, Generations
from periplus.search.held_back import held_back, keeps_back, own_part, pages_of
from periplus.search.language import without_dashes, words_read
from periplus.search.lens import NO_LENS, spelled, without_blocked
from periplus.search.links import linking
from periplus.search.reading import Understood, name_of, understand
from periplus.search.requests import Checked
from periplus.search.rules import Rules
from periplus.search.spelling import FEW_RESULTS as FEW_FOUND
from periplus.search.spelling import suspects, unknown_among
from periplus.search.terms import Kept, Terms
from periplus.search.text import clean
from periplus.search.usual import documents_on_desk

if TYPE_CHECKING:
    from periplus.search.spelling import Speller
    from periplus.search.syntax import Reading
    from periplus.search.usual import Usual

SUGGESTIONS = 4


def task_of(
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


class Search(Struct, gc=False):
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

    def _outcome(self, text: str) -> Outcome:
        outcome = self._found(text)
        if not self.per_host or outcome.listed > self.checked.last:
            return outcome
        if outcome.listing is None:  # by kernels: as a rule nothing is left, or all of the list is on this page
            if outcome.listed >= outcome.total.value:
                return outcome
            if self.request.page == 1:
                if not any(result.more_from_site for result in outcome.results):
                    return outcome
                return self._whole(text) if outcome.listed == self.per_host else self._followed(outcome)
        return self._continued(outcome)

    def _continued(self, outcome: Outcome) -> Outcome:
        """A list that ends on this page or before it, with what host diversity keeps back."""
        understood = outcome.understood or self._understood(outcome.text)
        task = self._task_of(understood)
        if task is None or not task.per_host:
            return outcome
        size = self.request.size
        is_last = pages_of(outcome.listed, size) == self.request.page
        listing = own_part(self.generation, task, size, outcome.listed, outcome.listing if is_last else None)
        if not keeps_back(listing):
            return outcome
        if len(listing.numbers) == self.per_host:
            return self._whole(outcome.text)
        pages = pages_of(len(listing.numbers), size)
        if self.request.page <= pages:
            return self._followed(outcome)
        first = self.checked.first - pages * size
        rest = held_back(self.generation, task, listing)
        return structs.replace(
            outcome,
            listed=self.checked.first + len(rest.numbers) - first,
            results=[],
            understood=understood,
            listing=rest,
            first=first,
            before=len(listing.numbers),
        )

    def _followed(self, outcome: Outcome) -> Outcome:
        """The same, with a page behind it."""
        return structs.replace(outcome, listed=self.checked.last + 1)

    def _whole(self, text: str) -> Outcome:
        """A list that keeps back results of its only host: nobody needs the room."""
        self.per_host = 0
        return self._found(text)

    def _found(self, text: str) -> Outcome:
        usual = self._usual()
        asked = (self.checked.first, self.checked.last, self.per_host, not self.request.duplicates)
        plain = without_dashes(text)
        if usual is not None and self._is_usual(plain):
            found = usual.found(self.generation, plain, self.request.reader, *asked)
            if found is not None:
                told = (found.missing, found.is_certain, found.kept, found.words)
                return Outcome(plain, found.total, found.listed, found.results, *told)
        understood = self._understood(text)
        words = understood.words
        if usual is not None and words is not None and words.known and not understood.named:
            terms = Terms.of(words.words, words.known)
            now = time.time() if understood.wants_fresh else 0.0
            found = usual.found_of(self.generation, terms, understood.language, now, *asked)
            if found is not None:
                return Outcome(text, found.total, found.listed, found.results, understood=understood)
        listing = self._listed(understood)
        return Outcome(text, listing.total, len(listing.numbers), [], understood=understood, listing=listing)

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
        return understand(self.generation, text, language, filters, rules=self.rules, reader=self.request.reader)

    def _listed(self, understood: Understood) -> Listing:
        self.task = self._task_of(understood)
        return _nothing() if self.task is None else run(self.generation, self.task, self.checked.last + 1)

    def _task_of(self, understood: Understood) -> Task | None:
        """What is to be done for a query; nothing when it contradicts itself."""
        if understood.contradictory:
            return None
        if self.checked.lens.block:
            understood = structs.replace(understood, plan=without_blocked(understood.plan, self.checked.lens))
        fold = not self.request.duplicates
        task = task_of(self.generation, understood, self.checked, self.per_host, self.deadline, fold=fold)
        arranged = self._arranged(task)
        return arranged if self.among is None else self.among.narrowed(arranged, self.generation)

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

    def _corrections(self, outcome: Outcome) -> tuple[str, ...]:
        found, understood = outcome.total.value, outcome.understood
        if understood is None:
            return self._usual_corrections(outcome) if outcome.missing or found <= FEW_FOUND else ()
        occur = understood.words is not None and understood.words.occurs
        return () if occur and found > FEW_FOUND else self._corrected(understood.reading, found)

    def _usual_corrections(self, outcome: Outcome) -> tuple[str, ...]:
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
        self, outcome: Outcome, corrections: tuple[str, ...], corrected: str | None, started: float
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
            since(started),
            self._degraded(understood, listing),
            self.generation.number,
            self._counts() if request.counts else None,
            spelled(lens) if lens is not NO_LENS else "",
        )

    def _counts(self) -> FilterCounts:
        if self.task is None or self.task.plan.empty:
            return FilterCounts()
        return counted(self.generation.snapshot, self.task)

    def _suggestions(self, outcome: Outcome) -> tuple[str, ...]:
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


class Outcome(Struct, gc=False):
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


def since(started: float) -> float:
    """In milliseconds."""
    return round((time.perf_counter() - started) * 1000, 3)


def _nothing() -> Listing:
    return Listing(np.zeros(0, np.int64), np.zeros(0), Total(0), complete=True)
