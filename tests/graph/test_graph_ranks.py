"""Published ranks: lookups, the prior, generations, damage; and the way from batches to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graph_samples import page
from hypothesis import given
from hypothesis import strategies as st

from periplus import addresses
from periplus.errors import Corrupt, Incompatible, UsageError
from periplus.graph import NO_VERTICES, RankStore, VertexRanks, prior, refresh_ranks
from periplus.graph.ranks import Pointer
from periplus.records import Anchor, Link
from periplus.settings import RankSettings


def keys(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.fixture
def store(tmp_path: Path) -> RankStore:
    return RankStore(tmp_path / "ranks")


def publish(store: RankStore, ranks=(0.1, 0.6, 0.3), last_batch: int = 7):
    return store.publish(
        VertexRanks(keys(30, -5, 12), np.array(ranks)),
        VertexRanks(keys(2, 1), np.array([0.9, 0.1])),
        last_batch=last_batch,
    )


def test_keys_far_apart_are_in_order(store: RankStore) -> None:
    """Their difference does not fit into 64 bits."""
    far = keys(-(1 << 62) - 5, 1 << 62)
    table = store.publish(VertexRanks(far, np.array([0.4, 0.6])), VertexRanks(keys(1), np.array([1.0])), last_batch=1)
    assert table.page_rank(1 << 62) == pytest.approx(0.6)


def test_nothing_is_published_at_first(store: RankStore) -> None:
    assert store.current() is None
    store.verify()


def test_ranks_are_looked_up_by_key(store: RankStore) -> None:
    publish(store)
    table = store.current()
    assert table is not None
    assert (table.generation, table.pages, table.hosts, table.last_batch) == (1, 3, 2, 7)
    assert table.page(keys(12, 99, -5, 30, -99)).tolist() == [0.3, 0, 0.6, 0.1, 0]
    assert table.host(keys(1, 3)).tolist() == [0.1, 0]
    assert (table.page_rank(12), table.page_rank(13), table.host_rank(2)) == (0.3, None, 0.9)


def test_empty_ranks(store: RankStore) -> None:
    table = store.publish(NO_VERTICES, NO_VERTICES, last_batch=0)
    assert table.prior(keys(1, 2), keys(1, 2)).tolist() == [0, 0]
    assert table.anchors(1) == ()


def test_a_new_generation_replaces_the_old_and_readers_keep_theirs(store: RankStore, tmp_path: Path) -> None:
    first = publish(store)
    for number in range(3):
        publish(store, (0.2, 0.2, 0.6), 8 + number)
    assert first.page(keys(12)).tolist() == [0.3]
    current = store.current()
    assert current is not None
    assert (current.generation, current.last_batch) == (4, 10)
    assert sorted(path.name for path in (tmp_path / "ranks").iterdir()) == ["3", "4", "current.json"]


def test_a_half_written_generation_is_never_seen(store: RankStore, tmp_path: Path) -> None:
    publish(store)
    (tmp_path / "ranks" / "2").mkdir()
    (tmp_path / "ranks" / "2" / "page_keys.npy").write_bytes(b"half")
    current = store.current()
    assert current is not None
    assert current.generation == 1
    assert publish(store).generation == 3


def test_a_generation_swept_while_it_is_opened(store: RankStore, monkeypatch) -> None:
    publish(store)
    publish(store)
    pointed = iter([Pointer(1, 1), Pointer(2, 1)])
    (store._files.path("1/page_keys.npy")).unlink()
    monkeypatch.setattr(store, "_pointer", lambda: next(pointed))
    current = store.current()
    assert current is not None
    assert current.generation == 2


def test_damage_is_noticed(store: RankStore, tmp_path: Path) -> None:
    publish(store)
    folder = tmp_path / "ranks" / "1"
    data = (folder / "page_ranks.npy").read_bytes()
    (folder / "page_ranks.npy").write_bytes(data[:-1] + b"\x00")
    with pytest.raises(Corrupt):
        store.verify()
    (folder / "page_ranks.npy").write_bytes(data[:-9])
    with pytest.raises(Corrupt):
        store.current()
    (folder / "page_ranks.npy").unlink()
    with pytest.raises(Corrupt):
        store.current()
    (tmp_path / "ranks" / "current.json").write_text("{")
    with pytest.raises(Corrupt):
        store.current()
    (tmp_path / "ranks" / "current.json").write_text('{"generation": 1, "format": 99}')
    with pytest.raises(Incompatible):
        store.current()


def test_keys_and_ranks_must_match(store: RankStore) -> None:
    with pytest.raises(UsageError):
        store.publish(VertexRanks(keys(1), np.empty(0)), NO_VERTICES, last_batch=0)


@given(st.lists(st.floats(1e-12, 1.0), min_size=2, max_size=20))
def test_the_prior_is_bounded_and_monotone(ranks: list[float]) -> None:
    ordered = np.array(sorted(ranks))
    values = prior.scaled(ordered, ordered[0])
    assert values[0] == 0
    assert values.max() < 1
    assert (np.diff(values) >= 0).all()


def test_a_page_without_links_inherits_from_its_host(store: RankStore) -> None:
    table = publish(store)
    unknown, least, best = table.prior(keys(99, 30, -5), keys(2, 1, 1))
    assert least == 0
    assert 0 < unknown < 0.5
    assert best == pytest.approx(np.log(6) / (np.log(6) + np.log(30)))
    assert table.prior(keys(30), keys(2))[0] == unknown
    assert table.prior(keys(99), keys(99)).tolist() == [0]


A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"


def test_from_batches_to_published_ranks(log, store: RankStore) -> None:
    log.append([page(A, Link(B, "harbour of b")), page(C, Link(B, "harbour of b")), page(B, A)])
    seen = []
    refresh_ranks(log, store, progress=lambda iteration, change: seen.append(iteration))
    table = store.current()
    assert table is not None
    ranks = table.page(keys(*(addresses.page_key(url) for url in (A, B, C))))
    assert ranks[1] > ranks[0] > ranks[2] > 0
    assert ranks.sum() == pytest.approx(1)
    assert (table.pages, table.hosts, table.meta.links, table.meta.host_links, table.last_batch) == (3, 3, 3, 3, 1)
    assert table.meta.top_pages[0].name == B
    assert table.meta.top_hosts[0].name == "b.example"
    assert [row.iteration for row in table.meta.page_history] == seen
    assert table.anchors(addresses.page_key(B)) == (Anchor("harbour of b", 2),)
    pages = keys(addresses.page_key(A), addresses.page_key(C))
    hosts = keys(addresses.host_key("a.example"), addresses.host_key("c.example"))
    priors = table.prior(pages, hosts)
    assert priors[0] > priors[1]


def test_a_refresh_starts_from_the_ranks_before(log, store: RankStore) -> None:
    log.append([page(A, B, C), page(B, A), page(C, B)])
    cold = refresh_ranks(log, store)
    log.append([page("https://d.example/", A)])
    warm = refresh_ranks(log, store)
    assert (warm.generation, warm.pages, warm.last_batch) == (2, 4, 2)
    assert len(refresh_ranks(log, store).meta.page_history) <= 2 < len(cold.meta.page_history)


def test_random_jumps_may_lead_to_trusted_hosts_alone(log, store: RankStore) -> None:
    log.append([page(A, B), page(B), page(C, A)])
    table = refresh_ranks(log, store, RankSettings(trusted=("a.example",), jump="trusted"))
    assert table.page_rank(addresses.page_key(C)) is None  # nobody links to it, and no jump leads there
    assert table.host_rank(addresses.host_key("c.example")) is None
    a, b = (table.page_rank(addresses.page_key(url)) for url in (A, B))
    assert a == pytest.approx(1 / 1.85)
    assert b == pytest.approx(0.85 / 1.85)
    nobody = refresh_ranks(log, store, RankSettings(trusted=("z.example",), jump="trusted"))
    assert nobody.page_rank(addresses.page_key(C)) is not None


def test_a_refresh_of_nothing(log, store: RankStore) -> None:
    table = refresh_ranks(log, store)
    assert (table.pages, table.hosts, table.last_batch) == (0, 0, 0)
    assert refresh_ranks(log, store).generation == 2
