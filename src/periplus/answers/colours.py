"""Colours: ``#ff8800``, ``rgb(255, 136, 0)``, ``hsl(32, 100%, 50%)`` or ``teal hex`` in each of these forms."""

from __future__ import annotations

import colorsys
import re
import tomllib
from functools import cache
from pathlib import Path

from periplus.answers.records import Computed

TABLE = Path(__file__).with_name("colours.toml")
Colour = tuple[int, int, int]

_HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)
_RGB = re.compile(
    r"rgb\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*\)|rgb (\d{1,3})[, ]+(\d{1,3})[, ]+(\d{1,3})",
    re.IGNORECASE,
)
_HSL = re.compile(r"hsl\(\s*(\d{1,3})(?:deg|°)?\s*[, ]\s*(\d{1,3})%\s*[, ]\s*(\d{1,3})%\s*\)", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:(?:colou?r|hex|rgb|hsl)\s+([a-z]+)|([a-z]+)\s+(?:hex|rgb|hsl|colou?r(?: code)?))", re.IGNORECASE
)
_FORM = re.compile(r"\s+(?:in|to|as)\s+(?:hex|rgb|hsl)$|^colou?r(?: of)?\s+(?=#|rgb\(|hsl\()", re.IGNORECASE)
UNSURE = 0.6  # digits behind a # may be the number of anything


def colour(query: str) -> Computed | None:
    """What a colour is in other forms; None where none is named."""
    found = _read(query) or _read(_FORM.sub("", query))
    if found is None:
        return None
    value, sure = found
    code = written(value)
    hue, saturation, lightness = to_hsl(value)
    forms = [f"rgb({value[0]}, {value[1]}, {value[2]})", f"hsl({hue}, {saturation}%, {lightness}%)"]
    name = _names_by_code().get(code, "")
    return Computed(
        "colour", query.strip(), code, " · ".join([*forms, name] if name else forms), sure=sure, colour=code
    )


def _read(query: str) -> tuple[Colour, float] | None:
    if match := _HEX.fullmatch(query):
        code = match[1] if len(match[1]) == 6 else "".join(letter * 2 for letter in match[1])
        if match[1].isdigit() and len(match[1]) == 3:
            return None
        return _of_code(code), UNSURE if match[1].isdigit() else 1.0
    if match := _RGB.fullmatch(query):
        red, green, blue = (int(part) for part in match.groups() if part)
        return ((red, green, blue), 1.0) if max(red, green, blue) <= 255 else None
    if match := _HSL.fullmatch(query):
        hue, saturation, lightness = (int(part) for part in match.groups())
        return (of_hsl(hue, saturation, lightness), 1.0) if max(saturation, lightness) <= 100 else None
    if match := _NAMED.fullmatch(query):
        code = names().get((match[1] or match[2]).lower(), "")
        return (_of_code(code[1:]), 1.0) if code else None
    return None


def _of_code(code: str) -> Colour:
    return int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)


def written(value: Colour) -> str:
    return f"#{value[0]:02x}{value[1]:02x}{value[2]:02x}"


def to_hsl(value: Colour) -> tuple[int, int, int]:
    hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in value))
    return round(hue * 360) % 360, round(saturation * 100), round(lightness * 100)


def of_hsl(hue: int, saturation: int, lightness: int) -> Colour:
    red, green, blue = colorsys.hls_to_rgb(hue % 360 / 360, lightness / 100, saturation / 100)
    return _part(red), _part(green), _part(blue)


def _part(share: float) -> int:
    """Halves go up, also where a half is a little less than one in binary."""
    return int(share * 255 + 0.5 + 1e-9)


@cache
def names() -> dict[str, str]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def _names_by_code() -> dict[str, str]:
    return {code: name for name, code in sorted(names().items(), reverse=True)}
