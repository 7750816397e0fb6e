"""The chart of a score: only sums are opened, one scale, nothing hidden without being counted."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.records import Explanation
from periplus.web.rendering.bars import MAX_BARS, chart


def leaf(name, value):
    return Explanation(name, value)


def total(name, *parts):
    return Explanation(name, sum(part.value for part in parts), "sum of its parts", parts)


def product(name, *values):
    result = 1.0
    for value in values:
        result *= value
    return Explanation(name, result, "product", tuple(leaf(f"factor {value}", value) for value in values))


def test_sums_are_opened_and_products_are_one_bar():
    made = chart(
        total("score", total("text", product("tide", 2.0, 3.0), leaf("harbour", 2.0)), product("prior", 0.5, 4.0))
    )

    assert [(bar.name, bar.depth, bar.value) for bar in made.bars] == [
        ("text", 0, 8.0),
        ("tide", 1, 6.0),
        ("harbour", 1, 2.0),
        ("prior", 0, 2.0),
    ]
    assert [bar.length for bar in made.bars] == [100.0, 75.0, 25.0, 25.0]
    assert [bar.opened for bar in made.bars] == [True, False, False, False]


def test_parts_that_gave_nothing_are_left_out_and_counted():
    made = chart(total("score", leaf("a", 1.0), leaf("b", 0.0), leaf("title_early", -0.5)))

    assert [bar.name for bar in made.bars] == ["a", "title early"]
    assert made.left_out == 1


def test_a_score_of_nothing_is_an_empty_chart():
    assert chart(leaf("score", 0.0)).bars == ()
    assert chart(total("score", leaf("a", 0.0))).bars == ()


trees = st.recursive(
    st.builds(leaf, st.text(max_size=5), st.floats(-1e6, 1e6)),
    lambda inner: st.builds(lambda parts: total("sum", *parts), st.lists(inner, min_size=1, max_size=6)),
    max_leaves=30,
)


@given(trees)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
def test_any_tree_is_drawn_within_bounds(tree):
    made = chart(tree)

    assert len(made.bars) <= MAX_BARS
    assert all(0 <= bar.length <= 100 for bar in made.bars)
    assert all(0 <= bar.depth <= 4 for bar in made.bars)
