"""Readers in a process of their own: the same documents, and whatever breaks a limit costs one page."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from documents_files import pdf_with, zipped

from periplus.documents import (
    apart,
    outline,
    outline_apart,
    parse,
    parse_apart,
    read_sitemap,
    read_sitemap_apart,
)
from periplus.errors import ParseError
from periplus.records import Page

HTML = Page(
    "http://a.test/", b"<title>T</title><p>Harbour <a href='/b' rel=nofollow>lights</a> of the old coast.", "text/html"
)

ODT = "application/vnd.oasis.opendocument.text"
ODT_TEXT = (
    '<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><o:body><o:text><text:p>Harbour lights</text:p>'
    "</o:text></o:body></o:document-content>"
)


def within(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "page",
    [
        HTML,
        Page("http://a.test/feed", b"<rss><channel><title>News</title></channel></rss>", "application/rss+xml"),
        Page("http://a.test/plain", "Größe und Ähnliches, grün.".encode("latin-1"), "text/plain; charset=iso-8859-15"),
        Page("http://a.test/pdf", pdf_with("Harbour lights"), "application/pdf"),
        Page("http://a.test/odt", zipped({"mimetype": ODT, "content.xml": ODT_TEXT}), ""),
        Page("http://a.test/big5", "港口的燈塔照亮了海岸".encode("big5"), "text/html; charset=big5"),
    ],
    ids=lambda page: page.url.rpartition("/")[2] or "html",
)
def test_the_same_documents(page):
    assert parse_apart(page) == parse(page)
    assert outline_apart(page) == outline(page)


def test_the_same_sitemaps_and_the_same_refusals():
    body = b"<urlset><url><loc>http://a.test/1</loc><lastmod>2024-01-02</lastmod></url></urlset>"

    assert read_sitemap_apart(body, "http://a.test/map") == read_sitemap(body, "http://a.test/map")
    with pytest.raises(ParseError, match="unsupported-type"):
        parse_apart(Page("http://a.test/x", b"\x89PNG\r\n", "image/png"))
    assert parse_apart(HTML).title == "T"


def test_large_pages_and_many_at_once():
    large = Page("http://a.test/large", b"<p>" + b"Words of the sea. " * 200_000, "text/html")
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(parse_apart, [large, HTML, large, HTML]))

    assert found[0] == found[2] == parse(large)
    assert found[1] == found[3] == parse(HTML)


def test_a_process_that_dies_costs_one_page():
    process = apart.ReadingProcess()
    process._process.kill()
    process._process.wait()
    apart._READERS._give_back(process)

    with pytest.raises(ParseError, match=r"parse-bound.*ended"):
        parse_apart(HTML)
    assert parse_apart(HTML) == parse(HTML)


def test_a_page_that_takes_too_long_is_ended(monkeypatch):
    """A process that never answers, stopped as if it were caught in a loop."""
    monkeypatch.setattr(apart, "LONGEST", 0.2)
    monkeypatch.setattr(apart, "LOOK", 0.05)
    process = apart.ReadingProcess()
    os.kill(process._process.pid, 19)
    apart._READERS._give_back(process)

    with pytest.raises(ParseError, match=r"parse-bound.*took more than"):
        parse_apart(HTML)
    assert process._process.poll() is not None


def test_an_answer_beyond_the_bound_is_refused(monkeypatch):
    monkeypatch.setattr(apart, "ANSWER_BYTES", 10)

    with pytest.raises(ParseError, match=r"parse-bound.*larger"):
        parse_apart(HTML)


CONFINED = """
import os, socket, sys
from pathlib import Path
from periplus.documents.reading_process import MEMORY_BYTES, OPEN_FILES, _readable
from periplus.documents.confinement import confine
folder = Path(sys.argv[1])
standing = confine(_readable(), memory=MEMORY_BYTES, files=OPEN_FILES)
print(*standing)
def tried(what, action):
    try:
        action()
    except (OSError, MemoryError) as error:
        print(what, "refused")
    else:
        print(what, "allowed")
tried("memory", lambda: bytearray(2 * MEMORY_BYTES))
tried("network", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 1))
tried("socket", socket.socket)
tried("program", lambda: os.execv("/bin/true", ["true"]))
tried("process", os.fork)
tried("signal", lambda: os.kill(os.getppid(), 0))
tried("reading", lambda: (folder / "secret").read_text())
tried("passwords", lambda: Path("/etc/passwd").read_text())
tried("writing", lambda: (folder / "new").write_text("x"))
tried("overwriting", lambda: (folder / "secret").open("a"))
tried("removing", lambda: (folder / "secret").unlink())
tried("rights", lambda: (folder / "secret").chmod(0o777))
import encodings.cp1251, csv  # what Python loads late it can load
print("imports allowed")
tried("files", lambda: [os.dup(0) for _ in range(2 * OPEN_FILES)])
"""


def test_a_confined_process_can_do_nothing_but_read_pages(tmp_path):
    (tmp_path / "secret").write_text("secret")
    done = within(CONFINED, str(tmp_path), "9")
    assert done.returncode == 0, done.stderr
    standing, *lines = done.stdout.splitlines()
    said = dict(line.split() for line in lines)
    assert said.pop("imports") == "allowed"
    if standing.split() != ["limits", "landlock", "seccomp"]:
        pytest.skip(f"this system has only: {standing}")
    assert set(said.values()) == {"refused"}
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_forked_process_has_readers_of_its_own():
    parse_apart(HTML)
    program = """
        import os, sys
        from periplus.documents import apart, parse_apart
        from periplus.records import Page
        page = Page("http://a.test/", b"<p>Harbour lights", "text/html")
        first = parse_apart(page)
        child = os.fork()
        if not child:
            assert not apart._READERS._idle
            os._exit(0 if parse_apart(page) == first else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert parse_apart(page) == first
    """

    done = within(program)

    assert (done.returncode, done.stderr) == (0, "")


def test_readers_end_with_who_asked_them():
    program = """
        import os, signal
        from periplus.documents import apart, warm_apart
        warm_apart()
        print(apart._READERS._idle[0]._process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """

    done = within(program)

    assert done.returncode == -9
    pid = int(done.stdout)
    limit = time.monotonic() + 20
    while is_alive(pid):  # its end of the pipe is closed; the system tells it so
        assert time.monotonic() < limit, "it lives on"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
