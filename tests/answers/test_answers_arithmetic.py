"""Calculations against Python's own exact and decimal numbers, and their bounds."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from periplus.answers.arithmetic import MAX_DEPTH, MAX_LENGTH, MAX_TOKENS, calculate
from periplus.answers.numbers import MOST_BITS, Unanswerable, rounded, shown
from support.own_time import own_seconds

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
NUMBERS = st.decimals(min_value=0, max_value=10**9, places=3, allow_nan=False).map(lambda number: f"{number:f}")
TREES = st.recursive(
    NUMBERS,
    lambda deeper: st.one_of(
        st.tuples(deeper, st.sampled_from("+-*/"), deeper),
        st.tuples(deeper, st.just("^"), st.integers(-3, 3)),
        st.tuples(st.just("neg"), deeper),
    ),
    max_leaves=8,
)


def written(tree):
    if isinstance(tree, str):
        return tree
    if tree[0] == "neg":
        return f"(-{written(tree[1])})"
    left, mark, right = tree
    return f"({written(left)}){mark}({right})" if mark == "^" else f"({written(left)} {mark} {written(right)})"


def oracle(tree):
    """By Python's fractions."""
    if isinstance(tree, str):
        return Fraction(tree)
    if tree[0] == "neg":
        return -oracle(tree[1])
    left, mark, right = tree
    return oracle(left) ** right if mark == "^" else OPERATORS[mark](oracle(left), oracle(right))


@settings(max_examples=300, deadline=None)
@given(tree=TREES)
def test_exact_calculations_are_those_of_fractions(tree):
    text = written(tree)
    assume(len(text) <= MAX_LENGTH and text.count("(") < MAX_DEPTH)
    try:
        expected = oracle(tree)
    except ZeroDivisionError:
        with pytest.raises(Unanswerable):
            calculate(text)
        return
    assume(max(expected.numerator.bit_length(), expected.denominator.bit_length()) < MOST_BITS // 8)
    assert calculate(text).value == expected


@settings(max_examples=200, deadline=None)
@given(
    numbers=st.lists(st.integers(0, 99), min_size=2, max_size=12),
    marks=st.lists(st.sampled_from(["+", "-", "*", "/", "**"]), min_size=11, max_size=11),
)
def test_precedence_is_that_of_python(numbers, marks):
    small = [number % 4 if place and marks[place - 1] == "**" else number for place, number in enumerate(numbers)]
    text = "".join(f"{'' if not place else marks[place - 1]}{number}" for place, number in enumerate(small))
    plain = text.replace("**", " ** ").split(" ")
    assume(text.count("**") <= 2 and len(plain) < 30)
    python = "".join(f"Fraction({piece})" if piece.isdigit() else piece for piece in _pieces(text))
    try:
        expected = eval(python, {"Fraction": Fraction})
    except (ZeroDivisionError, OverflowError):
        with pytest.raises(Unanswerable):
            calculate(text)
        return
    assume(isinstance(expected, Fraction) and expected.numerator.bit_length() < MOST_BITS // 8)
    assert calculate(text).value == expected


def _pieces(text):
    import re

    return re.findall(r"\d+|\*\*|.", text)


@settings(max_examples=150, deadline=None)
@given(number=st.decimals(min_value="0.001", max_value=1_000_000, places=3))
@pytest.mark.parametrize("name", ["sqrt", "exp", "ln", "log10"])
def test_functions_are_those_of_decimal(name, number):
    value = number / 10_000 if name == "exp" else number
    with localcontext() as context:
        context.prec = 40
        expected = getattr(value, name)()
        found = rounded(calculate(f"{name}({value:f})").value)
        assert abs(found - expected) <= abs(expected) * Decimal("1e-30") + Decimal("1e-35")


@settings(max_examples=150, deadline=None)
@given(number=st.floats(-1_000, 1_000, allow_nan=False).map(lambda number: round(number, 6)))
@pytest.mark.parametrize("name", ["sin", "cos", "atan"])
def test_angles_are_those_of_the_mathematics_library(name, number):
    found = float(rounded(calculate(f"{name}({Decimal(str(number)):f})").value))
    assert math.isclose(found, getattr(math, name)(number), rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2+2", "4"),
        ("sqrt(2)^3", "2.82842712475"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2^-1", "0.5"),
        ("0.1 + 0.2", "0.3"),
        ("1/3", "0.333333333333"),
        ("80 + 10%", "88"),
        ("80 - 25%", "60"),
        ("20% of 50", "10"),
        ("5!", "120"),
        ("100!/98!", "9,900"),
        ("sin(pi)", "0"),
        ("sin(30°)", "0.5"),
        ("tan(45 deg)", "1"),
        ("√16 + √(9)", "7"),
        ("cbrt(-27)", "-3"),
        ("log2(8)", "3"),
        ("log(1000)", "3"),
        ("log(81, 3)", "4"),
        ("max(1, 2.5, 2)", "2.5"),
        ("gcd(12, 18) * lcm(4, 6)", "72"),
        ("round(2.5) + round(-2.5)", "0"),
        ("round(2.345, 2)", "2.35"),
        ("floor(-1.5) + ceil(1.2)", "0"),
        ("1,000 * 3", "3,000"),
        ("0xff + 0b11", "258"),
        ("1.5e3 / 2", "750"),
        ("7 mod 3", "1"),
        ("3 times 4 plus 1", "13"),
        ("3 × 4 ÷ 2", "6"),
        ("2^100", "1,267,650,600,228,229,401,496,703,205,376"),
        ("sqrt(2) + 2^64", "1.84467440737 × 10^19"),
        ("170!", "7.25741561531 × 10^306"),
        ("exp(-100) * 1", "3.72007597602 × 10^-44"),
        ("asin(1) * 2", "3.14159265359"),
        ("0^0", "1"),
    ],
)
def test_what_calculations_come_to(text, expected):
    assert shown(calculate(text).value) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "2+", "(2", "2)", "2 3", "2..3", "1.2.3", "a+b", "sqrt", "sqrt()", "sqrt(1,2)", "sin 3", "1/0", "sqrt(-1)",
        "ln(0)", "log(5, 1)", "(-8)^(1/3)", "0^-1", "5.5!", "(-1)!", "401!", "9**9**9", "10^10^10", "1e999", "2**10000",
        "asin(2)", "__import__('os')", "2 if 1 else 3", "9" * 61, "tan(1e30)", "5 mod 0", "2 +* 3", "1,00", "π" * 101,
        "gcd(1.5, 2)", "1;2", "lambda: 0", "2\x00+2",
    ],
)  # fmt: skip
def test_what_is_no_calculation_or_has_no_bounded_result_is_not_answered(text):
    with pytest.raises(Unanswerable):
        calculate(text)


def test_bounds_of_length_depth_and_count():
    deep = "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH
    assert calculate(deep + "+1").value == 2
    with pytest.raises(Unanswerable):
        calculate(f"({deep})+1")
    assert calculate("+".join(["1"] * (MAX_TOKENS // 2))).value == MAX_TOKENS // 2
    with pytest.raises(Unanswerable):
        calculate("+".join(["1"] * (MAX_TOKENS // 2 + 1)))
    with pytest.raises(Unanswerable):
        calculate("1+" + " " * MAX_LENGTH + "1")
    with pytest.raises(Unanswerable):
        calculate("2^" * (MAX_DEPTH + 1) + "1")


@settings(max_examples=400, deadline=None)
@given(text=st.text(alphabet="0123456789+-*/^()!%.,e sqrtlnexp°√π", max_size=MAX_LENGTH))
def test_nothing_that_is_typed_takes_long_or_fails_otherwise(text):
    def answer():
        with suppress(Unanswerable):
            shown(calculate(text).value)

    assert own_seconds(answer) < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "*".join(["400!"] * 25), "^".join(["9"] * 30), "exp(" * 25 + "1" + ")" * 25, "sin(" * 25 + "1" + ")" * 25,
        "+".join(["1e300^10"] * 12), "/".join(["7^999"] * 20), "atan(" * 25 + "1e300" + ")" * 25, "1.0000001^1e300+1",
        "(1+1e-300)^(10^50)", "lcm(" + ",".join(str(10**18 + n) for n in range(9)) + ")",
    ],
)  # fmt: skip
def test_costly_calculations_end_soon(text):
    def answer():
        with suppress(Unanswerable):
            calculate(text)

    assert own_seconds(answer) < 0.2
