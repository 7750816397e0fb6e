"""Numbers of calculations: exact fractions as long as they stay so, then 50 digits; bounded in size.

A ``Number`` is a ``Fraction`` (exact) or a ``Decimal`` (rounded). What would grow beyond the bounds raises
``Unanswerable`` before it is computed.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction

PRECISION = 50  # digits that rounded numbers are computed with
MOST_BITS = 4_000  # of numerator and denominator of an exact number: 1,200 digits
LARGEST_EXPONENT = 1_000  # of ten, of a rounded number
SHOWN = 12  # significant digits of a rounded number, as people see it
WHOLE_SHOWN = 60  # digits of a whole number that are written out

CONTEXT = Context(
    prec=PRECISION,
    Emax=LARGEST_EXPONENT,
    Emin=-LARGEST_EXPONENT,
    traps=[DivisionByZero, InvalidOperation, Overflow],
)

Number = Fraction | Decimal


class Unanswerable(Exception):
    """It cannot be understood, is not defined, or would grow too large."""


def bounded(value: Number) -> Number:
    """``value``, or ``Unanswerable`` where it is too large to go on with."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise Unanswerable
        return value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise Unanswerable
    return value


def rounded(value: Number) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def add(left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return bounded(left + right)
    return bounded(CONTEXT.add(rounded(left), rounded(right)))


def negative(value: Number) -> Number:
    return -value if isinstance(value, Fraction) else CONTEXT.minus(value)


def multiply(left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return bounded(left * right)
    return bounded(CONTEXT.multiply(rounded(left), rounded(right)))


def divide(left: Number, right: Number) -> Number:
    if not right:
        raise Unanswerable
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return bounded(left / right)
    return bounded(CONTEXT.divide(rounded(left), rounded(right)))


def modulo(left: Number, right: Number) -> Number:
    """With the sign of the right one, as Python has it."""
    if not (isinstance(left, Fraction) and isinstance(right, Fraction)) or not right:
        raise Unanswerable
    return bounded(left % right)


def power(base: Number, exponent: Number) -> Number:
    """Exact for whole exponents, and where an exact root is one; 0 to the 0 is 1, as Python has it."""
    if isinstance(exponent, Fraction) and isinstance(base, Fraction):
        if exponent.denominator == 1:
            return _whole_power(base, exponent.numerator)
        if exponent == Fraction(1, 2):
            return square_root(base)
    if base < 0 or (not base and exponent < 0):
        raise Unanswerable
    return bounded(CONTEXT.power(rounded(base), rounded(exponent)))


def _whole_power(base: Fraction, exponent: int) -> Number:
    if not base and exponent < 0:
        raise Unanswerable
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if base in (0, 1, -1) or bits * abs(exponent) <= MOST_BITS:
        # Of 0, 1 and -1 only whether the exponent is even matters, however large it is.
        small = exponent if abs(exponent) <= MOST_BITS else 2 + exponent % 2
        return bounded(base**small)
    return bounded(CONTEXT.power(rounded(base), Decimal(exponent)))


def square_root(value: Number) -> Number:
    if value < 0:
        raise Unanswerable
    if isinstance(value, Fraction):
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return Fraction(top, bottom)
    return CONTEXT.sqrt(rounded(value))


def is_exactly_shown(value: Number) -> bool:
    """Whether ``shown`` tells the whole truth."""
    if isinstance(value, Decimal):
        return False
    if value.denominator == 1:
        return len(str(abs(value.numerator))) <= WHOLE_SHOWN
    return _terminating(value) is not None


def shown(value: Number) -> str:
    """For people: whole numbers in groups of three, others with as many digits as tell something."""
    if isinstance(value, Fraction):
        if value.denominator == 1 and is_exactly_shown(value):
            return f"{value.numerator:,}"
        exact = _terminating(value)
        if exact is not None:
            return _written(exact)
    return _written(_to_digits(rounded(value)), SHOWN)  # zeros in place of unknown digits would lie


def _to_digits(number: Decimal) -> Decimal:
    return CONTEXT.normalize(Context(prec=SHOWN).plus(number))


def _written(number: Decimal, most: int = 21) -> str:
    """With a power of ten where it would have more than ``most`` digits before the point, or begin late behind it."""
    place = number.adjusted()
    if not number:
        return "0"
    if -6 <= place < most:
        return f"{number:,f}"
    digits = f"{CONTEXT.normalize(CONTEXT.scaleb(number, -place)):f}"
    return f"{digits} × 10^{place}"


def _terminating(value: Fraction) -> Decimal | None:
    """As a decimal, where it ends within the digits that are shown."""
    bottom = value.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    if bottom != 1:
        return None
    number = rounded(value)
    return CONTEXT.normalize(number) if len(number.as_tuple().digits) <= SHOWN + 4 else None
