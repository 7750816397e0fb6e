"""The simulated web of ``make soak-freshness`` in small: more copies are current than with a fixed interval."""

from __future__ import annotations

import pytest

from crawl.freshness_sim import DAY, HOUR, Compared, Course, Page, ceiling, compare, fixed, play

SMALL = Course("", gap=10.0, first=6 * HOUR, learning=14 * DAY, hosts=(150, 250))


@pytest.fixture(scope="module")
def compared() -> Compared:
    return compare(SMALL)


def test_a_fifth_fewer_copies_are_stale_than_with_a_fixed_interval_and_as_many_requests(compared: Compared) -> None:
    assert compared.as_many.requests >= compared.schedule.requests
    assert compared.stale <= 0.8


def test_visits_by_changes_alone_keep_fewer_copies_current(compared: Compared) -> None:
    assert compared.by_change.fresh < compared.as_many.fresh < compared.schedule.fresh


def test_a_fixed_interval_needs_more_requests_to_be_as_fresh(compared: Compared) -> None:
    assert compared.as_fresh.fresh >= compared.schedule.fresh
    assert compared.as_fresh.requests >= 1.3 * compared.schedule.requests


def test_nobody_exceeds_the_ceiling(compared: Compared) -> None:
    assert compared.schedule.fresh < compared.ceiling


def test_the_played_figures_are_those_of_a_page_that_is_known() -> None:
    course = Course("", gap=0.0, first=DAY, learning=DAY, hosts=(1,))
    page = Page(1 / DAY, 0.0, [DAY + 6 * HOUR])  # current until its change, and from the next visit on
    played = play(course, [[page]], fixed(36 * HOUR))
    assert played.requests == 1
    assert played.fresh == pytest.approx(0.75, abs=0.001)
    assert ceiling([[page]] * 10, 40) == pytest.approx((1 - 2.718281828**-0.25) / 0.25, abs=1e-4)
