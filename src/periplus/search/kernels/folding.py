"""Texts of nearly the same fingerprint."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, M_I64, R_I64, helper, kernel, signature


@helper
def bits_of(value: Any) -> Any:
    """How many bits of a 64-bit number are set."""
    value = value - ((value >> np.uint64(1)) & np.uint64(0x5555555555555555))
    value = (value & np.uint64(0x3333333333333333)) + ((value >> np.uint64(2)) & np.uint64(0x3333333333333333))
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (value * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel(signature("void", R_I64, I64, M_I64, M_I64))
def fold(fingerprints: Any, bits: Any, into: Any, counts: Any) -> Any:
    """Each text joins the first one shown whose fingerprint differs in at most ``bits``; 0 is no fingerprint."""
    for later in range(len(fingerprints)):
        into[later] = later
        if fingerprints[later] == 0:
            continue
        for earlier in range(later):
            shown = into[earlier] == earlier and fingerprints[earlier] != 0
            if shown and bits_of(np.uint64(fingerprints[earlier] ^ fingerprints[later])) <= bits:
                into[later] = earlier
                counts[earlier] += 1
                break
