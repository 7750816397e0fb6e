"""Commands to a crawl that runs in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.cli.output import messages

if TYPE_CHECKING:
    from pathlib import Path


def steer(directory: Path, command: str, said: str) -> None:
    """Send ``command`` and print what comes of it; a command that nobody would hear is an error."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        collection.command(command)
    messages().print(said, soft_wrap=True)
