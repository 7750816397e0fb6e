"""``periplus pause``: steer a running crawl from another terminal."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.output import messages


def pause(directory: opt.Folder = Path(opt.DEFAULT_FOLDER)) -> None:
    """Let a running crawl finish its requests and wait."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        collection.command("pause")
    messages().print("the crawl pauses after the requests under way", soft_wrap=True)
