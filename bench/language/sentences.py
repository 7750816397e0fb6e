"""Single sentences whose language is known: messages of programs, translated, from Debian's packages.

A message counts when its English original is a sentence of some length without marks for values, and the translation is
another text. Packages of the half ``tuning`` are for making rules with, those of ``table`` for measuring.
"""

from __future__ import annotations

import gettext
import hashlib
import io
import re
import subprocess
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from bench.extract.pages import _package_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = {
    "tuning": (
        "evolution-common", "gnome-control-center-data", "epiphany-browser-data", "totem-common",
        "cheese-common", "libgtk2.0-common", "gnome-system-monitor", "thunar-data", "xfce4-settings",
    ),
    "table": (
        "gimp-data", "libglib2.0-data", "nautilus-data", "rhythmbox-data", "gedit-common", "seahorse",
    ),
}  # fmt: skip
CATALOGUE = re.compile(r"/locale/([a-z]{2})(?:_[A-Z]{2})?/LC_MESSAGES/[^/]+\.mo$")  # no scripts or dialects apart
SAME = {"nb": "no", "nn": "no"}
SHORTEST = 25  # characters of the English original
FEWEST_WORDS = 4
FEWEST = 20  # sentences from which a language counts


class Sentence(NamedTuple):
    language: str
    text: str


def sentences(cache: Path, half: str, most: int) -> list[Sentence]:
    """At most so many sentences of each language, always the same ones."""
    found: dict[str, set[str]] = {}
    for package in PACKAGES[half]:
        for language, text in _translated(_package_file(package, cache)):
            found.setdefault(SAME.get(language, language), set()).add(text)
    found.pop("en", None)  # its catalogues hold spellings of Britain, Canada and Australia
    return [
        Sentence(language, text)
        for language, texts in sorted(found.items())
        if len(texts) >= FEWEST
        for text in sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())[:most]
    ]


def _translated(package: Path) -> Iterator[tuple[str, str]]:
    for language, body in _catalogues(package):
        try:
            messages = gettext.GNUTranslations(io.BytesIO(body))._catalog  # type: ignore[attr-defined]
        except (IndexError, ValueError, OSError):  # a catalogue whose head is broken
            continue
        for original, text in messages.items():
            if isinstance(original, str) and _is_sentence(original) and _is_plain(text) and text != original:
                yield language, text


def _is_sentence(text: str) -> bool:
    return len(text) >= SHORTEST and text.count(" ") + 1 >= FEWEST_WORDS and text.endswith(".") and _is_plain(text)


def _is_plain(text: str) -> bool:
    return not set(text) & set("%<>{}~\n_&|\x04")


def _catalogues(package: Path) -> Iterator[tuple[str, bytes]]:
    unpacking = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE)
    assert unpacking.stdout
    with tarfile.open(fileobj=unpacking.stdout, mode="r|") as tar:
        for member in tar:
            place = CATALOGUE.search(member.name)
            if place and member.isfile() and (file := tar.extractfile(member)):
                yield place.group(1), file.read()
    unpacking.stdout.close()
    unpacking.wait()
