"""``periplus keys``: the keys that programs show to the API."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, messages, print_json, print_line
from periplus.errors import UsageError

if TYPE_CHECKING:
    from periplus.web.keys import KeyRing

ACTIONS = ("list", "create", "revoke")


def keys(
    action: Annotated[str, typer.Argument(help="list, create or revoke")] = "list",
    name: Annotated[str, typer.Argument(help="name of the key to create or revoke")] = "",
    scope: Annotated[
        list[str] | None, typer.Option(help="what it opens: search, inspect, crawl; repeatable [default: search]")
    ] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """List, create or revoke the keys of programs that use the API."""
    from periplus.app import Collection
    from periplus.web.keys import KeyRing

    if action not in ACTIONS:
        raise UsageError(f"keys knows no {action!r}; use list, create or revoke")
    if (action == "list") == bool(name):
        raise UsageError("give the name of a key: periplus keys create NAME, periplus keys revoke NAME")
    with Collection.existing(directory) as collection:
        ring = KeyRing(collection.files)
        if action == "create":
            _create(ring, name, scope or ["search"], json)
        elif action == "revoke":
            ring.revoke(name)
            messages().print(f"{name} is revoked; servers refuse it from now on")
        else:
            _list(ring, json)


def _create(ring: KeyRing, name: str, scopes: list[str], json: bool) -> None:
    key = ring.create(name, scopes)
    if json:
        print_json({"name": name, "scopes": scopes, "key": key})
        return
    print_line(key)
    said = "This is the only time that the key is shown. Programs send it as: Authorization: Bearer KEY"
    messages().print(said, soft_wrap=True)


def _list(ring: KeyRing, json: bool) -> None:
    from datetime import UTC, datetime

    rows = [
        {"name": key.name, "scopes": list(key.scopes), "created": datetime.fromtimestamp(key.created, UTC).isoformat()}
        for key in ring.all()
    ]
    if json:
        print_json({"keys": rows})
        return
    if not rows:
        messages().print("no keys yet; periplus keys create NAME makes one", soft_wrap=True)
        return
    table = Table("name", "scopes", "created", box=None)
    for row in rows:
        table.add_row(str(row["name"]), ", ".join(row["scopes"]), str(row["created"])[:16])
    data().print(table)
