"""Pages through one reading process, asked about without waiting: in order, and one that breaks costs one page."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from periplus.crawl.working.reading_line import ReadingLine
from periplus.documents import apart, parse, read_sitemap
from periplus.errors import ParseError
from periplus.records import Page


def page(number: int, size: int = 10) -> Page:
    return Page(
        f"http://a.test/{number}", f"<title>{number}</title><p>{'Words of the sea. ' * size}".encode(), "text/html"
    )


@pytest.fixture
async def line():
    made = ReadingLine()
    yield made
    made.close()


async def test_many_questions_at_once_have_each_its_answer(line):
    pages = [page(number, size=1 + 5_000 * (number % 3)) for number in range(20)]
    found = await asyncio.gather(*(line.ask(apart.PARSE, one) for one in pages))

    assert found == [parse(one) for one in pages]


async def test_kinds_of_questions_mix(line):
    body = b"<urlset><url><loc>http://a.test/1</loc></url></urlset>"
    document, sitemap, refused = await asyncio.gather(
        line.ask(apart.PARSE, page(1)),
        line.ask(apart.SITEMAP, Page("http://a.test/map", body)),
        line.ask(apart.PARSE, Page("http://a.test/x", b"\x89PNG\r\n", "image/png")),
        return_exceptions=True,
    )

    assert document == parse(page(1))
    assert sitemap == read_sitemap(body, "http://a.test/map")
    assert isinstance(refused, ParseError)


async def test_a_process_that_dies_costs_the_page_it_was_at(line):
    await line.ask(apart.PARSE, page(0))
    os.kill(line._process.pid, signal.SIGSTOP)
    asked = [asyncio.ensure_future(line.ask(apart.PARSE, page(number))) for number in range(5)]
    await asyncio.sleep(0)
    os.kill(line._process.pid, signal.SIGKILL)
    first, *others = await asyncio.gather(*asked, return_exceptions=True)

    assert isinstance(first, ParseError)
    assert first.reason == "parse-bound"
    assert others == [parse(page(number)) for number in range(1, 5)]


async def test_a_page_that_takes_too_long_is_ended(line, monkeypatch):
    await line.ask(apart.PARSE, page(0))
    monkeypatch.setattr(apart, "LONGEST", 0.2)
    monkeypatch.setattr(apart, "LOOK", 0.05)
    os.kill(line._process.pid, signal.SIGSTOP)
    with pytest.raises(ParseError, match=r"parse-bound.*took more than"):
        await line.ask(apart.PARSE, page(1))
    monkeypatch.undo()

    assert await line.ask(apart.PARSE, page(2)) == parse(page(2))


async def test_who_leaves_does_not_hold_the_others_up(line):
    asked = [asyncio.ensure_future(line.ask(apart.PARSE, page(number))) for number in range(3)]
    await asyncio.sleep(0)
    asked[0].cancel()
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert answers[1:] == [parse(page(1)), parse(page(2))]
