"""Who stands in for an address that is not in the index: by random webs, against a walk that anyone can follow."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.documents import BatchLog
from periplus.jobs.aliases import Aliases, AliasTable
from periplus.jobs.stand_ins import HOPS, LateStandIns, choose, found_all_the_same, standing
from periplus.records import Document
from periplus.storage import Database, LocalFiles
from support.postgres import postgres_address  # noqa: F401 (a fixture)

if TYPE_CHECKING:
    from collections.abc import Iterable

    Step = tuple[list[tuple[str, str]], bool]  # rows of a batch, and whether the index follows then

NAMES = "abcdefg"
FATES = ("", "noindex", "gone", "removed", *(f"{how} {name}" for how in ("canonical", "redirect") for name in NAMES))

webs = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(FATES), max_size=len(NAMES))


def way(web: dict[str, str], name: str) -> list[str]:
    """The addresses that follow a page, until the way ends or repeats itself."""
    seen = [name]
    while " " in web.get(seen[-1], ""):
        following = web[seen[-1]].split()[1]
        if following in seen:
            return [*seen[1:], following]
        seen.append(following)
    return seen[1:]


def is_found(web: dict[str, str], name: str) -> bool:
    """The rule, said of one page."""
    fate = web.get(name)
    if fate == "":
        return True
    if fate is None or not fate.startswith("canonical"):
        return False
    follows = way(web, name)
    if name in follows or follows == []:
        return True
    end = web.get(follows[-1])
    if end in ("", "removed"):
        return False
    return not any(web.get(other, "").startswith("canonical") for other in follows)


def url(name: str) -> str:
    return f"http://{name}.test/"


def document(name: str, fate: str) -> Document:
    kind, _, named = fate.partition(" ")
    refusal = {"canonical": "canonical-elsewhere", "redirect": "redirected"}.get(kind, fate)
    canonical = url(named) if named and named != name else ""
    refusal = refusal if canonical or not named else ""
    text = f"Words of {name}" if refusal in ("", "canonical-elsewhere") else ""
    return Document(url(name), addresses.key(url(name)), 1.0, refusal=refusal, canonical=canonical, text=text,
                    word_count=len(text.split()), content_hash=hash(name))  # fmt: skip


def settled(web: dict[str, str]) -> dict[str, str]:
    """A page that names itself is simply found."""
    return {name: "" if fate.endswith(f" {name}") else fate for name, fate in web.items()}


def arrays(web: dict[str, str]) -> tuple[Aliases, np.ndarray, np.ndarray]:
    naming = sorted((addresses.key(url(name)), name) for name, fate in web.items() if " " in fate)
    targets = [web[name].split()[1] for _, name in naming]
    is_page = [web[name].startswith("canonical") for _, name in naming]
    keys = np.array([key for key, _ in naming], np.int64)
    target_keys = np.array([addresses.key(url(target)) for target in targets], np.int64)
    none = np.zeros(len(keys), np.int64)
    aliases = Aliases(keys, target_keys, none, np.array(is_page, np.bool_), none, none)
    state = [web.get(target) for target in targets]
    return aliases, np.array([one == "" for one in state]), np.array([one == "removed" for one in state])


@given(webs)
@example({"a": "canonical b", "b": "redirect a"})
@example({"a": "canonical b", "b": "canonical c", "c": "canonical b"})
@example({"a": "canonical b", "b": "redirect c", "c": "redirect b"})
def test_the_rule(given_web: dict[str, str]) -> None:
    web = settled(given_web)
    aliases, in_index, removed = arrays(web)
    if not len(aliases.keys):
        return
    shown = set(aliases.keys[standing(aliases, in_index, removed)].tolist())
    names = {addresses.key(url(name)): name for name in web}
    assert {names[key] for key in shown} == {name for name, fate in web.items() if " " in fate and is_found(web, name)}


@given(webs)
def test_no_page_is_lost(given_web: dict[str, str]) -> None:
    web = settled(given_web)
    for name, fate in web.items():
        if fate.startswith("canonical"):
            follows = way(web, name)
            assert is_found(web, name) or any(is_found(web, other) or web.get(other) == "removed" for other in follows)


def ring(length: int) -> Aliases:
    keys = np.arange(length, dtype=np.int64)
    none = np.zeros(length, np.int64)
    return Aliases(keys, np.roll(keys, -1), none, np.ones(length, np.bool_), none, none)


def test_long_ways_lose_nothing() -> None:
    for length in (2, HOPS, HOPS + 1, 10 * HOPS):
        nothing = np.zeros(length, np.bool_)
        assert standing(ring(length), nothing, nothing).all()
    chain = ring(10 * HOPS)._replace(targets=np.arange(1, 10 * HOPS + 1))
    nothing = np.zeros(10 * HOPS, np.bool_)
    shown = standing(chain, nothing, nothing)
    assert shown[-1]
    assert not shown[-HOPS:-1].any()  # near the end they give way to the last
    assert shown[: -HOPS - 1].all()


def test_ten_thousand_circles() -> None:
    pairs = ring(20_000)._replace(targets=np.arange(20_000) ^ 1)
    assert standing(pairs, np.zeros(20_000, np.bool_), np.zeros(20_000, np.bool_)).all()


_logged = st.tuples(st.sampled_from(NAMES), st.sampled_from([fate for fate in FATES if fate != "removed"]))


@settings(max_examples=20)
@given(st.lists(st.tuples(st.lists(_logged, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=6))
def test_an_index_that_follows_the_log_holds_what_the_rule_says(steps: list[Step]) -> None:
    """Batches of random rows; after some of them the index is brought up, as the index step does it."""
    with tempfile.TemporaryDirectory() as folder, Database.open(Path(folder) / "state.db") as database:
        log = BatchLog(LocalFiles(Path(folder)), database)
        index = Index(log, AliasTable(database, log), Path(folder))
        for batch, is_indexed in steps:
            log.append([document(name, fate) for name, fate in batch])
            if is_indexed:
                index.follow()
        index.follow()
        web = settled({name: fate for batch, _ in steps for name, fate in batch})
        assert {one.url for one in index.held.values()} == {url(name) for name in NAMES if is_found(web, name)}
        assert all(one.text for one in index.held.values())


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_the_table_is_made_again_when_rows_are_missing_or_batches_have_other_numbers(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("postgres_address") if kind == "postgresql" else tmp_path / "state.db"
    with Database.open(address) as database:
        log = BatchLog(LocalFiles(tmp_path), database)
        table = AliasTable(database, log)
        last = [log.append([document("a", "canonical b")]), log.append([document("c", "redirect a")])][-1]
        table.follow(last, last)
        whole = [column.tolist() for column in table.all()]
        assert [len(column) for column in whole] == [2] * 6
        for harm in ("DELETE FROM aliases WHERE is_page = 1", "UPDATE aliases SET batch = 77", "DELETE FROM meta"):
            with database.write() as tx:
                tx.execute(harm)
            table.follow(last, last)
            assert [column.tolist() for column in table.all()] == whole


class Index:
    """What an index does with documents, without words."""

    def __init__(self, log: BatchLog, table: AliasTable, folder: Path) -> None:
        self._log, self._table, self._folder = log, table, folder
        self._last = 0
        self.held: dict[int, Document] = {}

    def follow(self) -> None:
        numbers = self._log.numbers(self._last)
        if not numbers:
            return
        chosen = choose(self._table, self._last, numbers[-1], self._holds)
        for number in numbers:
            shown = chosen.shown.get(number, frozenset())
            self._take(found_all_the_same(one, shown) for one in self._log.documents(number))
        self._take(LateStandIns(self._log, chosen))
        self._last = numbers[-1]

    def _holds(self, keys: np.ndarray) -> np.ndarray:
        return np.array([key in self.held for key in keys.tolist()], np.bool_)

    def _take(self, documents: Iterable[Document]) -> None:
        for one in documents:
            self.held.pop(one.key, None)
            if one.indexable:
                self.held[one.key] = one
