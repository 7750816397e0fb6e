"""Hedging: within its budget, and worth it."""

from __future__ import annotations

from sim_broker import simulated

from periplus.cluster.servers import HedgeBudget, Times


def test_hedges_are_at_most_one_in_twenty_questions():
    budget, spent = HedgeBudget(), 0
    for _ in range(10_000):
        budget.earn(1)
        spent += budget.spend()
    assert spent <= 0.05 * 10_000 + 1


def test_what_was_saved_in_quiet_times_is_bounded():
    budget = HedgeBudget()
    budget.earn(1_000_000)
    assert sum(budget.spend() for _ in range(100)) == HedgeBudget.SAVED


def test_quantiles_follow_the_last_answers():
    times = Times()
    for number in range(100):
        times.add(number / 1000)
    assert 0.04 < times.median < 0.06
    assert 0.085 < times.p95 < 0.1


def test_hedging_shortens_the_tail_and_loses_fewer_documents():
    without = simulated(300, 100, hedging=False)
    hedged = simulated(300, 100, hedging=True)
    assert hedged["hedges"] <= 0.05
    assert hedged["p95"] < 0.7 * without["p95"]
    assert hedged["degraded"] < 0.5 * without["degraded"]
