"""Sites that last as long as a test needs them."""

from __future__ import annotations

from collections import Counter
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from mockweb.faults import Hang
from mockweb.politeness import PRIVATE
from periplus.demo import Reply, html

if TYPE_CHECKING:
    from mockweb.mock_web import MockWeb
    from periplus.demo import Request


class Growing:
    """Sites in which every page links to the next few, here and next door, until they are told to end.

    A crawl of them lasts as long as its test needs, however quick or slow the machine. Give it ``SETTINGS``:
    no end by depth or number. The words of pages differ, so that they do not look like a trap. With ``forbids`` each
    page also links to one that the robots.txt of its host forbids. ``port`` (":8080") is part of the addresses where no
    ``crawl.resolve`` leads to the web. Hosts whose numbers are in ``hung`` take a request and say nothing.
    """

    SETTINGS = MappingProxyType({"max_depth": 1_000_000, "max_pages": 1_000_000, "host_budget": 1_000_000})
    AHEAD = 5

    def __init__(self, web: MockWeb, hosts: int, *, forbids: bool = False, port: str = "") -> None:
        self.web = web
        self.hosts = hosts
        self.grows = True
        self.hung: set[int] = set()
        self._forbids = forbids
        self._port = port
        for number in range(hosts):
            web.robots(f"h{number}.test", f"User-agent: *\nDisallow: {PRIVATE}" if forbids else "")
            web.host(f"h{number}.test", partial(self._page, number))

    @property
    def seeds(self) -> list[str]:
        return [f"http://h{number}.test{self._port}/0" for number in range(self.hosts)]

    @property
    def asked(self) -> Counter[str]:
        return Counter(record.url for record in self.web.requests() if not record.url.endswith("robots.txt"))

    def end(self) -> None:
        self.grows = False

    def _page(self, number: int, request: Request) -> Reply:
        if number in self.hung:
            return Hang()
        last = request.target.removeprefix(PRIVATE).strip("/")
        if not last.isdecimal():
            return Reply(404)
        page = int(last)
        here = [f"/{page + step}" for step in range(1, self.AHEAD)] if self.grows else []
        here += [f"{PRIVATE}{page}"] if self._forbids else []
        there = f"http://h{(number + 1) % self.hosts}.test{self._port}/{page}"
        links = "".join(f'<a href="{link}">{link}</a> ' for link in (*here, there))
        words = " ".join(f"word{(page * 31 + number * 7 + place * 17) % 9973}" for place in range(40))
        return html(f"<title>{number} {page}</title><p>{words}<p>{links}")
