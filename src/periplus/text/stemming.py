"""Stems by language: Snowball through PyStemmer, behind a bounded cache a thread."""

from __future__ import annotations

import threading
from functools import lru_cache

import Stemmer

DEFAULT_LANGUAGE = "en"  # for texts of unknown language: English endings hardly occur elsewhere
CACHE_SIZE = 200_000  # words a language and thread
ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

_local = threading.local()


@lru_cache(maxsize=1_000)
def base_language(language: str) -> str:
    """``"pt-BR"`` → ``"pt"``; empty becomes the default language."""
    return language.replace("_", "-").split("-")[0].lower() or DEFAULT_LANGUAGE


def stem(word: str, language: str = "") -> str:
    """The stem of a lower-case word; the word itself in a language without a stemmer."""
    name = ALGORITHMS.get(base_language(language))
    if name is None:
        return word
    words = _cache(name)
    known = words.get(word)
    if known is None:
        if len(words) >= CACHE_SIZE:
            words.clear()
        known = words[word] = _stemmer(name).stemWord(word)
    return known


def stems(words: list[str], language: str) -> list[str]:
    """The stems of many lower-case words, none of which is asked for often."""
    name = ALGORITHMS.get(base_language(language))
    return words if name is None else _stemmer(name).stemWords(words)


def _stemmer(name: str) -> Stemmer.Stemmer:
    """One instance a thread: a stemmer has internal state."""
    instances = _local.__dict__.setdefault("stemmers", {})
    if name not in instances:
        instances[name] = Stemmer.Stemmer(name, 0)
    return instances[name]


def _cache(name: str) -> dict[str, str]:
    caches: dict[str, dict[str, str]] = _local.__dict__.setdefault("caches", {})
    return caches.setdefault(name, {})
