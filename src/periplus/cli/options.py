"""Flags that several verbs share, spelt once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from periplus.errors import UsageError

Folder = Annotated[Path, typer.Option("--dir", help="folder of the collection", show_default=True)]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]

MaxPages = Annotated[int | None, typer.Option(help="stop after so many pages; 0 is no limit")]
MaxDepth = Annotated[int | None, typer.Option(help="links away from a seed, at most")]
Scope = Annotated[str | None, typer.Option(help="follow links to: host, site or any")]
Include = Annotated[list[str] | None, typer.Option(help="pattern that an address must match; repeatable")]
Exclude = Annotated[list[str] | None, typer.Option(help="pattern that no address may match; repeatable")]
Delay = Annotated[float | None, typer.Option(help="least seconds between two requests to a host")]
Concurrency = Annotated[int | None, typer.Option(help="requests under way at once, a worker")]
Workers = Annotated[int | None, typer.Option(help="worker processes; 0 is one a core")]
Languages = Annotated[str | None, typer.Option("--lang", help="keep only these languages: en,de")]
Resolve = Annotated[list[str] | None, typer.Option(help="HOST=IP[:PORT] instead of DNS; *.test for many; repeatable")]
AllowPrivate = Annotated[bool | None, typer.Option("--allow-private", help="fetch from private addresses too")]
Header = Annotated[
    list[str] | None, typer.Option("--header", help="HOST='Name: value', sent to that host only; repeatable")
]
Auth = Annotated[list[str] | None, typer.Option(help="HOST=user:password-file, HTTP Basic login; repeatable")]
Proxy = Annotated[str | None, typer.Option(help="HTTP proxy for all hosts but those of --resolve: http://proxy:3128")]
MaxBandwidth = Annotated[str | None, typer.Option(help="bytes a second, all pages together, like 2MB")]
Hours = Annotated[str | None, typer.Option(help="crawl only in these local hours, like 22-06")]
Documents = Annotated[str | None, typer.Option(help="make documents now, or later from the archive when indexing")]
Tls = Annotated[str | None, typer.Option(help="certificates that fail: verify refuses them, note goes on")]
Forget = Annotated[bool, typer.Option("--forget", help="forget what earlier crawls were told, then begin")]
Seeds = Annotated[Path | None, typer.Option("--seeds", help="file of addresses, one a line; or OPML, bookmarks, CDXJ")]

TokenFile = Annotated[
    Path | None, typer.Option(help="file of the token that shard servers want; or PERIPLUS_SHARD_TOKEN")
]

DEFAULT_FOLDER = "collection"


def typed(text: str) -> str:
    """A text from the command line; bytes in it that are no UTF-8 become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def byte_size(text: str | None) -> int | None:
    """``512MB``, ``1GiB`` or a plain number, as bytes."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?)?b?\s*", text.lower())
    if not found:
        raise UsageError(f"{text!r} is no size; write it like 512MB or 1GiB")
    return int(float(found[1]) * _UNITS[found[2] or ""])
