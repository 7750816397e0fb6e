"""Counts and times for Prometheus, in a registry of the app's own.

Labels are bounded: the route's pattern (never the address asked for), known methods, and the class of the status.
A request adds to plain numbers here; the text for Prometheus is made when it is asked for.
"""

from __future__ import annotations

import itertools
import os
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.responses import Response

from periplus.web.connections import ClientConnections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric
    from starlette.requests import Request
    from starlette.types import Scope

METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_LABELS = [*(f"{float(bound)}" for bound in _BUCKETS), "+Inf"]


class _Times:
    """How long the answers of one route took."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * len(_LABELS)
        self.seconds = 0.0


class Metrics(Collector):
    """Told of every request by the one thread that serves them."""

    def __init__(
        self,
        connections: ClientConnections | None = None,
        shards: Callable[[], dict[str, Any]] = dict,
        refused: Callable[[], int] = int,
    ) -> None:
        """``shards`` tells of shard servers as ``Panels.shards`` does; ``refused`` how many searches were too many."""
        self._shards, self._refused = shards, refused
        self.registry = CollectorRegistry()
        self._connections = ClientConnections() if connections is None else connections
        self.registry.register(self)
        running = Gauge("periplus_http_running", "Requests being answered now", registry=self.registry)
        running.set_function(lambda: self._under_way)
        # With several server processes a scrape shows one of them; this says which.
        process = Gauge("periplus_http_process", "The server process that answers", ("pid",), registry=self.registry)
        process.labels(str(os.getpid())).set(1)
        self._under_way = 0
        self._answered: dict[tuple[str, str, int], int] = {}
        self._times: dict[str, _Times] = {}

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
        times.buckets[bisect_left(_BUCKETS, seconds)] += 1
        times.seconds += seconds

    def collect(self) -> Iterator[Metric]:
        answered = CounterMetricFamily(
            "periplus_http_requests", "Requests answered", labels=("route", "method", "status")
        )
        for (route, method, hundreds), number in self._answered.items():
            answered.add_metric((route, method, f"{hundreds}xx"), number)
        yield answered
        taken = HistogramMetricFamily("periplus_http_seconds", "Time to the end of the answer", labels=("route",))
        for route, times in self._times.items():
            sums = itertools.accumulate(times.buckets)
            taken.add_metric((route,), list(zip(_LABELS, map(float, sums), strict=True)), times.seconds)
        yield taken
        held = GaugeMetricFamily("periplus_http_connections", "Connections that are kept now")
        held.add_metric((), len(self._connections))
        yield held
        refused = CounterMetricFamily("periplus_http_refused", "Connections refused or ended early", labels=("reason",))
        for reason, number in self._connections.refusals.counts.items():
            refused.add_metric((reason,), number)
        yield refused

        overloaded = CounterMetricFamily("periplus_overloaded", "Searches refused because too much was asked")
        overloaded.add_metric((), self._refused())
        yield overloaded
        yield from _of_shards(self._shards().get("servers", []))

    async def endpoint(self, request: Request) -> Response:
        if not request.app.state.settings.serve.public_status:
            request.app.state.gate.check_scope(request, "inspect", closed=True)
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)


def _of_shards(servers: list[dict[str, Any]]) -> Iterator[Metric]:
    """What a broker knows of the servers that it asks."""
    if not servers:
        return
    asked = CounterMetricFamily(
        "periplus_shard_questions", "Questions to shard servers by what came of them", labels=("server", "kind")
    )
    taken = GaugeMetricFamily("periplus_shard_seconds", "Time of the last answers", labels=("server", "quantile"))
    loaded = GaugeMetricFamily("periplus_shard_load", "Questions that a server has to answer", labels=("server",))
    ready = GaugeMetricFamily("periplus_shard_ready", "Whether a server is asked", labels=("server",))
    for server in servers:
        for kind in ("questions", "hedges", "failures", "timeouts", "refusals"):
            asked.add_metric((server["url"], kind), server[kind])
        taken.add_metric((server["url"], "0.5"), server["p50_ms"] / 1000)
        taken.add_metric((server["url"], "0.95"), server["p95_ms"] / 1000)
        loaded.add_metric((server["url"],), server["load"])
        ready.add_metric((server["url"],), 0 if server["state"] else 1)
    yield from (asked, taken, loaded, ready)
