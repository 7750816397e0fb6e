"""What a check of the doctor says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

State = Literal["ok", "warning", "failed", "mended"]
Progress = Callable[[int, str], None]


class Finding(Struct, frozen=True):
    """What one check found; ``advice`` says what to do unless all is well."""

    check: str
    state: State
    detail: str
    advice: str = ""
