"""Running: one function over many inputs, in this process, in several, or on other machines.

A function is named ``module:function``, an input is plain data, and so is what comes back: nothing that is open or
mapped travels. A runner never gives up because one input is bad; whoever asked decides what an error means.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class TaskOutcome(NamedTuple):
    """What came of one input: a result, or the error that it ended with."""

    place: int  # of the input
    result: Any
    error: Exception | None = None


class Runner(Protocol):
    """Runs a function over inputs; which runner it is changes nothing but the time."""

    @property
    def workers(self) -> int:
        """How many inputs are worked on at once."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether tasks see the folders of this machine."""
        ...

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        """Outcomes as they come, one for each input; an input is asked for when its turn comes."""
        ...


class SerialRunner:
    """One after the other, in this process."""

    workers = 1
    is_local = True

    def run(self, function: str, inputs: Iterable[Any]) -> Iterator[TaskOutcome]:
        call = named_function(function)
        return (outcome_of(call, place, given) for place, given in enumerate(inputs))


def named_function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def outcome_of(call: Any, place: int, given: Any) -> TaskOutcome:
    try:
        return TaskOutcome(place, call(given))
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        return TaskOutcome(place, None, error)


def results(outcomes: Iterable[TaskOutcome]) -> list[Any]:
    """All results in the order of their inputs, for whoever needs every one: the first error is raised."""
    found = {}
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
        found[outcome.place] = outcome.result
    return [found[place] for place in sorted(found)]
