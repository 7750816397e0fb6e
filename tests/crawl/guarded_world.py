"""Run in a network namespace of its own: a web server at special addresses, and whether the crawler comes to it.

Prints one line of JSON a case: the host asked for, whether the guard was told to let everything pass, what the fetch
came to, and how many connections the server got meanwhile. The first argument names the file of cases.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import subprocess
import sys
from pathlib import Path

from mockweb.dns_server import MockDns
from periplus.crawl.fetching.fetcher import Fetcher
from periplus.crawl.fetching.resolver import Dns, Mapping, Resolver
from periplus.settings import CrawlSettings, Settings

PORT = 8080
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret"


class Server:
    """Answers everybody, and counts them."""

    def __init__(self) -> None:
        self.visits = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        writer.close()


def raise_addresses(ips: list[str]) -> None:
    """The loopback interface of this namespace has them all."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for ip in ips:
        address = ipaddress.ip_address(ip)
        if address.version == 6:
            if address.ipv4_mapped is None and not address.is_loopback:
                subprocess.run(["ip", "-6", "addr", "add", f"{ip}/128", "dev", "lo", "nodad"], check=True)
        elif not address.is_loopback:
            subprocess.run(["ip", "addr", "add", f"{ip}/32", "dev", "lo"], check=True)


async def ask(server: Server, dns: MockDns, host: str, *, allowed: bool) -> dict[str, object]:
    settings = Settings(crawl=CrawlSettings(allow_private=allowed, connect_timeout=5.0))
    resolver = Resolver(Mapping(()), allow_private=allowed, lookup=Dns(["127.0.0.1"], dns.port).lookup)
    before = server.visits
    async with Fetcher(settings, resolver=resolver) as fetcher:
        fetched = await fetcher.fetch(f"http://{host}:{PORT}/")
    body = fetched.exchange.body.decode() if fetched.exchange else ""
    return {
        "host": host, "allowed": allowed, "reason": fetched.reason, "body": body, "visits": server.visits - before,
    }  # fmt: skip


async def run(ips: list[str]) -> None:
    server = Server()
    await asyncio.start_server(server.answer, ["0.0.0.0", "::"], PORT)
    with MockDns() as dns:
        for number, ip in enumerate(ips):
            name = f"host{number}.example"
            dns.a(name, ip)
            literal = f"[{ip}]" if ":" in ip else ip
            for host in (literal, name):
                for allowed in (False, True):
                    answer = await ask(server, dns, host, allowed=allowed)
                    sys.stdout.write(json.dumps({"ip": ip, **answer}) + "\n")


if __name__ == "__main__":
    cases = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    raise_addresses(cases)
    asyncio.run(run(cases))
