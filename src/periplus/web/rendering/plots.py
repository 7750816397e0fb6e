"""Small curves as SVG paths: a line over equal steps, drawn into a box whose origin is the upper left corner."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 240, 56
MARGIN = 4  # above and below the curve, so that its thickness fits
LEAST = 1e-300  # what a logarithm takes instead of 0


class Curve(Struct, frozen=True):
    """A curve ready to be drawn; ``end`` is its last point, ``area`` the line closed along the bottom."""

    line: str
    area: str
    end: tuple[float, float]
    last: float
    highest: float
    width: int = WIDTH
    height: int = HEIGHT


def curve(samples: Sequence[Any], name: str = "", *, log: bool = False) -> Curve | None:
    """The curve of numbers, or of one field of samples; ``None`` when there are fewer than two."""
    values = [float(sample[name]) if name else float(sample) for sample in samples]
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return None
    points = _points([math.log10(max(value, LEAST)) for value in values] if log else values, from_zero=not log)
    line = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
    return Curve(line, f"{line}V{HEIGHT}H0Z", points[-1], values[-1], max(values))


def _points(values: list[float], *, from_zero: bool) -> list[tuple[float, float]]:
    low = min(0.0, *values) if from_zero else min(values)
    span = (max(values) - low) or 1.0
    step = WIDTH / (len(values) - 1)
    room = HEIGHT - 2 * MARGIN
    return [
        (round(place * step, 1), round(HEIGHT - MARGIN - (value - low) / span * room, 1))
        for place, value in enumerate(values)
    ]
