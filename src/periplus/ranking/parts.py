"""Scores as trees of named parts, for many documents at once.

A profile builds one ``Part`` for all candidates: leaves hold an array of values, inner nodes the sum or the product
of their parts. The root's values *are* the scores, so an explanation can never disagree with the ranking: it is the
same tree read at one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.records import Explanation

if TYPE_CHECKING:
    from collections.abc import Sequence

Values = np.ndarray[Any, np.dtype[np.float64]]

SUM = "sum of its parts"
PRODUCT = "product of its parts"


class Part(Struct, frozen=True):
    """A named quantity of every candidate; ``parts`` add up (or multiply) to ``values``."""

    name: str
    values: Values
    formula: str = ""
    parts: tuple[Part, ...] = ()

    def explain(self, index: int) -> Explanation:
        """This quantity of the candidate at ``index``, with all that it is made of."""
        return Explanation(
            self.name, float(self.values[index]), self.formula, tuple(part.explain(index) for part in self.parts)
        )


def leaf(name: str, values: Values, formula: str = "") -> Part:
    return Part(name, np.asarray(values, dtype=np.float64), formula)


def constant(name: str, value: float, like: Values, formula: str = "") -> Part:
    """A quantity that is the same for every candidate."""
    return Part(name, np.full(like.shape, value, dtype=np.float64), formula)


def total(name: str, parts: Sequence[Part], count: int, detail: str = "") -> Part:
    """The sum of ``parts``; zero for each of ``count`` candidates when there are none."""
    values = np.zeros(count, dtype=np.float64)
    for part in parts:
        values = values + part.values
    return Part(name, values, _formula(SUM, detail), tuple(parts))


def product(name: str, parts: Sequence[Part], count: int, detail: str = "") -> Part:
    """The product of ``parts``; one for each of ``count`` candidates when there are none."""
    values = np.ones(count, dtype=np.float64)
    for part in parts:
        values = values * part.values
    return Part(name, values, _formula(PRODUCT, detail), tuple(parts))


def _formula(rule: str, detail: str) -> str:
    return f"{rule}: {detail}" if detail else rule
