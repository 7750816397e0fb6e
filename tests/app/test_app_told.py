"""What a crawl was told is remembered, with its origin: by flag, by option, over HTTP; in SQLite and in PostgreSQL."""

from __future__ import annotations

import http.client
import threading
import time
from urllib.parse import urlsplit

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus import Collection
from periplus.app.console.starting import crawl_once
from periplus.app.running.up import crawl_until
from periplus.app.serving.server import operator_key, web_server
from periplus.cli.main import run
from periplus.demo import Reply
from periplus.settings import FILE_NAME
from support.postgres import postgres_address  # noqa: F401 (a fixture)

QUICK = {"crawl.delay": 0.01, "crawl.workers": 1, "crawl.icons": False, "crawl.commit_seconds": 0.2}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def folder(request, tmp_path):
    """Of a collection whose state is in either database."""
    made = tmp_path / "c"
    made.mkdir()
    address = request.getfixturevalue("postgres_address") if request.param == "postgresql" else ""
    (made / FILE_NAME).write_text(f"[storage]\ndatabase = '{address}'\n", encoding="utf-8")
    return made


@pytest.fixture
def seed(mock_web):  # noqa: F811
    return mock_web.site("a.test", 12)[0]


def crawl(folder, mock_web, *seeds, flags=None, **options):  # noqa: F811
    """By a process of its own, as far as the collection can tell."""
    with Collection(folder, flags=flags) as collection:
        return collection.crawl(seeds, **options)


def in_force(folder, *names):
    with Collection(folder) as collection:
        loaded = collection.in_force()
        return {name: (loaded.value(f"crawl.{name}"), loaded.origins.get(f"crawl.{name}", "default")) for name in names}


def edit(folder, text):
    path = folder / FILE_NAME
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_the_next_crawl_goes_on_with_what_the_first_was_told(folder, mock_web, seed):  # noqa: F811
    first = crawl(folder, mock_web, seed, flags=QUICK, max_pages=3, resolve=mock_web.resolve, exclude=["/9$"])
    second = crawl(folder, mock_web)

    assert (first.pages, second.pages) == (3, 0)  # the limit holds
    assert in_force(folder, "max_pages", "exclude", "scope") == {
        "max_pages": (3, "remembered"),
        "exclude": (("/9$",), "remembered"),
        "scope": ("site", "default"),
    }


def test_a_flag_changes_only_itself(folder, mock_web, seed):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=3, resolve=mock_web.resolve)
    status = crawl(folder, mock_web, max_pages=5)

    assert status.pages == 2
    assert in_force(folder, "max_pages", "delay") == {"max_pages": (5, "remembered"), "delay": (0.01, "remembered")}


def test_each_source_wins_over_those_before_it(folder, mock_web, seed, monkeypatch):  # noqa: F811
    edit(folder, "[crawl]\nmax_depth = 7\nmax_pages = 6\ndelay = 0.02\n")
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=3, resolve=mock_web.resolve)
    monkeypatch.setenv("PERIPLUS_CRAWL_DELAY", "0.03")

    with Collection(folder, flags={"crawl.scope": "host"}) as collection:
        loaded = collection.in_force()
    assert {key: origin for key, origin in loaded.origins.items() if key in ("crawl.max_pages", "crawl.scope")} == {
        "crawl.max_pages": "remembered",
        "crawl.scope": "flag",
    }
    assert loaded.origins["crawl.max_depth"].endswith(FILE_NAME)
    assert (loaded.values.crawl.delay, loaded.origins["crawl.delay"]) == (0.03, "PERIPLUS_CRAWL_DELAY")
    assert loaded.values.crawl.max_pages == 3


def test_a_later_edit_of_the_file_wins_and_is_said(folder, mock_web, seed, capsys):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=3, resolve=mock_web.resolve)
    edit(folder, "[crawl]\nmax_pages = 4\nmax_depth = 9\n")

    assert run(["crawl", "--dir", str(folder)]) == 0
    said = capsys.readouterr().err
    assert "periplus.toml was edited since: max-pages is 4, no longer the 3 that a crawl was told" in said
    assert in_force(folder, "max_pages")["max_pages"][0] == 4
    assert run(["crawl", "--dir", str(folder)]) == 0
    assert "edited" not in capsys.readouterr().err  # it is said once


def test_a_flag_given_after_the_edit_wins_again(folder, mock_web, seed):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=3, resolve=mock_web.resolve)
    edit(folder, "[crawl]\nmax_pages = 4\n")
    crawl(folder, mock_web, max_pages=2)

    assert in_force(folder, "max_pages") == {"max_pages": (2, "remembered")}


def test_secrets_and_leaves_are_not_kept_but_asked_for_again(folder, mock_web, seed, capsys, tmp_path):  # noqa: F811
    password = tmp_path / "password"
    password.write_text("open sesame", encoding="utf-8")
    secrets = ["--header", "a.test=X-Token: swordfish", "--auth", f"a.test=me:{password}", "--allow-private"]
    common = ["--dir", str(folder), "--delay", "0.01", "--workers", "1", "--resolve", mock_web.resolve[0]]
    assert run(["crawl", seed, "--max-pages", "2", *secrets, *common]) == 0
    assert "swordfish" not in capsys.readouterr().err

    with Collection(folder) as collection, collection.database.read() as tx:
        kept = " ".join(f"{key} {value}" for key, value in tx.rows("SELECT key, value FROM meta"))
    for secret in ("swordfish", "sesame", "X-Token", str(password)):
        assert secret not in kept

    assert run(["crawl", "--dir", str(folder)]) == 0
    said = capsys.readouterr().err
    assert "given before and not remembered: --allow-private, --auth, --header; give it again" in said
    assert run(["crawl", "--dir", str(folder), "--allow-private"]) == 0
    assert "remembered: --auth, --header;" in capsys.readouterr().err


def test_what_is_remembered_can_be_forgotten(folder, mock_web, seed, capsys):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=3, resolve=mock_web.resolve, allow_private=True)
    with Collection(folder) as collection:
        collection.forget("crawl.delay")
    assert in_force(folder, "delay", "max_pages") == {"delay": (1.0, "default"), "max_pages": (3, "remembered")}

    more = ["--delay", "0.01", "--max-pages", "4", "--workers", "1", "--resolve", mock_web.resolve[0]]
    assert run(["crawl", "--dir", str(folder), "--forget", *more]) == 0
    said = capsys.readouterr().err
    assert "icons" not in said
    assert "--allow-private" not in said
    assert in_force(folder, "icons", "max_pages") == {"icons": (True, "default"), "max_pages": (4, "remembered")}


def test_an_empty_flag_empties_a_list(folder, mock_web, seed):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=2, resolve=mock_web.resolve, exclude=["/9$"], languages=["de"])
    assert run(["crawl", "--dir", str(folder), "--exclude", "", "--lang", ""]) == 0

    assert in_force(folder, "exclude", "languages") == {"exclude": ((), "remembered"), "languages": ((), "remembered")}


def test_everything_in_force_is_printed_with_its_origin(folder, mock_web, seed, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PERIPLUS_CRAWL_MAX_DEPTH", "4")
    edit(folder, "[crawl]\nicons = false\n")
    crawl(folder, mock_web, seed, flags={"crawl.workers": 1}, max_pages=2, resolve=mock_web.resolve)
    assert run(["crawl", "--dir", str(folder), "--delay", "0.01"]) == 0

    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["from", seed] in lines
    assert ["scope", "site", "default"] in lines
    assert ["max-pages", "2", "remembered"] in lines
    assert ["max-depth", "4", "PERIPLUS_CRAWL_MAX_DEPTH"] in lines
    assert ["delay", "0.01", "s,", "or", "what", "robots.txt", "asks", "flag"] in lines
    assert ["icons", "no", FILE_NAME] in lines
    assert ["resolve", mock_web.resolve[0], "remembered"] in lines


def test_a_crawl_that_is_refused_changes_nothing(folder, mock_web, seed):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=2, resolve=mock_web.resolve)
    with Collection(folder, flags={"crawl.max_pages": 9}) as collection:
        crawler = collection.crawler(collection.in_force())
        with pytest.raises(Exception, match="not an http"):
            crawler.run(["nonsense://x"])

    assert in_force(folder, "max_pages") == {"max_pages": (2, "remembered")}


def test_a_crawl_started_by_the_console_is_told_things_too(folder, mock_web, seed):  # noqa: F811
    flags = QUICK | {"crawl.resolve": list(mock_web.resolve)}
    crawl_once(threading.Event(), str(folder), flags | {"crawl.max_pages": 2}, [seed], time.time())

    assert in_force(folder, "max_pages", "delay") == {"max_pages": (2, "remembered"), "delay": (0.01, "remembered")}


def test_what_is_told_later_wins_over_the_flags_of_a_process_that_runs_on(folder, mock_web, seed):  # noqa: F811
    flags = QUICK | {"crawl.resolve": list(mock_web.resolve), "crawl.max_pages": 2}
    began = time.time()
    crawl(folder, mock_web, seed, flags=flags)
    crawl(folder, mock_web, max_pages=6)

    stopping = threading.Event()
    mock_web.at("http://a.test/never", Reply(404))
    up = threading.Thread(target=crawl_until, args=(stopping, str(folder), flags, [seed], began))
    up.start()
    with Collection(folder) as collection:
        limit = time.monotonic() + 60
        while collection.status().crawl.state != "done" and time.monotonic() < limit:
            time.sleep(0.02)
    stopping.set()
    up.join(60)
    assert in_force(folder, "max_pages") == {"max_pages": (6, "remembered")}


def test_the_console_shows_what_is_remembered_and_forgets_it(folder, mock_web, seed):  # noqa: F811
    crawl(folder, mock_web, seed, flags=QUICK, max_pages=2, resolve=mock_web.resolve)
    with Collection(folder, flags={"serve.port": 0}) as collection, web_server(collection) as server:
        connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=60)
        headers = {"authorization": f"Bearer {operator_key(collection)}"}

        def asked(method: str, path: str, body: str = "") -> tuple[int, str]:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        assert 'aria-label="Forget crawl.max_pages"' in asked("GET", "/console/settings")[1]
        assert asked("POST", "/console/settings/forget", "target=crawl.max_pages")[0] == 303
        assert asked("POST", "/console/settings/forget", "target=crawl.max_pages")[0] == 404
        shown = asked("GET", "/console/settings")[1]
        assert 'aria-label="Forget crawl.max_pages"' not in shown
        assert 'aria-label="Forget crawl.delay"' in shown
        connection.close()
    assert in_force(folder, "max_pages") == {"max_pages": (10_000, "default")}
