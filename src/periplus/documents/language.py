"""The language of a text: by its script, else CLD2, a second opinion for what it is not sure of, then single words.

CLD2 costs about 0.1 ms a page; py3langid ten times that, so it is asked only when CLD2 doubts or the text is short.
Where both agree they are right, however short the text. Languages that are taken for each other are told by words that
only one of them has (``telltales``). What nobody can tell stays unknown. Codes are ISO 639-1.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Final

import pycld2

from periplus.documents import language_model, scripts, telltales

_SAMPLE: Final = 2000  # characters that are looked at …
_QUICK: Final = 800  # … unless so many leave no doubt
_PURE: Final = 95  # percent of a quick sample that must be in one language
_LETTERS: Final = 200  # characters of the beginning whose letters are counted
_SHORTEST: Final = 8  # letters; less says nothing
_SECOND_FROM: Final = 60  # letters below which a second opinion is asked
_LONG: Final = 400  # characters from which the first opinion stands alone also on languages with neighbours
_SURE: Final = 0.7  # confidence of the second opinion where the first has none
_RATHER_SURE: Final = 0.6  # … where the first takes a text for English, …
_NEIGHBOURS_SURE: Final = 0.8  # … between neighbours, …
_NEIGHBOURS_AGREED: Final = 0.5  # … and where both name one of several neighbours
_ENOUGH: Final = 30  # letters from which a reliable first opinion stands against a weak second one
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
_OWN_SCRIPT: Final = frozenset({"ja", "zh", "el", "he", "my"})  # nearly so: CLD2 need only tell them from few others
_FIRST_KNOWS: Final = frozenset(code.split("-")[0] for code in dict(pycld2.LANGUAGES).values())

_second: list[Any] = []  # py3langid's identifier, once it was needed


def detect(text: str, hint: str = "") -> str:
    """The language of ``text``; empty when it is too short or the detectors doubt."""
    letters = _letters(text[:_LETTERS])
    if letters < _ONE_SCRIPT:
        return ""
    if len(text) > _SAMPLE:
        code, reliable, share = _first_opinion(_sample(text, _QUICK), hint)
        if reliable and share >= _PURE and letters >= _SECOND_FROM:
            return telltales.unmodelled(text[:_QUICK], _told(text[:_QUICK], code) or code)
    sample = _sample(text, _SAMPLE)
    return scripts.language_of(sample) or telltales.unmodelled(sample, _judged(sample, letters, hint))


def _letters(text: str) -> int:
    """How many letters a text has; the vowel signs of Indian and other scripts are letters too."""
    letters = sum(map(str.isalpha, text))
    if letters >= _SECOND_FROM or text.isascii():
        return letters
    return letters + sum(unicodedata.category(char) in ("Mc", "Mn") for char in text)


def _judged(sample: str, letters: int, hint: str) -> str:
    first, reliable, _ = _first_opinion(sample, hint)
    if letters < _SHORTEST:
        return first if reliable and first in _OWN_SCRIPT else ""
    close = telltales.has_neighbours(first)
    if reliable and letters >= _SECOND_FROM and (not close or len(sample) >= _LONG):
        return _told(sample, first) or first
    second, confidence = _second_opinion(sample)
    if told := _told(sample, first, second):
        return told
    if second == first:
        return first if confidence >= _NEIGHBOURS_AGREED or not close else ""
    own = scripts.by_cyrillic_letters(sample)
    if own and (own in (first, second) or not reliable):
        return own
    if hint and hint in (first, second):
        return hint
    return _between(first if reliable else "", second, confidence, letters)


def _told(sample: str, *suspects: str) -> str:
    return telltales.told(sample, *suspects) if any(map(telltales.has_neighbours, suspects)) else ""


def _between(first: str, second: str, confidence: float, letters: int) -> str:
    """One of two opinions that differ, or none; each is believed where it was found to be right.

    The first takes texts with English names for English; the second is seldom sure and wrong.
    """
    if first and not _second_knows(first):
        return first
    if not first or second not in _FIRST_KNOWS:
        return second if confidence >= _SURE and len(second) == _CODE else ""
    sure = confidence >= _RATHER_SURE
    if first == "en":
        return second if sure else ""
    if telltales.only_words_tell(first, second):
        return ""
    if telltales.are_neighbours(first, second):
        return second if confidence >= _NEIGHBOURS_SURE else ""
    return first if not sure and letters >= _ENOUGH else ""


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
    code, confidence = _identifier().classify(sample)
    return _normal(code), float(confidence)


def _second_knows(code: str) -> bool:
    return code in _identifier().nb_classes


def _identifier() -> Any:
    if not _second:
        _second.append(language_model.load())
    return _second[0]


def _normal(code: str) -> str:
    return _CODES.get(code, code.split("-", maxsplit=1)[0])
