"""``Engine``: one collection, open for questions from many threads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from periplus.errors import NotReady
from periplus.records import SearchRequest
from periplus.search import requests
from periplus.search.answers import ResultPage
from periplus.search.asked import PastQueries
from periplus.search.cache import Cache, Repeated
from periplus.search.completion import by_words
from periplus.search.exchange import Visibility
from periplus.search.explaining import explain, find_in_all
from periplus.search.generations import Generation, OpenGenerations
from periplus.search.listing import candidates, run, without
from periplus.search.reading import Understood, understand
from periplus.search.rule_book import RuleBook
from periplus.search.searching import Search, since, task_of
from periplus.search.similar import likeness
from periplus.search.syntax import ParsedQuery
from periplus.search.text import clean
from periplus.storage import Blocklist, LocalFiles
from periplus.text import analysis_steps, analyze

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.index import StoredDocument
    from periplus.ranking import Evidence
    from periplus.records import Explanation, SearchAnswer, SearchResult, Suggestion
    from periplus.settings import Settings
    from periplus.storage import Shares
    from periplus.storage.shared import State

CACHED_ANSWERS = 1_024  # of about 10 kB each, asked for at least twice
FIRST_BUDGET = 10.0  # seconds, at least, for the first answer: what all searches need has to be loaded for it
REMEMBERED = 8_192  # questions, to tell which are asked again
PASSING = frozenset({"budget", "spelling"})  # degradations that may be gone at the next call: not cached
MIXED_SCRIPTS = "tide\u6f6e\u6c50 e\u0301"  # needs all the patterns that words are found by
MAX_TEXT = 100_000  # code points that ``analyze`` takes


class Engine:
    """Answers queries over the newest published generation of the collection in ``folder``.

    All methods may be called from any thread. ``reload`` swaps to a newer generation while searches run on.
    """

    def __init__(self, folder: Path, settings: Settings, *, state: State | None = None) -> None:
        """``state`` is what servers of the same collection agree by; it is not asked for by a search."""
        self._settings = settings
        files = LocalFiles(folder)
        self._past = PastQueries(state, files) if settings.search.past_queries else None
        self._generations = OpenGenerations(folder, lambda: self._past.counts if self._past else {})
        self._answers: Cache[SearchAnswer] = Cache(CACHED_ANSWERS)
        self._repeated = Repeated(REMEMBERED)
        self._has_answered = False
        self._rule_book = RuleBook(folder, settings.search.rules, state)
        self._rules = self._rule_book.current()
        self._blocklist = Blocklist(files, state)
        self._generations.reload()

    @property
    def generation(self) -> int:
        """The number of the open generation; 0 when there is none yet."""
        return self._generations.number

    @property
    def ready(self) -> bool:
        return self._generations.ready

    @property
    def damage(self) -> tuple[str, ...]:
        """What answers do without because it is damaged, a sentence each."""
        return self._generations.damage

    def reload(self) -> bool:
        """Take up a newer generation and the operator's rules; true when there was a newer generation."""
        rules = self._rule_book.current()
        if rules != self._rules:
            self._rules = rules
            self._answers.clear()
        return self._generations.reload()

    @property
    def sharing(self) -> tuple[Shares, ...]:
        """What agrees with other servers of the same collection."""
        return (self._blocklist, self._rule_book, *([self._past] if self._past else []))

    def warm(self) -> None:
        """Build the speller, the completion and the tables of letters now instead of on demand."""
        analyze(MIXED_SCRIPTS)
        with self._generations.use() as generation:
            generation.hide(self._blocked())
            generation.warm()

    def close(self) -> None:
        self._generations.close()
        self._answers.clear()
        if self._past is not None:
            self._past.close()

    def search(self, request: SearchRequest, *, per_host: int | None = None, tab: str = "") -> SearchAnswer:
        """The answer to ``request``. ``per_host`` overrides the setting; 0 turns host diversity off.

        ``tab`` is the part of the collection that is searched, such as its news.
        """
        started = time.perf_counter()
        rules = self._rules
        checked = requests.check(request, self._settings, rules)
        generation = self._generations.enter()
        try:
            limit = self._per_host(generation) if per_host is None else per_host
            if request.reader:
                request = structs.replace(request, reader=generation.language_of(request.reader))
            query = clean(request.query)
            asked = request if query == request.query else structs.replace(request, query=query)
            # Corrections by the words of the generation before are not kept for longer than these serve.
            blocked = self._blocked()
            key = (asked, limit, generation.number, generation.lazy_speller.is_built, tab, blocked)
            asked_before = self._repeated.again(key)
            answer = self._answers.get(key) if asked_before else None
            if answer is None:
                deadline = started + self._budget()
                answer = Search(
                    self._generations, generation, request, query, checked, limit, deadline, rules, tab, blocked
                ).answer(started)
                self._has_answered = True
                if asked_before and not PASSING.intersection(answer.degraded):
                    self._answers.put(key, answer)
                return answer
        finally:
            self._generations.leave(generation)
        return structs.replace(answer, took_ms=since(started))

    @property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection that are searched by themselves; none before a generation is published."""
        try:
            with self._generations.use() as generation:
                return generation.tabs
        except NotReady:
            return ()

    def search_tab(self, request: SearchRequest, tab: str) -> tuple[SearchAnswer, dict[str, dict[str, str]]]:
        """The results that belong to one tab, and what each says of itself, by its id."""
        asked = structs.replace(request, explain=False, counts=False)
        answer = structs.replace(self.search(asked, per_host=0, tab=tab), suggestions=())
        with self._generations.use() as generation:
            found = {result.id: generation.facts(result.url, tab) for result in answer.results if result.url}
        return answer, found

    def _blocked(self) -> frozenset[str]:
        """What the operator hides now; ``Corrupt`` where that cannot be told, since nothing may be shown by mistake."""
        return self._blocklist.targets()

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
            task = task_of(generation, understood, checked, 0, float("inf"))
            listing = run(generation, task, k)
            ids = generation.shards.ids(listing.numbers[:k])
            return list(zip(ids, listing.scores[:k].tolist(), strict=True))

    def evidence(self, query: str, profile: str = "") -> tuple[list[str], Evidence]:
        """Ids of the candidates that a profile orders, and what it knows of them: for learning its weights."""
        checked = requests.check(SearchRequest(query, profile=profile), self._settings)
        with self._generations.use() as generation:
            understood = understand(generation, query, plain=True)
            task = task_of(generation, understood, checked, 0, float("inf"))
            known = candidates(generation, task)
            return generation.shards.ids(known.numbers), known.evidence

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Completions of what was typed so far, best first."""
        with self._generations.use() as generation:
            completion = self._generations.completion(generation, self._blocked())
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
            understood = understand(generation, query, rules=self._rules, reader=generation.language_of(reader))
            return explain(generation, understood, task_of(generation, understood, checked, 0, float("inf")), url)

    def stored(self, url: str) -> StoredDocument | None:
        """The page at ``url`` as the index keeps it; ``None`` when it is not indexed."""
        with self._generations.use() as generation:
            number = find_in_all(generation, url)
            seen = Visibility(blocked=self._blocked())
            if number is None or not generation.shards.visible(seen, np.array([number], np.int64))[0]:
                return None
            return generation.shards.stored(number)

    def similar(self, url: str, k: int = 10) -> list[SearchResult]:
        """Pages with the telling words of the page at ``url``, best first; none when it is not indexed."""
        request = SearchRequest("", size=min(max(k, 1), requests.MAX_SIZE))
        checked = requests.check(request, self._settings)
        with self._generations.use() as generation:
            number = find_in_all(generation, url)
            if number is None:
                return []
            plan = likeness(generation.lexicon, generation.shards.stored(number))
            words = generation.lexicon.known(plan.words)
            understood = Understood("", ParsedQuery(), plan, "", wants_fresh=False, named=(), words=words)
            task = task_of(generation, understood, checked, self._per_host(generation), float("inf"))
            task = structs.replace(task, visibility=Visibility(blocked=self._blocked()))
            listing = without(run(generation, task, checked.last + 1), number)
            return list(ResultPage(generation, request, checked.first, words, listing).results())

    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]:
        """The steps by which ``text`` becomes terms."""
        return analysis_steps(text[:MAX_TEXT], language)
