"""``DemoWeb``: the small web that ships with Periplus, played on one loopback port.

Pages speak of ``public_port`` in their links, so that a collection made from them can be served again while the
server itself listens on another port; clients then map ``*.localhost`` to 127.0.0.1 and ``port`` (``resolve``).
Host names end in ``.localhost``, which browsers resolve to loopback by themselves.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Self

from periplus.demo import content, endless_calendar
from periplus.demo.messages import Reply, html
from periplus.demo.rendering import dress, render
from periplus.demo.resource import Resource
from periplus.demo.server import ADDRESS, DemoServer
from periplus.demo.site_files import site_files

if TYPE_CHECKING:
    from periplus.demo.content import SiteSource
    from periplus.demo.messages import Request
    from periplus.demo.request_log import RequestRecord

DEFAULT_PORT = 8640
READ_METHODS = ("GET", "HEAD")


class Note(NamedTuple):
    """What a special address is there for."""

    url: str
    note: str


class DemoWeb:
    def __init__(self, port: int = 0, public_port: int | None = None) -> None:
        self._sites = {site.host: site for site in content.load()}
        self._server = DemoServer(self._answer, port)
        self._wanted_public_port = public_port
        self._resources: dict[tuple[str, str], Resource] = {}
        self._redirects: dict[tuple[str, str], Resource] = {}
        self._failures: Counter[tuple[str, str]] = Counter()

    def start(self) -> Self:
        """Make the pages and listen; raises ``PortInUse`` when another program has the port."""
        self._server.bind()
        self._failures.clear()
        self._make(self.public_port)
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
        """The port that is listened on; known after ``start`` when it was 0."""
        return self._server.port

    @property
    def public_port(self) -> int:
        """The port in the pages' addresses."""
        return self._wanted_public_port or self.port

    @property
    def resolve(self) -> tuple[str, ...]:
        """What ``crawl.resolve`` must hold for a client to find this server under the pages' addresses."""
        return (f"*.{content.DOMAIN}={ADDRESS}:{self.port}",)

    def hosts(self) -> list[str]:
        return list(self._sites)

    def seeds(self) -> list[str]:
        """Front pages from which every page that may be indexed can be reached."""
        return [self._origin(site) + "/" for site in self._sites.values() if site.seed]

    def pages(self) -> list[str]:
        """The address of every page, specials included, redirects and site files not."""
        return [self._origin(site) + page.path for site in self._sites.values() for page in site.pages]

    def notes(self) -> list[Note]:
        """Every special address and what it is for."""
        return [note for site in self._sites.values() for note in self._notes_of(site)]

    @property
    def requests(self) -> list[RequestRecord]:
        """Everything that was asked so far, in order of arrival (a copy)."""
        return self._server.log.records()

    def _origin(self, site: SiteSource) -> str:
        return content.origin(site.name, self.public_port)

    def _notes_of(self, site: SiteSource) -> list[Note]:
        home = self._origin(site)
        rows = [(page.path, page.note) for page in site.pages if page.note]
        rows += [(redirect.source, redirect.note) for redirect in site.redirects]
        rows += site.notes.items()
        return [Note(home + path, note) for path, note in rows]

    def _make(self, port: int) -> None:
        self._resources = {
            (host, path): resource
            for host, site in self._sites.items()
            for path, resource in (
                *site_files(site, port).items(),
                *((page.path, render(site, page, port)) for page in site.pages),
            )
        }
        self._redirects = {
            (host, row.source): Resource(
                b"", "text/plain", status=row.status, headers=(("Location", content.with_hosts(row.target, port)),)
            )
            for host, site in self._sites.items()
            for row in site.redirects
        }

    def _answer(self, request: Request) -> Reply:
        if request.method not in READ_METHODS:
            return Reply(405, b"", (("Allow", ", ".join(READ_METHODS)),))
        site = self._sites.get(request.host)
        if site is None:
            return html("<h1>No such host in the demo web</h1>", 404)
        place = (request.host, request.path)
        resource = self._redirects.get(place) or self._resources.get(place) or self._calendar(site, request.path)
        if resource is None:
            return self._missing(site)
        if self._failures[place] < resource.fails:
            self._failures[place] += 1
            return html("<h1>500</h1><p>The keeper has gone to look for oil. Try again.</p>", 500)
        return resource.reply(request)

    def _calendar(self, site: SiteSource, path: str) -> Resource | None:
        month = endless_calendar.month_of(path, site.calendar) if site.calendar else None
        if month is None:
            return None
        page = content.PageSource(path, "md", "", title=endless_calendar.title(*month), lang=site.lang)
        text = dress(site, page, endless_calendar.content(*month, site.calendar), self.public_port)
        return Resource(text.encode(), "text/html; charset=utf-8")

    def _missing(self, site: SiteSource) -> Reply:
        page = content.PageSource("", "md", "", title="Not found", lang=site.lang, status=404)
        return html(dress(site, page, "<h1>404</h1><p>Nothing is moored here.</p>", self.public_port), 404)
