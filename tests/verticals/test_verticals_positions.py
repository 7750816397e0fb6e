"""Where visitors and places are, and when places are open."""

from __future__ import annotations

import pytest

from periplus.verticals import read_position

ZURICH, LONDON = (47.3769, 8.5417), (51.5072, -0.1276)


@pytest.mark.parametrize("text", ["47.37,8.54", " 47.37 ; 8.54 ", "47.37 8.54"])
def test_a_position_as_it_is_typed(text):
    found = read_position(text)
    assert (found.latitude, found.longitude) == (47.37, 8.54)


@pytest.mark.parametrize("text", ["", "Zürich", "91,0", "0,181", "1", "1,2,3", "nan,nan", "1e5,3", "1, 2" * 99])
def test_what_is_no_position(text):
    assert read_position(text) is None
