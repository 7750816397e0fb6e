"""``periplus resume``: steer a running crawl from another terminal."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.output import messages


def resume(directory: opt.Folder = Path(opt.DEFAULT_FOLDER)) -> None:
    """Let a paused crawl go on."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        collection.command("resume")
    messages().print("the crawl goes on", soft_wrap=True)
