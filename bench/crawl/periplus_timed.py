"""Periplus' command line with a clock around its parser: ``python -m bench.crawl.periplus_timed FIGURES ARGUMENTS…``.

Tells how much of the CPU time is the parser's, as the Scrapy contender that calls the same parser does. The clock
costs about a microsecond a page. Only for one worker: the clock is in this process.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import periplus.documents


class Clock:
    """Wraps a function and adds up the CPU time of the threads that run it."""

    def __init__(self, function) -> None:
        self._function = function
        self.calls = 0
        self.seconds = 0.0

    def __call__(self, *arguments):
        began = time.thread_time()
        try:
            return self._function(*arguments)
        finally:
            self.seconds += time.thread_time() - began
            self.calls += 1


def main() -> None:
    from periplus.cli import main as command_line

    figures = Path(sys.argv[1])
    clock = Clock(periplus.documents.parse)
    periplus.documents.parse = clock
    sys.argv = ["periplus", *sys.argv[2:]]
    try:
        command_line()
    finally:
        figures.write_text(json.dumps({"calls": clock.calls, "parser_seconds": clock.seconds}), encoding="utf-8")


if __name__ == "__main__":
    main()
