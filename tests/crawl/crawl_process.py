"""A crawl in a process of its own, so that a test can kill it: FOLDER RESOLVE [setting=value…] SEED…"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from periplus.crawl import Crawler
from periplus.settings import CrawlSettings, Settings
from periplus.storage import Database


def main(folder: str, resolve: str, *rest: str) -> None:
    options: dict[str, Any] = {
        "delay": 0.02,
        "scope": "any",
        "resolve": (resolve,),
        "commit_seconds": 0.3,
        "workers": 1,
    }
    options |= dict(word.split("=", 1) for word in rest if "://" not in word)
    settings = Settings(crawl=msgspec.convert(options, CrawlSettings, strict=False))
    with Database.open(Path(folder) / "state.db") as database:
        Crawler(Path(folder), database, settings).run([word for word in rest if "://" in word])


if __name__ == "__main__":
    main(*sys.argv[1:])
