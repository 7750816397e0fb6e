"""Which of many robots rules decides about a path: the first by order that matches, without trying them all.

Rules without a wildcard are looked up by the beginnings of the path, one for each length that occurs. A rule with
wildcards is filed under a rare piece of its text, and tried only when the path has that piece: files with tens of
thousands of rules are real, and a verdict must not hold up the event loop.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.crawl.rules.robots import Rule

PIECE = 3  # characters of text under which a rule with wildcards is filed
FEW = 24  # rules with wildcards that are simply tried one by one


class Matcher:
    """Made once for a file; ``rules`` come in the order in which they decide."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._prefixes: dict[str, int] = {}
        self._whole: dict[str, int] = {}
        wilds: dict[tuple[tuple[str, ...], bool], int] = {}  # the first of those that are spelt alike decides
        for place, rule in enumerate(rules):
            if len(rule.parts) > 1:
                wilds.setdefault((rule.parts, rule.anchored), place)
            else:
                (self._whole if rule.anchored else self._prefixes).setdefault(rule.parts[0], place)
        self._lengths = sorted(set(map(len, self._prefixes)), reverse=True)
        wild = list(wilds.values())
        self._always, self._filed = _filed(rules, wild) if len(wild) > FEW else (wild, {})

    def find(self, path: str) -> Rule | None:
        """The rule that decides about ``path``."""
        best = min(self._by_prefix(path), self._whole.get(path, len(self._rules)))
        for place in self._candidates(path):
            if place >= best:
                break
            if self._rules[place].matches(path):
                best = place
                break
        return self._rules[best] if best < len(self._rules) else None

    def _by_prefix(self, path: str) -> int:
        """The longest beginning of the path that is a rule; longer rules decide before shorter ones."""
        for length in self._lengths:
            place = self._prefixes.get(path[:length]) if length <= len(path) else None
            if place is not None:
                return place
        return len(self._rules)

    def _candidates(self, path: str) -> Sequence[int]:
        """Places of the rules with wildcards that may match, in order."""
        if not self._filed:
            return self._always
        pieces = {path[at : at + PIECE] for at in range(len(path) - PIECE + 1)}
        found = [place for piece in pieces & self._filed.keys() for place in self._filed[piece]]
        return sorted([*found, *self._always])


def _filed(rules: Sequence[Rule], wild: Sequence[int]) -> tuple[list[int], dict[str, list[int]]]:
    """Rules that must always be tried, as their texts are short; and the others by their rarest piece."""
    pieces = {place: _pieces(rules[place]) for place in wild}
    counts = Counter(piece for found in pieces.values() for piece in found)
    always: list[int] = []
    filed: dict[str, list[int]] = {}
    for place, found in pieces.items():
        if found:
            filed.setdefault(min(found, key=lambda piece: (counts[piece], piece)), []).append(place)
        else:
            always.append(place)
    return always, filed


def _pieces(rule: Rule) -> set[str]:
    return {part[at : at + PIECE] for part in rule.parts for at in range(len(part) - PIECE + 1)}
