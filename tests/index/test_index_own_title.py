"""Titles without the name of the site that repeats in all of them."""

from __future__ import annotations

import pytest

from periplus.index.building.own_title import parted, with_own_title
from periplus.records import Document


@pytest.mark.parametrize(
    ("title", "url", "site_name", "own", "site"),
    [
        ("asyncio — Python 3.11.2 docs", "https://docs.python.org/3/", "", "asyncio", "Python 3.11.2 docs"),
        ("asyncio — Waiting — Python 3.11", "https://docs.python.org/", "", "asyncio — Waiting", "Python 3.11"),
        ("std::vector - cppreference.com", "https://en.cppreference.com/w/", "", "std::vector", "cppreference.com"),
        ("Vec in std::vec - Rust", "https://doc.rust-lang.org/std/", "", "Vec in std::vec", "Rust"),
        ("Events | Node.js v18.20.4 Docs", "https://nodejs.org/", "", "Events", "Node.js v18.20.4 Docs"),
        ("Git - git-rebase Documentation", "https://git-scm.com/docs/", "", "git-rebase Documentation", "Git"),
        ("Tides | The Harbour Office", "https://a.example/", "The Harbour Office", "Tides", "The Harbour Office"),
        ("Tides | Harbour Office", "https://a.example/", "", "Tides | Harbour Office", ""),
        ("Python - Release notes", "https://www.python.org/", "", "Release notes", "Python"),
        ("Erlang -- gen_server", "https://erlang.org/doc/", "", "gen_server", "Erlang"),
        ("git --- the manual", "https://a.example/", "", "git --- the manual", ""),
        ("Erlang ---- gen_server", "https://erlang.org/doc/", "", "Erlang ---- gen_server", ""),  # a rule, no dash
        ("Python", "https://www.python.org/", "", "Python", ""),
        ("— Python", "https://www.python.org/", "", "— Python", ""),
        ("Well-known ports", "https://known.example/", "", "Well-known ports", ""),  # no blanks around the dash
        ("Documentation - Home", "https://a.example/", "", "Documentation - Home", ""),  # words that name no site
        ("A - B", "id:7", "", "A - B", ""),
        ("", "https://a.example/", "", "", ""),
    ],
)  # fmt: skip
def test_a_title_is_parted(title, url, site_name, own, site):
    assert parted(title, url, site_name) == (own, site)


def test_the_name_of_the_site_stays_searchable():
    document = Document("https://docs.python.org/3/", 1, 0.0, title="asyncio — Python 3.11", boilerplate="menu")
    assert with_own_title(document).title == "asyncio"
    assert with_own_title(document).boilerplate == "menu\nPython 3.11"
    plain = Document("https://docs.python.org/3/", 1, 0.0, title="asyncio")
    assert with_own_title(plain) is plain
