"""Binary search in the sorted bytes of a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import I64, M_I64, R_I64, R_U8, R_U32, signature


@helper
def _compare(data: Any, begin: Any, end: Any, text: Any, first: Any, last: Any) -> Any:
    """Negative, zero or positive as data[begin:end] sorts before, with or after text[first:last]."""
    length = min(end - begin, last - first)
    for at in range(length):
        difference = np.int64(data[begin + at]) - np.int64(text[first + at])
        if difference != 0:
            return difference
    return (end - begin) - (last - first)


@helper
def _lower_bound(data: Any, offsets: Any, text: Any, first: Any, last: Any) -> Any:
    low = 0
    high = len(offsets) - 1
    while low < high:
        middle = (low + high) >> 1
        if _compare(data, np.int64(offsets[middle]), np.int64(offsets[middle + 1]), text, first, last) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(signature(I64, R_U8, R_U32, R_U8))
def lower_bound(data: Any, offsets: Any, text: Any) -> Any:
    """The number of the first term that does not sort before ``text``."""
    return _lower_bound(data, offsets, text, 0, len(text))


@helper
def find_term(data: Any, offsets: Any, text: Any, first: Any, last: Any) -> Any:
    """The number of the term text[first:last]; -1 when it is not there."""
    term = _lower_bound(data, offsets, text, first, last)
    if term == len(offsets) - 1:
        return -1
    begin, end = np.int64(offsets[term]), np.int64(offsets[term + 1])
    return term if _compare(data, begin, end, text, first, last) == 0 else -1


@kernel(signature("void", R_U8, R_U32, R_U8, R_I64, M_I64))
def find_terms(data: Any, offsets: Any, text: Any, text_offsets: Any, found: Any) -> Any:
    """The numbers of many terms at once; -1 for those that are not there."""
    for word in range(len(found)):
        found[word] = find_term(data, offsets, text, text_offsets[word], text_offsets[word + 1])
