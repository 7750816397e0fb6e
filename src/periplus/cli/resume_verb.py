"""``periplus resume``: steer a running crawl from another terminal."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.steering import steer


def resume(directory: opt.Folder = Path(opt.DEFAULT_FOLDER)) -> None:
    """Let a paused crawl go on."""
    steer(directory, "resume", "the crawl goes on")
