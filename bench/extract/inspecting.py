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
HELD = 0.8  # a block counts as given when this share of its words stands in a row of the text


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
    lines = _lines_of(text)
    main, neutral = set(numbers(page.label.main)), set(numbers(page.label.neutral))
    found = compare(text, page.main, page.neutral)
    out = [f"precision {found.precision:.3f}, recall {found.recall:.3f}, F1 {found.f1:.3f}"]
    for number, block in enumerate(blocks(page.markup)):
        if number in neutral or not words(block.text):
            continue
        given = _given(block.text, lines)
        if given != (number in main):
            out.append(f"{'added ' if given else 'missed'} {number:4} [{block.place}] {_short(block.text)}")
    given_words, all_main = Counter(words(text)), page.main
    out.append("missed words: " + _common(all_main - given_words))
    out.append("added words: " + _common(given_words - all_main - page.neutral))
    return "\n".join(out)


def _lines_of(text: str) -> str:
    return f" {' '.join(words(text))} "


def _given(block: str, text: str) -> bool:
    """Whether the block, or nearly all of it, stands in the text; words that come elsewhere too may mislead."""
    wanted = words(block)
    length = max(1, int(len(wanted) * HELD))
    return any(f" {' '.join(part)} " in text for part in (wanted[:length], wanted[-length:]))


def _common(found: Counter[str]) -> str:
    return ", ".join(f"{word} {count}" for word, count in found.most_common(12)) + f" ({found.total()} in all)"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(words(text))} words)"
