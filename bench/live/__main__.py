"""``make bench-live``: WARC files to a searchable index, and an index that is searched while it grows.

    make bench-live ARGS="--web FOLDER --documents passages.jsonl"
    make bench-live ARGS="--web FOLDER --only warc --pages 6500 --near 50000"
    make bench-live ARGS="--documents passages.jsonl --only import --records 30000 --against ../other/src"

FOLDER holds HTML files below it, a folder a host, as ``../shared/localweb/get FOLDER medium`` makes it; the documents
are what ``../shared/localweb/passages`` makes of it. Everything runs on this machine, the load beside what it measures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from bench.live import imports, living, warc

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-live"


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-live", description=__doc__)
    options.add_argument("--web", type=Path, help="a local web, or any folder of HTML files")
    options.add_argument("--documents", type=Path, help="documents as .jsonl, for what is searched while it grows")
    options.add_argument("--only", choices=("warc", "living", "import"), help="one of the three parts")
    options.add_argument("--pages", type=int, default=2_000, help="of the WARC file")
    options.add_argument("--near", type=int, default=0, help="bytes of a page, about; pages of any size without it")
    options.add_argument("--records", type=int, default=30_000, help="of the files of records")
    options.add_argument("--rounds", type=int, default=3, help="imports of each file of records")
    options.add_argument("--against", type=Path, help="the folder src of another version, whose imports take turns")
    options.add_argument("--seconds", type=float, default=15.0, help="of each phase of searching")
    options.add_argument("--cache", type=Path, default=CACHE, help="where collections are made, and removed again")
    options.add_argument("--json", type=Path, help="where the figures go")
    return options.parse_args()


def main() -> None:
    options = read_options()
    if options.web is None and options.only != "import":
        sys.exit("--web is needed for all but --only import")
    folder = options.cache / f"run-{os.getpid()}"
    folder.mkdir(parents=True)
    found: dict[str, Any] = {}
    try:
        if options.only in (None, "import") and options.documents is not None:
            found["import"] = imports.measure(
                options.documents, folder, options.records, options.rounds, options.against
            )
        if options.only in (None, "warc"):
            found["warc"] = warc.measure(options.web, folder, options.pages, options.near)
        if options.only in (None, "living"):
            if options.documents is None:
                sys.exit("--documents is needed for the index that is searched while it grows")
            found["living"] = living.measure(options.web, options.documents, folder, options.seconds)
    finally:
        shutil.rmtree(folder)
    target = options.json or options.cache / "result.json"
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for part in found.values():
        print(
            "\n".join(["| figure | value |", "|---|---|", *(f"| {name} | {value:g} |" for name, value in part.items())])
        )
        print()
    print(f"load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
