"""The house itself: its errors, reasons, records and documents say what the code does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import msgspec
import pytest

from periplus import errors, reasons, records

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "periplus"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("__"))


def error_classes() -> list[type[errors.PeriplusError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [value for value in found if issubclass(value, errors.PeriplusError)]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^    ((?:[│ ]   )*)(?:[├└]── )?(\w+)", line)
        if match and match[2] in vars(errors):
            depth = len(match[1]) // 4 + (1 if "──" in line else 0)
            path[depth:] = [match[2]]
            drawn[match[2]] = path[depth - 1] if depth else "Exception"

    assert drawn == {value.__name__: value.__bases__[0].__name__ for value in error_classes()}


def test_error_codes_are_distinct_and_wrong_use_exits_with_two():
    codes = [value.code for value in error_classes()]

    assert len(codes) == len(set(codes))
    assert errors.UsageError("x").exit_code == 2
    assert errors.SettingError("x").exit_code == 1
    assert errors.SettingError("x", by_flag=True).exit_code == 2
    assert errors.StorageFull("x").exit_code == 1


def test_every_reason_is_a_sentence_without_a_full_stop():
    for reason in reasons.REASONS.values():
        assert re.fullmatch(r"[a-z0-9-]+", reason.code)
        assert reason.sentence
        assert not reason.sentence.endswith(".")
    assert reasons.sentence("of-a-newer-version") == "of-a-newer-version"
    assert reasons.may_retry("timeout")
    assert not reasons.may_retry("noindex")


def test_reason_codes_in_the_code_are_known():
    used = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r'(?:FetchError|ParseError)\(\s*"([a-z0-9-]+)"', text))
        used |= set(re.findall(r'(?:refusal|reason)="([a-z0-9-]+)"', text))

    assert used <= set(reasons.REASONS)


def test_records_survive_json():
    document = records.Document(
        url="http://a.test/",
        key=-5,
        fetched=1.5,
        headings=(records.Heading(1, "Tides"),),
        links=(records.Link("http://b.test/", "b", rel=("nofollow",)),),
        archive=records.ArchiveLocation("f", 1, 2),
    )

    assert msgspec.json.decode(msgspec.json.encode(document), type=records.Document) == document
    assert not document.links[0].followed
    assert document.indexable


def test_headers_are_found_whatever_their_case():
    exchange = records.Exchange(
        "u", "GET", (), 200, "OK", (("Content-Type", "text/html"),), b"", b"", "127.0.0.1", 0.0, 0.0
    )

    assert exchange.header("content-TYPE") == "text/html"
    assert exchange.header("etag") == ""


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_readme_and_stands_in_the_plan(room):
    readme = PACKAGE / room / "README.md"

    assert readme.exists()
    assert len(readme.read_text(encoding="utf-8").splitlines()) >= 5
    assert f"`{room}/`" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_generated_reference_pages_are_current():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)

    for name, text in reference.pages().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, f"docs/{name} is stale: make docs"


def test_no_file_is_past_proofreading():
    long = {path.relative_to(ROOT): count for path in PACKAGE.rglob("*.py") if (count := _lines(path)) > 500}

    assert not long


def test_the_version_is_said_once():
    import periplus

    assert f'version = "{periplus.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
