"""Currencies, by rates that the operator gives in a file: ECB's daily XML, or JSON with ``base`` and ``rates``.

Without a file there is no answer: rates that nobody chose would be old or wrong.
"""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from periplus.answers.arithmetic import calculate
from periplus.answers.numbers import Number, divide, multiply, rounded
from periplus.answers.records import Computed
from periplus.errors import UnfitFile

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1_000_000  # of a file of rates
MOST = 1_000  # currencies
_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR"}
_NAMES = {
    "euro": "EUR", "euros": "EUR", "dollar": "USD", "dollars": "USD", "yen": "JPY", "pound sterling": "GBP",
}  # fmt: skip
_ASKED = re.compile(
    r"(?:convert\s+)?(?P<sign>[€$£¥₹])?\s*(?P<amount>.*?[\d)%])\s*(?P<code>[€$£¥₹]|[a-z][a-z ]{2,14}?)?"
    r"\s+(?:in|to|into|as)\s+(?P<wanted>[€$£¥₹]|[a-z][a-z ]{2,14})",
    re.IGNORECASE,
)
_ECB_DAY = re.compile(r"""time=["'](\d{4}-\d\d-\d\d)["']""")
_ECB_RATE = re.compile(r"""currency=["']([A-Z]{3})["']\s+rate=["']([0-9.]{1,20})["']""")


class Rates(NamedTuple):
    """What one unit of the base is worth in each currency."""

    of: dict[str, Fraction]
    day: str


class _Listed(msgspec.Struct):
    base: str
    rates: dict[str, float]
    date: str = ""


def read_rates(path: Path) -> Rates:
    """The rates in a file; ``UnfitFile`` where they cannot be read."""
    try:
        with path.open("rb") as file:
            rates = _rates_of(file.read(MAX_BYTES + 1))
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise UnfitFile(f"{path} is no file of rates: {error}; give ECB's XML, or JSON with base and rates") from error
    return rates


def _rates_of(data: bytes) -> Rates:
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    return _of_json(data) if data.lstrip()[:1] == b"{" else _of_ecb(data.decode())


def _of_json(data: bytes) -> Rates:
    listed = msgspec.json.decode(data, type=_Listed)
    rates = {code.upper(): Fraction(str(rate)) for code, rate in list(listed.rates.items())[:MOST] if rate > 0}
    return Rates({**rates, listed.base.upper(): Fraction(1)}, _day(listed.date))


def _of_ecb(text: str) -> Rates:
    rates = {code: Fraction(rate) for code, rate in _ECB_RATE.findall(text)[:MOST] if Fraction(rate) > 0}
    if not rates:
        raise ValueError("there is no rate in it")
    day = _ECB_DAY.search(text)
    return Rates({**rates, "EUR": Fraction(1)}, _day(day[1] if day else ""))


def _day(text: str) -> str:
    return date.fromisoformat(text).isoformat() if text else ""


def exchange(query: str, rates: Rates) -> Computed | None:
    """The amount in the other currency; None where it is no such question."""
    asked = _ASKED.fullmatch(query)
    if asked is None or bool(asked["sign"]) == bool(asked["code"]):
        return None
    code, wanted = _code(asked["sign"] or asked["code"], rates), _code(asked["wanted"], rates)
    if code is None or wanted is None:
        return None
    amount = calculate(asked["amount"]).value
    value = divide(multiply(amount, rates.of[wanted]), rates.of[code])
    detail = f"rates of {rates.day}" if rates.day else "rates as the operator gave them"
    return Computed("currency", f"{money(amount)} {code}", f"{money(value)} {wanted}", detail, exact=False)


def _code(text: str, rates: Rates) -> str | None:
    plain = text.strip().lower()
    code = _SIGNS.get(plain) or _NAMES.get(plain) or plain.upper()
    return code if code in rates.of else None


def money(amount: Number) -> str:
    """With two places; more where it is less than one."""
    number = rounded(amount)
    return f"{number:,.2f}" if number.copy_abs() >= 1 or not number else f"{number:.4g}"
