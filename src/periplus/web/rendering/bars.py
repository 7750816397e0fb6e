"""An explanation as a small bar chart: the parts that add up to the score, on one scale.

A node is opened only while its parts add up to it; the factors of a product say nothing side by side, so a product is
one bar. Parts that gave nothing are left out and counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.records import Explanation

MAX_DEPTH = 3
MAX_BARS = 24


class Bar(Struct, frozen=True):
    name: str
    value: float
    depth: int
    length: float  # 0 to 100, of the longest bar
    opened: bool  # its parts follow


class Chart(Struct, frozen=True):
    bars: tuple[Bar, ...]
    left_out: int


def chart(explanation: Explanation) -> Chart:
    nodes = list(_additive(explanation, 0))
    shown = [(node, depth) for node, depth in nodes if node.value][:MAX_BARS]
    longest = max((abs(node.value) for node, _ in shown), default=0.0)
    bars = tuple(
        Bar(label(node.name), node.value, depth, round(100 * abs(node.value) / longest, 1), _adds_up(node))
        for node, depth in shown
    )
    return Chart(bars, len(nodes) - len(shown))


def bar_list(explanation: Explanation) -> Markup:
    """The items of the chart as HTML; made here and not in a template because every result has one."""
    items = [
        f'<li class="depth-{bar.depth}{" opened" if bar.opened else ""}">'
        f'<span class="bar-name" dir="auto">{escape(bar.name)}</span>'
        f'<svg class="bar{" bar-minus" if bar.value < 0 else ""}" viewBox="0 0 100 4" preserveAspectRatio="none"'
        ' aria-hidden="true" focusable="false"><path d="M0 2H100"/>'
        f'<rect width="{bar.length}" height="4"/></svg>'
        f'<span class="bar-value">{bar.value:.2f}</span></li>'
        for bar in chart(explanation).bars
    ]
    return Markup("".join(items))  # noqa: S704 - the name is escaped, all else are numbers


def label(name: str) -> str:
    return name.replace("_", " ")


def _additive(explanation: Explanation, depth: int) -> Iterator[tuple[Explanation, int]]:
    """The nodes below ``explanation`` that are terms of a sum, in order, each with its depth."""
    if not _adds_up(explanation) or depth > MAX_DEPTH:
        return
    for part in explanation.parts:
        yield part, depth
        yield from _additive(part, depth + 1)


def _adds_up(node: Explanation) -> bool:
    total = sum(part.value for part in node.parts)
    return bool(node.parts) and math.isclose(total, node.value, rel_tol=1e-3, abs_tol=1e-6)
