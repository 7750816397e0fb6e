"""Calculations: what is typed as one is read by a parser of its own and computed; nothing of Python is evaluated.

    sum     = product (("+" | "-") product)*          a percentage here is one of the left side: 80 + 10% is 88
    product = signed (("*" | "/" | "mod" | "of") signed)*
    signed  = ("+" | "-")* power
    power   = postfix ["^" signed]                     2^-1, 2^3^2 is 2^9
    postfix = primary ("!" | "%" | "°")*
    primary = number | constant | function "(" sum ("," sum)* ")" | "(" sum ")"

Bounded: ``MAX_LENGTH`` characters, ``MAX_TOKENS``, ``MAX_DEPTH`` brackets, ``MAX_DIGITS`` of a number as typed; and
what is computed is bounded by ``numbers.py``. Together they bound the time: some milliseconds at most.
"""

from __future__ import annotations

import re
from decimal import DecimalException
from fractions import Fraction
from typing import NamedTuple

from periplus.answers.functions import CONSTANTS, FUNCTIONS, PI, factorial
from periplus.answers.numbers import CONTEXT, Number, Unanswerable, add, divide, modulo, multiply, negative, power

MAX_LENGTH = 200
MAX_TOKENS = 100
MAX_DEPTH = 30
MAX_DIGITS = 60
MAX_EXPONENT = 300  # of a number as typed, 1e300

_TOKEN = re.compile(
    r"\s*(?:(?P<grouped>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d.]))"
    r"|(?P<number>0x[0-9a-f]+|0b[01]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\d.]))"
    r"|(?P<name>[a-zπ]+(?:10|2)?)|(?P<mark>\*\*|[-+*/^()!%°,√]))",
    re.IGNORECASE,
)
_WRITTEN = str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")", "²": "^2"})
_WRITTEN |= str.maketrans({"³": "^3"})
_SIGN = re.compile(r"(^|[(×/^,] ?|[-+] )([-+]) ")  # of what follows, not an operator
_WORDS = {"plus": "+", "minus": "-", "times": "*", "over": "/", "mod": "mod", "of": "of", "deg": "°", "degrees": "°"}


class Calculation(NamedTuple):
    value: Number
    reading: str  # what was computed, spelled out
    marks: tuple[str, ...]  # the operators and functions in it
    numbers: int


class Lexeme(NamedTuple):
    kind: str  # number, name or mark
    text: str


def tokens_of(text: str) -> list[Lexeme]:
    """What stands in ``text``; ``Unanswerable`` where anything else does."""
    if len(text) > MAX_LENGTH:
        raise Unanswerable
    written = text.translate(_WRITTEN).strip()
    found: list[Lexeme] = []
    calls: list[bool] = []  # of open brackets: does a function begin it, in which commas part values?
    place = 0
    while place < len(written):
        match = _TOKEN.match(written, place)
        if match is None or len(found) == MAX_TOKENS:
            raise Unanswerable
        if match["grouped"] and any(calls):
            match = re.compile(r"\s*(?P<number>\d+)").match(written, place)
            assert match is not None
            token = Lexeme("number", match["number"])
        else:
            token = _token(match)
        if token.text == "(":
            calls.append(bool(found) and found[-1].text in FUNCTIONS)
        elif token.text == ")" and calls:
            calls.pop()
        found.append(token)
        place = match.end()
    return found


def _token(match: re.Match[str]) -> Lexeme:
    if match["grouped"] or match["number"]:
        return Lexeme("number", (match["grouped"] or match["number"]).replace(",", ""))
    if match["mark"]:
        return Lexeme("name" if match["mark"] == "√" else "mark", match["mark"].replace("**", "^"))
    name = match["name"].lower()
    return Lexeme("mark", _WORDS[name]) if name in _WORDS else Lexeme("name", name)


def number_of(text: str) -> Fraction:
    """A number as typed, exactly."""
    lowered = text.lower()
    if len(lowered) > MAX_DIGITS:
        raise Unanswerable
    if lowered.startswith(("0x", "0b")):
        return Fraction(int(lowered, 0))
    _, _, exponent = lowered.partition("e")
    if exponent and abs(int(exponent)) > MAX_EXPONENT:
        raise Unanswerable
    return Fraction(lowered)


def calculate(text: str) -> Calculation:
    """What ``text`` comes to; ``Unanswerable`` where it is no calculation, or has no bounded result."""
    parser = _Parser(tokens_of(text))
    try:
        value = parser.whole()
    except (DecimalException, RecursionError, OverflowError) as error:
        raise Unanswerable from error
    return Calculation(value, parser.reading, tuple(parser.marks), parser.numbers)


class _Parser:
    def __init__(self, tokens: list[Lexeme]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self._is_percentage = False  # was what was read last one?
        self.marks: list[str] = []
        self.numbers = 0

    @property
    def reading(self) -> str:
        spaced = {"+", "-", "*", "/", "mod", "of"}
        parts = [f" {token.text} " if token.text in spaced else token.text for token in self._tokens]
        joined = re.sub(r"\s+", " ", "".join(parts)).replace("*", "×").replace(",", ", ").strip()
        return _SIGN.sub(r"\1\2", joined.replace("( ", "(").replace("^ ", "^"))

    def whole(self) -> Number:
        value = self._sum()
        if self._place < len(self._tokens):
            raise Unanswerable
        return value

    def _next(self) -> str:
        return self._tokens[self._place].text if self._place < len(self._tokens) else ""

    def _take(self, *texts: str) -> str:
        """The next token if it is one of these marks."""
        found = self._next()
        if found and found in texts and self._tokens[self._place].kind == "mark":
            self._place += 1
            return found
        return ""

    def _sum(self) -> Number:
        value = self._product()
        while mark := self._take("+", "-"):
            self.marks.append(mark)
            right = self._product()
            if self._is_percentage:
                right = multiply(value, right)
            value = add(value, right if mark == "+" else negative(right))
            self._is_percentage = False
        return value

    def _product(self) -> Number:
        value = self._signed()
        while mark := self._take("*", "/", "mod", "of"):
            self.marks.append(mark)
            right = self._signed()
            does = {"/": divide, "mod": modulo}.get(mark, multiply)
            value = does(value, right)
            self._is_percentage = False
        return value

    def _signed(self) -> Number:
        signs = 0
        while mark := self._take("+", "-"):
            signs += mark == "-"
        value = self._power()
        return negative(value) if signs % 2 else value

    def _power(self) -> Number:
        base = self._postfix()
        if not self._take("^"):
            return base
        self.marks.append("^")
        with_exponent = self._deeper()
        exponent = self._signed()
        self._depth = with_exponent
        self._is_percentage = False
        return power(base, exponent)

    def _postfix(self) -> Number:
        value = self._primary()
        self._is_percentage = False
        while mark := self._take("!", "%", "°"):
            self.marks.append(mark)
            self._is_percentage = mark == "%"
            if mark == "!":
                value = factorial(value)
            else:
                value = divide(value, Fraction(100)) if mark == "%" else _radians(value)
        return value

    def _primary(self) -> Number:
        if self._place >= len(self._tokens):
            raise Unanswerable
        kind, text = self._tokens[self._place]
        self._place += 1
        if kind == "number":
            self.numbers += 1
            return number_of(text)
        if text == "(":
            return self._bracket()
        if text in CONSTANTS:
            return CONTEXT.plus(CONSTANTS[text])
        if text in FUNCTIONS:
            return self._call(text)
        raise Unanswerable

    def _bracket(self) -> Number:
        before = self._deeper()
        value = self._sum()
        self._close(before)
        return value

    def _call(self, name: str) -> Number:
        self.marks.append(name)
        least, most, function = FUNCTIONS[name]
        if name == "√" and self._next() != "(":
            return function(self._postfix())
        if not self._take("("):
            raise Unanswerable
        before = self._deeper()
        values = [self._sum()]
        while self._take(","):
            values.append(self._sum())
        self._close(before)
        if not least <= len(values) <= most:
            raise Unanswerable
        return function(*values)

    def _deeper(self) -> int:
        before = self._depth
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unanswerable
        return before

    def _close(self, before: int) -> None:
        if not self._take(")"):
            raise Unanswerable
        self._depth = before


def _radians(value: Number) -> Number:
    return divide(multiply(value, CONTEXT.plus(PI)), Fraction(180))
