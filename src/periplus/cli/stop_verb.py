"""``periplus stop``: steer a running crawl from another terminal."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.output import messages


def stop(directory: opt.Folder = Path(opt.DEFAULT_FOLDER)) -> None:
    """End a running crawl; it can be taken up again later."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        collection.command("stop")
    messages().print("the crawl stops after the requests under way", soft_wrap=True)
