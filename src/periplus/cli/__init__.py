"""The command line: one file a verb, wired in ``verbs.py``; ``main`` is what ``periplus`` runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from periplus import log_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``periplus`` command; Ctrl-C is one line also while the rest is being loaded."""
    try:
        from periplus.cli.main import main as run

        run(arguments)
    except KeyboardInterrupt:
        log_lines.say("stopped")
        sys.exit(1)
