"""``Engine``: one collection, open for questions from many threads."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from msgspec import structs

from periplus import addresses
from periplus.errors import NotReady, SettingError
from periplus.records import SearchRequest
from periplus.search.answering import requests
from periplus.search.answering.answers import ResultPage
from periplus.search.answering.cache import Cache, Repeated
from periplus.search.answering.explaining import explain
from periplus.search.answering.searching import Search, since, task_of
from periplus.search.opening.context import SearchContext, find_in_all
from periplus.search.opening.generations import OpenGenerations
from periplus.search.ordering.listing import candidates, run, without
from periplus.search.query.reading import Understood, understand
from periplus.search.query.rule_book import RuleBook
from periplus.search.query.syntax import ParsedQuery
from periplus.search.query.text import clean
from periplus.search.query.vectors import WordVectors
from periplus.search.shards.broker import FOREVER, GenerationGone, ShardLost
from periplus.search.shards.exchange import Visibility
from periplus.search.suggesting.asked import PastQueries
from periplus.search.suggesting.completion import by_words
from periplus.search.suggesting.popular import read_popular
from periplus.search.suggesting.similar import likeness
from periplus.storage import Blocklist, LocalFiles
from periplus.text import analysis_steps, analyze
from periplus.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from periplus.index import StoredDocument
    from periplus.ranking import Evidence
    from periplus.records import Explanation, SearchAnswer, SearchResult, Suggestion
    from periplus.search.answering.requests import Checked
    from periplus.search.opening.generations import GenerationSource
    from periplus.search.query.rules import Rules
    from periplus.settings import Settings
    from periplus.storage import Shares, State

T = TypeVar("T")

CACHED_ANSWERS = 1_024  # of about 10 kB each, asked for at least twice
FIRST_BUDGET = 10.0  # seconds, at least, for the first answer: what all searches need has to be loaded for it
REMEMBERED = 8_192  # questions, to tell which are asked again
PASSING = frozenset({"budget", "spelling"})  # degradations that may be gone at the next call: not cached
MIXED_SCRIPTS = "tide\u6f6e\u6c50 e\u0301"  # needs all the patterns that words are found by
MAX_TEXT = 100_000  # code points that ``analyze`` takes


class AskedRequest(NamedTuple):
    """A request with what decides its answer besides the generation."""

    checked: Checked
    per_host: int | None  # None: the setting
    rules: Rules
    tab: str
    deadline: float
    started: float


def _told(answer: SearchAnswer) -> dict[str, str | int]:
    """What a trace tells of an answer: no word of the query."""
    return {
        "results": len(answer.results),
        "total": answer.total.value,
        "generation": answer.generation,
        "degraded": " ".join(answer.degraded),
    }


class Engine:
    """Answers queries over the newest published generation of the collection in ``folder``.

    All methods may be called from any thread. ``reload`` swaps to a newer generation while searches run on.
    """

    def __init__(
        self, folder: Path, settings: Settings, source: GenerationSource | None = None, *, state: State | None = None
    ) -> None:
        """``source`` opens generations; without one, the index in ``folder`` is searched in this process.

        ``state`` is what servers of the same collection agree by; it is not asked for by a search.
        """
        self._settings = settings
        files = LocalFiles(folder)
        self._past = PastQueries(state, files) if settings.search.past_queries else None
        self._folder, self._popular = folder, read_popular(folder, settings.search.popular)
        vectors = WordVectors.open(folder, settings.search.vectors)
        self._generations = OpenGenerations(folder, self._known_queries, source, vectors)
        self._answers: Cache[SearchAnswer] = Cache(CACHED_ANSWERS)
        self.kept_answers = 0  # that were given again
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
    def has_words(self) -> bool:
        """Whether the spell checker of the open generation is made; answers from before that are not kept for long."""
        try:
            with self._generations.use() as generation:
                return generation.lazy_dictionary.is_built
        except NotReady:
            return False

    @property
    def damage(self) -> tuple[str, ...]:
        """What answers do without because it is damaged, a sentence each."""
        return self._generations.damage

    def take(self, settings: Settings) -> None:
        """Answer by these from the next query on: profile, results of a host, time that an answer may take."""
        self._settings = settings

    def reload(self) -> bool:
        """Take up a newer generation and the operator's rules; true when there was a newer generation."""
        rules = self._rule_book.current()
        if rules != self._rules:
            self._rules = rules
            self._answers.clear()
        return self._generations.reload()

    def _known_queries(self) -> dict[str, int]:
        """Popular queries and those that people asked, with their counts, for completion."""
        with suppress(SettingError):  # what was read before serves until the file is in order again
            self._popular = read_popular(self._folder, self._settings.search.popular)
        found = dict(self._popular)
        for query, times in (self._past.counts if self._past else {}).items():
            found[query] = found.get(query, 0) + times
        return found

    @property
    def sharing(self) -> tuple[Shares, ...]:
        """What agrees with other servers of the same collection."""
        return (self._blocklist, self._rule_book, *([self._past] if self._past else []))

    def warm(self) -> None:
        """Gather the words for spelling, the completion and the tables of letters now instead of on demand."""
        analyze(MIXED_SCRIPTS)
        with self._generations.use() as generation:
            generation.hide(self._blocked())
            generation.warm()

    def close(self) -> None:
        self._generations.close()
        self._answers.clear()
        if self._past is not None:
            self._past.close()

    @traced("search", _told)
    def search(self, request: SearchRequest, *, per_host: int | None = None, tab: str = "") -> SearchAnswer:
        """The answer to ``request``. ``per_host`` overrides the setting; 0 turns host diversity off.

        ``tab`` is the part of the collection that is searched, such as its news.
        """
        started = time.perf_counter()
        rules = self._rules
        checked = requests.check(request, self._settings, rules)
        deadline = started + self._budget()

        def answered(context: SearchContext) -> SearchAnswer:
            return self._answered(context, request, AskedRequest(checked, per_host, rules, tab, deadline, started))

        return self._over_shards(answered, deadline)

    def _answered(self, context: SearchContext, request: SearchRequest, asked: AskedRequest) -> SearchAnswer:
        """The answer of one generation; one that was given before, where it is still known."""
        generation = context.generation
        limit = self._settings.search.per_host if asked.per_host is None else asked.per_host
        if request.reader:
            request = structs.replace(request, reader=generation.language_of(request.reader))
        query = clean(request.query)
        plain = request if query == request.query else structs.replace(request, query=query)
        # Corrections by the words of the generation before are not kept for longer than these serve.
        blocked = self._blocked()
        profile = asked.checked.profile.name  # the setting may change while answers are kept
        key = (plain, profile, limit, generation.number, generation.lazy_dictionary.is_built, asked.tab, blocked)
        asked_before = self._repeated.again(key)
        answer = self._answers.get(key) if asked_before else None
        if answer is not None:
            self.kept_answers += 1
            return structs.replace(answer, took_ms=since(asked.started))
        answer = Search(
            self._generations,
            context,
            request,
            query,
            asked.checked,
            limit,
            asked.deadline,
            asked.rules,
            asked.tab,
            blocked,
        ).answer(asked.started)
        self._has_answered = True
        if asked_before and answer.coverage == 1.0 and not PASSING.intersection(answer.degraded):
            self._answers.put(key, answer)
        return answer

    def _over_shards(self, job: Callable[[SearchContext], T], deadline: float = FOREVER) -> T:
        """What ``job`` makes of one generation as a whole.

        It is begun again without a shard that went away meanwhile. Where only the generation before is left of a shard,
        that one answers, if it is still open here.
        """
        generation = self._generations.enter()
        try:
            context = SearchContext(generation, generation.shards.until(deadline))
            while True:
                try:
                    return job(context)
                except ShardLost:
                    context = SearchContext(generation, context.shards.again())
                except GenerationGone as gone:
                    before = self._generations.enter_before(generation.number)
                    if before is None:
                        context = SearchContext(generation, context.shards.without(gone.place))
                        continue
                    self._generations.leave(generation)
                    generation = before
                    context = SearchContext(generation, generation.shards.until(deadline))
        finally:
            self._generations.leave(generation)

    @property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection that are searched by themselves; none before a generation is published."""
        try:
            with self._generations.use() as generation:
                return generation.tabs
        except NotReady:
            return ()

    def hosts(self) -> tuple[str, ...]:
        """All hosts that have documents and are shown; none before a generation is published."""
        blocked = self._blocked()
        try:
            with self._generations.use() as generation:
                return tuple(host for host in generation.summary.hosts if host and host not in blocked)
        except NotReady:
            return ()

    def search_tab(self, request: SearchRequest, tab: str) -> tuple[SearchAnswer, dict[str, dict[str, str]]]:
        """The results that belong to one tab, and what each says of itself, by its id."""
        asked = structs.replace(request, explain=False, counts=False)
        answer = structs.replace(self.search(asked, per_host=0, tab=tab), suggestions=())
        return answer, self.facts(answer.results, tab)

    def facts(self, results: Sequence[SearchResult], tab: str) -> dict[str, dict[str, str]]:
        """What pages say of themselves that belongs to one tab, by the ids of their results."""
        return self._over_shards(lambda context: _facts(context, results, tab))

    def kinds(self, results: Sequence[SearchResult]) -> dict[str, int]:
        """How many of ``results`` belong to each tab that there is."""
        tabs = self.tabs
        if not tabs or not results:
            return {}

        def counted(context: SearchContext) -> dict[str, int]:
            found = context.shards.find([addresses.key(result.url) for result in results if result.url])
            numbers = np.array([number for number in found if number is not None], np.int64)
            return {tab: int(context.shards.visible(Visibility(tab=tab), numbers).sum()) for tab in tabs}

        return self._over_shards(counted)

    def _blocked(self) -> frozenset[str]:
        """What the operator hides now; ``Corrupt`` where that cannot be told, since nothing may be shown by mistake."""
        return self._blocklist.targets()

    def _budget(self) -> float:
        """Seconds that an answer may take."""
        usual = self._settings.search.budget_ms / 1000
        return usual if self._has_answered else max(usual, FIRST_BUDGET)

    def ranking(
        self, query: str, k: int = 1_000, profile: str = "", *, plain: bool = True, exhaustive: bool = False
    ) -> list[tuple[str, float]]:
        """Ids and scores of the best ``k``, without host diversity, correction or snippets: for evaluation.

        Judged queries are prose: unless ``plain`` is false, their quotes, brackets and signs are not operators. With
        ``exhaustive`` the profile scores every page that has a word of the query, not the best of a first pass.
        """
        given = requests.check(SearchRequest(query, profile=profile), self._settings)

        def ranked(context: SearchContext) -> list[tuple[str, float]]:
            checked = _over_all(given, context.generation.summary.live) if exhaustive else given
            understood = understand(context.generation, context.shards.find, query, plain=plain)
            listing = run(context, task_of(context, understood, checked, 0, FOREVER), k)
            ids = context.shards.ids(listing.numbers[:k])
            return list(zip(ids, listing.scores[:k].tolist(), strict=True))

        return self._over_shards(ranked)

    def evidence(self, query: str, profile: str = "") -> tuple[list[str], Evidence]:
        """Ids of the candidates that a profile orders, and what it knows of them: for learning its weights."""
        checked = requests.check(SearchRequest(query, profile=profile), self._settings)

        def known(context: SearchContext) -> tuple[list[str], Evidence]:
            understood = understand(context.generation, context.shards.find, query, plain=True)
            found = candidates(context, task_of(context, understood, checked, 0, FOREVER))
            return context.shards.ids(found.numbers), found.evidence

        return self._over_shards(known)

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Completions of what was typed so far, best first."""
        with self._generations.use() as generation:
            completion = self._generations.completion(generation, self._blocked())
            never = self._rules.never
            if completion is None:
                return by_words(generation.lexicon, text, limit, never)
            return completion.complete(text, limit, never)

    def asked(self, query: str, person: str) -> None:
        """Count a query for completion, unless the setting is off; ``person`` tells people apart and is not kept."""
        if self._past is not None:
            self._past.note(query, person)

    def explain(self, query: str, url: str, profile: str = "", reader: str = "") -> Explanation:
        """Why the page at ``url`` has the score that it has for ``query``, or why it is not found at all."""
        checked = requests.check(SearchRequest(query, profile=profile), self._settings)

        def explained(context: SearchContext) -> Explanation:
            language = context.generation.language_of(reader)
            understood = understand(context.generation, context.shards.find, query, rules=self._rules, reader=language)
            return explain(context, understood, task_of(context, understood, checked, 0, FOREVER), url)

        return self._over_shards(explained)

    def stored(self, url: str) -> StoredDocument | None:
        """The page at ``url`` as the index keeps it; ``None`` when it is not indexed."""

        def kept(context: SearchContext) -> StoredDocument | None:
            number = find_in_all(context, url)
            seen = Visibility(blocked=self._blocked())
            if number is None or not context.shards.visible(seen, np.array([number], np.int64))[0]:
                return None
            return context.shards.stored(number)

        return self._over_shards(kept)

    def holds(self, key: int) -> bool:
        """Whether a document has this key; wherever its shard is, none is opened here for it."""
        return self._over_shards(lambda context: context.shards.find([key])[0] is not None)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """How many documents of the collection have each of these terms."""
        with self._generations.use() as generation:
            return [int(count) for count in generation.summary.vocabulary.frequencies(list(terms))]

    def similar(self, url: str, k: int = 10) -> list[SearchResult]:
        """Pages with the telling words of the page at ``url``, best first; none when it is not indexed."""
        request = SearchRequest("", size=min(max(k, 1), requests.MAX_SIZE))
        checked = requests.check(request, self._settings)

        def alike(context: SearchContext) -> list[SearchResult]:
            number, generation = find_in_all(context, url), context.generation
            if number is None:
                return []
            plan = likeness(generation.lexicon, context.shards.stored(number))
            words = generation.lexicon.known(plan.words)
            understood = Understood("", ParsedQuery(), plan, "", wants_fresh=False, named=(), words=words)
            task = task_of(context, understood, checked, self._settings.search.per_host, FOREVER)
            task = structs.replace(task, visibility=Visibility(blocked=self._blocked()))
            listing = without(run(context, task, checked.last + 1), number)
            return list(ResultPage(context.shards, request, checked.first, words, listing).results())

        return self._over_shards(alike)

    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]:
        """The steps by which ``text`` becomes terms."""
        return analysis_steps(text[:MAX_TEXT], language)


def _over_all(checked: Checked, documents: int) -> Checked:
    """The request with every document as a candidate of its profile."""
    wider = structs.replace(checked.profile, candidates=max(documents, checked.profile.candidates))
    return structs.replace(checked, profile=wider)


def _facts(context: SearchContext, results: Sequence[SearchResult], tab: str) -> dict[str, dict[str, str]]:
    """What results say of themselves, for a tab, by their ids."""
    named = [result for result in results if result.url]
    found = context.shards.find([addresses.key(result.url) for result in named])
    there = [number for number in found if number is not None]
    facts = iter(context.shards.facts(np.array(there, np.int64), tab) if there else ())
    return {result.id: {} if number is None else next(facts) for result, number in zip(named, found, strict=True)}
