"""Units: ``10 miles in km``, exactly, from a table that ships with us."""

from __future__ import annotations

import re
import tomllib
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

from periplus.answers.arithmetic import calculate
from periplus.answers.numbers import Number, add, divide, is_exactly_shown, multiply, negative, shown
from periplus.answers.records import Computed

TABLE = Path(__file__).with_name("units.toml")
# An amount, a unit, and another one behind a word that asks for it.
_ASKED = re.compile(
    r"(?:convert\s+)?(?P<amount>[\d.,]+e[+-]?\d+|.*?[\d)!%])\s*(?P<unit>(?:[^\W\d_]|[°'\"]).{0,29}?)\s+(?:in|to|into|as)\s+(?P<wanted>.{1,30})",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"how many\s+(?P<wanted>.{1,30}?)\s+(?:are )?in\s+(?P<amount>an?|one|[\d.,]+)\s+(?P<unit>.{1,30})", re.IGNORECASE
)
# Two amounts of one kind: 6 feet 2 inches in cm, 5'11" in m.
_AMOUNT = r"\d{1,9}(?:\.\d{1,9})?"
_BOTH = re.compile(
    rf"(?:convert\s+)?(?P<first>{_AMOUNT})\s*(?P<unit>[^\W\d_]{{1,20}}|')\s*(?:and\s+)?"
    rf"(?P<second>{_AMOUNT})\s*(?P<smaller>[^\W\d_]{{1,20}}|\"|)\s+(?:in|to|into|as)\s+(?P<wanted>.{{1,30}})",
    re.IGNORECASE,
)


class Unit(NamedTuple):
    name: str
    measures: str
    factor: Fraction
    offset: Fraction


def convert(query: str) -> Computed | None:
    """The amount in the other unit; None where it is no such question."""
    if (both := _BOTH.fullmatch(query)) and (found := _of_both(both)):
        return found
    asked = _HOW_MANY.fullmatch(query) or _ASKED.fullmatch(query)
    if asked is None:
        return None
    unit, wanted = find_unit(asked["unit"]), find_unit(asked["wanted"])
    if unit is None or wanted is None or unit.measures != wanted.measures:
        return None
    amount = Fraction(1) if asked["amount"].lower() in ("a", "an", "one") else calculate(asked["amount"]).value
    if unit.measures == "temperature" and add(amount, unit.offset) < 0:
        return None  # below the absolute zero
    value = converted(amount, unit, wanted)
    return Computed(
        "unit",
        f"{shown(amount)} {unit.name}",
        f"{shown(value)} {wanted.name}",
        _detail(unit, wanted),
        exact=is_exactly_shown(value),
    )


def _of_both(asked: re.Match[str]) -> Computed | None:
    """Feet and inches, pounds and ounces: a larger unit and a smaller one of its kind."""
    unit, wanted = find_unit(asked["unit"]), find_unit(asked["wanted"])
    smaller = find_unit(asked["smaller"] or ("in" if asked["unit"] == "'" else ""))
    if unit is None or wanted is None or smaller is None or unit.offset:
        return None
    if {unit.measures, smaller.measures} != {wanted.measures} or smaller.factor >= unit.factor:
        return None
    first, second = Fraction(asked["first"]), Fraction(asked["second"])
    value = (first * unit.factor + second * smaller.factor) / wanted.factor
    question = f"{shown(first)} {unit.name} {shown(second)} {smaller.name}"
    return Computed("unit", question, f"{shown(value)} {wanted.name}", "", exact=is_exactly_shown(value))


def converted(amount: Number, unit: Unit, wanted: Unit) -> Number:
    of_first = multiply(add(amount, unit.offset), unit.factor)
    return add(divide(of_first, wanted.factor), negative(wanted.offset))


def _detail(unit: Unit, wanted: Unit) -> str:
    if unit.offset or wanted.offset:
        return ""
    one = unit.factor / wanted.factor
    sign = "=" if is_exactly_shown(one) else "≈"
    return f"1 {unit.name} {sign} {shown(one)} {wanted.name}"


def find_unit(text: str) -> Unit | None:
    """By its name as it is written, else whatever its case, where that is no other unit."""
    name = " ".join(text.split()).rstrip(".?")
    exact, folded = table()
    found = exact.get(name)
    if found is None:
        alike = folded.get(name.casefold(), ())
        found = alike[0] if len(alike) == 1 else None
    return found


@cache
def table() -> tuple[dict[str, Unit], dict[str, tuple[Unit, ...]]]:
    """All units by every name of theirs, and by names whatever their case."""
    exact: dict[str, Unit] = {}
    folded: dict[str, tuple[Unit, ...]] = {}
    for measures, units in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        has_offsets = measures == "temperature"
        for name, (factor, *others) in units.items():
            offset = Fraction(others.pop(0)) if has_offsets else Fraction(0)
            unit = Unit(name, measures, Fraction(factor), offset)
            for known in (name, *others):
                if known in exact:
                    raise ValueError(f"{TABLE.name}: {known!r} is there twice")
                exact[known] = unit
                alike = folded.get(known.casefold(), ())
                folded[known.casefold()] = alike if unit in alike else (*alike, unit)
    return exact, folded
