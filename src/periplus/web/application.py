"""The ASGI application: routes of all kinds, their middleware, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from periplus.errors import PeriplusError
from periplus.web import api, console, languages, pages, plumbing, problems, themes
from periplus.web.access import Gate
from periplus.web.assets import Assets
from periplus.web.compression import CompressionMiddleware
from periplus.web.headers import HeadersMiddleware
from periplus.web.limits import Buckets, LimitsMiddleware
from periplus.web.metrics import Metrics, MetricsMiddleware
from periplus.web.origins import OriginsMiddleware
from periplus.web.rendering import environment

if TYPE_CHECKING:
    from periplus.settings import Settings
    from periplus.web.backend import Backend

MAX_BODY = 64_000  # bytes of a request's body: forms only


def create_app(backend: Backend, settings: Settings, operator_key: str = "") -> Starlette:
    """The search pages, the API and the console over ``backend``.

    Without an ``operator_key`` the console answers only to this machine itself.
    """
    assets = Assets()
    serve = settings.serve
    metrics = Metrics()
    app = Starlette(
        routes=[
            *pages.routes(),
            *api.routes(),
            *console.routes(),
            *plumbing.routes(),
            Route("/theme", themes.choose, methods=["POST"]),
            Route("/language", languages.choose, methods=["POST"]),
            Route("/metrics", metrics.endpoint),
            Route("/static/{name}", assets.endpoint),
        ],
        middleware=[
            Middleware(MetricsMiddleware, metrics=metrics),
            Middleware(HeadersMiddleware),
            *([Middleware(OriginsMiddleware, origins=serve.cors)] if serve.cors else []),
            *([Middleware(LimitsMiddleware, buckets=Buckets(serve.rate, serve.burst))] if serve.rate else []),
            Middleware(CompressionMiddleware),
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
    app.state.gate = Gate(operator_key)
    app.state.assets = assets
    app.state.catalogues = languages.load()
    app.state.templates = environment(assets, app.state.catalogues)
    return app
