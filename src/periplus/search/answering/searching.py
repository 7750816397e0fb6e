"""One search in one generation, from what was asked to the answer.

The query is read (``reading.py``) and its list made (``listing.py``). Then come corrections, suggestions and what is
told of the list.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from periplus.index import Filters, IndexQuery, title_print
from periplus.records import FilterCounts, QueryReading, SearchAnswer, SearchRequest, Total
from periplus.search.answering import requests
from periplus.search.answering.answers import ResultPage
from periplus.search.answering.requests import Checked
from periplus.search.opening.context import SearchContext, find
from periplus.search.opening.generations import Generation, OpenGenerations
from periplus.search.ordering.lens import NO_LENS, spelled, without_blocked
from periplus.search.ordering.listing import NO_RESULTS, Listing, Task, run, shard_query
from periplus.search.query.reading import Understood, understand
from periplus.search.query.rules import Rules
from periplus.search.query.text import folded
from periplus.search.shards.exchange import EVERYBODY, Visibility
from periplus.search.suggesting.completion import SUGGESTED_BELOW, title_parts
from periplus.search.suggesting.spelling import Speller, suspects, unwritten
from periplus.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import SearchResult

SUGGESTIONS = 4
NEWS = "news"  # the tab
LONG_AGO = 1.0  # seconds since 1970: a filter that every dated page passes


def task_of(
    context: SearchContext,
    understood: Understood,
    checked: Checked,
    per_host: int,
    deadline: float,
    *,
    collapse: bool = False,
) -> Task:
    limit = 0 if understood.plan.query.filters.sites else per_host  # who asks for one site wants all of it
    link = understood.plan.link
    return Task(
        understood.plan,
        understood.words,
        checked.profile,
        checked.order,
        deadline,
        limit,
        context.generation.sites,
        understood.language,
        time.time() if understood.wants_fresh else 0.0,
        understood.named,
        collapse=collapse,
        visibility=Visibility(only=context.generation.in_links.sources(link)) if link else EVERYBODY,
        title=title_print(understood.title),
    )


class Search(Struct, gc=False):
    """One search in one generation."""

    generations: OpenGenerations
    context: SearchContext
    request: SearchRequest
    query: str  # as people may see it
    checked: Checked
    per_host: int
    deadline: float
    rules: Rules
    tab: str  # the part of the collection that is searched; empty: all of it
    blocked: frozenset[str] = frozenset()  # hosts and addresses that nobody is shown
    notes: list[str] = []

    @property
    def generation(self) -> Generation:
        return self.context.generation

    def answer(self, started: float) -> SearchAnswer:
        """What was asked, or what was probably meant: where words are written nowhere, or where nothing was found.

        What was perhaps meant is offered.
        """
        understood = self._understood(self.request.query)
        doubtful = unwritten(self.generation.lexicon, understood.reading) if self.request.correct else []
        corrections = self._corrections(understood, doubtful, sure=True)
        corrected = self._outcome(self._understood(corrections[0])) if corrections else None
        if corrected is not None and corrected.total.value:
            return self._assembled(corrected, corrections, corrections[0], started)
        tried, outcome = corrections, self._outcome(understood)
        found = outcome.total.value
        doubtful = suspects(self.generation.lexicon, understood.reading, found)
        if not found and self.request.correct:
            corrections = self._corrections(understood, doubtful, sure=True)
            corrected = self._outcome(self._understood(corrections[0])) if corrections not in ((), tried) else None
            if corrected is not None and corrected.total.value:
                return self._assembled(corrected, corrections, corrections[0], started)
        corrections = self._corrections(understood, doubtful)
        return self._assembled(outcome, corrections, None, started)

    def _outcome(self, understood: Understood) -> Outcome:
        task = self._task_of(understood)
        listing = NO_RESULTS if task is None else run(self.context, task, self.checked.last + 1)
        return Outcome(understood, task, listing)

    def _understood(self, text: str) -> Understood:
        language, filters = self.checked.language, self.checked.filters
        generation, shards, reader = self.generation, self.context.shards, self.request.reader
        return understand(generation, shards.find, text, language, filters, rules=self.rules, reader=reader)

    def _task_of(self, understood: Understood) -> Task | None:
        """What is to be done for a query; nothing when it contradicts itself."""
        if understood.contradictory:
            return None
        if self.checked.lens.block:
            understood = structs.replace(understood, plan=without_blocked(understood.plan, self.checked.lens))
        collapse = not self.request.duplicates
        task = task_of(self.context, understood, self.checked, self.per_host, self.deadline, collapse=collapse)
        return self._preferred(self._fresh(understood, self._seen(task)))

    def _fresh(self, understood: Understood, task: Task) -> Task:
        """Of news, time counts as relevance does; who wants nothing but news is given all of it, newest first."""
        if task.order != "score":
            return task
        if self.tab == NEWS:
            return structs.replace(task, now=time.time())
        if not understood.only_news or self.tab or NEWS not in self.generation.tabs:
            return task
        asked = task.plan.query
        dated = structs.replace(asked.filters, after=max(asked.filters.after, LONG_AGO))
        plan = structs.replace(task.plan, query=IndexQuery(filters=dated, excluded=asked.excluded))
        seen = structs.replace(task.visibility, tab=NEWS)
        return structs.replace(task, plan=plan, order="date", now=0.0, visibility=seen)

    def _seen(self, task: Task) -> Task:
        """The task without what nobody may see, or not this reader, or not in this part of the collection."""
        if not (self.request.safe or self.blocked or self.tab):
            return task
        seen = Visibility(self.request.safe, self.blocked, self.tab, task.visibility.only)
        return structs.replace(task, visibility=seen)

    def _preferred(self, task: Task) -> Task:
        """The task with what the reader and the operator prefer."""
        pinned: tuple[int, ...] = ()
        if self.rules.pinned and task.plan.query.filters == Filters():
            found = (find(self.context, url) for url in self.rules.pins(self.request.query))
            numbers = np.array(list(dict.fromkeys(number for number in found if number is not None)), np.int64)
            pinned = tuple(numbers[self.context.shards.visible(task.visibility, numbers)].tolist())
        return structs.replace(task, lens=self.checked.lens, pinned=pinned)

    @traced("search.spelling")
    def _corrections(self, understood: Understood, doubtful: list[str], *, sure: bool = False) -> tuple[str, ...]:
        """The query as it was perhaps meant, or surely, by those of its words that are looked at."""
        speller = self._speller(doubtful)
        if speller is None:
            return ()
        return speller.corrections(understood.reading, doubtful, self._languages(understood), sure=sure)

    def _languages(self, understood: Understood) -> tuple[str, ...]:
        """Languages that a correction may be in, likeliest first: the query's, or the reader's and the main ones.

        None means any.
        """
        main, every = self.generation.languages, self.generation.summary.languages
        told = (understood.told_language,) if understood.told_language else (self.request.reader, *main)
        return tuple(dict.fromkeys([*(language for language in told if language in every), ""])) if main else ()

    def _speller(self, doubtful: list[str]) -> Speller | None:
        """The one to ask about some words, if there are any and there is time left."""
        if not doubtful:
            return None
        if not self._is_in_time():
            self.notes.append("budget")
            return None
        dictionary = self.generations.dictionary(self.generation)
        if dictionary is None:
            self.notes.append("spelling")
            return None
        by_language = self.generation.summary.languages
        return Speller(dictionary, self.generation.lexicon, self.context.shards.count, by_language)

    def _is_in_time(self) -> bool:
        """Whether there is time for corrections."""
        return time.perf_counter() <= self.deadline

    def _assembled(
        self, outcome: Outcome, corrections: tuple[str, ...], corrected: str | None, started: float
    ) -> SearchAnswer:
        request, lens, understood = self.request, self.checked.lens, outcome.understood
        shards = self.context.shards
        page = ResultPage(shards, request, self.checked.first, understood.words, outcome.listing, self.deadline)
        results = page.results()
        counts = self._counts(outcome.task) if request.counts and self._is_in_time() else None
        if page.is_cut or (request.counts and counts is None):
            self.notes.append("budget")
        return SearchAnswer(
            QueryReading(self.query, understood.parsed, corrected),
            results,
            outcome.total,
            request.page,
            request.size,
            requests.next_link(request, self.query, len(outcome.listing.numbers)),
            corrections,
            self._suggestions(outcome, results) if outcome.total.value < SUGGESTED_BELOW else (),
            since(started),
            self._degraded(outcome),
            self.generation.number,
            counts,
            spelled(lens) if lens is not NO_LENS else "",
            shards.coverage,
        )

    def _counts(self, task: Task | None) -> FilterCounts:
        if task is None or task.plan.empty:
            return FilterCounts()
        return self.context.shards.counted(shard_query(self.context, task))

    def _suggestions(self, outcome: Outcome, results: Sequence[SearchResult]) -> tuple[str, ...]:
        """Other queries to try, where this one found little; not what its results are called."""
        words = tuple([word.text for word in outcome.understood.plan.words])
        if not words:
            return ()
        completion = self.generations.completion(self.generation, self.blocked)
        known = {folded(part) for result in results for part in title_parts(result.title)} | {folded(self.query)}
        found = completion.related(words, SUGGESTIONS + len(known), self.rules.never) if completion else []
        return tuple([one.text for one in found if folded(one.text) not in known][:SUGGESTIONS])

    def _degraded(self, outcome: Outcome) -> tuple[str, ...]:
        understood = outcome.understood
        notes = [*outcome.listing.degraded, *self.generation.losses.codes, *self.notes, *self.context.shards.degraded]
        if understood.reading.cut or understood.plan.cut:
            notes.append("query-cut")
        if understood.plan.link and not self.generation.in_links.known:
            notes.append("links")
        return tuple(dict.fromkeys(notes))


class Outcome(Struct, gc=False):
    """What one search found: a list, of which a page is still to be made."""

    understood: Understood
    task: Task | None  # nothing when the query contradicts itself
    listing: Listing

    @property
    def total(self) -> Total:
        return self.listing.total


def since(started: float) -> float:
    """In milliseconds."""
    return round((time.perf_counter() - started) * 1000, 3)
