"""``periplus keys``: the keys that programs show to the API, and the operator's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, messages, print_json, print_line
from periplus.errors import UsageError

if TYPE_CHECKING:
    from periplus.web import KeyRing, Operator

ACTIONS = ("list", "create", "revoke", "operator")


def keys(
    action: Annotated[str, typer.Argument(help="list, create, revoke or operator")] = "list",
    name: Annotated[str, typer.Argument(help="name of the key to create or revoke")] = "",
    scope: Annotated[
        list[str] | None, typer.Option(help="what it opens: search, inspect, crawl; repeatable (default: search)")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="with operator: make a new key, and show it this once")] = False,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """List, create or revoke the keys of programs that use the API; renew the operator's key."""
    from periplus.app import Collection

    if action not in ACTIONS:
        raise UsageError(f"keys knows no {action!r}; use list, create, revoke or operator")
    if (action in ("list", "operator")) == bool(name):
        raise UsageError("give the name of a key: periplus keys create NAME, periplus keys revoke NAME")
    if new and action != "operator":
        raise UsageError("--new renews the operator's key: periplus keys operator --new")
    with Collection.existing(directory) as collection:
        ring = collection.keys.programs
        if action == "operator":
            _operator(collection.keys.operator, json, new=new)
        elif action == "create":
            _create(ring, name, scope or ["search"], json)
        elif action == "revoke":
            ring.revoke(name)
            messages().print(f"{name} is revoked; servers refuse it within seconds")
        else:
            _list(ring, json)


def _create(ring: KeyRing, name: str, scopes: list[str], json: bool) -> None:
    key = ring.create(name, scopes)
    if json:
        print_json({"name": name, "scopes": scopes, "key": key})
        return
    print_line(key)
    said = "This is the only time that the key is shown. Programs send it as: Authorization: Bearer KEY."
    said += " Running servers know it within seconds."
    messages().print(said, soft_wrap=True)


def _operator(operator: Operator, json: bool, *, new: bool) -> None:
    if new:
        key = operator.renew()
        if json:
            print_json({"key": key})
            return
        print_line(key)
        said = "This is the only time that the key is shown; the console asks for it."
        said += " Servers refuse the old one within seconds."
        messages().print(said, soft_wrap=True)
        return
    made = _time(operator.created) if operator.check() else None
    if json:
        print_json({"created": made})
    elif made:
        messages().print(f"made and shown {made[:16]}; periplus keys operator --new makes another", soft_wrap=True)
    else:
        messages().print("none yet; periplus serve makes one, and shows it", soft_wrap=True)


def _time(moment: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).isoformat()


def _list(ring: KeyRing, json: bool) -> None:
    rows = [{"name": key.name, "scopes": list(key.scopes), "created": _time(key.created)} for key in ring.all()]
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
