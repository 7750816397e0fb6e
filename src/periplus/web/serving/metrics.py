"""Counts and times for Prometheus, in a registry of the app's own.

``metric_table`` has every name. Labels are bounded: the route's pattern (never the address asked for), known methods,
and the class of the status. A request adds to plain numbers here; what is known of the collection is asked of the
backend (``Figures``); the text for Prometheus is made when it is asked for.
"""

from __future__ import annotations

import itertools
import os
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from periplus.web.backend import Figures
from periplus.web.serving.connections import ClientConnections
from periplus.web.serving.metric_table import BUCKETS, BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client.core import Metric
    from starlette.requests import Request
    from starlette.types import Scope

    from periplus.web.backend import Times, Values
    from periplus.web.serving.memory import MemoryBreaker

METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_LABELS = [*(f"{float(bound)}" for bound in BUCKETS), "+Inf"]


class _Times:
    """How long the answers of one route took."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * len(_LABELS)
        self.seconds = 0.0


class Metrics(Collector):
    """Told of every request by the one thread that serves them; asked by any."""

    def __init__(
        self,
        connections: ClientConnections | None = None,
        shards: Callable[[], dict[str, Any]] = dict,
        refused: Callable[[], int] = int,
        figures: Callable[[], Figures] = Figures,
        breaker: MemoryBreaker | None = None,
    ) -> None:
        """``shards`` tells of shard servers as ``Panels.shards`` does; ``refused`` how many searches were too many."""
        self._shards, self._refused, self._figures = shards, refused, figures
        self._breaker = breaker
        self.registry = CollectorRegistry()
        self._connections = ClientConnections() if connections is None else connections
        self._under_way = 0
        self._answered: dict[tuple[str, str, int], int] = {}
        self._times: dict[str, _Times] = {}
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    def begin(self) -> None:
        self._under_way += 1

    def end(self, scope: Scope, status: int, seconds: float) -> None:
        self._under_way -= 1
        # The router leaves the matched route in the scope; what matched none shares one label.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        counted = (route, method, status // 100)
        self._answered[counted] = self._answered.get(counted, 0) + 1
        times = self._times.get(route)
        if times is None:
            times = self._times[route] = _Times()
        times.buckets[bisect_left(BUCKETS, seconds)] += 1
        times.seconds += seconds

    def describe(self) -> Iterable[Metric]:
        """Nothing: the names are not to be asked of a collection that is just being opened."""
        return ()

    def collect(self) -> Iterator[Metric]:
        # Lists of what is there now: the serving thread goes on adding to it.
        answered: Values = {
            (route, method, f"{hundreds}xx"): n for (route, method, hundreds), n in list(self._answered.items())
        }
        yield _family("periplus_http_requests", answered)
        yield _histogram(
            "periplus_http_seconds",
            {(route,): (list(times.buckets), times.seconds) for route, times in list(self._times.items())},
        )
        yield _family("periplus_http_running", {(): self._under_way})
        yield _family("periplus_http_connections", {(): len(self._connections)})
        refusals = list(self._connections.refusals.counts.items())
        yield _family("periplus_http_refused", {(reason,): count for reason, count in refusals})
        # With several server processes a scrape shows one of them; this says which.
        yield _family("periplus_http_process", {(str(os.getpid()),): 1})
        yield _family("periplus_overloaded", {(): self._refused()})
        yield _family("periplus_memory_refused", {(): self._breaker.refused if self._breaker is not None else 0})
        for name, values in _of_shards(self._shards().get("servers", [])).items():
            yield _family(name, values)
        figures = self._figures()
        for name, values in figures.values.items():
            yield _family(name, values)
        for name, times in figures.times.items():
            yield _histogram(name, times)

    async def endpoint(self, request: Request) -> Response:
        if not request.app.state.settings.serve.public_status:
            request.app.state.gate.check_scope(request, "inspect", closed=True)
        text = await run_in_threadpool(generate_latest, self.registry)  # which asks the state
        return Response(text, media_type=CONTENT_TYPE_LATEST)


def _family(name: str, values: Values) -> Metric:
    info = BY_NAME[name]
    kind = CounterMetricFamily if info.kind == "counter" else GaugeMetricFamily
    family: Metric = kind(name, info.help, labels=info.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)  # type: ignore[attr-defined]
    return family


def _histogram(name: str, times: Times) -> Metric:
    info = BY_NAME[name]
    family = HistogramMetricFamily(name, info.help, labels=info.labels)
    for labels, (buckets, seconds) in times.items():
        sums = itertools.accumulate(buckets)
        family.add_metric(labels, list(zip(_LABELS, map(float, sums), strict=True)), seconds)
    return family


def _of_shards(servers: list[dict[str, Any]]) -> dict[str, Values]:
    """What a broker knows of the servers that it asks; nothing where it asks none."""
    if not servers:
        return {}
    kinds = ("questions", "hedges", "failures", "timeouts", "refusals")
    quantiles = (("0.5", "p50_ms"), ("0.95", "p95_ms"))
    return {
        "periplus_shard_questions": {(one["url"], kind): one[kind] for one in servers for kind in kinds},
        "periplus_shard_seconds": {(one["url"], share): one[key] / 1000 for one in servers for share, key in quantiles},
        "periplus_shard_load": {(one["url"],): one["load"] for one in servers},
        "periplus_shard_ready": {(one["url"],): 0 if one["state"] else 1 for one in servers},
    }
