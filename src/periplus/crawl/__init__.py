"""The crawler: frontier, hosts and politeness, robots, scope, traps, fetching, journal and its audit."""

from periplus.crawl.control import send_command, status
from periplus.crawl.crawler import Crawler

__all__ = ["Crawler", "send_command", "status"]
