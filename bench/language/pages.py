"""Pages whose language is known from where they stand: translations in Debian's documentation packages.

A translated manual holds pages that nobody has translated yet, so every page must also look like its language, by a
rule that no detector has a part in (``looks_like``).
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from bench.extract.pages import _package_file
from selectolax.lexbor import LexborHTMLParser

from periplus.documents.charset import decode
from periplus.documents.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from pathlib import Path

# Package, and where in a path the language stands.
PACKAGES = {
    "debian-handbook": re.compile(r"/html/([a-z]{2})-[A-Z]{2}/[^/]+\.html$"),
    "apache2-doc": re.compile(r"/manual/([a-z]{2})(?:-[a-z]{2})?/(?:[^/]+/)*[^/]+\.html$"),
    "installation-guide-amd64": re.compile(r"/installation-guide-amd64/([a-z]{2})(?:_[A-Z]{2})?/[^/]+\.html$"),
    "debian-reference-ja": re.compile(r"\.(ja)\.html$"),
    "debian-reference-zh-cn": re.compile(r"\.(zh)-cn\.html$"),
}
SAME = {"nb": "no", "nn": "no"}
FEWEST_WORDS = 80
OWN_WORDS = 0.08  # share of the language's own commonest words …
OVER_ENGLISH = 3.0  # … and how many times the English ones they must be
OWN_SCRIPT = 0.5  # share of the letters, for languages told by their script
SCRIPTS = {
    "zh": "\u4e00-\u9fff",
    "ja": "\u3040-\u30ff\u4e00-\u9fff",
    "ko": "\uac00-\ud7a3",
    "ar": "\u0600-\u06ff",
    "fa": "\u0600-\u06ff",
    "ru": "\u0400-\u04ff",
    "el": "\u0370-\u03ff",
}
KANA = re.compile("[\u3040-\u30ff]")
PERSIAN = re.compile("[پچژگ\u06cc\u06a9]")  # letters that Arabic does not have
MORE_WORDS = {
    "ca": "de la i el que a en els per un una amb és les del no es al com més o si són aquest aquesta",
    "da": "og i at det en til er af på for den de som med et der ikke kan har fra eller om du ved",
    "hr": "i u je se na za da od su ili kao koji s to iz ne će koja može ako što po bi biti",
    "hu": "a az és hogy nem egy is de meg csak ez vagy ha már mint azt ki kell lehet van",
    "no": "og i det er på som en til av for med at de et den ikke har kan om eller fra du vil ved",
    "ro": "de și în la a cu pe pentru este că din nu sau un o care se mai ca poate sunt fi",
    "vi": "và của là có các được cho trong không với một để này từ khi những bạn như hoặc bị",
    "uk": "і в на не що з до як за у це від та для або є але якщо може буде",
}


class Known(NamedTuple):
    language: str
    name: str
    body: bytes


def pages(cache: Path, most: int) -> list[Known]:
    """At most so many pages of each language, always the same ones."""
    found: dict[str, list[Known]] = {}
    for package, pattern in PACKAGES.items():
        for name, body in _files(_package_file(package, cache)):
            place = pattern.search(name)
            if place:
                language = SAME.get(place.group(1), place.group(1))
                found.setdefault(language, []).append(Known(language, f"{package} {name}", body))
    chosen = []
    for language in sorted(found):
        order = sorted(found[language], key=lambda page: hashlib.sha256(page.name.encode()).digest())
        kept: list[Known] = []
        for page in order[: 5 * most]:
            if len(kept) == most:
                break
            if looks_like(language, _all_text(page.body)):
                kept.append(page)
        chosen += kept
    return chosen


def _files(package: Path) -> list[tuple[str, bytes]]:
    unpacking = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE)
    assert unpacking.stdout
    with tarfile.open(fileobj=unpacking.stdout, mode="r|") as tar:
        found = [
            (member.name, file.read())
            for member in tar
            if member.isfile() and member.name.endswith(".html") and (file := tar.extractfile(member))
        ]
    unpacking.wait()
    return found


def _all_text(body: bytes) -> str:
    page = LexborHTMLParser(decode(body, "text/html").text)
    page.strip_tags(["script", "style", "pre"])  # code is English everywhere
    return page.body.text(separator=" ") if page.body else ""


def looks_like(language: str, text: str) -> bool:
    """Whether a text is in the language that its place says, by its script or its commonest words."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    if language in SCRIPTS:
        return _looks_by_script(language, text)
    if len(words) < FEWEST_WORDS:
        return False
    english = STOP_WORDS["en"]
    if language == "en":
        return sum(word in english for word in words) >= 2 * OWN_WORDS * len(words)
    own = STOP_WORDS.get(language) or frozenset(MORE_WORDS.get(language, "").split())
    of_own = sum(word in own and word not in english for word in words)
    of_english = sum(word in english and word not in own for word in words)
    return of_own >= OWN_WORDS * len(words) and of_own >= OVER_ENGLISH * of_english


def _looks_by_script(language: str, text: str) -> bool:
    letters = sum(char.isalpha() for char in text)
    own = len(re.findall(f"[{SCRIPTS[language]}]", text))
    if letters < FEWEST_WORDS * 2 or own < OWN_SCRIPT * letters:
        return False
    kana, persian = len(KANA.findall(text)), len(PERSIAN.findall(text))
    if language in ("ja", "zh"):
        return (kana > 0.1 * own) == (language == "ja")
    if language in ("ar", "fa"):
        return (persian > 0.03 * own) == (language == "fa")
    return True
