"""How fast pages become documents: pages and megabytes a CPU-second, and what each step of the way costs.

    python bench/documents.py FOLDER [--pages 300] [--rounds 5]

FOLDER holds HTML files below it (a folder a host, as a mirror has them). The same random pages are parsed in every
round; the least time of each page counts, so that other work on the machine disturbs little. CPU time, one process.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

from turbohtml.saxparse import SaxHandler, sax_parse

from periplus.documents import parse, simhash
from periplus.documents.charset import decode
from periplus.documents.html.walk import walk
from periplus.documents.language import detect
from periplus.records import Page


class Nothing(SaxHandler):
    """The least a walk can do: what remains is the parser and its events."""

    def start_element(self, tag, attrs):
        pass

    def end_element(self, tag):
        pass

    def characters(self, data):
        pass


def pages_of(folder: Path, count: int) -> list[Page]:
    files = sorted(folder.rglob("*.html"))
    chosen = random.Random(1).sample(files, min(count, len(files)))
    return [
        Page(f"http://{file.relative_to(folder)}", file.read_bytes(), "text/html", fetched=1.7e9) for file in chosen
    ]


def least(step, items, rounds: int) -> float:
    """Seconds for all items, each at its best of the rounds."""
    best = [float("inf")] * len(items)
    for _ in range(rounds):
        for number, item in enumerate(items):
            began = time.process_time()
            step(item)
            best[number] = min(best[number], time.process_time() - began)
    return sum(best)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--pages", type=int, default=300)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    pages = pages_of(given.folder, given.pages)
    markups = [decode(page.body).text for page in pages]
    texts = [parse(page).text for page in pages]
    size = sum(len(page.body) for page in pages)
    steps = {
        "events": least(lambda markup: sax_parse(markup, Nothing()), markups, given.rounds),
        "walk": least(walk, markups, given.rounds),
        "language": least(detect, texts, given.rounds),
        "fingerprint": least(simhash, texts, given.rounds),
        "document": least(parse, pages, given.rounds),
    }
    report = {
        "pages": len(pages),
        "bytes_a_page": size // len(pages),
        "milliseconds_a_page": {name: round(seconds / len(pages) * 1000, 3) for name, seconds in steps.items()},
        "documents_a_second": round(len(pages) / steps["document"]),
        "megabytes_a_second": round(size / steps["document"] / 1e6, 1),
        "documents_a_second_at_50_kB": round(size / steps["document"] / 50_000),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
