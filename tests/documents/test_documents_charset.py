"""Encodings: the standard's prescan, headers, marks, and what happens when nothing is said."""

from __future__ import annotations

import pytest

from periplus.documents import parse
from periplus.documents.charset import decode, from_header, from_markup, standard_name
from periplus.records import Page

RUSSIAN = "Порт открыт к западу, и суда ждут снаружи, пока прилив не покроет отмель. " * 5
JAPANESE = "港は西に開いており、船は潮が砂州を覆うまで外で待つ。" * 8
GERMAN = "Der Hafen öffnet sich nach Westen, und die Schiffe warten draußen, bis die Flut über der Barre steht. " * 4


def sniffing_cases(shared_data):
    for path in sorted((shared_data / "encoding").glob("*.dat")):
        for case in path.read_bytes().split(b"#data\n")[1:]:
            data, _, rest = case.partition(b"\n#encoding\n")
            yield path.name, data, standard_name(rest.split(b"\n")[0].decode().strip())


@pytest.mark.shared_data
def test_the_sniffing_cases_of_others(shared_data):
    cases = list(sniffing_cases(shared_data))
    assert len(cases) > 80
    for name, data, wanted in cases:
        if data.startswith(b"\xef\xbb\xbf"):
            found = decode(data).charset
        else:  # their window is as wide as the page; windows-1252 is what an undeclared page is given
            found = from_markup(data, len(data)) or "windows-1252"
        assert found == wanted, (name, data[:200])


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        (b"\xef\xbb\xbfx", "text/html; charset=iso-8859-2", "utf-8"),
        ("\ufeffx".encode("utf-16-le"), "", "utf-16le"),
        ("\ufeffx".encode("utf-16-be"), "", "utf-16be"),
        (b"<meta charset=koi8-r>\xf0", "text/html; charset=windows-1251", "windows-1251"),
        (b"<meta charset=koi8-r>\xf0", "text/html", "koi8-r"),
        (b"<meta charset=bogus><meta charset=koi8-r>\xf0", "text/html", "koi8-r"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?>\xe1", "", "iso-8859-2"),
        (b"plain", "", "utf-8"),
        ("grün".encode(), "text/html; charset=ISO-8859-1", "utf-8"),
        (b"gr\xfcn", "text/html; charset=ISO-8859-1", "windows-1252"),
        (b" " * 3000 + b"<meta charset=koi8-r>\xf0", "", "koi8-r"),
    ],
)
def test_order_of_trust(body, content_type, charset):
    found = decode(body, content_type)
    assert found.charset == charset
    assert found.sure


@pytest.mark.parametrize(
    ("text", "encoding", "charset"),
    [
        (RUSSIAN, "windows-1251", "windows-1251"),
        (RUSSIAN, "mac_cyrillic", "x-mac-cyrillic"),
        ("Я знаю её, эту гавань.", "mac_cyrillic", "x-mac-cyrillic"),
        ("Я знаю её, эту гавань. «Паром» — ушёл…", "windows-1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-u"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc-jp", "euc-jp"),
        (GERMAN, "windows-1252", "windows-1252"),
    ],
)
def test_undeclared_encodings_are_detected(text, encoding, charset):
    found = decode(text.encode(encoding))
    assert found.charset == charset
    assert found.text == text
    assert not found.sure  # however confident the detector is


def test_a_wrong_declaration_is_doubted():
    found = decode(RUSSIAN.encode("windows-1251"), "text/html; charset=utf-8")
    assert found.text == RUSSIAN
    assert not found.sure


def test_a_weak_guess_is_marked():
    assert not parse(Page("https://a.example/", b"<p>caf\xe9 x", "text/html")).charset_sure


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;charset="UTF8"', "utf-8"),
        ("text/html; Charset = latin1; x=y", "windows-1252"),
        ("text/html; charset=nonsense", ""),
        ("text/html", ""),
        ("", ""),
    ],
)
def test_charset_of_a_header(header, name):
    assert from_header(header) == name
