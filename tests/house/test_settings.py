"""Settings: sources, their order, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus import settings
from periplus.errors import SettingError


def write(folder: Path, text: str) -> Path:
    (folder / settings.FILE_NAME).write_text(text, encoding="utf-8")
    return folder


def test_defaults_need_no_source():
    loaded = settings.load(environ={})

    assert loaded.values == settings.Settings()
    assert loaded.origins == {}


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(tmp_path):
    write(tmp_path, "[crawl]\ndelay = 2.0\nmax_pages = 7\nscope = 'host'\n")
    environ = {"PERIPLUS_CRAWL_DELAY": "3", "PERIPLUS_CRAWL_MAX_PAGES": "8"}

    loaded = settings.load(tmp_path, {"crawl.delay": 4.0, "crawl.max_depth": None}, environ)

    assert loaded.values.crawl.delay == 4.0
    assert loaded.values.crawl.max_pages == 8
    assert loaded.values.crawl.scope == "host"
    assert loaded.values.crawl.max_depth == settings.Settings().crawl.max_depth
    assert loaded.origins["crawl.delay"] == "flag"
    assert loaded.origins["crawl.max_pages"] == "PERIPLUS_CRAWL_MAX_PAGES"
    assert loaded.origins["crawl.scope"].endswith("periplus.toml")


def test_lists_and_booleans_from_variables():
    environ = {"PERIPLUS_CRAWL_LANGUAGES": "en,de", "PERIPLUS_CRAWL_ALLOW_PRIVATE": "true"}

    crawl = settings.load(environ=environ).values.crawl

    assert crawl.languages == ("en", "de")
    assert crawl.allow_private is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[crawl\n", "cannot be read"),
        ("[crawling]\ndelay = 1\n", "did you mean crawl?"),
        ("crawl = 3\n", "unknown section"),
        ("[crawl]\ndelya = 1\n", "did you mean crawl.delay?"),
        ("[crawl]\ndelay = -1\n", "crawl.delay = -1"),
        ("[crawl]\ndelay = 'soon'\n", "crawl.delay = 'soon'"),
        ("[crawl]\nscope = 'galaxy'\n", "crawl.scope = 'galaxy'"),
        ("[bot]\nname = 'my bot/1'\n", "bot.name"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path, text, said):
    with pytest.raises(SettingError, match="periplus.toml") as raised:
        settings.load(write(tmp_path, text), environ={})

    assert said in str(raised.value)
    assert "\n" not in str(raised.value).strip()


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / settings.FILE_NAME).write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingError, match="cannot be read"):
        settings.load(tmp_path, environ={})


def test_a_wrong_variable_is_named():
    with pytest.raises(SettingError, match="PERIPLUS_SERVE_PORT"):
        settings.load(environ={"PERIPLUS_SERVE_PORT": "99999"})


def test_a_wrong_flag_is_named():
    with pytest.raises(SettingError, match="did you mean crawl.delay"):
        settings.load(flags={"crawl.delai": 1}, environ={})


def test_every_setting_has_a_help_text_and_a_variable_of_its_own():
    catalogue = settings.catalogue()

    assert all(info.help for info in catalogue)
    assert len({info.variable for info in catalogue}) == len(catalogue)
    assert len(catalogue) <= 90
