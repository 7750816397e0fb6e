"""What a fault is: a name and one function, which returns when the fault is over and recovery begins."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from faults.whole.product import Whole


def nothing(_whole: Whole) -> str:
    return ""


class Fault(NamedTuple):
    name: str
    do: Callable[[Whole, random.Random], None]
    after: Callable[[Whole], str] = nothing  # what is done when all runs again; what is wrong then
    ends_up: bool = False  # visitors may find nobody meanwhile
