"""Units, currencies, dates, colours, and which queries have an answer at all."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from zoneinfo import available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.answers import Answerer, read_rates
from periplus.answers.colours import names, of_hsl, to_hsl
from periplus.answers.dates import PLACES, stepped
from periplus.answers.units import converted, find_unit, table
from periplus.errors import UnfitFile

NOW = datetime(2026, 11, 18, 0, 3, tzinfo=UTC)
ECB = """<?xml version="1.0"?><gesmes:Envelope><Cube><Cube time='2026-11-16'>
<Cube currency='USD' rate='1.0800'/><Cube currency='JPY' rate='162.00'/></Cube></Cube></gesmes:Envelope>"""


def answered(query, rates=None, **options):
    found = Answerer(rates).answers(query, NOW, **options)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("10 miles in km", "16.09344 km"),
        ("10 mi to kilometres", "16.09344 km"),
        ("convert 5 feet to cm", "152.4 cm"),
        ("72 f in c", "22.2222222222 °C"),
        ("100 °C in °F", "212 °F"),
        ("-40 celsius to fahrenheit", "-40 °F"),
        ("0 K in C", "-273.15 °C"),
        ("5 GB in MB", "5,000 MB"),
        ("5 gb in mb", "5,000 MB"),
        ("5 Gb in MB", "625 MB"),
        ("1 GiB in bytes", "1,073,741,824 B"),
        ("100 km/h in mph", "62.1371192237 mph"),
        ("18 km/h in m/s", "5 m/s"),
        ("how many feet in a mile", "5,280 ft"),
        ("how many ounces are in 2 pounds", "32 oz"),
        ("2^10 bytes in KiB", "1 KiB"),
        ("1 kWh in MJ", "3.6 MJ"),
        ("3 mW in W", "0.003 W"),
        ("3 MW in W", "3,000,000 W"),
        ("1 acre in m2", "4,046.8564224 m²"),
        ("1.5 h in minutes", "90 min"),
        ("1e3 m in km", "1 km"),
        ("6 feet 2 inches in cm", "187.96 cm"),
        ("5'11\" in m", "1.8034 m"),
        ("5'11 in cm", "180.34 cm"),
        ("2 h 30 min in minutes", "150 min"),
        ("100 Mbps in MB/s", "12.5 MB/s"),
        ("90 degrees in radians", "1.57079632679 rad"),
        ("what is 10 miles in km", "16.09344 km"),
    ],
)
def test_units(query, answer):
    found = answered(query)
    assert (found.kind, found.answer) == ("unit", answer)


@pytest.mark.parametrize(
    "query",
    [
        "10 m in kg",
        "3 in 1",
        "10 to 20",
        "5 apples in pears",
        "1e999 m in km",
        "m in km",
        "-300 c in f",
        "-1 K in C",
        "5 km 3 kg in m",
        "2 in 5 ft in m",
        "5 c 3 f in K",
    ],
)
def test_what_cannot_be_converted(query):
    assert answered(query) is None


def test_a_place_is_named_as_it_was_asked_for():
    assert [answered(f"time in {place}").question for place in ("nyc", "mumbai", "Asia/Kolkata", "são paulo")] == [
        "time in NYC",
        "time in Mumbai",
        "time in Kolkata",
        "time in Sao Paulo",
    ]


def test_every_zone_of_the_places_is_one_of_the_database():
    tables = tomllib.loads(PLACES.read_text(encoding="utf-8")).values()
    assert {key for table in tables for key in table} <= available_timezones()


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("2+2=?", "4"),
        ("= 2+2", "4"),
        ("what is 2+2?", "4"),
        ("what's 20% of 50", "10"),
        ("calculate 5*7", "35"),
        ("5 x 7", "35"),
        ("10 divided by 4", "2.5"),
        ("3 multiplied by 4", "12"),
        ("15 percent of 80", "12"),
        ("what is the square root of 16", "4"),
        ("sqrt 16", "4"),
        ("cube root of 27 + 1", "4"),
        ("5 squared", "25"),
        ("2 to the power of 8", "256"),
        ("10 % 3", "1"),
    ],
)
def test_calculations_in_words(query, answer):
    found = answered(query)
    assert (found.kind, found.answer) == ("calculation", answer)


@given(
    amount=st.fractions(-1_000_000, 1_000_000),
    names=st.sampled_from([("mi", "km"), ("°F", "°C"), ("K", "°F"), ("GiB", "Mbit"), ("kn", "km/h"), ("st", "lb")]),
)
def test_there_and_back_is_where_it_began(amount, names):
    one, other = map(find_unit, names)
    there = converted(amount, one, other)
    assert isinstance(there, Fraction)
    assert converted(there, other, one) == amount


def test_every_unit_can_be_reached_and_has_a_factor():
    exact, _ = table()
    assert len({unit.name for unit in exact.values()}) > 90
    assert all(unit.factor > 0 for unit in exact.values())
    assert all(find_unit(name) == unit for name, unit in exact.items())


def test_currencies_come_from_the_operators_file_only(tmp_path):
    rates = tmp_path / "rates.xml"
    assert answered("100 usd in eur") is None
    rates.write_text(ECB)
    found = answered("108 usd in eur", rates)
    assert (found.kind, found.answer, found.detail) == ("currency", "100.00 EUR", "rates of 2026-11-16")
    assert answered("$108 to euros", rates).answer == "100.00 EUR"
    assert answered("10 eur in yen", rates).answer == "1,620.00 JPY"
    assert answered("10 jpy in usd", rates).answer == "0.06667 USD"
    assert answered("10 eur in chf", rates) is None


def test_a_file_of_rates_is_read_again_when_it_changes_and_kept_when_it_breaks(tmp_path):
    import os

    rates = tmp_path / "rates.json"
    rates.write_text('{"base": "EUR", "date": "2026-11-16", "rates": {"USD": 2}}')
    answerer = Answerer(rates)
    assert answerer.answers("1 eur in usd", NOW)[0].answer == "2.00 USD"
    rates.write_text('{"base": "EUR", "rates": {"USD": 4}}')
    os.utime(rates, (1, 1))
    assert answerer.answers("1 eur in usd", NOW)[0].answer == "4.00 USD"
    rates.write_text("{")
    assert answerer.answers("1 eur in usd", NOW)[0].answer == "4.00 USD"
    rates.unlink()
    assert answerer.answers("1 eur in usd", NOW)[0].answer == "4.00 USD"


@pytest.mark.parametrize(
    "text", ["", "{", '{"base": 1}', "<x/>", '{"base": "EUR", "date": "soon", "rates": {}}', "\xff"]
)
def test_a_file_that_holds_no_rates_is_named(tmp_path, text):
    path = tmp_path / "rates"
    path.write_text(text)
    with pytest.raises(UnfitFile, match="is no file of rates"):
        read_rates(path)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("time in tokyo", "09:03"),
        ("what time is it in New York?", "19:03"),
        ("current time in europe/berlin", "01:03"),
        ("17:00 utc in tokyo", "02:00 in Tokyo"),
        ("5pm london in new york", "12:00 in New York"),
        ("days until 2026-12-24", "36 days"),
        ("days since 17 November 2026", "1 day"),
        ("days between 2026-01-01 and 2027-01-01", "365 days"),
        ("2026-01-31 + 1 month", "2026-02-28"),
        ("2024-02-29 - 1 year", "2023-02-28"),
        ("december 24, 2026 plus 2 weeks", "2027-01-07"),
        ("30 days from now", "2026-12-18"),
        ("2 weeks ago", "2026-11-04"),
        ("weekday of 2026-12-24", "Thursday"),
        ("what day is 24th december 2026", "Thursday"),
        ("unix time 1763240000", "2025-11-15 20:53:20 UTC"),
        ("time in são paulo", "21:03"),
        ("time in mumbai", "05:33"),
        ("what is the time in Germany?", "01:03"),
        ("5pm nyc in London", "22:00 in London"),
        ("days until christmas", "37 days"),
        ("days until december 24", "36 days"),
        ("days until 17 november", "364 days"),
        ("days since 24th december", "329 days"),
        ("days until 29 february", "468 days"),
        ("what is the weekday of 2026-12-24", "Thursday"),
    ],
)
def test_dates_and_times(query, answer):
    assert answered(query).answer == answer


@pytest.mark.parametrize(
    "query",
    [
        "time in atlantis", "25:00 utc in tokyo", "5 london in tokyo", "13pm london in tokyo", "days until 2026-02-30",
        "days until 2020-01-01", "2026-01-01 + 9999999 years", "weekday of 31 june 2026", "time", "time in a bottle",
        "days of our lives",
    ],
)  # fmt: skip
def test_what_is_no_date_or_time(query):
    assert answered(query) is None


@given(day=st.dates(date(1900, 1, 1), date(2200, 1, 1)), count=st.integers(-5_000, 5_000))
def test_steps_of_days_are_those_of_the_calendar(day, count):
    assert stepped(day, count, "day") == day + timedelta(days=count)
    assert stepped(day, count, "week") == day + timedelta(weeks=count)
    month = stepped(day, count % 600, "month")
    assert (month.year - day.year) * 12 + month.month - day.month == count % 600
    assert month.day == day.day or (month + timedelta(days=1)).day == 1


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("#ff8800", "#ff8800"),
        ("#F80", "#ff8800"),
        ("rgb(255, 136, 0)", "#ff8800"),
        ("hsl(32, 100%, 50%)", "#ff8800"),
        ("hsl(180, 100%, 25%)", "#008080"),
        ("teal hex", "#008080"),
        ("color RebeccaPurple", "#663399"),
        ("hex teal", "#008080"),
        ("teal colour", "#008080"),
        ("rgb 255 136 0", "#ff8800"),
        ("#ff8800 to rgb", "#ff8800"),
        ("convert rgb(255, 136, 0) to hex", "#ff8800"),
        ("colour of #f80", "#ff8800"),
    ],
)
def test_colours(query, answer):
    found = answered(query)
    assert (found.kind, found.answer, found.colour) == ("colour", answer, answer)


@pytest.mark.parametrize("query", ["#123", "rgb(256, 0, 0)", "teal", "hex", "magic hex", "colour of magic", "#12345"])
def test_what_is_no_colour(query):
    assert answered(query) is None


@given(colour=st.tuples(*[st.integers(0, 255)] * 3))
def test_hue_saturation_and_lightness_lead_back_near(colour):
    back = of_hsl(*to_hsl(colour))
    assert max(abs(one - other) for one, other in zip(colour, back, strict=True)) <= 4


def test_all_names_of_colours():
    assert len(names()) == 148
    assert all(answered(f"{name} hex").answer == code for name, code in names().items())


@pytest.mark.parametrize(
    "query",
    [
        "tide tables", "pi", "e", "mile", "march", "python 3.12", "python 3.12 release notes", "c++", "24/7", "9/11",
        "2026-11-17", "11/17/2026", "555-1234", "+49 30 123456", "1-800-555-0199", "192.168.1.1", "1984", "area 51",
        "catch 22", "windows 10 to 11", "4k tv", "-5", "5%", "iso 8601", "covid-19", "a*", "site:example.org 2",
        '"2+2"', "sqrt", "sin", "2 pi", "f1 2026", "e-mail", "rfc 9110", "mp3 to mp4",
        "3.11-3", "1.18-2", "what is 3.11-3", "2026-11", "2024/25", "2024-2025", "11/2026", "030/1234567", "0800-123",
        "7-11", "20/20", "4x4", "what is 24/7?", "what is love", "what is", "=?", "50% 50%", "lorem x 7",
    ],
)  # fmt: skip
def test_words_dates_and_numbers_have_no_answer(query):
    assert answered(query) is None


@pytest.mark.parametrize("query", ["2+2", "2+2=", " 2 + 2 ?"])
def test_a_sign_at_the_end_is_no_part_of_it(query):
    assert answered(query).answer == "4"


def test_an_answer_has_its_own_score_and_says_why():
    sure, terse = answered("2+2", explain=True), answered("1/3", explain=True)
    assert (sure.score, sure.exact, terse.exact) == (1.0, True, False)
    assert 0.5 <= terse.score < sure.score
    assert terse.explain.value == terse.score
    assert [part.name for part in terse.explain.parts] == ["understood", "form"]
    assert answered("2+2").explain is None


@settings(max_examples=500, deadline=None)
@given(query=st.text(max_size=200))
def test_no_query_fails(query):
    Answerer().answers(query, NOW)
