"""What the operator takes away: judgements and counts of searches, as files for other programs."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request


def routes() -> list[Route]:
    return [
        Route("/console/qrels.tsv", qrels),
        Route("/console/queries.tsv", judged_queries),
        Route("/console/searches.csv", searches_by_day),
        Route("/console/asked.csv", asked_queries),
    ]


async def qrels(request: Request) -> Response:
    """The judgements as ``evaluate --qrels`` reads them; queries are numbered as in ``queries.tsv``."""
    judged = await _judged(request)
    rows = (
        f"{number}\t{document}\t{grade}"
        for number, grades in enumerate(judged.values(), 1)
        for document, grade in grades.items()
    )
    return _download("qrels.tsv", rows)


async def judged_queries(request: Request) -> Response:
    texts = enumerate(await _judged(request), 1)
    return _download("queries.tsv", (f"{number}\t{' '.join(text.split())}" for number, text in texts))


async def searches_by_day(request: Request) -> Response:
    """The last days: searches, those without a result, clicks."""
    request.app.state.gate.check(request)
    known = await run_in_threadpool(request.app.state.backend.panels.queries, "")
    return _csv("searches.csv", ("day", "searches", "without_result", "clicks"), known["counts"]["days"])


async def asked_queries(request: Request) -> Response:
    """Queries that were asked more than once, with their counts."""
    request.app.state.gate.check(request)
    rows = await run_in_threadpool(request.app.state.backend.panels.asked)
    return _csv("asked.csv", ("query", "asked", "without_result", "clicks"), rows)


def _csv(name: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Response:
    """RFC 4180; a text that a spreadsheet would take for a formula is given as text."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(columns)
    for row in rows:
        table.writerow([_no_formula(row[column]) for column in columns])
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(written.getvalue(), headers=headers, media_type="text/csv")


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


async def _judged(request: Request) -> dict[str, dict[str, int]]:
    request.app.state.gate.check(request)
    judged: dict[str, dict[str, int]] = await run_in_threadpool(request.app.state.backend.panels.judgements)
    return dict(sorted(judged.items()))


def _download(name: str, rows: Any) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response("".join(f"{row}\n" for row in rows), headers=headers, media_type="text/tab-separated-values")
