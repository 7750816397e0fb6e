"""Whatever is typed is answered: random bytes, and queries that people really asked."""

from __future__ import annotations

import random
import time

import pytest

from periplus.ranking import PROFILES
from periplus.records import SearchRequest
from periplus.search.answering.cache import Cache, Repeated

SEED = 20261115


def sane(answer):
    assert answer.total.value >= 0
    assert len(answer.query.parsed) < 10_000
    for result in answer:
        assert all(0 <= start < end <= len(result.snippet) for start, end in result.highlights)
        assert result.title
    return answer


def random_text(generator: random.Random) -> str:
    data = generator.randbytes(generator.randrange(60))
    return generator.choice(
        (data.decode("latin-1"), data.decode("utf-8", "replace"), data.decode("utf-8", "surrogateescape"))
    )


def test_a_thousand_random_byte_strings(engine):
    generator = random.Random(SEED)
    for _ in range(1_000):
        sane(engine.search(SearchRequest(random_text(generator))))


def test_random_pieces_of_the_language(engine):
    generator = random.Random(SEED)
    pieces = [
        "tide",
        "moon",
        "-",
        "+",
        '"',
        "(",
        ")",
        " ",
        " OR ",
        "*",
        "site:",
        "harbour.example",
        "lang:de",
        "intitle:",
    ]
    pieces += [
        "filetype:pdf",
        "before:2026",
        "after:",
        "link:",
        "portol*",
        "the",
        "küste",
        "日本",
        "-site:",
        "inurl:tide",
    ]
    for i in range(400):
        text = "".join(generator.choice(pieces) for _ in range(generator.randrange(1, 10)))
        profile = list(PROFILES)[i % len(PROFILES)]
        sane(
            engine.search(
                SearchRequest(text, profile=profile, explain=i % 3 == 0, sort="date" if i % 5 == 0 else "relevance")
            )
        )
        engine.suggest(text)
        engine.explain(text, "https://harbour.example/tides", profile)


@pytest.mark.shared_data
def test_queries_that_people_asked(engine, shared_data):
    lines = (
        (shared_data / "queries" / "million-query-10000.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    )
    slowest = 0.0
    for line in random.Random(SEED).sample(lines, 200):
        started = time.process_time()
        sane(engine.search(SearchRequest(line.split(":")[-1])))
        slowest = max(slowest, time.process_time() - started)
    assert slowest < 5


def test_the_cache_is_bounded():
    cache: Cache[int] = Cache(3)
    for i in range(10):
        cache.put(i, i + 1)
        cache.get(0)
    assert len(cache) == 3
    assert cache.get(9) == 10
    assert cache.get(0) == 1  # used all the time
    assert cache.get(1) is None
    cache.clear()
    assert len(cache) == 0


def test_what_is_asked_again_is_told_from_what_is_asked_once():
    repeated = Repeated(4)
    assert [repeated.again(word) for word in ("tide", "moon", "tide", "ebb")] == [False, False, True, False]
    assert [repeated.again(number) for number in range(3)] == [False] * 3
    assert repeated.again("moon")  # asked five questions ago
    assert [repeated.again(number) for number in range(10, 18)] == [False] * 8
    assert not repeated.again("moon")  # too long ago
    assert len(repeated) < 8
