"""Pieces of the command line that need no collection."""

from __future__ import annotations

import pytest

from periplus.cli.crawl_flags import all_seeds, limits, settings_of
from periplus.cli.options import byte_size
from periplus.cli.output import number, size
from periplus.errors import UsageError
from periplus.settings import CrawlSettings


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("1000", 1000), ("512MB", 512_000_000), ("1GiB", 2**30), ("1.5 kb", 1500), (None, None)],
)
def test_sizes_are_read_with_their_unit(text, bytes_):
    assert byte_size(text) == bytes_


@pytest.mark.parametrize("text", ["", "lots", "-5MB", "5 parsecs"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="512MB"):
        byte_size(text)


def test_numbers_and_sizes_read_well():
    assert number(1234567) == "1,234,567"
    assert number(1.25) == "1.2"
    assert size(999) == "999 bytes"
    assert size(1_500_000) == "1.5 MB"
    assert size(3e15) == "3000.0 TB"


def test_seeds_come_from_the_command_line_then_the_file(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# ports\nhttp://b.test/\n\n  http://c.test/  \n", encoding="utf-8")

    assert all_seeds(["http://a.test/"], file) == ["http://a.test/", "http://b.test/", "http://c.test/"]
    assert all_seeds(None, None) == []


def test_only_flags_that_were_given_become_settings():
    options = settings_of(delay=None, max_pages=5, include=[], lang="en, de", scope=None)

    assert options == {"crawl.max_pages": 5, "crawl.languages": ["en", "de"]}


def test_the_limits_in_force_are_one_line():
    assert limits(CrawlSettings()) == "scope site, 10,000 pages, depth 20, delay 1 s or what robots.txt asks"
    assert "no page limit" in limits(CrawlSettings(max_pages=0))
