"""Counts and times for Prometheus, in a registry of the app's own.

Labels are bounded: the route's pattern (never the address asked for), known methods, and the class of the status.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("route", "method", "status")
        self.requests = Counter("periplus_http_requests", "Requests answered", labels, registry=self.registry)
        self.seconds = Histogram(
            "periplus_http_seconds",
            "Time to the end of the answer",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.running = Gauge("periplus_http_running", "Requests being answered now", registry=self.registry)
        # With several server processes a scrape shows one of them; this says which.
        process = Gauge("periplus_http_process", "The server process that answers", ("pid",), registry=self.registry)
        process.labels(str(os.getpid())).set(1)
        self.running.set_function(lambda: self._under_way)
        self._under_way = 0
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}  # found once, not a request

    def begin(self) -> None:
        self._under_way += 1

    def end(self, scope: Scope, status: int, seconds: float) -> None:
        self._under_way -= 1
        # Starlette leaves the matched route in the scope; what matched none shares one label.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        counted = (route, method, status // 100)
        children = self._children.get(counted)
        if children is None:
            counter = self.requests.labels(route, method, f"{status // 100}xx")
            children = self._children[counted] = (counter, self.seconds.labels(route))
        children[0].inc()
        children[1].observe(seconds)

    async def endpoint(self, _request: Request) -> Response:
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)
