"""Asks the package index whether a pinned package has a known vulnerability, and fails where one has.

Every version in requirements/*.lock is looked up in the advisories that PyPI keeps with its packages (the data of
pip-audit). Where they cannot be had, one line says so, and nothing fails: a mirror has the packages alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
INDEX = os.environ.get("PERIPLUS_ADVISORIES", "https://pypi.org/pypi")  # an address with NAME/VERSION/json below it
SECONDS = 10.0  # for one answer
TOGETHER = 8
# Advisories that do not touch us, by their id, with the reason.
HARMLESS: dict[str, str] = {}


def pins() -> list[tuple[str, str]]:
    """All packages with their versions, of every lock."""
    text = "\n".join(lock.read_text(encoding="utf-8") for lock in (ROOT / "requirements").glob("*.lock"))
    return sorted(set(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE)))


def advisories(pin: tuple[str, str]) -> list[Any] | None:
    """What is known of a package; ``None`` where the index has no answer."""
    try:
        with urlopen(f"{INDEX}/{pin[0]}/{pin[1]}/json", timeout=SECONDS) as answer:  # noqa: S310 - of this file or the operator
            return list(json.load(answer)["vulnerabilities"])
    except (URLError, OSError, ValueError, KeyError, TypeError):
        return None


def told(pin: tuple[str, str], advisory: Any) -> str:
    names = ", ".join([advisory["id"], *advisory.get("aliases", [])])
    mended = f"mended in {', '.join(advisory['fixed_in'])}" if advisory.get("fixed_in") else "not mended yet"
    return f"{pin[0]} {pin[1]}: {names}, {mended}; see {advisory.get('link') or INDEX}"


def main() -> int:
    pinned = pins()
    if all(advisories(pin) is None for pin in pinned[:3]):
        sys.stderr.write(f"audit: {INDEX} has no advisories, so packages are not compared with any\n")
        return 0
    with ThreadPoolExecutor(TOGETHER) as threads:
        found = dict(zip(pinned, threads.map(advisories, pinned), strict=True))
    vulnerable = [
        told(pin, one)
        for pin, known in found.items()
        for one in known or ()
        if not one.get("withdrawn") and one["id"] not in HARMLESS
    ]
    unknown = [f"{name} {version}" for (name, version), known in found.items() if known is None]
    sys.stderr.writelines(f"{line}\n" for line in vulnerable)
    if unknown:
        sys.stderr.write(f"audit: nothing is known of {', '.join(unknown)}\n")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main())
