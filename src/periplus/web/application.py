"""The ASGI application: routes of all kinds, their middleware, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from periplus.errors import PeriplusError
from periplus.web import api, console, embedding, icons, languages, lenses, pages, plumbing, problems, themes
from periplus.web.access import Gate
from periplus.web.assets import Assets
from periplus.web.envelope import Envelope
from periplus.web.limits import Buckets, Limits
from periplus.web.metrics import Metrics
from periplus.web.origins import OriginsMiddleware
from periplus.web.pool import Pool
from periplus.web.rendering import Templates

if TYPE_CHECKING:
    from periplus.settings import Settings
    from periplus.web.backend import Backend
    from periplus.web.keys import KeyRing

MAX_BODY = 64_000  # bytes of a request's body: forms only


def create_app(backend: Backend, settings: Settings, operator_key: str = "", keys: KeyRing | None = None) -> Starlette:
    """The search pages, the API and the console over ``backend``.

    Without an ``operator_key`` the console answers only to this machine itself; ``keys`` are those of programs.
    """
    assets = Assets()
    serve = settings.serve
    metrics = Metrics()
    limits = Limits(Buckets(serve.rate, serve.burst), keys) if serve.rate else None
    app = Starlette(
        routes=[
            *api.routes(),  # first, since routes are tried one after the other
            *pages.routes(),
            *console.routes(),
            *plumbing.routes(),
            *embedding.routes(),
            *icons.routes(),
            Route("/theme", themes.choose, methods=["POST"]),
            Route("/language", languages.choose, methods=["POST"]),
            Route("/lens", lenses.choose, methods=["POST"]),
            Route("/preferences", lenses.preferences),
            Route("/metrics", metrics.endpoint),
            Route("/static/{name}", assets.endpoint),
        ],
        middleware=[
            Middleware(Envelope, metrics=metrics, limits=limits),
            *([Middleware(OriginsMiddleware, origins=serve.cors)] if serve.cors else []),
        ],
        exception_handlers={
            PeriplusError: problems.on_periplus_error,
            HTTPException: problems.on_http_error,
            Exception: problems.on_crash,
        },
        max_body_size=MAX_BODY,
    )
    app.state.backend = backend
    app.state.settings = settings
    app.state.gate = Gate(operator_key, keys, required=serve.api_keys)
    app.state.assets = assets
    app.state.pool = Pool()
    app.state.catalogues = languages.load()
    app.state.templates = Templates(assets, app.state.catalogues)
    return app
