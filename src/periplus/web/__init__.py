"""The web room: search pages, JSON API and operator's console as one ASGI app, and the server around it."""

from periplus.web.application import create_app
from periplus.web.backend import Backend
from periplus.web.connections import ClientConnections
from periplus.web.keys import KeyRing
from periplus.web.limits import is_loopback
from periplus.web.operator import Operator
from periplus.web.pool import Expired, Pool
from periplus.web.server import WebServer, serve

__all__ = [
    "Backend",
    "ClientConnections",
    "Expired",
    "KeyRing",
    "Operator",
    "Pool",
    "WebServer",
    "create_app",
    "is_loopback",
    "serve",
]
