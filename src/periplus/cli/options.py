"""Flags that several verbs share, spelt once."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

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
Seeds = Annotated[Path | None, typer.Option("--seeds", help="file of addresses, one a line")]

DEFAULT_FOLDER = "collection"
