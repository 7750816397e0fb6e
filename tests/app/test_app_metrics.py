"""What ``/metrics`` says of a real collection: every name is in the table, every label bounded, figures as they are."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from periplus import Collection
from periplus.app.backups import back_up, open_store
from periplus.app.console.figures import disk_by_part
from periplus.app.serving.backend import CollectionBackend
from periplus.demo import DemoWeb
from periplus.settings import Settings
from periplus.storage import folder_lock
from periplus.web import create_app
from periplus.web.serving.metric_table import BY_NAME, CRAWL_STATES, JOBS, OUTCOMES, PARTS
from web.asgi_client import Client


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.setattr("periplus.app.console.figures.KEPT_SECONDS", 0.0)
    monkeypatch.setattr("periplus.app.console.figures.DISK_SECONDS", 0.0)
    with DemoWeb() as web, Collection(tmp_path / "c") as collection:
        collection.create()
        backend = CollectionBackend(collection)
        client = Client(create_app(backend, Settings()))
        client.get("/metrics")  # what the journal has from now on is counted
        collection.crawl(web.seeds(), max_pages=6, scope="host", delay=0.01, resolve=web.resolve)
        yield collection, client


def scraped(client) -> dict[str, dict[tuple[str, ...], float]]:
    families = list(text_string_to_metric_families(client.get("/metrics").text))
    return {
        family.name: {tuple(sample.labels.values()): sample.value for sample in family.samples} for family in families
    }


def test_every_name_is_in_the_table_and_every_label_bounded(served):
    collection, client = served
    collection.index()
    collection.rank()
    client.get("/search?q=tide")
    told = scraped(client)

    assert set(told) <= set(BY_NAME)
    not_here = {"periplus_shard_questions", "periplus_shard_seconds", "periplus_shard_load", "periplus_shard_ready"}
    assert set(BY_NAME) - set(told) == not_here | {"periplus_backup_timestamp_seconds"}
    assert {state for (state,) in told["periplus_crawl_state"]} == set(CRAWL_STATES)
    assert {job for (job,) in told["periplus_job_running"]} == set(JOBS)
    assert {part for (part,) in told["periplus_disk_bytes"]} == set(PARTS)
    assert {outcome for (outcome,) in told["periplus_crawl_requests"]} <= set(OUTCOMES)


def test_the_figures_are_those_of_the_collection(served, tmp_path):
    collection, client = served
    before = scraped(client)
    assert before["periplus_index_waiting_batches"][()] > 0
    assert "periplus_index_documents" not in before
    collection.index()
    collection.rank()
    back_up(collection, open_store(str(tmp_path / "kept")))
    collection.engine.warm()
    for query in ("tide", "tide", "tide", "zephyrical", "tide&counts=1", "tide&explain=1"):
        client.get(f"/api/v1/search?q={query}")
    client.get("/api/v1/search?q=tide&page=0")
    told = scraped(client)
    status = collection.status()

    assert told["periplus_crawl_pages"][()] == status.pages
    assert told["periplus_crawl_state"][("done",)] == 1
    assert told["periplus_crawl_requests"][("ok",)] >= status.pages
    assert told["periplus_crawl_bytes"][()] > 1_000
    assert told["periplus_crawl_short_gaps"][()] == 0
    assert told["periplus_index_documents"][()] == status.index.documents
    assert told["periplus_index_waiting_batches"][()] == 0
    assert told["periplus_index_newest_page_timestamp_seconds"][()] <= status.index.created
    assert told["periplus_searches"][()] == 6
    assert told["periplus_search_zero_results"][()] == 1
    assert told["periplus_search_cached"][()] >= 1
    assert told["periplus_backup_timestamp_seconds"][()] > status.index.created
    assert told["periplus_damaged_files"][()] == told["periplus_state_lost"][()] == 0
    assert told["process_resident_memory_bytes"][()] > 10_000_000
    assert sum(disk_by_part(collection.folder).values()) == sum(
        path.stat().st_size for path in collection.folder.rglob("*") if path.is_file()
    )


def test_jobs_under_way_are_seen(served):
    collection, client = served

    assert scraped(client)["periplus_job_running"][("build",)] == 0
    with folder_lock(collection.folder / "building.lock", "indexing"):
        assert scraped(client)["periplus_job_running"][("build",)] == 1


def test_a_lost_state_is_told_and_hides_nothing_else(served):
    collection, client = served
    collection.index()
    collection.close()
    (collection.folder / "state.db").unlink()
    told = scraped(client)

    assert told["periplus_state_lost"][()] == 1
    assert told["periplus_disk_free_bytes"][()] > 0
