"""Settings: sources, their order, and what is said of a wrong one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from periplus import settings
from periplus.errors import SettingError


def write(folder: Path, text: str) -> Path:
    (folder / settings.FILE_NAME).write_text(text, encoding="utf-8")
    return folder


def test_what_is_called_secret_or_a_key_is_never_shown():
    described = {info.key: info.help for info in settings.catalogue()}
    called_so = {key for key, text in described.items() if "kept secret" in text}
    keys = {key for key in described if key.endswith(("_key", "_token", "_password", "_secret"))}
    files = {key for key in keys if described[key].startswith("file ")}

    assert called_so == settings.SECRETS
    assert keys - files <= settings.SECRETS


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
    assert len(catalogue) <= 91


# What the console changes


def test_what_the_console_changed_stands_between_the_file_and_a_variable(tmp_path):
    write(tmp_path, "[crawl]\ndelay = 2.0\nmax_depth = 4\nmax_pages = 7\n")
    remembered = {
        "crawl.delay": settings.Remembered(3.0, "2.0", by=settings.CONSOLE),
        "crawl.max_depth": settings.Remembered(5, "4", by=settings.CONSOLE),
        "crawl.max_pages": settings.Remembered(8, "7", by=settings.CONSOLE),
    }

    loaded = settings.load(tmp_path, {"crawl.max_pages": 9}, {"PERIPLUS_CRAWL_MAX_DEPTH": "6"}, remembered)

    found = {key: (loaded.value(key), loaded.origins[key]) for key in remembered}
    assert found == {
        "crawl.delay": (3.0, "console"),
        "crawl.max_depth": (6, "PERIPLUS_CRAWL_MAX_DEPTH"),
        "crawl.max_pages": (9, "flag"),
    }


def test_a_row_of_an_earlier_version_was_told_to_a_crawl():
    assert settings.load(environ={}, remembered={"crawl.delay": settings.Remembered(3.0)}).origins == {
        "crawl.delay": "remembered"
    }


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("crawl.delay", "0.5", 0.5),
        ("crawl.icons", "false", False),
        ("crawl.exclude", "/a,b\r\n\r\n /c \n", ("/a,b", "/c")),
        ("crawl.exclude", "", ()),
        ("search.profile", "bm25", "bm25"),
    ],
)
def test_what_is_typed_becomes_a_value(key, text, value):
    assert settings.typed(key, text) == value


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("crawl.delay", "-1", "crawl.delay = '-1' (from console): Expected `float` >= 0.0"),
        ("crawl.delay", "soon", "crawl.delay = 'soon' (from console): Expected `float`, got `str`"),
        ("crawl.delay", "nan", "crawl.delay = 'nan' (from console): Expected `float` >= 0.0"),
        ("crawl.scope", "world", "crawl.scope = 'world' (from console): choose one of host, site, any"),
        ("crawl.dellay", "1", "unknown setting crawl.dellay; did you mean crawl.delay?"),
    ],
)
def test_what_is_typed_wrongly_is_said_as_elsewhere(key, text, said):
    with pytest.raises(SettingError) as caught:
        settings.typed(key, text)
    assert str(caught.value) == said


def test_secrets_files_private_networks_and_addresses_are_not_changed_on_the_console():
    fixed = {info.key for info in settings.catalogue() if info.fixed}

    assert fixed >= settings.SECRETS | settings.NOT_REMEMBERED
    assert fixed >= {info.key for info in settings.catalogue() if info.section in ("storage", "cluster")}
    assert fixed >= {info.key for info in settings.catalogue() if re.search(r"\b(file (of|in)|folder of)\b", info.help)}
    assert fixed >= {"serve.host", "serve.port", "serve.tls_cert", "serve.trusted_proxies", "crawl.resolve"}
    assert not fixed & {"crawl.delay", "search.per_host", "serve.rate", "rank.damping", "bot.contact"}


def test_names_in_the_tables_are_those_of_settings():
    known = {info.key for info in settings.catalogue()}
    sections = {info.section for info in settings.catalogue()}

    assert set(settings.IN_FORCE) | set(settings.NOT_ON_CONSOLE) <= known | sections
    assert sections <= {*settings.IN_FORCE, *settings.NOT_ON_CONSOLE}


def test_a_server_that_runs_goes_on_with_what_waits_for_its_start():
    running = settings.load(environ={}, flags={"serve.port": 1, "search.per_host": 2}).values
    fresh = settings.load(
        environ={}, flags={"serve.port": 3, "search.per_host": 4, "serve.access_log": "full", "crawl.pictures": True}
    ).values

    now = settings.renewed(running, fresh)

    assert (now.serve.port, now.serve.access_log) == (1, "off")
    assert (now.search.per_host, now.crawl.pictures) == (4, True)
