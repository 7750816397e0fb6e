"""Checks the licence of every package that Periplus installs against those that go with Apache-2.0.

Reads the metadata of the packages named in requirements/cluster.lock, which has all of base.lock; fails on one that is
missing or unknown.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

LOCK = Path(__file__).resolve().parent.parent / "requirements" / "cluster.lock"
FINE = ("apache", "bsd", "mit", "isc", "python software foundation", "psf", "mpl", "mozilla", "lgpl", "lesser", "0bsd")
# What the metadata of a package does not say, as its own licence file does.
KNOWN: dict[str, str] = {}


def licence_of(name: str) -> str:
    fields = metadata(name)
    said = [fields.get("License-Expression") or "", (fields.get("License") or "")[:120]]
    said += [line for line in fields.get_all("Classifier") or [] if line.startswith("License ::")]
    return KNOWN.get(name, " ".join(filter(None, said)))


def main() -> int:
    wrong = 0
    for name in sorted(set(re.findall(r"^([a-z0-9._-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE))):
        try:
            licence = licence_of(name)
        except PackageNotFoundError:
            continue  # for another platform
        if not any(word in licence.lower() for word in FINE):
            sys.stderr.write(f"{name}: licence {licence or 'not stated'} is not on the list in scripts/licences.py\n")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
