"""The URL standard's own test cases, where they concern http and https."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from periplus.addresses import canonical, parse, try_canonical
from periplus.errors import InvalidAddress

pytestmark = pytest.mark.shared_data


def cases(folder: Path, name: str) -> list[dict]:
    return [item for item in json.loads((folder / "url" / name).read_text("utf-8")) if isinstance(item, dict)]


def parsed(text: str, base: str | None) -> tuple | None:
    try:
        return parse(text, base)
    except InvalidAddress:
        return None


def test_parsing(shared_data: Path) -> None:
    seen = 0
    for case in cases(shared_data, "urltestdata.json"):
        found = parsed(case["input"], case.get("base"))
        if case.get("failure") or case["protocol"] not in ("http:", "https:"):
            assert found is None, case
            continue
        expected = (
            case["protocol"][:-1],
            case["username"],
            case["password"],
            case["hostname"],
            case["port"],
            case["pathname"],
            case["search"].removeprefix("?"),
            case["hash"].removeprefix("#"),
        )
        assert found == expected, case
        seen += 1
    assert seen > 240


def test_canonical_addresses_follow_from_the_parts(shared_data: Path) -> None:
    """Whatever the standard accepts is either refused for its host or has one stable canonical spelling."""
    for case in cases(shared_data, "urltestdata.json"):
        url = try_canonical(case["input"], case.get("base"))
        if case.get("failure") and case.get("base") is None:
            assert url is None, case
        if url is not None:
            assert canonical(url) == url, case
            again = parse(url)
            assert (again.username, again.password, again.fragment) == ("", "", ""), case


def test_names_to_ascii(shared_data: Path) -> None:
    seen = 0
    for case in cases(shared_data, "toascii.json"):
        found = parsed(f"https://{case['input']}/x", None)
        if not case["input"].isascii():
            escaped = parsed(f"https://{quote(case['input'], safe='')}/x", None)
            assert escaped == found, case
        assert (found.hostname if found else None) == case["output"], case
        seen += 1
    assert seen > 50


def test_percent_encoding_in_utf8(shared_data: Path) -> None:
    for case in cases(shared_data, "percent-encoding.json"):
        found = parse(f"https://example.org/?{case['input']}#{case['input']}")
        assert found.query == case["output"]["utf-8"], case
        assert found.fragment == case["output"]["utf-8"], case
