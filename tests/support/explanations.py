"""Does an explanation add up?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.ranking.parts import PRODUCT, SUM

if TYPE_CHECKING:
    from periplus.records import Explanation


def check(explanation: Explanation, tolerance: float = 1e-9) -> str:
    """Empty when every inner value follows from its parts; otherwise the name of the first that does not."""
    for part in explanation.parts:
        wrong = check(part, tolerance)
        if wrong:
            return wrong
    expected = _expected(explanation)
    if expected is None or abs(expected - explanation.value) <= tolerance * max(1.0, abs(explanation.value)):
        return ""
    return explanation.name


def _expected(explanation: Explanation) -> float | None:
    values = [part.value for part in explanation.parts]
    if values and explanation.formula.startswith(SUM):
        return float(sum(values))
    if values and explanation.formula.startswith(PRODUCT):
        return float(np.prod(values))
    return None
