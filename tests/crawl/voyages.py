"""A crawl of the mock web for tests, with what they ask about it afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from periplus.crawl import Crawler, audit
from periplus.documents import BatchLog
from periplus.settings import BotSettings, CrawlSettings, Settings
from periplus.storage import Depot, LocalFiles, open_objects

if TYPE_CHECKING:
    from pathlib import Path

    from mockweb.mock_web import MockWeb
    from periplus.records import CrawlStatus
    from periplus.storage import Database

DELAY = 0.02
JITTER = 0.01


def settings_for(resolve: tuple[str, ...], **options: Any) -> Settings:
    crawl = {"delay": DELAY, "scope": "any", "resolve": resolve, "commit_seconds": 0.2, "timeout": 5.0, "workers": 1}
    crawl["icons"] = False  # one request a host more, which few tests are about
    crawl |= options
    return Settings(bot=BotSettings(contact="https://bot.test/"), crawl=CrawlSettings(**crawl))


class Voyage:
    """A collection being crawled."""

    def __init__(self, folder: Path, database: Database, files: str = "") -> None:
        """``files``: the object store of a collection on many machines."""
        self.depot = Depot(LocalFiles(folder), open_objects(files)) if files else None
        self.folder = folder
        self.database = database
        self.web: MockWeb | None = None

    def run(self, web: Any, *seeds: str, recrawl: bool = False, seconds: float = 30, **options: Any) -> CrawlStatus:
        self.web = web if hasattr(web, "pauses") else None
        crawler = Crawler(self.folder, self.database, settings_for(web.resolve, **options), depot=self.depot)
        return crawler.run(list(seeds), recrawl=recrawl, seconds=seconds)

    def rows(self, sql: str, *arguments: Any) -> list[tuple[Any, ...]]:
        with self.database.read() as tx:
            return tx.rows(sql, arguments)

    def url(self, url: str) -> dict[str, Any]:
        """The row of an address."""
        columns = "url, state, reason, detail, status, refusal, attempts, visits, changes, missing, depth, next_at"
        found = self.rows(f"SELECT {columns} FROM urls WHERE url = ?", url)
        return dict(zip(columns.split(", "), found[0], strict=True)) if found else {}

    def fetched(self) -> set[str]:
        """All that was had, but for the pictures of hosts."""
        return {url for (url,) in self.rows("SELECT url FROM urls WHERE state = 1 AND kind <> 3")}

    def documents(self) -> dict[str, str]:
        """Newest refusal of every address in the batches."""
        log = BatchLog(LocalFiles(self.folder), self.database, self.depot)
        return {doc.url: doc.refusal for number in log.numbers() for doc in log.documents(number)}

    def prove_polite(self) -> None:
        report = audit(self.database)
        assert report.violations == ()
        if self.web is None:
            return
        for host in {record.host for record in self.web.requests()}:
            assert self.web.most_at_once(host) == 1
            gaps = self.web.gaps(host)  # the web stamps arrivals in a thread of its own, sometimes late
            assert min(gaps, default=1) >= DELAY - JITTER, f"{host}: {sorted(gaps)[:3]}"
