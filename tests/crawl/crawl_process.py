"""A crawl in a process of its own, so that a test can kill it: FOLDER RESOLVE SEED…"""

from __future__ import annotations

import sys
from pathlib import Path

from periplus.crawl import Crawler
from periplus.settings import CrawlSettings, Settings
from periplus.storage import Database


def main(folder: str, resolve: str, *seeds: str) -> None:
    settings = Settings(crawl=CrawlSettings(delay=0.02, scope="any", resolve=(resolve,), commit_seconds=0.3))
    with Database.open(Path(folder) / "state.db") as database:
        Crawler(Path(folder), database, settings).run(seeds)


if __name__ == "__main__":
    main(*sys.argv[1:])
