"""The language of a text: CLD2 first, a second opinion for what it is not sure of, nothing for what is too short.

CLD2 costs about 0.1 ms a page; py3langid ten times that, so it is asked only when CLD2 doubts. Codes are ISO 639-1.
"""

from __future__ import annotations

from typing import Any, Final

import pycld2

from periplus.documents import language_model

_SAMPLE: Final = 2000  # characters that are looked at …
_QUICK: Final = 800  # … unless so many leave no doubt
_PURE: Final = 95  # percent of a quick sample that must be in one language
_LETTERS: Final = 200  # characters of the beginning whose letters are counted
_SHORTEST: Final = 20  # letters; less says nothing
_SECOND_FROM: Final = 60  # letters below which both opinions must agree
_SECOND_SURE: Final = 0.9
_CODE: Final = 2  # letters of a code
_ONE_SCRIPT: Final = 4  # letters that suffice where the script belongs to one language
_CODES: Final = {
    "iw": "he",
    "in": "id",
    "jw": "jv",
    "mo": "ro",
    "no": "no",
    "nb": "no",
    "nn": "no",
    "zh-Hant": "zh",
    "wuu": "zh",
    "yue": "zh",
}
_SINGLE_SCRIPT: Final = frozenset({"ja", "ko", "th", "el", "he", "ka", "hy", "km", "lo", "my", "ta", "te", "zh"})

_second: list[Any] = []  # py3langid's identifier, once it was needed


def detect(text: str, hint: str = "") -> str:
    """The language of ``text``; empty when it is too short or the detectors doubt."""
    letters = sum(map(str.isalpha, text[:_LETTERS]))
    if letters < _ONE_SCRIPT:
        return ""
    if len(text) > _SAMPLE:
        code, reliable, share = _first_opinion(_sample(text, _QUICK), hint)
        if reliable and share >= _PURE and letters >= _SECOND_FROM:
            return code
    sample = _sample(text, _SAMPLE)
    code, reliable, share = _first_opinion(sample, hint)
    if reliable and (letters >= _SECOND_FROM or code in _SINGLE_SCRIPT):
        return code
    if letters < _SHORTEST:
        return ""
    second, confidence = _second_opinion(sample)
    if second == code and share > 0:
        return code
    # A longer text may be decided by the second opinion alone; codes of three letters are not ours.
    decided = letters >= _SECOND_FROM and confidence >= _SECOND_SURE and len(second) == _CODE
    return second if decided else ""


def _sample(text: str, size: int) -> str:
    """The text, or its beginning, middle and end: pages often open or close in another language."""
    if len(text) <= size:
        return text
    middle, piece = len(text) // 2, size // 4
    return f"{text[: 2 * piece]}\n{text[middle : middle + piece]}\n{text[-piece:]}"


def _first_opinion(sample: str, hint: str) -> tuple[str, bool, int]:
    try:
        reliable, _, details = pycld2.detect(
            sample.encode("utf-8", "ignore"), isPlainText=True, hintLanguage=hint or None, bestEffort=False
        )
    except (pycld2.error, ValueError):
        return "", False, 0
    _, code, share, _ = details[0]
    return ("", False, 0) if code == "un" else (_normal(code), reliable, share)


def _second_opinion(sample: str) -> tuple[str, float]:
    if not _second:
        _second.append(language_model.load())
    code, confidence = _second[0].classify(sample)
    return _normal(code), float(confidence)


def _normal(code: str) -> str:
    return _CODES.get(code, code.split("-", maxsplit=1)[0])
