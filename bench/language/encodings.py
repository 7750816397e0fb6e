"""``python -m bench.language.encodings``: sentences in encodings that nobody declares, read back.

Single sentences of Slavic languages with Cyrillic letters, as ``bench.language.sentences`` finds them. A sentence
counts for an encoding that has all of its signs, and is read right when every character comes back.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from bench.language.__main__ import CACHE, table
from bench.language.sentences import PACKAGES, sentences

from periplus.documents.charset import decode

LANGUAGES = ("be", "bg", "mk", "ru", "sr", "uk")
ENCODINGS = ("x-mac-cyrillic", "windows-1251", "koi8-r", "iso-8859-5")
CODECS = {"x-mac-cyrillic": "mac_cyrillic", "iso-8859-5": "iso8859_5"}  # where Python calls them otherwise


def encoded(text: str, encoding: str) -> bytes | None:
    """None where the encoding lacks a sign of the text."""
    try:
        return text.encode(CODECS.get(encoding, encoding))
    except UnicodeEncodeError:
        return None


def main() -> None:
    options = argparse.ArgumentParser(prog="bench.language.encodings", description=__doc__)
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--half", choices=PACKAGES, default="table", help="packages whose sentences are taken")
    options.add_argument("--sentences", type=int, default=120, help="of each language, at most")
    given = options.parse_args()
    found = [one for one in sentences(given.cache, given.half, given.sentences) if one.language in LANGUAGES]
    rows = [("encoded in", "sentences", "read right", "taken for", "marked sure")]
    for encoding in ENCODINGS:
        pairs = [(one.text, body) for one in found if (body := encoded(one.text, encoding)) is not None]
        answers = [(text, decode(body)) for text, body in pairs]
        wrong = Counter(answer.charset for text, answer in answers if answer.text != text)
        others = ", ".join(f"{name} {count}" for name, count in wrong.most_common())
        right, sure = len(answers) - wrong.total(), sum(answer.sure for _, answer in answers)
        rows.append((encoding, str(len(answers)), str(right), others, str(sure)))
    print(table(rows))


if __name__ == "__main__":
    main()
