"""``make bench-documents``: pages a CPU-second, what each step costs, and turbohtml against selectolax.

    python -m bench.documents [--web FOLDER] [--pages 5000] [--rounds 2] [--near 300] [--steps 300] [--trafilatura 200]

FOLDER holds HTML files below it, a folder a host, as ``../shared/localweb/get FOLDER medium`` makes it. The same random
pages are taken in every round, contenders take turns page by page, and the least time of each page counts, so that
other work on the machine disturbs little. CPU time, one process; models are loaded before the clock runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import turbohtml
from bench.documents.parsers import agreement, by_selectolax, by_turbohtml
from selectolax.lexbor import LexborHTMLParser

from periplus.documents import bounds, parse, simhash
from periplus.documents.charset import decode
from periplus.documents.html import blocks
from periplus.documents.html.reader import read_markup
from periplus.documents.html.walk import walk
from periplus.documents.language import detect
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "build" / "bench-documents" / "result.json"
AT = 50_000  # bytes of the page that rates are given for


def files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.html*") if file.suffix != ".gz" and file.is_file())


def pages_of(folder: Path, files: list[Path], count: int) -> list[Page]:
    chosen = random.Random(1).sample(files, min(count, len(files)))
    return [
        Page(f"http://{file.relative_to(folder)}", file.read_bytes(), "text/html", fetched=1.7e9) for file in chosen
    ]


def least(contenders: dict[str, Callable[[int], object]], count: int, rounds: int) -> dict[str, float]:
    """CPU seconds of each contender for all items, each item at its best of the rounds."""
    best = {name: [float("inf")] * count for name in contenders}
    for _ in range(rounds):
        for number in range(count):
            for name, step in contenders.items():
                began = time.process_time()
                step(number)
                best[name][number] = min(best[name][number], time.process_time() - began)
    return {name: sum(times) for name, times in best.items()}


def parser_figures(pages: list[Page], rounds: int) -> dict[str, object]:
    """The whole way of a document, and the two parsers on the same work."""
    markups = [decode(page.body).text for page in pages]
    steps: dict[str, Callable[[int], object]] = {
        "turbohtml, parse alone": lambda at: turbohtml.parse(markups[at], positions=False),
        "selectolax, parse alone": lambda at: LexborHTMLParser(markups[at]),
        "turbohtml, texts and links": lambda at: by_turbohtml(markups[at]),
        "selectolax, texts and links": lambda at: by_selectolax(markups[at]),
        "document, complete": lambda at: parse(pages[at]),
    }
    taken = least(steps, len(pages), rounds)
    same = [agreement(by_turbohtml(markup), by_selectolax(markup)) for markup in markups[::10]]
    return {"milliseconds": rates(taken, len(pages)), "agreement": sum(same) / len(same)}


def step_figures(pages: list[Page], rounds: int) -> dict[str, float]:
    markups = [decode(page.body).text for page in pages]
    texts = [parse(page).text for page in pages]
    steps: dict[str, Callable[[int], object]] = {
        "decode": lambda at: decode(pages[at].body),
        "walk": lambda at: walk(markups[at]),
        "main text, links and head": lambda at: read_markup(markups[at], pages[at]),
        "language": lambda at: detect(texts[at]),
        "fingerprint": lambda at: simhash(texts[at]),
        "document, complete": lambda at: parse(pages[at]),
    }
    return rates(least(steps, len(pages), rounds), len(pages))


def near_figures(folder: Path, files: list[Path], count: int, rounds: int) -> dict[str, float]:
    """Complete documents a CPU-second over pages that are about as large as ``AT``."""
    pages = pages_of(folder, [file for file in files if abs(file.stat().st_size - AT) <= AT // 5], count)
    taken = least({"document": lambda at: parse(pages[at])}, len(pages), rounds + 1)
    size = sum(len(page.body) for page in pages)
    return {
        "pages": len(pages),
        "bytes_a_page": size // len(pages),
        "documents_a_second": round(len(pages) / taken["document"]),
    }


def text_alone(markup: str) -> str:
    """What trafilatura is asked for: the main text, and nothing else."""
    found = walk(markup)
    kept = [block for block, chosen in zip(found.blocks, blocks.choose(found.blocks), strict=True) if chosen]
    return blocks.joined(kept, bounds.TEXT_CHARS)


def sizes(files: list[Path]) -> dict[str, int]:
    """Quantiles of the sizes of all files, in bytes."""
    ordered = sorted(file.stat().st_size for file in files)
    return {f"{percent} %": ordered[len(ordered) * percent // 100] for percent in (5, 25, 50, 75, 90, 95, 99)}


def trafilatura_figures(pages: list[Page]) -> dict[str, float]:
    from trafilatura import extract

    markups = [decode(page.body).text for page in pages]
    steps: dict[str, Callable[[int], object]] = {
        "text by trafilatura": lambda at: extract(markups[at]),
        "text by trafilatura, favor_recall": lambda at: extract(markups[at], favor_recall=True),
        "text by Periplus": lambda at: text_alone(markups[at]),
        "text, links and head by Periplus": lambda at: read_markup(markups[at], pages[at]),
        "document, complete": lambda at: parse(pages[at]),
    }
    return rates(least(steps, len(pages), 1), len(pages))


def rates(seconds: dict[str, float], count: int) -> dict[str, float]:
    return {name: round(taken / count * 1000, 3) for name, taken in seconds.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--web", type=Path, default=ROOT / "build" / "web")
    options.add_argument("--pages", type=int, default=5000)
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--near", type=int, default=300, help="pages of 40 to 60 kB")
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--trafilatura", type=int, default=200)
    given = options.parse_args()
    files = files_of(given.web)
    pages = pages_of(given.web, files, given.pages)
    size = sum(len(page.body) for page in pages)
    detect("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor")  # loads the second model
    found = parser_figures(pages, given.rounds)
    complete = found["milliseconds"]["document, complete"] * len(pages) / 1000  # type: ignore[index]
    report = {
        "pages": len(pages),
        "bytes_a_page": size // len(pages),
        "sizes_of_all": sizes(files),
        "near_50_kB": near_figures(given.web, files, given.near, given.rounds),
        "parsers": found,
        "documents_a_second": round(len(pages) / complete),
        "documents_a_second_at_50_kB": round(size / complete / AT),
        "steps": step_figures(pages[: given.steps], 3 * given.rounds),
        "against_trafilatura": trafilatura_figures(pages[: given.trafilatura]),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(report, indent=2))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
