"""A labelled page for the eye: its numbered blocks, and where Periplus' text differs from the label."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bench.extract.contenders import periplus
from bench.extract.labels import numbers
from bench.extract.splitting import blocks
from bench.extract.words import compare, words

if TYPE_CHECKING:
    from bench.extract.labels import Reference

SHOWN = 100  # characters of a block


def shown(page: Reference) -> str:
    """Every block with its number, its place in the page, and M for main or n for neutral."""
    main, neutral = set(numbers(page.label.main)), set(numbers(page.label.neutral))
    lines, place = [], None
    for number, block in enumerate(blocks(page.markup)):
        if block.place != place:
            place = block.place
            lines.append(f"      [{place}]")
        mark = "M" if number in main else "n" if number in neutral else " "
        lines.append(f"{number:4} {mark} {_short(block.text)}")
    return "\n".join(lines)


def reasons(page: Reference) -> str:
    """Main blocks that Periplus leaves out, and other blocks that it takes in."""
    text = periplus()(page)
    found = compare(text, page.main, page.neutral)
    out = [f"precision {found.precision:.3f}, recall {found.recall:.3f}, F1 {found.f1:.3f}"]
    cut = blocks(page.markup)
    main, given = set(numbers(page.label.main)), _given(page, text)
    neutral = set(numbers(page.label.neutral))
    for number, block in enumerate(cut):
        if number not in neutral and words(block.text) and (number in given) != (number in main):
            verdict = "added " if number in given else "missed"
            out.append(f"{verdict} {number:4} [{block.place}] {_short(block.text)}")
    given_words = Counter(words(text))
    out.append("missed words: " + _common(page.main - given_words))
    out.append("added words: " + _common(given_words - page.main - page.neutral))
    return "\n".join(out)


def _given(page: Reference, text: str) -> set[int]:
    """The blocks that stand in the text. A place of the text serves one block; main blocks are served first."""
    cut = [" ".join(words(block.text)) for block in blocks(page.markup)]
    main, neutral = numbers(page.label.main), numbers(page.label.neutral)
    order = [*main, *neutral, *sorted(set(range(len(cut))) - set(main) - set(neutral))]
    lines = [f" {' '.join(words(line))} " for line in text.splitlines()]
    found: set[int] = set()
    for exact in (True, False, False):
        for number in order:
            block = f" {cut[number]} "
            if number in found or not block.strip():
                continue
            place = next((at for at, line in enumerate(lines) if (block == line if exact else block in line)), None)
            if place is not None:
                lines[place] = lines[place].replace(block, "  ", 1)
                found.add(number)
        if not exact:  # a block of many lines, such as code, stands in several lines of the text
            lines = [f" {' '.join(' '.join(lines).split())} "]
    return found


def _common(found: Counter[str]) -> str:
    return ", ".join(f"{word} {count}" for word, count in found.most_common(12)) + f" ({found.total()} in all)"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(words(text))} words)"
