"""What readers and the operator prefer: lenses, synonyms, pinned results, folded duplicates, counts for the filters."""

from __future__ import annotations

import random
from contextlib import closing

import pytest
from search_samples import DOCUMENTS, PATIENT, all_pages, anchors_of, build, page, prior_of

from periplus.errors import SettingError, UsageError
from periplus.records import Count, SearchRequest
from periplus.search import Engine
from periplus.settings import SearchSettings, Settings
from support.explanations import check

RULES = """
[[synonyms]]
words = ["starfish", "sea star", "asteroid"]

[[synonyms]]
words = ["kraken", "portolan"]

[[pinned]]
queries = ["opening hours", "Tide  TABLES"]
urls = ["https://www.charts.example/", "https://nowhere.example/", "https://harbour.example/pilots"]

[lenses.charts]
raise = ["charts.example"]
lower = ["harbour.example"]

[suggest]
never = ["pilots"]
"""


def urls(answer):
    return [result.url for result in answer]


def ask(engine, query, **options):
    return engine.search(SearchRequest(query, **options))


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ruled")
    build(folder, DOCUMENTS, anchors=anchors_of, prior=prior_of)
    (folder / "rules.toml").write_text(RULES, encoding="utf-8")
    engine = Engine(folder, Settings(search=SearchSettings(rules="rules.toml")))
    yield engine
    engine.close()


# Lenses


def test_a_blocked_site_is_left_out(engine):
    answer = ask(engine, "tide", lens="block:harbour.example")
    assert answer.lens == "block:harbour.example"
    assert answer.results
    assert not any("harbour.example" in url for url in urls(answer))


def test_a_raised_site_gains_and_a_lowered_one_loses(engine):
    plain = urls(ask(engine, "tide", size=20))
    chart = "https://www.charts.example/portolan"
    raised = urls(ask(engine, "tide", lens="raise:charts.example", size=20))
    lowered = urls(ask(engine, "tide", lens="lower:charts.example", size=20))
    assert raised.index(chart) < plain.index(chart) <= lowered.index(chart)
    assert set(raised) == set(plain)


def test_a_pinned_site_comes_first_whatever_its_score(engine):
    answer = ask(engine, "tide", lens="pin:manual.example, lower:harbour.example", explain=True)
    assert answer.results[0].url == "https://manual.example/guide.pdf"
    assert answer.lens == "lower:harbour.example,pin:manual.example"
    for result in answer:
        assert check(result.explain) == ""
        assert result.explain.value == pytest.approx(result.score)


def test_a_lens_of_the_operator_is_called_by_its_name(ruled):
    answer = ask(ruled, "tide", lens="charts")
    assert answer.lens == "raise:charts.example,lower:harbour.example"
    assert answer.results[0].url == "https://www.charts.example/portolan"


@pytest.mark.parametrize("lens", ["unknown", "raise:", "raise:a b", "praise:a.example", "block:/"])
def test_an_unknown_lens_is_a_mistake_that_is_named(engine, lens):
    with pytest.raises(UsageError, match="lens="):
        ask(engine, "tide", lens=lens)


def test_a_lens_has_a_bound(engine):
    with pytest.raises(UsageError, match="more than"):
        ask(engine, "tide", lens=",".join(f"block:a{i}.example" for i in range(500)))


def test_the_lens_goes_on_to_the_next_page(engine):
    answer = ask(engine, "tide", size=1, lens="block:charts.example", duplicates=True, counts=True)
    for part in ("lens=block%3Acharts.example", "duplicates=1", "counts=1"):
        assert part in answer.next


# The operator's file


def test_a_synonym_is_found_and_counts_once(ruled, engine):
    assert urls(ask(engine, "asteroid", correct=False)) == []
    assert urls(ask(ruled, "asteroid"))[0] == "id:doc-2"
    both = ask(ruled, "kraken parchment", explain=True)
    assert both.results[0].url == "https://www.charts.example/portolan"
    assert check(both.results[0].explain) == ""


def test_a_phrase_has_synonyms_and_may_be_one(ruled):
    assert "id:doc-2" in urls(ask(ruled, "sea star"))
    assert ask(ruled, '"asteroid"', correct=False).total.value == 0  # who quotes a word means that word


def test_pinned_results_come_first_in_the_order_of_the_file(ruled):
    answer = ask(ruled, "tide tables", explain=True)
    assert urls(answer)[:2] == ["https://www.charts.example/", "https://harbour.example/pilots"]
    assert [result.pinned for result in answer][:3] == [True, True, False]
    assert len(set(urls(answer))) == len(answer)
    assert answer.results[0].explain.name == "pinned"
    only = ask(ruled, "opening hours", correct=False)
    assert urls(only)[:2] == ["https://www.charts.example/", "https://harbour.example/pilots"]
    assert only.total.value >= 2


def test_a_filter_is_stronger_than_a_pin(ruled):
    assert not any(result.pinned for result in ask(ruled, "tide tables", site="kueste.example"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[synonyms]\n", "line 1"),
        ("[[synonyms]]\nwords = ['one']\n", "two different words"),
        ("[[pinned]]\nqueries = 'x'\nurls = []\n", "array"),
        ("[lenses.a]\npraise = ['x.example']\n", "praise"),
        ("[lenses.a]\nraise = ['a b']\n", "not a host name"),
        ("\udcff", "not as it should be"),
    ],
)
def test_a_damaged_file_says_where(collection, tmp_path, text, said):
    path = tmp_path / "rules.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingError, match=said) as caught:
        Engine(collection, Settings(search=SearchSettings(rules=str(path))))
    assert "search.rules" in str(caught.value)
    assert "\n" not in str(caught.value).split("(at")[0]


def test_a_missing_file_is_an_error(collection):
    with pytest.raises(SettingError, match="cannot be read"):
        Engine(collection, Settings(search=SearchSettings(rules="nothing.toml")))


def test_new_rules_are_taken_up_at_a_reload(tmp_path):
    build(tmp_path, DOCUMENTS)
    path = tmp_path / "rules.toml"
    path.write_text("", encoding="utf-8")
    engine = Engine(tmp_path, Settings(search=SearchSettings(rules="rules.toml")))
    assert not any(result.pinned for result in ask(engine, "tide tables"))
    path.write_text(RULES, encoding="utf-8")
    engine.reload()
    assert ask(engine, "tide tables").results[0].pinned
    path.write_text("[[", encoding="utf-8")
    with pytest.raises(SettingError):
        engine.reload()
    assert ask(engine, "tide tables").results[0].pinned  # the last good rules stay
    engine.close()


# Near-duplicates


@pytest.fixture
def doubled(tmp_path):
    """Three copies of one text, whose fingerprints differ in few bits, and another text."""
    near = [1 << 40, (1 << 40) | 1, (1 << 40) | 6]
    copies = [
        page(f"https://copy{i}.example/a", "Copied", "the same tide text " * 9, fingerprint=value)
        for i, value in enumerate(near)
    ]
    other = page("https://other.example/a", "Other", "quite another tide text", fingerprint=-(1 << 50))
    bare = [page(f"https://bare{i}.example/a", "Bare", "tide", fingerprint=0) for i in range(2)]
    build(tmp_path, [*copies, other, *bare])
    engine = Engine(tmp_path, PATIENT)
    yield engine
    engine.close()


def test_a_pinned_page_that_does_not_match_hides_nothing(tmp_path):
    """It is shown besides all that does."""
    own = [page(f"https://a.example/{i}", "Tide", f"tide {'sea ' * i}") for i in range(4)]
    build(tmp_path, [*own, page("https://b.example/", "Tide", "tide"), page("https://c.example/", "Visit", "us")])
    path = tmp_path / "rules.toml"
    path.write_text('[[pinned]]\nqueries = ["tide"]\nurls = ["https://c.example/"]\n', encoding="utf-8")
    settings = Settings(search=SearchSettings(rules="rules.toml", budget_ms=120_000))
    with closing(Engine(tmp_path, settings)) as engine:
        first = ask(engine, "tide")
        assert first.results[0].pinned
        assert len(first.results) == 6
        assert first.next is None


@pytest.mark.parametrize("size", [2, 10])
def test_what_is_kept_back_does_not_end_early_among_copies(tmp_path, size):
    """Most of one host are copies of each other; the rest of them come all the same."""
    generator = random.Random(3)
    prints = [generator.getrandbits(62) for _ in range(60)]
    copies = [
        page(f"https://a.example/{i}", "Tide", "tide " * 9, fingerprint=prints[0 if i < 300 else i % 60])
        for i in range(400)
    ]
    others = [
        page(f"https://{host}.example/", "Tide", "tide sea", fingerprint=host_print)
        for host, host_print in (("b", 5 << 40), ("c", 9 << 50))
    ]
    build(tmp_path, [*copies, *others])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        pages = all_pages(engine, "tide", size=size)
        assert not ask(engine, "tide", page=len(pages) + 1, size=size).results
    assert all(one.results for one in pages)
    found = [result.url for one in pages for result in one]
    assert len(found) == len(set(found)) == 62


@pytest.mark.parametrize("explain", [False, True], ids=["by kernels", "by steps"])
@pytest.mark.parametrize("size", [3, 7, 10, 20])
def test_pages_agree_where_a_list_with_copies_ends(tmp_path, size, explain):
    """How far it is asked for decides how far near-duplicates are looked for, and with that where it ends."""
    generator = random.Random(7)
    prints = [generator.getrandbits(62) for _ in range(90)]
    first = [page(f"https://first.example/{i}", "Tide", "tide " * 9, fingerprint=prints[i]) for i in range(90)]
    behind = [
        page(f"https://copy{i % 4}.example/{i}", "Sea", "tide " + "sea " * (20 + i), fingerprint=prints[i])
        for i in range(8)
    ]
    build(tmp_path, [*first, *behind])
    with closing(Engine(tmp_path, PATIENT)) as engine:
        found = [result for one in all_pages(engine, "tide", size=size, explain=explain) for result in one]
    assert [result.rank for result in found] == list(range(1, len(found) + 1))
    assert len({result.url for result in found}) == len(found)
    assert {result.url for result in found} >= {document.url for document in first}


def test_near_duplicates_are_folded_into_the_best(doubled):
    answer = ask(doubled, "tide")
    assert len(answer) == 4
    assert sorted(result.duplicates for result in answer) == [0, 0, 0, 2]
    assert answer.total.value == 6
    shown = ask(doubled, "tide", duplicates=True)
    assert len(shown) == 6
    assert not any(result.duplicates for result in shown)


def test_pages_are_filled_after_folding(doubled):
    first = ask(doubled, "tide", size=3)
    second = ask(doubled, "tide", size=3, page=2)
    assert len(first) == 3
    assert len(second) == 1
    assert not set(urls(first)) & set(urls(second))


# Counts


def test_matches_are_counted_by_site_language_type_and_year(engine):
    assert ask(engine, "tide").counts is None
    counts = ask(engine, "tide", counts=True).counts
    assert counts.relation == "eq"
    assert counts.site[0] == Count("harbour.example", 5)
    assert Count("application/pdf", 1) in counts.type
    assert counts.language == (Count("en", 11),)
    assert [count.value for count in counts.year] == ["2026", "2025", "2024"]
    narrowed = ask(engine, "tide", counts=True, site=counts.site[0].value)
    assert narrowed.total.value == counts.site[0].count


def test_counts_of_filters_alone_and_of_nothing(engine):
    counts = ask(engine, "site:harbour.example", counts=True).counts
    assert counts.site == (Count("harbour.example", 5),)
    assert ask(engine, "", counts=True).counts.site == ()
    assert ask(engine, "tide -site:harbour.example", counts=True).counts.site[0].value != "harbour.example"
