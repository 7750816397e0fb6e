"""What a generation leaves behind when another takes its place: nothing."""

from __future__ import annotations

import gc
import weakref

from search_samples import PATIENT, build, page

from periplus.records import SearchRequest
from periplus.search import Engine


def test_a_generation_is_released_without_the_collector_of_cycles(tmp_path):
    """Servers tell the collector to leave alone what they began with, and must not keep its files for ever."""
    build(tmp_path, [page("https://a.example/", "Walrus", "walrus tide")])
    engine = Engine(tmp_path, PATIENT)
    engine.warm()
    engine.search(SearchRequest("walrus", counts=True, explain=True))
    engine.suggest("wal")
    with engine._generations.use() as generation:
        released = weakref.ref(generation.summary.snapshot)
    del generation
    gc.collect()
    gc.disable()
    try:
        build(tmp_path, [page("https://b.example/", "Walrus", "walrus again")], 2)
        assert engine.reload()
        assert released() is None
    finally:
        gc.enable()
    engine.close()
