"""``periplus pause``: steer a running crawl from another terminal."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.steering import steer


def pause(directory: opt.Folder = Path(opt.DEFAULT_FOLDER)) -> None:
    """Let a running crawl finish its requests and wait."""
    steer(directory, "pause", "the crawl pauses after the requests under way")
