"""The tests' own web: any host names on one loopback port, defined by the test, with faults and a log.

    with MockWeb() as web:
        web.page("http://a.test/", "<p>Hello", links=["/two", "http://b.test/"])
        web.redirect("http://a.test/two", "/three")
        web.robots("a.test", "User-agent: *\\nDisallow: /private/")
        web.at("http://b.test/", Hang())
        crawl(..., resolve=web.resolve)
        assert web.paths("a.test") == ["/robots.txt", "/", "/two"]

An answer is a ``Reply`` (faults are replies too), a function of the request, or a list of those taken in turn, of
which the last repeats. What no rule covers is a 404. Given ``certificates``, the same port speaks HTTPS as well, under
certificates of a test authority whose file is ``authority``.
"""

from __future__ import annotations

import itertools
import threading
from html import escape
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from periplus.demo import DemoServer, Reply, Request, RequestLog, RequestRecord, Resource, html, redirect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from mockweb.certificates import Certificates

    Answer = Reply | Callable[[Request], Reply]
ANY_SCHEME = ""


class MockWeb:
    def __init__(self, port: int = 0, certificates: Certificates | None = None) -> None:
        self._lock = threading.Lock()
        self._routes: dict[tuple[str, str, str], list[Answer]] = {}
        self._hosts: dict[str, Answer] = {}
        self._certificates = certificates
        self._server = DemoServer(self._answer, port, tls=certificates.server_context() if certificates else None)

    def start(self) -> Self:
        self._server.start()
        return self

    def stop(self) -> None:
        self._server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def resolve(self) -> tuple[str, ...]:
        """The ``crawl.resolve`` setting under which every ``.test`` host is this server, with http and https."""
        return (f"*.test=127.0.0.1:{self.port}",)

    @property
    def authority(self) -> Path:
        """The certificate file of the test authority, for the client to trust."""
        assert self._certificates, "the mock web was made without certificates"
        return self._certificates.authority_file

    # what is served

    def at(self, url: str, answer: Answer | list[Answer]) -> None:
        """``answer`` at that address, query and scheme included."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._put(parts.scheme, parts.hostname or "", target, answer)

    def page(
        self,
        url: str,
        body: str = "",
        links: Iterable[str | tuple[str, str]] = (),
        title: str = "",
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
        lang: str = "en",
    ) -> str:
        """An HTML page; a link is an address or a pair of address and text. Returns ``url``."""
        anchors = "\n".join(_anchor(link) for link in links)
        text = (
            f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{escape(title or url)}</title>'
            f"</head><body>{body}\n{anchors}</body></html>"
        )
        self.at(url, html(text, status, tuple(headers)))
        return url

    def text(self, url: str, body: str | bytes, content_type: str = "text/plain; charset=utf-8") -> str:
        data = body.encode() if isinstance(body, str) else body
        self.at(url, Reply(200, data, (("Content-Type", content_type),)))
        return url

    def redirect(self, url: str, to: str, status: int = 302) -> str:
        self.at(url, redirect(to, status))
        return url

    def redirect_chain(self, host: str, hops: int) -> str:
        """``/hop/0`` leads through that many redirects to a page; returns its address."""
        for number in range(hops):
            self.redirect(f"http://{host}/hop/{number}", f"/hop/{number + 1}")
        self.page(f"http://{host}/hop/{hops}", "<p>Arrived at last.")
        return f"http://{host}/hop/0"

    def redirect_loop(self, *urls: str) -> str:
        """Each of ``urls`` leads to the next, the last to the first."""
        for url, target in zip(urls, (*urls[1:], urls[0]), strict=True):
            self.redirect(url, target)
        return urls[0]

    def conditional(self, url: str, body: str, date: str = "2025-01-01") -> str:
        """An HTML page with ETag and Last-Modified that answers 304 to conditional requests."""
        self.at(url, Resource(body.encode(), "text/html; charset=utf-8", date).reply)
        return url

    def robots(self, host: str, text: str = "", answer: Answer | list[Answer] | None = None) -> None:
        """robots.txt of ``host`` under both schemes: the text, or any answer."""
        reply = Reply(200, text.encode(), (("Content-Type", "text/plain"),))
        self._put(ANY_SCHEME, host, "/robots.txt", reply if answer is None else answer)

    def host(self, host: str, answer: Answer) -> None:
        """``answer`` at every address of ``host`` that has none of its own, robots.txt included."""
        with self._lock:
            self._hosts[host.lower()] = answer

    def site(self, host: str, pages: int, words: str = "Calm sea and a prosperous voyage.") -> list[str]:
        """``pages`` pages ``/0`` … in a ring with a front page ``/`` that links to all; returns their addresses."""
        base = f"http://{host}"
        urls = [f"{base}/{number}" for number in range(pages)]
        self.page(f"{base}/", f"<h1>{host}</h1>", links=urls)
        for number, url in enumerate(urls):
            self.page(url, f"<p>{words} Page {number} of {host}.", links=[urls[(number + 1) % pages], f"{base}/"])
        return [f"{base}/", *urls]

    def remove(self, url: str) -> None:
        """From now on that address is a 404."""
        parts = urlsplit(url)
        with self._lock:
            self._routes.pop((parts.scheme, (parts.hostname or ""), parts.path or "/"), None)

    # what was asked

    @property
    def log(self) -> RequestLog:
        return self._server.log

    def requests(self, host: str = "", path: str = "") -> list[RequestRecord]:
        return self.log.records(host, path)

    def paths(self, host: str) -> list[str]:
        """What was asked of ``host``, in order of arrival."""
        return [record.path for record in self.log.records(host)]

    def gaps(self, host: str) -> list[float]:
        """Seconds between the arrivals of consecutive requests to ``host``."""
        times = [record.monotonic for record in self.log.records(host)]
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    def pauses(self, host: str) -> list[float]:
        """Seconds from the end of one answer of ``host`` to the arrival of its next request."""
        records = self.log.records(host)
        return [
            later.monotonic - earlier.finished for earlier, later in itertools.pairwise(records) if earlier.finished
        ]

    def most_connections(self, host: str) -> int:
        """The most connections that were open to ``host`` at once."""
        return max((record.connections for record in self.log.records(host)), default=0)

    def most_at_once(self, host: str) -> int:
        """The most requests of ``host`` that were under way at once."""
        return max((record.concurrency for record in self.log.records(host)), default=0)

    def cookies(self) -> list[str]:
        """Every Cookie header that a client sent."""
        return [record.header("cookie") for record in self.log.records() if record.header("cookie")]

    def _put(self, scheme: str, host: str, target: str, answer: Answer | list[Answer]) -> None:
        with self._lock:
            self._routes[scheme, host.lower(), target] = list(answer) if isinstance(answer, list) else [answer]

    def _answer(self, request: Request) -> Reply:
        with self._lock:
            queue = self._routes.get((request.scheme, request.host, request.target)) or self._routes.get(
                (ANY_SCHEME, request.host, request.target)
            )
            found = self._hosts.get(request.host) if queue is None else queue.pop(0) if len(queue) > 1 else queue[0]
        if found is None:
            return html("<h1>404</h1>", 404)
        return found if isinstance(found, Reply) else found(request)


def _anchor(link: str | tuple[str, str]) -> str:
    address, text = (link, link) if isinstance(link, str) else link
    return f'<a href="{escape(address)}">{escape(text)}</a>'
