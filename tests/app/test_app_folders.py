"""Import of a folder: what is read of it, under which address, and what is left out."""

from __future__ import annotations

import os
import socket

import pytest

from periplus import Collection
from periplus.app.importing import folders, import_paths
from periplus.documents import BatchLog
from periplus.errors import UsageError

PAGE = "<title>Knots</title><p>The bowline does not slip."
BASE = "https://ropes.example/docs"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "site"
    made.mkdir()
    (made / "index.html").write_text(PAGE, encoding="utf-8")
    return made


def taken(tmp_path, folder, base=BASE, **options):
    with Collection(tmp_path / "c", flags=options) as collection:
        report = import_paths(collection, [folder], base)
        log = BatchLog(collection.files, collection.database)
        return report, [document.url for number in log.numbers() for document in log.documents(number)]


def test_links_out_of_the_folder_are_not_followed(tmp_path, folder):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "plan.html").write_text(PAGE, encoding="utf-8")
    (folder / "out.html").symlink_to(secret / "plan.html")
    (folder / "out").symlink_to(secret)
    (folder / "up.html").symlink_to("../secret/plan.html")
    (folder / "twice.html").symlink_to("out/plan.html")
    beside = tmp_path / "site-of-others"
    beside.mkdir()
    (beside / "plan.html").write_text(PAGE, encoding="utf-8")
    (folder / "beside.html").symlink_to(beside / "plan.html")

    report, urls = taken(tmp_path, folder)

    assert urls == [f"{BASE}/index.html"]
    assert report.left_out == {"link-out-of-folder": 5}
    assert {problem.file for problem in report.problems} == {
        str(folder / name) for name in ("out.html", "out", "up.html", "twice.html", "beside.html")
    }


def test_links_inside_the_folder_are_read_as_files_and_loops_end(tmp_path, folder):
    (folder / "below").mkdir()
    (folder / "below" / "loop").symlink_to("..")
    (folder / "self").symlink_to("self")
    (folder / "start.html").symlink_to("index.html")
    (folder / "gone.html").symlink_to("nowhere.html")

    report, urls = taken(tmp_path, folder)

    assert urls == [f"{BASE}/index.html", f"{BASE}/start.html"]
    assert report.left_out == {"file-unreadable": 2, "link-to-folder": 1}


def test_hidden_files_are_left_out_but_for_what_is_published(tmp_path, folder):
    for name in (".git/page.html", ".draft.html", ".well-known/page.html"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(PAGE, encoding="utf-8")

    report, urls = taken(tmp_path, folder)

    assert urls == [f"{BASE}/.well-known/page.html", f"{BASE}/index.html"]
    assert report.left_out == {"hidden-file": 2}


def test_names_become_addresses_as_a_server_would_publish_them(tmp_path, folder):
    for name in ("a b.html", "50%25.html", "c#d.htm", "é.xhtml", "x:y.html", "page.php?id=3", "about"):
        (folder / name).write_text(f"<!doctype html>{PAGE}", encoding="utf-8")
    (folder / os.fsdecode(b"\xff.html")).write_text(PAGE, encoding="utf-8")

    report, urls = taken(tmp_path, folder)

    assert sorted(url.removeprefix(f"{BASE}/") for url in urls) == [
        "%C3%A9.xhtml", "%FF.html", "50%2525.html", "a%20b.html", "about", "c%23d.htm", "index.html", "page.php?id=3",
        "x:y.html",
    ]  # fmt: skip
    assert report.refused == 0


def test_what_is_no_html_is_counted(tmp_path, folder):
    (folder / "style.css").write_text("body { color: navy }", encoding="utf-8")
    (folder / "ship.png").write_bytes(b"\x89PNG")
    (folder / "README").write_text("A plain text.", encoding="utf-8")
    report, urls = taken(tmp_path, folder)
    assert len(urls) == 1
    assert report.left_out == {"not-html": 3}


def test_files_that_cannot_be_read_are_named(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(folders.bounds, "BODY_BYTES", 100)
    monkeypatch.setattr(folders, "DEPTH", 3)
    (folder / "large.html").write_text(PAGE * 3, encoding="utf-8")
    os.mkfifo(folder / "pipe.html")
    (folder / "a/b/c/d").mkdir(parents=True)
    (folder / "a/b/c/d/deep.html").write_text(PAGE, encoding="utf-8")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)
        listener.bind("socket.html")
        report, urls = taken(tmp_path, folder)
    assert urls == [f"{BASE}/index.html"]
    assert report.left_out == {"file-unreadable": 2, "folder-too-deep": 1, "too-large": 1}
    assert {problem.file for problem in report.problems} == {
        str(folder / name) for name in ("large.html", "pipe.html", "socket.html", "a/b/c/d")
    }


def test_helpers_read_the_same_as_one_process(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(folders, "FILES", 7)
    for number in range(40):
        (folder / f"{number:02}.html").write_text(f"{PAGE} {number}", encoding="utf-8")
    (tmp_path / "two").mkdir()
    one = taken(tmp_path, folder, **{"index.workers": 1})
    two = taken(tmp_path / "two", folder, **{"index.workers": 2})
    assert one[1] == two[1]
    assert (one[0].documents, two[0].documents) == (41, 41)


def test_a_folder_needs_an_address(tmp_path, folder):
    for base in ("", "no address"):
        with pytest.raises(UsageError):
            taken(tmp_path, folder, base)
    assert not (tmp_path / "c").exists()
