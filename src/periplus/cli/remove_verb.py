"""``periplus remove``: takedown of an address or a host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import facts, messages, number, print_json


def remove(
    target: Annotated[str, typer.Argument(help="an address, or a host for all its pages", metavar="URL|HOST")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="build the index anew, so that its files hold nothing of it either")
    ] = False,
    ban: Annotated[bool, typer.Option("--ban", help="keep it out for good also when nothing is known of it")] = False,
    json: opt.Json = False,
) -> None:
    """Take a page or a host out of archive, documents and index, and never fetch it again."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        removal = collection.remove(target, rebuild=rebuild, ban=ban)
    if json:
        print_json(removal)
        return
    if removal.is_empty:
        messages().print(f"nothing is stored of {removal.target}; it is kept out from now on", soft_wrap=True)
        return
    messages().print(
        facts(
            [
                ("taken down", removal.target),
                ("addresses", number(len(removal.addresses))),
                ("archive records", number(len(removal.archived))),
                ("stored documents", number(removal.documents)),
            ]
        )
    )
    if not removal.indexed:
        messages().print(
            "no index is published, or another process is indexing: it follows with the next step", soft_wrap=True
        )
