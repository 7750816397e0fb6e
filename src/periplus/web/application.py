"""The ASGI application: routes of all kinds, their middleware, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route

from periplus.web.api import api, api_page, plumbing
from periplus.web.api.origins import OriginsMiddleware
from periplus.web.console import buttons, downloads, panels
from periplus.web.pages import embedding, icons, lenses, pages, scrolling, side_panels
from periplus.web.rendering import languages, themes
from periplus.web.rendering.assets import Assets
from periplus.web.rendering.rendering import Templates
from periplus.web.requests import positions
from periplus.web.requests.access import Gate
from periplus.web.requests.limits import Buckets, Limits
from periplus.web.requests.proxies import Proxies
from periplus.web.requests.public import read_address
from periplus.web.requests.submissions import Submissions
from periplus.web.serving.connections import ClientConnections
from periplus.web.serving.envelope import Answered, Envelope
from periplus.web.serving.metrics import Metrics
from periplus.web.serving.pool import Pool
from periplus.web.serving.shortcuts import Shortcuts

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from periplus.settings import Settings
    from periplus.web.backend import Backend
    from periplus.web.requests.keys import KeyRing
    from periplus.web.requests.operator import Operator
    from periplus.web.requests.public import PublicAddress
    from periplus.web.serving.access_log import AccessLog
    from periplus.web.serving.memory import MemoryBreaker


# Seconds for one's turn, where searches run in this process: a burst of hundreds is answered in less.
LONGEST_WAIT = 5.0
# Of the time that an answer may take, to wait for one's turn over shards; who would wait longer is refused.
QUEUE_SHARE = 0.25
DROPPED_AFTER = 5.0  # seconds, at least, that a search has waited for its turn: its reader is gone


class Application(Starlette):
    """Starlette's routes and state, in an envelope of our own instead of its middleware."""

    envelope: Envelope

    def build_middleware_stack(self) -> ASGIApp:
        return self.envelope


def create_app(
    backend: Backend,
    settings: Settings,
    operator_key: str | Operator = "",
    keys: KeyRing | None = None,
    *,
    waits: bool = False,
    shares_cores: bool = False,
    log: AccessLog | None = None,
    breaker: MemoryBreaker | None = None,
    public: PublicAddress | None = None,
) -> Application:
    """The search pages, the API and the console over ``backend``.

    Without an ``operator_key`` the console answers only to this machine itself; ``keys`` are those of programs.
    ``waits`` where searches mostly wait for other processes, which ``shares_cores`` where they run on this machine;
    ``log`` is told of every request, ``breaker`` asked before each search. ``public`` is the address that readers use,
    where it is not the setting's.
    """
    assets = Assets()
    serve = settings.serve
    proxies = Proxies(serve.trusted_proxies)
    connections = ClientConnections(serve.connections, serve.client_connections, proxies)
    pool = Pool(waits=waits, shares_cores=shares_cores)
    metrics = Metrics(connections, backend.panels.shards, lambda: pool.refused, backend.figures, breaker)
    app = Application(routes=_routes(metrics, assets))
    answered: ASGIApp = Answered(Shortcuts(app.router))
    public = read_address(serve.public_url) if public is None else public
    opened = OriginsMiddleware(answered, serve.cors) if serve.cors else answered
    app.envelope = Envelope(opened, metrics, proxies, public, log, breaker)
    app.state.public = public
    app.state.connections = connections
    app.state.backend = backend
    app.state.settings = None
    app.state.keys = keys
    app.state.waits = waits
    app.state.gate = Gate(operator_key, keys)
    app.state.assets = assets
    app.state.pool = pool
    take_settings(app, settings)
    app.state.catalogues = languages.load()
    app.state.templates = Templates(assets, app.state.catalogues, public.root)
    return app


def take_settings(app: Application, settings: Settings) -> None:
    """Go by these from the next request on; counts of clients begin again where their bounds are others.

    What ``create_app`` alone reads waits for the next start (``settings.IN_FORCE``).
    """
    state, serve = app.state, settings.serve
    before = state.settings.serve if state.settings is not None else None
    state.settings = settings
    state.gate.required = serve.api_keys
    budget = settings.search.budget_ms / 1000
    over_shards = {"within": QUEUE_SHARE * budget, "latest": max(DROPPED_AFTER, budget)}
    in_process = {"within": LONGEST_WAIT, "latest": LONGEST_WAIT}
    state.patience = over_shards if state.waits else in_process  # of a search that waits for its turn
    if before is None or (before.rate, before.burst) != (serve.rate, serve.burst):
        app.envelope.limits = Limits(Buckets(serve.rate, serve.burst), state.keys) if serve.rate else None
    wanted = (serve.submissions, serve.submission_rate)
    if before is None or (before.submissions, before.submission_rate) != wanted:
        state.submissions = Submissions(serve, state.gate)


def _routes(metrics: Metrics, assets: Assets) -> list[Route]:
    return [
        *api.routes(),  # first, since routes are tried one after the other
        *pages.routes(),
        *panels.routes(),
        *buttons.routes(),
        *downloads.routes(),
        *plumbing.routes(),
        *embedding.routes(),
        *icons.routes(),
        *side_panels.routes(),
        Route("/api", api_page.api_page),
        Route("/theme", themes.choose, methods=["POST"]),
        Route("/language", languages.choose, methods=["POST"]),
        Route("/lens", lenses.choose, methods=["POST"]),
        Route("/scroll", scrolling.choose, methods=["POST"]),
        Route("/place", positions.choose, methods=["POST"]),
        Route("/preferences", lenses.preferences),
        Route("/metrics", metrics.endpoint),
        Route("/static/{name}", assets.endpoint),
    ]
