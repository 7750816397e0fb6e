"""Traces for OpenTelemetry: spans of searches and their steps, and of fetches.

They are made where ``OTEL_EXPORTER_OTLP_ENDPOINT`` names a collector when a process starts, and the extra
``periplus[telemetry]`` is installed. Without the variable a marked function is the function itself. A span holds no
query, no visitor and no path of a page. A collector that is away costs spans, never an answer.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import threading
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from periplus import log_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Attributes = Mapping[str, str | int | float]

P = ParamSpec("P")
T = TypeVar("T")

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
NAME = "periplus"
LONGEST_FLUSH = 3.0  # seconds at the end of a process, for the last spans


def traced(name: str, told: Callable[[Any], Attributes] | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Marks a function, or a coroutine, whose calls are spans; ``told`` says what its result tells of it."""

    def mark(function: Callable[P, T]) -> Callable[P, T]:
        if not os.environ.get(ENDPOINT):
            return function
        tell = told or (lambda _: {})
        if inspect.iscoroutinefunction(function):
            return cast("Callable[P, T]", _of_coroutine(name, function, tell))
        return _of_function(name, function, tell)

    return mark


def _of_function(name: str, function: Callable[P, T], told: Callable[[Any], Attributes]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        tracer = _tracer()
        if tracer is None:
            return function(*given, **named)
        with tracer.start_as_current_span(name) as span:
            result = function(*given, **named)
            span.set_attributes(told(result))
            return result

    return call


def _of_coroutine(name: str, function: Callable[..., Any], told: Callable[[Any], Attributes]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*given: Any, **named: Any) -> Any:
        tracer = _tracer()
        if tracer is None:
            return await function(*given, **named)
        with tracer.start_as_current_span(name) as span:
            result = await function(*given, **named)
            span.set_attributes(told(result))
            return result

    return call


@functools.cache
def _tracer() -> Any:
    """Of this process; nothing where the packages are missing, which is said once."""
    try:
        from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log_lines.say(f"{ENDPOINT} is set, but traces need: pip install 'periplus[telemetry]'", "warning")
        return None
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": NAME}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    atexit.register(_flush, provider)
    return provider.get_tracer(NAME)


def _flush(provider: Any) -> None:
    """Send the last spans. The exporter tries for a minute where nobody answers; nobody waits for that."""
    last = threading.Thread(target=provider.shutdown, daemon=True)
    last.start()
    last.join(LONGEST_FLUSH)
