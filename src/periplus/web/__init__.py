"""The web room: search pages, JSON API and operator's console as one ASGI app, and the server around it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from periplus.web.application import create_app, take_settings
from periplus.web.backend import Backend, Figures
from periplus.web.requests.keys import KeyRing
from periplus.web.requests.limits import is_loopback
from periplus.web.requests.operator import Operator
from periplus.web.requests.public import PublicAddress, read_address
from periplus.web.serving.access_log import AccessLog
from periplus.web.serving.connections import ClientConnections
from periplus.web.serving.memory import breaker_of
from periplus.web.serving.metric_table import BUCKETS, CRAWL_STATES, LACKS, OUTCOMES, PARTS
from periplus.web.serving.pool import Call, Expired, Pool
from periplus.web.serving.server import WebServer, bound_socket, serve
from periplus.web.several import Several, address_of, check_names

if TYPE_CHECKING:
    from periplus.web.api.mcp_server import make_mcp_server, mcp_app

__all__ = [
    "BUCKETS",
    "CRAWL_STATES",
    "LACKS",
    "OUTCOMES",
    "PARTS",
    "AccessLog",
    "Backend",
    "Call",
    "ClientConnections",
    "Expired",
    "Figures",
    "KeyRing",
    "Operator",
    "Pool",
    "PublicAddress",
    "Several",
    "WebServer",
    "address_of",
    "bound_socket",
    "breaker_of",
    "check_names",
    "create_app",
    "is_loopback",
    "make_mcp_server",
    "mcp_app",
    "read_address",
    "serve",
    "take_settings",
]

_EXTRA = {"make_mcp_server": "api.mcp_server", "mcp_app": "api.mcp_server"}  # need a package that not everybody has


def __getattr__(name: str) -> Any:
    if name not in _EXTRA:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXTRA[name]}"), name)
