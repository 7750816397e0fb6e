"""The small web that ships with Periplus, and the server that plays it (see README.md)."""

from periplus.demo.messages import Reply, Request, html, redirect
from periplus.demo.request_log import RequestLog, RequestRecord
from periplus.demo.resource import Resource
from periplus.demo.server import DemoServer
from periplus.demo.web import DEFAULT_PORT, DemoWeb, Note
from periplus.demo.wire import Wire

__all__ = [
    "DEFAULT_PORT",
    "DemoServer",
    "DemoWeb",
    "Note",
    "Reply",
    "Request",
    "RequestLog",
    "RequestRecord",
    "Resource",
    "Wire",
    "html",
    "redirect",
]
