from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict

import pytest
import Stemmer

from periplus.errors import UsageError
from periplus.evaluation import (
    MEASURES,
    compare,
    differences,
    evaluate,
    evaluate_run,
    read_collection,
    report,
)

QUERIES = {"1": "tides", "2": "ports", "3": "nobody judged this", "4": "nothing is relevant"}
QRELS = {"1": {"a": 1, "b": 2}, "2": {"c": 1}, "4": {"a": 0}, "99": {"a": 1}}


def always(*documents):
    return lambda text, k: documents[:k]


def test_only_queries_with_a_relevant_document_are_asked():
    asked = []

    def search(text, k):
        asked.append((text, k))
        return ["a"]

    scores = evaluate(search, QUERIES, QRELS, "mine", depth=50)
    assert asked == [("tides", 50), ("ports", 50)]
    assert [query.query for query in scores.by_query] == ["1", "2"]
    assert scores.run == {"1": ["a"], "2": ["a"]}
    assert scores.mean("recall@100") == 0.25
    assert scores.mean("p@10") == 0.05
    assert scores.mean("mrr@10") == 0.5


def test_repeats_and_surplus_do_not_count():
    plain = evaluate(always("x", "a", "b"), QUERIES, QRELS)
    repeated = evaluate(lambda text, k: ["x", "a", "a", "x", "b", "c"], QUERIES, QRELS, depth=3)
    assert plain.by_query == repeated.by_query


def test_time_is_that_of_the_search():
    times = iter(range(100))
    assert evaluate(always("a"), QUERIES, QRELS, clock=lambda: next(times)).seconds == 2


def test_nothing_to_average_is_an_error():
    with pytest.raises(UsageError, match="belong together"):
        evaluate(always("a"), {"7": "x"}, QRELS)
    with pytest.raises(UsageError, match="no query in common"):
        evaluate_run({"7": ["a"]}, QRELS)


def test_a_run_of_another_system():
    scores = evaluate_run({"1": ["b", "a"], "7": ["a"]}, QRELS, "theirs")
    assert [query.query for query in scores.by_query] == ["1", "2", "99"]
    assert scores.values("ndcg@10") == [1.0, 0.0, 0.0]


def test_comparison_of_profiles():
    worse = evaluate(always("x", "a"), QUERIES, QRELS, "worse")
    better = evaluate(always("b", "c", "a"), QUERIES, QRELS, "better")
    found = compare(worse, better)
    assert (found.baseline, found.profile, found.measure) == ("worse", "better", "ndcg@10")
    assert found.difference == pytest.approx(better.mean("ndcg@10") - worse.mean("ndcg@10"))
    assert (found.better, found.worse, found.equal) == (2, 0, 0)
    assert found.p == 0.5  # two queries cannot show more
    assert not found.significant
    assert [pair.query for pair in differences(worse, better, "mrr@10")] == ["1", "2"]
    assert [pair.difference for pair in differences(worse, better, "mrr@10")] == [0.5, 0.5]


def test_profiles_must_have_the_same_queries():
    with pytest.raises(UsageError, match="same queries"):
        compare(evaluate(always("a"), {"1": "x"}, QRELS, "a"), evaluate(always("a"), {"2": "x"}, QRELS, "b"))


def test_the_report_has_the_public_shape():
    one, two = (evaluate(always("a", "c"), QUERIES, QRELS, name) for name in ("bm25", "periplus"))
    found = json.loads(json.dumps(report([one, two])))
    assert [row["profile"] for row in found["profiles"]] == ["bm25", "periplus"]
    for row in found["profiles"]:
        assert list(row) == ["profile", *MEASURES, "queries", "seconds"]
        assert row["queries"] == 2
    (comparison,) = found["comparisons"]
    assert (comparison["baseline"], comparison["profile"], comparison["p"]) == ("bm25", "periplus", 1.0)
    assert report([one])["comparisons"] == []
    assert report([]) == {"profiles": [], "comparisons": []}


# A small BM25 of its own shows that reading, scoring and averaging agree with published figures.

STOP_WORDS = re.compile(
    "(a|an|and|are|as|at|be|but|by|for|if|in|into|is|it|no|not|of|on|or|such|that|the|their|then|there|these|they|this"
    "|to|was|will|with)"
)


class SmallBm25:
    def __init__(self, documents, k1, b):
        self.stem = Stemmer.Stemmer("porter").stemWord
        self.k1, self.b = k1, b
        self.lengths = {}
        self.postings = defaultdict(dict)
        for document in documents:
            words = self.words(f"{document.title} {document.text}")
            self.lengths[document.id] = len(words)
            for word, count in Counter(words).items():
                self.postings[word][document.id] = count
        self.average = sum(self.lengths.values()) / len(self.lengths)

    def words(self, text):
        return [self.stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if not STOP_WORDS.fullmatch(word)]

    def search(self, text, k):
        scores = defaultdict(float)
        for word in self.words(text):
            found = self.postings.get(word, {})
            idf = math.log(1 + (len(self.lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for document, count in found.items():
                norm = 1 - self.b + self.b * self.lengths[document] / self.average
                scores[document] += idf * count * (self.k1 + 1) / (count + self.k1 * norm)
        return sorted(scores, key=lambda document: (-scores[document], document))[:k]


PUBLISHED = {  # nDCG@10 and MAP of plain BM25, from the README beside the collections
    ("cranfield", 0.9, 0.4): (0.352, 0.289),
    ("cranfield", 1.2, 0.75): (0.368, 0.307),
    ("cacm", 1.2, 0.75): (0.507, 0.363),
    ("cisi", 1.2, 0.75): (0.381, 0.217),
    ("med", 1.2, 0.75): (0.683, 0.522),
    ("adi", 1.2, 0.75): (0.481, 0.412),
}


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "k1", "b"), PUBLISHED)
def test_plain_bm25_has_the_published_scores(shared_data, name, k1, b):
    collection = read_collection(shared_data / "relevance" / name)
    engine = SmallBm25(collection.documents(), k1, b)
    scores = evaluate(engine.search, collection.queries, collection.qrels)
    ndcg, average_precision = PUBLISHED[name, k1, b]
    assert scores.mean("ndcg@10") == pytest.approx(ndcg, abs=0.001)
    assert scores.mean("map") == pytest.approx(average_precision, abs=0.001)
