"""``make bench-language``: the language that a page is given against the one it is known to be in."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from statistics import fmean

import pycld2
from bench.language.pages import Known, pages
from bench.language.sentences import PACKAGES, sentences

from periplus.documents import parse
from periplus.documents.language import detect
from periplus.documents.language_model import load
from periplus.errors import ParseError
from periplus.records import Page

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-extract"  # the same packages
RESULT = ROOT / "build" / "bench-language" / "result.json"
ENOUGH = 20  # pages from which a language counts
DECLARED = re.compile(rb"""\s(?:xml:)?lang\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
WORST = 12
LENGTHS = (5, 10, 20, 40, 80, 160)


def found_in(page: Known, *, declared: bool) -> str:
    body = page.body if declared else DECLARED.sub(b"", page.body)
    try:
        return parse(Page("https://example.org/page", body, "text/html")).language
    except ParseError:
        return ""


def table(rows: list[tuple[str, ...]]) -> str:
    head, *rest = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, tuple("---" for _ in head), *rest))


def pieces(page: Known, length: int) -> list[str]:
    """Three beginnings of lines of the page's text, of so many characters."""
    text = parse(Page("https://example.org/page", page.body, "text/html")).text
    lines = [line for line in text.split("\n") if len(line) >= length and line[:1].isalpha()]
    return [line[:length] for line in lines[1:4]]


def short_texts(known: list[Known]) -> list[tuple[str, ...]]:
    rows = [("characters", "texts", "right", "unknown", "wrong")]
    for length in LENGTHS:
        verdicts: Counter[str] = Counter()
        for page in known[::5]:
            for text in pieces(page, length):
                answer = detect(text)
                verdicts["unknown" if not answer else "right" if answer == page.language else "wrong"] += 1
        total = max(1, verdicts.total())
        shares = (f"{100 * verdicts[name] / total:.0f} %" for name in ("right", "unknown", "wrong"))
        rows.append((str(length), str(total), *shares))
    return rows


def single_sentences(cache: Path, half: str, most: int) -> str:
    """Macro figures over all languages, and over those that one of the models knows; then the worst ones."""
    verdicts: dict[str, Counter[str]] = {}
    for sentence in sentences(cache, half, most):
        verdicts.setdefault(sentence.language, Counter())[detect(sentence.text)] += 1
    known = {code for name, code in pycld2.LANGUAGES if name in pycld2.DETECTED_LANGUAGES} | set(load().nb_classes)
    rows = [("languages", "sentences", "right", "unknown", "wrong")]
    for chosen in (verdicts, {name: found for name, found in verdicts.items() if name in known}):
        right = fmean(found[name] / found.total() for name, found in chosen.items())
        unknown = fmean(found[""] / found.total() for found in chosen.values())
        shares = (f"{share:.3f}" for share in (right, unknown, 1 - right - unknown))
        rows.append((str(len(chosen)), str(sum(found.total() for found in chosen.values())), *shares))
    worst = sorted(verdicts, key=lambda name: verdicts[name][name] / verdicts[name].total())[:WORST]
    lines = [f"{name} {dict(verdicts[name].most_common(4))}" for name in worst]
    return table(rows) + "\n\nworst: " + "; ".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(prog="bench-language", description=__doc__)
    options.add_argument("--pages", type=int, default=60, help="pages of each language, at most")
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--half", choices=PACKAGES, default="table", help="packages whose sentences are taken")
    options.add_argument("--sentences", type=int, default=60, help="of each language, at most")
    options.add_argument("--only-sentences", action="store_true", help="and no pages")
    given = options.parse_args()
    print(f"# Single sentences, {given.half}\n\n{single_sentences(given.cache, given.half, given.sentences)}\n")
    if given.only_sentences:
        return
    known = pages(given.cache, given.pages)
    counts = Counter(page.language for page in known)
    rows = [("language", "pages", "right as served", "right without lang attributes", "taken for")]
    shares: dict[str, tuple[float, float]] = {}
    for language, count in sorted(counts.items()):
        if count < ENOUGH:
            continue
        mine = [page for page in known if page.language == language]
        served = Counter(found_in(page, declared=True) for page in mine)
        bare = Counter(found_in(page, declared=False) for page in mine)
        shares[language] = (served[language] / count, bare[language] / count)
        others = ", ".join(f"{name or 'unknown'} {times}" for name, times in bare.most_common() if name != language)
        rows.append((language, str(count), *(f"{100 * share:.1f} %" for share in shares[language]), others))
    means = [sum(share[column] for share in shares.values()) / len(shares) for column in (0, 1)]
    rows.append(
        ("**mean**", str(sum(counts[name] for name in shares)), *(f"**{100 * mean:.1f} %**" for mean in means), "")
    )
    print(f"# Language: {len(shares)} languages\n\n{table(rows)}\n\nBeginnings of lines alone:\n")
    print(table(short_texts(known)))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps({"shares": shares, "means": means}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
