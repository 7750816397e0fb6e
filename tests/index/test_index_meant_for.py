"""For whom a page is meant, where its text is in another language."""

from __future__ import annotations

import pytest

from periplus.index.format.meant_for import language_name, meant_for, text_language


@pytest.mark.parametrize(
    ("language", "url", "declared", "alternates", "name"),
    [
        ("en", "https://a.example/guide.html", "", {}, "en"),
        ("en", "https://a.example/en-US/guide.html", "", {}, "en"),
        ("en", "https://a.example/cs-CZ/guide.html", "", {}, "en/cs"),
        ("en", "https://a.example/manual/pt_BR/guide.html", "", {}, "en/pt"),
        ("en", "https://a.example/docs/guide.de.html", "", {}, "en/de"),
        ("en", "https://a.example/1/2/3/4/de/guide.html", "", {}, "en"),  # far down a path it is something else
        ("en", "https://a.example/vm/guide.html", "", {}, "en"),  # no language
        ("no", "https://a.example/nb/guide.html", "", {}, "no"),
        ("de", "https://a.example/", "en", {}, "de"),  # what a template says
        ("en", "https://a.example/", "de-AT", {}, "en/de"),
        ("en", "https://a.example/x", "", {"fr": "https://a.example/x", "en": "https://a.example/y"}, "en/fr"),
        ("", "https://a.example/de/", "", {}, "/de"),
        ("", "id:7", "", {}, ""),
        ("en", "https://[broken", "", {}, "en"),
    ],
)
def test_a_name_tells_text_and_readers(language, url, declared, alternates, name):
    found = language_name(language, url, declared, alternates)
    assert found == name
    assert text_language(found) == language
    assert f"{language}/{meant_for(found)}" == name or not meant_for(found)
