"""The format of a segment's files: dictionary, heads of lists and positions, written and read."""

from periplus.core.format.heads import describe, pack_windows
from periplus.core.format.lookup import decode_terms, decoded_size, find_terms, front_code, lower_bound
from periplus.core.format.positions import pack

__all__ = [
    "decode_terms",
    "decoded_size",
    "describe",
    "find_terms",
    "front_code",
    "lower_bound",
    "pack",
    "pack_windows",
]
