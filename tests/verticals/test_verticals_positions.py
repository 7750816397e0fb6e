"""Where visitors and places are, and when places are open."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

import pytest

from periplus.errors import SettingError
from periplus.verticals import Whereabouts, read_position
from periplus.verticals.hours import nearest_zones, open_now, read_hours, today
from periplus.verticals.positions import ADDRESS, OPERATOR, distance

ZURICH, LONDON = (47.3769, 8.5417), (51.5072, -0.1276)
PACIFIC = (0.0, -160.0)  # the nearest zones are not of one mind
HOURS = "Mo-Fr 09:00-18:00; Sa 10:00-12:00, 13:30-16:00"


@pytest.mark.parametrize("text", ["47.37,8.54", " 47.37 ; 8.54 ", "47.37 8.54"])
def test_a_position_as_it_is_typed(text):
    found = read_position(text)
    assert (found.latitude, found.longitude) == (47.37, 8.54)


@pytest.mark.parametrize("text", ["", "Zürich", "91,0", "0,181", "1", "1,2,3", "nan,nan", "1e5,3", "1, 2" * 99])
def test_what_is_no_position(text):
    assert read_position(text) is None


def test_the_way_along_the_surface():
    assert distance(ZURICH, LONDON) == pytest.approx(776_000, rel=0.01)
    assert distance(ZURICH, ZURICH) == 0
    assert distance((0, 179.99), (0, -179.99)) == pytest.approx(2_224, rel=0.01)  # across the date line


# The operator's IP database

WIDTHS = {"short": 2, "int": 4, "long": 8}  # bytes of whole numbers


def value(given) -> bytes:
    """A value as MaxMind's format writes it; only the kinds that are needed here."""
    if isinstance(given, dict):
        return bytes([7 << 5 | len(given)]) + b"".join(value(name) + value(one) for name, one in given.items())
    if isinstance(given, str):
        return bytes([2 << 5 | len(given)]) + given.encode()
    if isinstance(given, float):
        return bytes([3 << 5 | 8]) + struct.pack(">d", given)
    if isinstance(given, list):
        return bytes([len(given), 4]) + b"".join(map(value, given))
    kind, number = given
    return {"short": b"\xa2", "int": b"\xc4", "long": b"\x08\x02"}[kind] + number.to_bytes(WIDTHS[kind], "big")


def ip_database(data) -> bytes:
    """A file that knows 192.0.2.0/24 alone: a node a bit of it, each of which has two records of three bytes."""
    network, bits = 0xC00002, 24
    tree = b""
    for bit in range(bits):
        further = bit + 1 if bit + 1 < bits else bits + 16  # the data begins 16 bytes behind the tree
        pair = [bits, bits]  # which is: nothing is known
        pair[network >> (bits - 1 - bit) & 1] = further
        tree += b"".join(record.to_bytes(3, "big") for record in pair)
    about = {
        "node_count": ("int", bits), "record_size": ("short", 24), "ip_version": ("short", 4),
        "database_type": "Test", "languages": ["en"], "binary_format_major_version": ("short", 2),
        "binary_format_minor_version": ("short", 0), "build_epoch": ("long", 1), "description": {"en": ""},
    }  # fmt: skip
    return tree + bytes(16) + value(data) + b"\xab\xcd\xefMaxMind.com" + value(about)


def whereabouts(tmp_path, content: bytes, default: str = "") -> Whereabouts:
    pytest.importorskip("maxminddb")
    (tmp_path / "cities.mmdb").write_bytes(content)
    return Whereabouts(default, tmp_path / "cities.mmdb")


def test_an_ip_address_tells_where_a_visitor_is_and_that_is_not_sent_on(tmp_path):
    known = whereabouts(tmp_path, ip_database({"location": {"latitude": 47.3769, "longitude": 8.5417}}))
    found = known.of("192.0.2.7")
    assert (found.pair, found.source, found.shared) == (ZURICH, ADDRESS, None)
    assert known.of("192.0.3.7") is None


@pytest.mark.parametrize("address", ["192.0.3.7", "", "testclient", "2001:db8::1", "192.0.2"])
def test_whoever_is_not_found_is_where_the_operator_says(tmp_path, address):
    known = whereabouts(tmp_path, ip_database({"location": {"latitude": 1.0, "longitude": 2.0}}), "47.3769,8.5417")
    found = known.of(address)
    assert (found.pair, found.source, found.shared) == (ZURICH, OPERATOR, (47.38, 8.54))


@pytest.mark.parametrize("data", [{}, "Zürich", {"location": "here"}, {"location": {"latitude": "x", "longitude": 2.0}},
                                  {"location": {"latitude": 99.0, "longitude": 2.0}}])  # fmt: skip
def test_odd_entries_are_no_position(tmp_path, data):
    assert whereabouts(tmp_path, ip_database(data)).of("192.0.2.7") is None


def test_a_damaged_file_fails_nobodys_search_and_what_is_no_database_is_said_at_once(tmp_path):
    whole = ip_database({"location": {"latitude": 1.0, "longitude": 2.0}})
    begin = whole.index(b"\x48location") - 1
    damaged = whereabouts(tmp_path, whole[:begin] + b"\xff" * 24 + whole[begin + 24 :])
    assert damaged.of("192.0.2.7") is None
    with pytest.raises(SettingError, match=r"verticals\.ip_database.*MaxMind"):
        whereabouts(tmp_path, b"no database")
    with pytest.raises(SettingError, match=r"verticals\.position"):
        Whereabouts("somewhere")


# Opening hours


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-01-14T08:30", True),  # a Wednesday; 9:30 in Zürich
        ("2026-01-14T07:59", False), ("2026-01-14T16:59", True), ("2026-01-14T17:00", False),
        ("2026-07-15T07:30", True),  # summer time
        ("2026-01-17T11:15", False), ("2026-01-17T12:45", True),  # Saturday's noon, and after it
        ("2026-01-18T10:00", False),
    ],
)  # fmt: skip
def test_open_by_the_clock_on_the_wall_of_the_place(moment, is_open):
    assert open_now(HOURS, ZURICH, datetime.fromisoformat(moment).replace(tzinfo=UTC)) is is_open


def test_hours_after_midnight_and_of_every_day():
    late = datetime(2026, 1, 18, 1, 30, tzinfo=UTC)  # Sunday, 2:30 in Zürich
    assert open_now("Sa 20:00-03:00", ZURICH, late) is True
    assert open_now("Su 20:00-03:00", ZURICH, late) is False
    assert open_now("Fr-Mo 01:00-04:00", ZURICH, late) is True
    assert open_now("00:00-24:00", ZURICH, late) is True


@pytest.mark.parametrize("text", ["", "by appointment", "Mo-Fr", "25:00-26:00", "Mo 9-18"])
def test_what_cannot_be_read_is_not_claimed(text):
    assert read_hours(text) == ()
    assert open_now(text, ZURICH) is None
    assert today(text, ZURICH) == ""


def test_nothing_is_claimed_where_the_zone_is_not_sure():
    noon = datetime(2026, 1, 14, 19, 30, tzinfo=UTC)
    assert len({str(zone) for zone in nearest_zones(PACIFIC)}) == 3
    assert open_now("Mo-Su 09:00-09:15", PACIFIC, noon) in (None, False)
    assert open_now(HOURS, None, noon) is None
    assert {open_now("08:00-10:00", PACIFIC, noon.replace(hour=hour)) for hour in range(24)} >= {None, False}


def test_the_hours_of_today():
    assert today(HOURS, ZURICH, datetime(2026, 1, 17, 12, 0, tzinfo=UTC)) == "10:00–12:00, 13:30–16:00"
    assert (
        today(HOURS, ZURICH, datetime(2026, 1, 16, 23, 30, tzinfo=UTC)) == "10:00–12:00, 13:30–16:00"
    )  # Saturday there
    assert today(HOURS, ZURICH, datetime(2026, 1, 18, 12, 0, tzinfo=UTC)) == ""
