"""``periplus stop``: steer a running crawl from another terminal."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.steering import steer


def stop(directory: opt.Folder = Path(opt.DEFAULT_FOLDER)) -> None:
    """End a running crawl; it can be taken up again later."""
    steer(directory, "stop", "the crawl stops after the requests under way")
