"""Completion: prefixes, words inside, weights and bounds."""

from __future__ import annotations

import contextlib
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from search_samples import PATIENT, build, page

from periplus.core.words import completing
from periplus.errors import SettingError
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.query.text import folded
from periplus.search.suggesting import completion
from periplus.search.suggesting.completion import (
    ENOUGH,
    INSIDE_SHARE,
    MAX_BEGINNINGS,
    MISTAKEN_SHARE,
    Completion,
    by_words,
    title_parts,
)
from periplus.search.suggesting.popular import read_popular
from periplus.settings import SearchSettings
from support.own_time import own_seconds


def made(*entries: tuple[str, float]) -> Completion:
    return Completion({text.lower(): (text, weight) for text, weight in entries})


def texts(suggestions):
    return [suggestion.text for suggestion in suggestions]


ENTRIES = made(("Tide tables", 1.0), ("Tidal power", 3.0), ("High tide", 1.5), ("Harbour", 2.0))


def test_prefixes_by_weight_then_words_inside():
    assert texts(ENTRIES.complete("tid", 8)) == ["Tidal power", "Tide tables", "High tide"]


def test_several_words_and_case_and_accents():
    assert texts(ENTRIES.complete("HIGH  ti", 8)) == ["High tide"]
    assert texts(made(("cafe noir", 1.0)).complete("Café", 8)) == ["cafe noir"]


def test_words_behind_a_hyphen_are_completed():
    entries = made(("git-rebase(1)", 1.0), ("re-based", 0.5))
    assert texts(entries.complete("reb", 8)) == ["git-rebase(1)"]
    assert texts(entries.complete("bas", 8)) == ["re-based"]
    assert texts(entries.complete("git-reb", 8)) == ["git-rebase(1)"]


@pytest.mark.parametrize("letter", ["a", "b", "c"])
def test_entries_that_are_alike_for_long_are_told_apart(letter):
    """In an order of their first letters alone, those that go on as typed would not stand together."""
    begin = "how to read the tables of the western coast in "
    entries = made(*[(f"{begin}{one}{i}", 1.0 + i) for i in range(8) for one in "cab"])
    assert texts(entries.complete(begin + letter, 8)) == [f"{begin}{letter}{i}" for i in reversed(range(8))]


def test_limit_and_nothing():
    assert len(ENTRIES.complete("t", 1)) == 1
    assert ENTRIES.complete("", 8) == []
    assert ENTRIES.complete("zzz", 8) == []
    assert ENTRIES.complete("t", 0) == []


def test_an_entry_is_given_once():
    assert texts(made(("tide by tide", 1.0)).complete("tide", 8)) == ["tide by tide"]


def test_from_titles_headings_and_sites(engine):
    assert "Tide tables for the western coast" in texts(engine.suggest("tide"))
    assert "How to read a tide table" in texts(engine.suggest("how to"))
    assert "harbour.example" in texts(engine.suggest("harb"))
    assert texts(engine.suggest("harb"))[0] in ("harbour.example", "Harbour Office")


def test_fast_on_many_entries():
    many = Completion({f"w{i % 977} entry {i}": (f"w{i % 977} entry {i}", float(i % 31)) for i in range(50_000)})
    many.complete("warm", 8)
    typed = ("w", "w1", "w12 e", "entry 4", "entri 4", "nothing like this")
    assert own_seconds(lambda: [many.complete(text, 8) for text in typed]) < 0.5


@pytest.mark.parametrize("typed", ["harbuor", "hrbour", "harboour", "hatbour", "high tiide", "tidal pwoer"])
def test_one_mistake_is_forgiven_behind_the_first_letter(typed):
    assert len(ENTRIES.complete(typed, 8)) == 1


def test_exact_matches_come_before_mistaken_ones():
    entries = made(("harbour", 1.0), ("harbor", 100.0))
    assert texts(entries.complete("harb", 8)) == ["harbor", "harbour"]


def test_words_never_to_suggest():
    assert texts(ENTRIES.complete("tid", 8, frozenset({"power"}))) == ["Tide tables", "High tide"]


words = st.text(alphabet="abé ", min_size=1, max_size=12)


@settings(deadline=None)
@given(st.lists(st.tuples(words, st.integers(1, 9)), max_size=12), words)
def test_exact_matches_equal_the_obvious_way(entries, typed):
    known = {}
    for text, weight in entries:
        plain = folded(text)
        if plain and plain not in known:
            known[plain] = (plain, float(weight))
    typed = folded(typed)
    expected = {}
    for plain, (_, weight) in known.items():
        words = plain.split(" ")
        if typed and plain.startswith(typed):
            expected[plain] = weight
        elif typed and any(" ".join(words[i:]).startswith(typed) for i in range(1, len(words[:MAX_BEGINNINGS]))):
            expected[plain] = weight * INSIDE_SHARE
    found = Completion(known).complete(typed, 50)
    exact = {one.text: one.weight for one in found if one.text in expected}
    assert exact == pytest.approx(expected)


def mistaken(typed: bytes) -> set[bytes]:
    """With one mistake behind the first letter: one too much, two swapped, a wrong one, one missing."""
    found = set()
    for place in range(1, len(typed)):
        before, here, behind = typed[:place], typed[place : place + 1], typed[place + 1 :]
        found.add(before + behind)
        if behind:
            found.add(before + behind[:1] + here + behind[1:])
        for letter in range(ord("a"), ord("z") + 1):
            found |= {before + bytes([letter]) + behind, before + bytes([letter]) + here + behind}
    return found - {typed}


def worth(plain: str, typed: bytes) -> float:
    """Of a word of an entry that begins so."""
    places = [match.start() for match in re.finditer(r"\w+", plain)]
    whole = plain.encode()
    begins = [place for place in places if whole[len(plain[:place].encode()) :].startswith(typed)]
    return 1.0 if 0 in begins else INSIDE_SHARE if begins else 0.0


likely = st.text(alphabet="abzø ", min_size=1, max_size=14)
# Alike in their first letters, to any length that is compared.
long = st.builds(
    lambda size, rest: "ab" * (size // 2) + rest, st.integers(0, 60), st.text(alphabet="abz ", min_size=1, max_size=4)
)


@settings(deadline=None)
@given(
    st.lists(likely | long, max_size=30),
    likely | long.filter(lambda text: len(text) <= completion.MAX_TYPED),
    st.sampled_from([1, 2, 50]),
)
def test_mistaken_matches_equal_the_obvious_way(entries, typed, limit):
    known = {folded(text): float(1 + i) for i, text in enumerate(entries) if folded(text)}
    typed = folded(typed).encode()
    expected = {plain: weight * worth(plain, typed) for plain, weight in known.items() if typed}
    expected = {plain: value for plain, value in expected.items() if value}
    if len(expected) < min(ENOUGH, limit) and len(typed) >= 4:
        others = [spelling for spelling in mistaken(typed) if len(spelling) < len(typed) + 2]
        for plain, weight in known.items():
            best = max(worth(plain, other) for other in others) * weight * MISTAKEN_SHARE
            if best > expected.get(plain, 0.0):
                expected[plain] = best
    found = Completion({plain: (plain, weight) for plain, weight in known.items()}).complete(typed.decode(), limit)
    best = sorted(expected.values(), reverse=True)[:limit]
    assert [one.weight for one in found] == pytest.approx(best)
    assert all(expected[one.text] == pytest.approx(one.weight) for one in found)


def test_what_another_process_made_is_found_here():
    ENTRIES.complete("tid", 8)
    other = pickle.loads(pickle.dumps(ENTRIES))
    assert texts(other.complete("tidal pwoer", 8)) == texts(ENTRIES.complete("tidal pwoer", 8)) == ["Tidal power"]


def test_both_sides_know_the_same_bounds():
    assert completing.KEY_BYTES == completion.KEY_BYTES
    assert completion.MAX_TYPED < completing.MAX_TYPED


@pytest.mark.parametrize("typed", ["w", "w1", "e", "entry 1", "x"])
def test_the_best_of_very_many_equal_the_obvious_way(typed):
    """More rows than several blocks; weights that repeat."""
    known = {f"w{i % 19} entry {i}": float((i * 7919) % 211) for i in range(3_000)}
    worths = {}
    for plain, weight in known.items():
        if plain.startswith(typed):
            worths[plain] = weight
        elif any(part.startswith(typed) for part in (plain.split(" ", 1)[1], plain.rsplit(" ", 1)[1])):
            worths[plain] = weight * INSIDE_SHARE
    found = Completion({plain: (plain, weight) for plain, weight in known.items()}).complete(typed, 8)
    assert [one.weight for one in found] == sorted(worths.values(), reverse=True)[:8]
    assert all(worths[one.text] == one.weight for one in found)


def test_link_texts_and_past_queries_are_entries(engine):
    with engine._generations.use() as generation:
        built = Completion.build(generation.summary, {"tide calendar": 5}, {"when is low tide": 7})
    assert "tide calendar" in texts(built.complete("tide cal", 8))
    assert "when is low tide" in texts(built.complete("low ti", 8))


@given(st.text(max_size=60))
def test_any_text_may_be_typed(text):
    assert len(ENTRIES.complete(text, 8)) <= 4


# What is never offered, and what an operator seeds.


def shown(completion, text, limit=8, **options):
    return [one.text for one in completion.complete(text, limit, **options)]


def test_unfit_words_are_offered_only_when_they_were_typed_whole():
    entries = {"porn studies": ("Porn studies", 9.0), "portolan charts": ("Portolan charts", 1.0)}
    completion = Completion(entries)
    assert shown(completion, "por") == ["Portolan charts"]
    assert shown(completion, "porn")[0] == "Porn studies"
    assert "Porn studies" not in shown(completion, "porn", never=frozenset(["porn"]))
    assert [one.text for one in completion.related(["por"], 4)] == ["Portolan charts"]


def test_unfit_words_of_the_dictionary_are_offered_only_when_they_were_typed_whole():
    class Words:
        def prefix(self, text, limit):
            return [(word, 1) for word in ("porn", "portolan") if word.startswith(text)][:limit]

    assert [one.text for one in by_words(Words(), "old por", 8)] == ["old portolan"]
    assert [one.text for one in by_words(Words(), "old porn", 8)] == ["old porn"]


@pytest.mark.parametrize(
    ("title", "parts"),
    [
        ("3.2. Tides and moons", ["Tides and moons"]),
        ("3.2 Tides", ["Tides"]),
        ("Chapter 5: Tides | Almanac", ["Tides", "Almanac"]),
        ("Appendix B. Tables", ["Tables"]),
        ("Chapter 44 - Access control lists", ["Access control lists"]),
        ("Kapitola 4. Instalace", ["Instalace"]),
        ("第3章 よくある質問", ["よくある質問"]),
        ("10장. Network infrastructure", ["Network infrastructure"]),
        ("Apache 2.4 notes", ["Apache 2.4 notes"]),
        ("Almanac - 4. Storms", ["Almanac", "Storms"]),
        ("3D charts", ["3D charts"]),
        ("2001 A Space Odyssey", ["2001 A Space Odyssey"]),
        ("Part of the coast", ["Part of the coast"]),
        ("3.11", ["3.11"]),
    ],
)
def test_titles_are_completed_without_the_numbers_of_chapters(title, parts):
    assert title_parts(title) == parts


def test_headings_that_every_page_has_do_not_add_up(tmp_path):
    """A title comes before a heading of a manual's every page, and numbers of sections are no completions."""
    manual = [page(f"https://a.example/{i}", f"Class {i}", "text", headings=("Contents", "3.12")) for i in range(30)]
    build(tmp_path, [*manual, page("https://b.example/", "Contour lines", "text")])
    with contextlib.closing(Engine(tmp_path, PATIENT)) as engine:
        assert texts(engine.suggest("cont")) == ["Contour lines", "Contents"]
        assert texts(engine.suggest("3.")) == []


def test_links_are_completed_without_the_numbers_of_chapters():
    class Bare:
        hosts = ()

        def titled_pages(self):
            return []

    built = Completion.build(Bare(), {"17.2 Job control": 5, "6.21": 9})
    assert texts(built.complete("job", 8)) == ["Job control"]
    assert texts(built.complete("6", 8)) == []


def test_popular_queries_seed_completion(tmp_path):
    build(tmp_path, [page("https://a.example/", "Tides", "the tide")])
    (tmp_path / "popular.txt").write_text("tide tables today\t5000\n\ntidal power\n", encoding="utf-8")
    engine = Engine(tmp_path, structs.replace(PATIENT, search=SearchSettings(popular="popular.txt")))
    assert [one.text for one in engine.suggest("tid")][:2] == ["tide tables today", "tidal power"]
    engine.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"tide\tmany\n", "line 1: 'many' is no count"), (b"\xff\n", "not UTF-8"), (None, "cannot be read")],
)
def test_a_bad_file_of_popular_queries_is_an_error(tmp_path, content, reason):
    if content is not None:
        (tmp_path / "popular.txt").write_bytes(content)
    with pytest.raises(SettingError, match=re.escape(reason)):
        read_popular(tmp_path, "popular.txt")


def test_popular_queries_are_bounded(tmp_path, monkeypatch):
    (tmp_path / "popular.txt").write_text("a\nb\nc\n", encoding="utf-8")
    monkeypatch.setattr("periplus.search.suggesting.popular.MAX_POPULAR", 2)
    with pytest.raises(SettingError, match="more than 2 queries"):
        read_popular(tmp_path, "popular.txt")
    monkeypatch.setattr("periplus.search.suggesting.popular.MAX_BYTES", 3)
    with pytest.raises(SettingError, match="larger than 3 bytes"):
        read_popular(tmp_path, "popular.txt")
    assert read_popular(tmp_path, "") == {}


def test_related_searches_are_not_the_only_result_again(tmp_path):
    titles = {"Sextant care": "polish", "Sextant makers": "brass", "Old instruments": "nothing else"}
    pages = [page(f"https://a.example/{i}", title, text) for i, (title, text) in enumerate(titles.items())]
    build(tmp_path, pages)
    engine = Engine(tmp_path, PATIENT)
    answer = engine.search(SearchRequest("+sextant +polish"))
    assert [result.title for result in answer.results] == ["Sextant care"]
    assert answer.suggestions == ("Sextant makers",)
    engine.close()


def test_similar_pages_are_in_the_language_of_the_page(tmp_path):
    said = "tide moon harbour lantern"
    pages = [page(f"https://a.example/{i}", "Tide", said, language="en") for i in range(3)]
    pages += [page("https://a.example/de", "Tide", said, language="de"), page("https://a.example/x", "Other", "words")]
    build(tmp_path, pages)
    engine = Engine(tmp_path, PATIENT)
    assert {result.url for result in engine.similar("https://a.example/0")} == {
        "https://a.example/1",
        "https://a.example/2",
    }
    assert engine.similar("https://a.example/de") == []
    engine.close()
