"""Scrapy on the local web, tuned for a broad crawl: ``python -m bench.crawl.scrapy_contender OPTIONS``.

Three kinds of work: ``links`` (Scrapy's LinkExtractor, nothing kept), ``selectors`` (the same, plus text and title by
Scrapy's selectors, language, and a stored page) and ``parser`` (Periplus' parser gives links and all the rest; the
document and the page are stored). What is stored is written by the cheapest means at hand: JSON lines and one packed
member a page, both appended to one file each.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import CachingHostnameResolver, HostResolution
from twisted.internet.address import IPv4Address

SETTINGS = {
    # Scrapy's own advice for broad crawls, and everything off that costs time and is not part of the work.
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "DEPTH_PRIORITY": 1,  # breadth first, as Periplus
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": "benchbot/1.0",
    "LOG_ENABLED": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "REFERER_ENABLED": False,
    "STATS_DUMP": False,
    "DOWNLOADER_STATS": False,
    "LOGSTATS_INTERVAL": 0,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,
}


class ToLoopback(CachingHostnameResolver):
    """Every host name is the local server, whatever port the address names."""

    port = 0

    def resolveHostName(self, resolutionReceiver, hostName, *_, **__):  # noqa: N802, N803
        resolutionReceiver.resolutionBegan(HostResolution(hostName))
        resolutionReceiver.addressResolved(IPv4Address("TCP", "127.0.0.1", self.port))
        resolutionReceiver.resolutionComplete()
        return resolutionReceiver


class Store:
    """What a page left: its fields as a line of JSON, its body as a packed member."""

    def __init__(self, folder: Path) -> None:
        from isal import igzip

        folder.mkdir(parents=True, exist_ok=True)
        self._pack = igzip.compress
        self._lines = (folder / "pages.jsonl").open("wb")
        self._bodies = (folder / "bodies.gz").open("wb")

    def keep(self, line: bytes, body: bytes) -> None:
        self._lines.write(line + b"\n")
        self._bodies.write(self._pack(body, 2))

    def close(self) -> None:
        self._lines.close()
        self._bodies.close()


class LinksSpider(scrapy.Spider):
    """Follows what the LinkExtractor finds on the hosts of the web."""

    name = "links"

    def __init__(self, options, **arguments):
        super().__init__(**arguments)
        self.options = options
        self.start_urls = options.seeds.read_text(encoding="utf-8").split()
        self.pages = self.links = 0
        self.parser_seconds = 0.0
        hosts = [url.split("/")[2] for url in self.start_urls]
        self.extractor = LinkExtractor(allow_domains=hosts)

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse) or self.pages >= self.options.pages:
            return
        self.pages += 1
        for link in self.extractor.extract_links(response):
            self.links += 1
            yield scrapy.Request(link.url)
        self.keep(response)

    def keep(self, response):
        pass

    def closed(self, _reason):
        figures = {"pages": self.pages, "links": self.links, "parser_seconds": self.parser_seconds}
        self.options.figures.write_text(json.dumps(figures), encoding="utf-8")


class SelectorsSpider(LinksSpider):
    """The same, with what a search engine keeps of a page, by Scrapy's selectors."""

    name = "selectors"

    def __init__(self, options, **arguments):
        super().__init__(options, **arguments)
        import pycld2

        self.detect = pycld2.detect
        self.store = Store(options.store)

    def keep(self, response):
        title = response.css("title::text").get(default="")
        words = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        text = "\n".join(stripped for word in words if (stripped := word.strip()))
        fields = {"url": response.url, "title": title, "language": self.language(text), "text": text}
        self.store.keep(json.dumps(fields).encode(), response.body)

    def language(self, text):
        try:
            return self.detect(text[:3000].encode(), isPlainText=True)[2][0][1]
        except Exception:  # noqa: BLE001 - the detector's error type is not exported
            return ""

    def closed(self, reason):
        self.store.close()
        super().closed(reason)


class ParserSpider(LinksSpider):
    """Scrapy's engine around Periplus' parser: links, text, title, language all come from the document."""

    name = "parser"

    def __init__(self, options, **arguments):
        super().__init__(options, **arguments)
        import msgspec

        from periplus.documents import parse
        from periplus.records import Page

        self.page, self.document = Page, parse
        self.encode = msgspec.json.encode
        self.store = Store(options.store)
        self.hosts = {url.split("/")[2] for url in self.start_urls}

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse) or self.pages >= self.options.pages:
            return
        self.pages += 1
        document = self.read(response)
        self.store.keep(self.encode(document), response.body)
        for url in {link.url: None for link in document.links if link.followed}:
            if url.split("/", 3)[2] in self.hosts:
                self.links += 1
                yield scrapy.Request(url)

    def read(self, response):
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        )
        kind = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        began = time.thread_time()
        document = self.document(self.page(response.url, response.body, kind, headers, response.status, time.time()))
        self.parser_seconds += time.thread_time() - began
        return document

    def closed(self, reason):
        self.store.close()
        super().closed(reason)


SPIDERS = {spider.name: spider for spider in (LinksSpider, SelectorsSpider, ParserSpider)}


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", choices=sorted(SPIDERS), required=True)
    options.add_argument("--seeds", type=Path, required=True)
    options.add_argument("--pages", type=int, required=True)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--store", type=Path, required=True)
    options.add_argument("--figures", type=Path, required=True)
    return options.parse_args()


def main() -> None:
    options = read_options()
    ToLoopback.port = options.port
    process = CrawlerProcess(
        SETTINGS | {"TWISTED_DNS_RESOLVER": ToLoopback, "CLOSESPIDER_PAGECOUNT": options.pages},
        install_root_handler=False,
    )
    process.crawl(SPIDERS[options.work], options=options)
    process.start()


if __name__ == "__main__":
    main()
