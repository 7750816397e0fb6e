"""``periplus fetch``: what the crawler sees at an address."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, print_json, print_line
from periplus.records import Page

if TYPE_CHECKING:
    from periplus.app.pages.looking import Look


def fetch(
    url: Annotated[str, typer.Argument(help="the address")],
    headers: Annotated[bool, typer.Option("--headers", help="print the response's headers, not its body")] = False,
    resolve: opt.Resolve = None,
    allow_private: opt.AllowPrivate = None,
    header: opt.Header = None,
    auth: opt.Auth = None,
    proxy: opt.Proxy = None,
    tls: opt.Tls = None,
    json: opt.Json = False,
) -> None:
    """Fetch one address as the crawler would, robots.txt first, and print its body."""
    look = look_from_flags(url, resolve, allow_private, headers=header, auth=auth, proxy=proxy, tls=tls)
    exchange = look.exchange
    for passed in look.redirects:
        messages().print(f"redirected from {passed}", soft_wrap=True)
    messages().print(
        f"{exchange.status} {exchange.url} from {exchange.ip}, {len(exchange.body):,} bytes in {exchange.elapsed:.3f} s"
        f"; robots: {look.robots}",
        soft_wrap=True,
    )
    if json:
        print_json(_summary(look))
    elif headers:
        for name, value in exchange.headers:
            print_line(f"{name}: {value}")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(exchange.body)


def look_from_flags(url: str, resolve: list[str] | None, allow_private: bool | None, **more: Any) -> Look:
    from periplus import settings
    from periplus.app.pages.looking import look_at

    flags = {"crawl.resolve": resolve, "crawl.allow_private": allow_private}
    flags |= {f"crawl.{name}": value for name, value in more.items()}
    return look_at(url, settings.load(None, flags).values)


def fetch_page(url: str, resolve: list[str] | None, allow_private: bool | None) -> Page:
    """The page at ``url``, ready for the parser."""
    exchange = look_from_flags(url, resolve, allow_private).exchange
    return Page(
        url=exchange.url,
        body=exchange.body,
        content_type=exchange.header("content-type"),
        headers=exchange.headers,
        status=exchange.status,
        fetched=exchange.started,
    )


def _summary(look: Look) -> dict[str, object]:
    exchange = look.exchange
    return {
        "url": exchange.url,
        "redirects": look.redirects,
        "robots": look.robots,
        "status": exchange.status,
        "ip": exchange.ip,
        "seconds": round(exchange.elapsed, 4),
        "bytes": len(exchange.body),
        "truncated": exchange.truncated,
        "headers": exchange.headers,
    }
