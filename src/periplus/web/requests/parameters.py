"""Reading and checking the parameters of a request against their description.

The same descriptions make ``/openapi.json``, so what is documented is what is checked. ``strict`` reading (the API)
raises UsageError for an unknown, repeated or malformed parameter and names it; lenient reading (pages) ignores what
it does not know and takes the default for what it cannot use.
"""

from __future__ import annotations

import datetime
import difflib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, unquote_to_bytes

from msgspec import Struct

from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["text", "integer", "flag", "date", "choice"]

MAX_TEXT = 2_000
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


class Parameter(Struct, frozen=True):
    name: str
    kind: Kind = "text"
    help: str = ""
    default: Any = ""
    required: bool = False
    minimum: int = 0
    maximum: int = MAX_TEXT  # of an integer, or of the length of a text
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """The value of ``text``; raises ValueError with the half sentence that follows the parameter's name."""
        return _READERS[self.kind](self, text)

    def read_named(self, text: str) -> Any:
        """The value of ``text``; raises UsageError with a whole sentence."""
        return _value(self, text)


class Form:
    """The parameters that one route takes, and both ways of reading them."""

    def __init__(self, *parameters: Parameter) -> None:
        self.parameters = parameters
        self._known = {parameter.name: parameter for parameter in parameters}
        self._defaults = {parameter.name: parameter.default for parameter in parameters}
        self._required = tuple(parameter for parameter in parameters if parameter.required)

    def read(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Strict reading of a query string's ``pairs``; every parameter is in the answer."""
        given: dict[str, Any] = {}
        for name, text in pairs:
            parameter = self._known.get(name)
            if parameter is None:
                raise UsageError(f"unknown parameter {name!r}; {_advice(name, list(self._known))}")
            if name in given:
                raise UsageError(f"parameter {name!r} was given twice; give it once")
            given[name] = _value(parameter, text)
        for parameter in self._required:
            if given.get(parameter.name) in (None, ""):
                raise UsageError(f"parameter {parameter.name!r} is missing; {parameter.help}")
        return self._defaults | given

    def read_lenient(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """The last usable value of every parameter, else its default."""
        values = dict(self._defaults)
        for name, text in pairs:
            parameter = self._known.get(name)
            if parameter is not None:
                with suppress(ValueError):
                    values[name] = parameter.read(text)
        return values


def pairs_of(query: bytes) -> list[tuple[str, str]]:
    """The names and values of a query string, as ``urllib.parse.parse_qsl`` reads them with blank values kept."""
    named = (part.partition("=") for part in query.decode("latin-1").split("&") if part)
    return [(_plain(name), _plain(value)) for name, _, value in named]


def _plain(text: str) -> str:
    spaced = text.replace("+", " ")
    if "%" not in spaced:
        return spaced
    return unquote_to_bytes(spaced).decode("utf-8", "replace") if spaced.isascii() else unquote(spaced)


def _value(parameter: Parameter, text: str) -> Any:
    try:
        return parameter.read(text)
    except ValueError as error:
        raise UsageError(f"parameter {parameter.name!r} {error}") from error


def _advice(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {', '.join(known)}" if known else "none is taken here"


def _text(parameter: Parameter, text: str) -> str:
    if len(text) > parameter.maximum:
        raise ValueError(f"is longer than {parameter.maximum} characters; shorten it")
    return text.strip()


def _integer(parameter: Parameter, text: str) -> int:
    try:
        number = int(text) if text.isascii() and len(text) <= 12 else None
    except ValueError:
        number = None
    if number is None or not parameter.minimum <= number <= parameter.maximum:
        raise ValueError(f"is not a whole number from {parameter.minimum} to {parameter.maximum}: {text[:40]!r}")
    return number


def _flag(_parameter: Parameter, text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"is not 0 or 1: {text[:40]!r}")


def _date(_parameter: Parameter, text: str) -> str:
    if not text:
        return ""
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"is not a date such as 2025-01-31: {text[:40]!r}") from None
    return day.isoformat()


def _choice(parameter: Parameter, text: str) -> str:
    if text not in parameter.choices:
        raise ValueError(f"is none of {', '.join(filter(None, parameter.choices))}: {text[:40]!r}")
    return text


_READERS = {"text": _text, "integer": _integer, "flag": _flag, "date": _date, "choice": _choice}
