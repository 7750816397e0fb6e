"""The memory of a writer counts building and merging, over all processes."""

import pytest

from periplus.errors import SettingError
from periplus.index.building.budget import DEFAULT_MEMORY, PROCESS_BYTES, TAKEN_A_BYTE, Budget
from periplus.settings import IndexSettings, load

LEAST = 200_000_000


@pytest.mark.parametrize("memory", [LEAST, 512_000_000, DEFAULT_MEMORY, 16_000_000_000])
def test_all_parts_together_are_what_was_given(memory):
    for workers in range(1, memory // LEAST + 1):
        budget = Budget.of(memory, workers)
        assert workers * (PROCESS_BYTES + TAKEN_A_BYTE * budget.building) + budget.merging <= memory
        assert budget.building > 25_000_000


def test_a_bound_that_is_too_small_is_refused_in_one_line():
    assert load(None, flags={"index.memory": LEAST}, environ={}).values.index.memory == LEAST
    with pytest.raises(SettingError, match="200000000|200,000,000") as refusal:
        load(None, flags={"index.memory": LEAST - 1}, environ={})
    assert "\n" not in str(refusal.value)


def test_what_is_usual_is_the_same_by_setting_and_by_hand():
    assert IndexSettings().memory == DEFAULT_MEMORY
