"""The way from an address to its route: one look for a route without parameters, Starlette's router for all others.

A search that would be refused is refused here, before anything is read of it: in a flood most requests are, and what
they take is taken from those that are answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match, Route

if TYPE_CHECKING:
    from starlette.routing import Router
    from starlette.types import Receive, Scope, Send

SEARCHES = frozenset({"/search", "/api/v1/search"})


class Shortcuts:
    def __init__(self, router: Router) -> None:
        self.router = router
        self._exact = dict(_exact(router))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._exact.get((scope["method"], scope["path"])) if not scope.get("root_path") else None
        if route is None:
            await self.router(scope, receive, send)
            return
        scope["route"], scope["endpoint"], scope["path_params"] = route, route.endpoint, {}
        if route.path in SEARCHES:
            state = scope["app"].state
            state.pool.admit(state.patience["within"])
        await route.app(scope, receive, send)


def _exact(router: Router) -> list[tuple[tuple[str, str], Route]]:
    """The routes that the router itself would find for these methods and paths: the first that fits."""
    plain = [route for route in router.routes if isinstance(route, Route) and not route.param_convertors]
    wanted = [(method, route.path) for route in plain for method in route.methods or ()]
    found = [(place, _first(router, *place)) for place in wanted]
    return [(place, route) for place, route in found if route is not None and not route.param_convertors]


def _first(router: Router, method: str, path: str) -> Route | None:
    scope = {"type": "http", "method": method, "path": path, "headers": []}
    fitting = (route for route in router.routes if route.matches(scope)[0] is Match.FULL)
    return next((route for route in fitting if isinstance(route, Route)), None)
