"""A crawl in a process of its own, so that a test can kill it: FOLDER RESOLVE [setting=value…] SEED…

Besides settings of the crawl: ``database=ADDRESS``, ``files=ADDRESS`` of an object store that is asked
``retries=COUNT`` times again, ``contact=URL``, ``margin=SECONDS`` by which leases outlive a request,
``loopback=counts`` where the gap of an IP address is to hold for this machine's own, too. SIGINT lets it leave, as on
the command line.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from periplus.crawl import Crawler
from periplus.crawl.fetching import resolver
from periplus.crawl.frontier import partitions
from periplus.settings import BotSettings, CrawlSettings, Settings
from periplus.storage import Database, Depot, LocalFiles, objects, open_objects


def main(folder: str, resolve: str, *rest: str) -> None:
    options: dict[str, Any] = {
        "delay": 0.02,
        "scope": "any",
        "resolve": (resolve,),
        "commit_seconds": 0.3,
        "workers": 1,
    }
    seeds = [word for word in rest if word.startswith("http")]
    options |= dict(word.split("=", 1) for word in rest if not word.startswith("http"))
    address = options.pop("database", str(Path(folder) / "state.db"))
    files = options.pop("files", "")
    if "retries" in options:
        objects.RETRIES = int(options.pop("retries"))
        objects.RETRY_SECONDS = 1.0 * objects.RETRIES  # longer than a server is silent in tests
    depot = Depot(LocalFiles(folder), open_objects(files)) if files else None
    if options.pop("loopback", ""):
        resolver.is_loopback = lambda ip: False
    bot = BotSettings(contact=options.pop("contact", ""))
    partitions.MARGIN = float(options.pop("margin", partitions.MARGIN))
    settings = Settings(bot=bot, crawl=msgspec.convert(options, CrawlSettings, strict=False))
    with Database.open(address) as database:
        crawler = Crawler(Path(folder), database, settings, depot=depot)
        signal.signal(signal.SIGINT, lambda *_: crawler.stop())
        crawler.run(seeds)


if __name__ == "__main__":
    main(*sys.argv[1:])
