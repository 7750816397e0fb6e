"""``plain_top`` as a kernel of its own, for those of this room and others that call it by its address."""

from __future__ import annotations

from typing import Any

from periplus.core import I64, bare_kernel, signature
from periplus.index.kernels.plain import plain_top


@bare_kernel(signature(I64, *[I64] * 10))
def first_pass(
    table_at: Any,
    memory_at: Any,
    words: Any,
    segments: Any,
    lists: Any,
    groups: Any,
    flags: Any,
    prior_weight: Any,
    k: Any,
    limit: Any,
) -> Any:
    return plain_top(table_at, memory_at, words, segments, lists, groups, flags, prior_weight, k, limit)
