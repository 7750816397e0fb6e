"""Interleaved timing: in every round each question goes to every engine once, in an order drawn anew."""

from __future__ import annotations

import gc
import random
import time
from statistics import mean, median
from typing import Any

from bench.index.contenders import KINDS, Ask

Times = dict[str, dict[str, Any]]


def measure(engines: dict[str, Any], texts: list[str], rounds: int) -> Times:
    """By kind and engine: mean, p50, p95 and p99 of the median CPU time of each question, in microseconds."""
    found: Times = {}
    for kind in KINDS:
        asks = [_prepared(engines, kind, text) for text in texts]
        asks = [ask for ask in asks if ask]
        found[kind] = _summaries(_rounds(asks, rounds)) if asks else {}
        found[kind]["questions"] = len(asks)
    return found


def _prepared(engines: dict[str, Any], kind: str, text: str) -> dict[str, Ask]:
    """The question for each engine that knows its kind; nothing when one of them cannot ask it."""
    asks = {name: engine.prepare(kind, text) for name, engine in engines.items() if kind in engine.kinds}
    return asks if all(asks.values()) else {}


def _rounds(asks: list[dict[str, Ask]], rounds: int) -> list[dict[str, list[int]]]:
    chance = random.Random(1)
    times: list[dict[str, list[int]]] = [{name: [] for name in ask} for ask in asks]
    for ask in asks[:50]:  # what is done once a process is no part of a query
        for run in ask.values():
            run()
    gc.disable()
    for _ in range(rounds):
        places = list(range(len(asks)))
        chance.shuffle(places)
        for place in places:
            names = list(asks[place])
            chance.shuffle(names)
            for name in names:
                run = asks[place][name]
                began = time.process_time_ns()
                run()
                times[place][name].append(time.process_time_ns() - began)
        gc.collect()
    gc.enable()
    return times


def _summaries(times: list[dict[str, list[int]]]) -> dict[str, Any]:
    return {name: _summary([median(row[name]) / 1000 for row in times]) for name in times[0]}


def _summary(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    at = {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}
    return {"mean": mean(values), **at}
