"""Functions and constants of calculations, by name. Angles are in radians; ``°`` and ``deg`` turn degrees into them."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from periplus.answers.numbers import (
    CONTEXT,
    PRECISION,
    Number,
    Unanswerable,
    bounded,
    divide,
    power,
    rounded,
    square_root,
)

if TYPE_CHECKING:
    from collections.abc import Callable

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
E = Decimal("2.71828182845904523536028747135266249775724709369995957496696762772407663035354759")
GOLDEN = Decimal("1.61803398874989484820458683436563811772030917980576286213544862270526046281890244")
LARGEST_ANGLE = 10**15  # beyond which too few digits are left of what is less than a turn
LARGEST_FACTORIAL = 400
NOTHING = Decimal("1e-45")  # a sine nearer to 0 is 0, and the error of rounding
LEAST_TERM = Decimal(f"1e-{PRECISION + 10}")  # of a series
_WIDE = Context(prec=PRECISION + 20)
TURN = _WIDE.multiply(PI, Decimal(2))
QUARTER = _WIDE.divide(PI, Decimal(2))

CONSTANTS: dict[str, Decimal] = {"pi": PI, "π": PI, "tau": TURN, "e": E, "phi": GOLDEN}


def factorial(value: Number) -> Number:
    number = _whole(value)
    if not 0 <= number <= LARGEST_FACTORIAL:
        raise Unanswerable
    return bounded(Fraction(math.factorial(number)))


def _whole(value: Number) -> int:
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise Unanswerable
    return value.numerator


def _sine(value: Number) -> Number:
    """By its series, of an angle that was brought to less than a turn."""
    angle = rounded(value)
    if angle.copy_abs() > LARGEST_ANGLE:
        raise Unanswerable
    turned = _WIDE.remainder_near(angle, TURN)
    term = total = turned
    square = _WIDE.multiply(turned, turned)
    count = 1
    while term.copy_abs() > LEAST_TERM:
        count += 2
        term = _WIDE.divide(_WIDE.minus(_WIDE.multiply(term, square)), Decimal(count * (count - 1)))
        total = _WIDE.add(total, term)
    return Decimal(0) if total.copy_abs() < NOTHING else CONTEXT.plus(total)


def _cosine(value: Number) -> Number:
    return _sine(_WIDE.add(rounded(value), QUARTER))


def _tangent(value: Number) -> Number:
    return divide(_sine(value), _cosine(value))


def _arc_tangent(value: Number) -> Number:
    """By its series, after the angle was halved until it is small."""
    number, halvings = rounded(value), 0
    while number.copy_abs() > Decimal("0.1"):
        root = _WIDE.sqrt(_WIDE.add(Decimal(1), _WIDE.multiply(number, number)))
        number = _WIDE.divide(number, _WIDE.add(Decimal(1), root))
        halvings += 1
    term = total = number
    square = _WIDE.multiply(number, number)
    count = 1
    while term.copy_abs() > LEAST_TERM:
        count += 2
        term = _WIDE.minus(_WIDE.multiply(term, square))
        total = _WIDE.add(total, _WIDE.divide(term, Decimal(count)))
    return CONTEXT.multiply(total, Decimal(2**halvings))


def _arc_sine(value: Number) -> Number:
    number = rounded(value)
    if number.copy_abs() > 1:
        raise Unanswerable
    if number.copy_abs() == 1:
        return CONTEXT.multiply(number, QUARTER)
    return _arc_tangent(
        CONTEXT.divide(number, CONTEXT.sqrt(CONTEXT.subtract(Decimal(1), CONTEXT.multiply(number, number))))
    )


def _arc_cosine(value: Number) -> Number:
    return CONTEXT.subtract(QUARTER, rounded(_arc_sine(value)))


def _cube_root(value: Number) -> Number:
    if isinstance(value, Fraction):
        roots = [_whole_cube_root(abs(part)) for part in (value.numerator, value.denominator)]
        if roots[0] ** 3 == abs(value.numerator) and roots[1] ** 3 == value.denominator:
            return Fraction(roots[0] if value >= 0 else -roots[0], roots[1])
    size = CONTEXT.power(rounded(value).copy_abs(), CONTEXT.divide(Decimal(1), Decimal(3))) if value else Decimal(0)
    return size if value >= 0 else CONTEXT.minus(size)


def _whole_cube_root(number: int) -> int:
    low, high = 0, 1 << (number.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low


def _exponential(value: Number) -> Number:
    return bounded(CONTEXT.exp(rounded(value)))


def _logarithm(value: Number) -> Decimal:
    if value <= 0:
        raise Unanswerable
    return CONTEXT.ln(rounded(value))


def _to_base(value: Number, base: Number) -> Number:
    if value <= 0 or base <= 0 or base == 1:
        raise Unanswerable
    if base == 10:  # whole for whole powers of ten
        found = CONTEXT.log10(rounded(value))
        return Fraction(found) if found == found.to_integral_value() else found
    found = CONTEXT.divide(_logarithm(value), _logarithm(base))
    nearest = found.to_integral_value()
    # Exact where it can be proved, as 3 of log2(8).
    if isinstance(value, Fraction) and isinstance(base, Fraction) and abs(nearest) < 1_000:
        whole = int(nearest)
        near = CONTEXT.subtract(found, nearest).copy_abs() < Decimal("1e-30")
        if near and power(base, Fraction(whole)) == value:
            return Fraction(whole)
    return found


def _round(value: Number, digits: Number | None = None) -> Number:
    """To the nearest, halves away from zero, as people learn it."""
    places = 0 if digits is None else _whole(digits)
    if not -20 <= places <= 20:
        raise Unanswerable
    scale = Fraction(10) ** places
    scaled = _exact(value) * scale
    nearest = math.floor(abs(scaled) + Fraction(1, 2))
    return Fraction(nearest if scaled >= 0 else -nearest) / scale


def _exact(value: Number) -> Fraction:
    if isinstance(value, Decimal) and abs(value.adjusted()) > 2 * PRECISION:
        raise Unanswerable
    return Fraction(value)


def _common_divisor(*values: Number) -> Number:
    return Fraction(math.gcd(*map(_whole, values)))


def _common_multiple(*values: Number) -> Number:
    return bounded(Fraction(math.lcm(*map(_whole, values))))


# By name: how many values they take, at least and at most, and what they do.
FUNCTIONS: dict[str, tuple[int, int, Callable[..., Number]]] = {
    "sqrt": (1, 1, square_root),
    "√": (1, 1, square_root),
    "cbrt": (1, 1, _cube_root),
    "exp": (1, 1, _exponential),
    "ln": (1, 1, _logarithm),
    "log": (1, 2, lambda value, base=Fraction(10): _to_base(value, base)),
    "log10": (1, 1, lambda value: _to_base(value, Fraction(10))),
    "log2": (1, 1, lambda value: _to_base(value, Fraction(2))),
    "sin": (1, 1, _sine),
    "cos": (1, 1, _cosine),
    "tan": (1, 1, _tangent),
    "asin": (1, 1, _arc_sine),
    "acos": (1, 1, _arc_cosine),
    "atan": (1, 1, _arc_tangent),
    "abs": (1, 1, lambda value: abs(value) if isinstance(value, Fraction) else value.copy_abs()),
    "floor": (1, 1, lambda value: Fraction(math.floor(_exact(value)))),
    "ceil": (1, 1, lambda value: Fraction(math.ceil(_exact(value)))),
    "round": (1, 2, _round),
    "min": (1, 20, min),
    "max": (1, 20, max),
    "gcd": (2, 20, _common_divisor),
    "lcm": (2, 20, _common_multiple),
    "factorial": (1, 1, factorial),
}
