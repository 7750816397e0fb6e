"""Codec: questions to shards and their answers as bytes.

msgpack, typed by the records of ``search.exchange``, with arrays as raw bytes behind their type and shape. Nothing is
executed and no type is named by the bytes themselves: what does not fit the method's types is one ``BadMessage``.

A question has everything that its answer depends on. Statistics travel for the terms of the query only, a profile by
its name, and a deadline as the milliseconds that are left, since clocks of two machines differ.
"""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np
from msgspec import Struct

from periplus.errors import PeriplusError
from periplus.index import GivenStatistics, IndexQuery, StoredDocument
from periplus.ranking import PROFILES
from periplus.search import (
    EVERYBODY,
    CandidateEvidence,
    Counted,
    Excerpt,
    Hits,
    KnownWord,
    Mask,
    Numbers,
    Scores,
    ShardQuery,
    Visibility,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = b"\x02"  # the first byte of every message
MAX_QUESTION = 8_000_000  # bytes: a million keys of documents that alone may be found
MAX_ANSWER = 256_000_000  # bytes: what a formula reads of 2,000 candidates and 64 words
MAX_AXES = 3

_ARRAY = 1  # code of the extension type
_SHAPES = [struct.Struct(f"<{axes}I") for axes in range(MAX_AXES + 1)]
_TYPES = {code: np.dtype(name) for code, name in enumerate(("<i8", "<f8", "|b1", "<u4"), 1)}
_CODES = {kind: code for code, kind in _TYPES.items()}


class BadMessage(PeriplusError):
    """Bytes that are no message of this format."""

    code = "bad-message"


class WireQuery(Struct, frozen=True, array_like=True):
    """A ``ShardQuery`` as it travels."""

    query: IndexQuery
    words: tuple[KnownWord, ...]
    documents: int
    known: dict[str, int]  # documents by term, of the terms of the query
    average_lengths: tuple[float, ...]
    profile: str
    order: str
    language: str
    now: float
    visibility: Visibility | None  # None: everybody
    title: int


# Methods of ``Shard``: what they are given, what they return.
_METHODS: dict[str, tuple[Any, Any]] = {
    "top": (tuple[WireQuery, int, int, bool], Hits),
    "hits_of": (tuple[WireQuery, Numbers, float], Hits),
    "score": (tuple[WireQuery, Numbers, Numbers], Scores),
    "evidence": (tuple[WireQuery, Numbers, Numbers], CandidateEvidence),
    "matching": (tuple[WireQuery, Numbers], Mask),
    "visible": (tuple[Visibility, Numbers], Mask),
    "count": (tuple[IndexQuery], int),
    "counted": (tuple[WireQuery], Counted),
    "find": (tuple[list[int]], list[int]),
    "facts": (tuple[list[int], str], list[dict[str, str]]),
    "titles": (tuple[list[int]], list[tuple[str, str]]),
    "stored": (tuple[int], StoredDocument),
    "ids": (tuple[Numbers], list[str]),
    "show": (tuple[list[int], tuple[KnownWord, ...]], list[Excerpt]),
}
METHODS = frozenset(_METHODS)


def encode_question(arguments: tuple[Any, ...]) -> bytes:
    """The arguments of a method; a ``ShardQuery`` without what only this process knows."""
    return FORMAT + _encoder.encode([_wire(one) if type(one) is ShardQuery else one for one in arguments])


def decode_question(method: str, data: bytes, deadline: float = float("inf")) -> tuple[Any, ...]:
    """The arguments of a method; ``deadline`` is that of the question, by this process's clock."""
    arguments: tuple[Any, ...] = _decoded(_questions[method], data, MAX_QUESTION)
    return tuple([_query(one, deadline) if type(one) is WireQuery else one for one in arguments])


def encode_answer(answer: Any) -> bytes:
    return FORMAT + _encoder.encode(answer)


def decode_answer(method: str, data: bytes) -> Any:
    return _decoded(_answers[method], data, MAX_ANSWER)


def left_of(deadline: float, most: float) -> int:
    """Whole milliseconds until a deadline, at most so many seconds; 0 when it has passed."""
    return max(0, int(1000 * min(deadline - time.perf_counter(), most)))


def _decoded(decoder: msgspec.msgpack.Decoder[Any], data: bytes, most: int) -> Any:
    if len(data) > most:
        raise BadMessage(f"a message of {len(data):,} bytes is longer than {most:,}; ask for less")
    if data[:1] != FORMAT:
        raise BadMessage("a message of another format; run the same version of Periplus everywhere")
    try:
        return decoder.decode(memoryview(data)[1:])
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError) as error:
        raise BadMessage(f"a message cannot be read: {error}; run the same version of Periplus everywhere") from error


# Queries


def _wire(asked: ShardQuery) -> WireQuery:
    statistics, terms = asked.statistics, list(dict.fromkeys(_terms(asked)))
    return WireQuery(
        asked.query,
        asked.words,
        statistics.documents,
        dict(zip(terms, statistics.frequencies(terms), strict=True)),
        tuple(statistics.average_lengths),
        asked.profile.name,
        asked.order,
        asked.language,
        asked.now,
        None if asked.visibility is EVERYBODY else asked.visibility,
        asked.title,
    )


def _query(wire: WireQuery, deadline: float) -> ShardQuery:
    if wire.profile not in PROFILES:
        raise BadMessage(f"no profile {wire.profile!r}; run the same version of Periplus everywhere")
    return ShardQuery(
        wire.query,
        wire.words,
        GivenStatistics(wire.documents, wire.known, wire.average_lengths),
        PROFILES[wire.profile],
        wire.order,
        wire.language,
        wire.now,
        deadline,
        EVERYBODY if wire.visibility is None else wire.visibility,
        wire.title,
    )


def _terms(asked: ShardQuery) -> Iterator[str]:
    """All terms whose frequencies a shard may want to know."""
    query = asked.query
    for groups in (query.should, query.must, query.must_not, *query.any_of):
        for group in groups:
            yield from group.phrase
            for form in group.forms:
                yield form.term
    for word in asked.words:
        for form in word.forms:
            yield form.term


# Arrays


def _packed(value: Any) -> Any:
    """An array as type, axes and bytes."""
    if not isinstance(value, np.ndarray):
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"{type(value).__name__} cannot be sent to another process")
    code = _CODES.get(value.dtype)
    if code is None or value.ndim > MAX_AXES:
        raise TypeError(f"an array of {value.dtype} with {value.ndim} axes cannot be sent to another process")
    head = struct.pack(f"<BB{value.ndim}I", code, value.ndim, *value.shape)
    return msgspec.msgpack.Ext(_ARRAY, head + value.tobytes())


def _unpacked(kind: Any, value: Any) -> Any:
    """The array that a field of type ``kind`` holds."""
    if not isinstance(value, msgspec.msgpack.Ext) or value.code != _ARRAY:
        raise ValueError("an array was expected")
    data = memoryview(value.data)
    if len(data) < 2 or data[1] > MAX_AXES or len(data) < 2 + 4 * data[1]:
        raise ValueError("an array without a head")
    axes, wanted = data[1], _wanted(kind)
    if _TYPES.get(data[0]) != wanted:
        raise ValueError(f"an array of {wanted} was expected")
    shape = _SHAPES[axes].unpack_from(data, 2)
    # What is of another length than its shape says is a ValueError. Copied, since what kernels read has to lie at a
    # multiple of its size, and what others write to is their own.
    return np.frombuffer(data, wanted, offset=2 + 4 * axes).reshape(shape).copy()


def _wanted(kind: Any) -> np.dtype[Any]:
    """Of ``ndarray[Any, dtype[int64]]``, int64."""
    found = _wanteds.get(kind)
    if found is None:
        found = _wanteds[kind] = np.dtype(get_args(get_args(kind)[1])[0])
    return found


_wanteds: dict[Any, np.dtype[Any]] = {}
_encoder = msgspec.msgpack.Encoder(enc_hook=_packed)
_questions = {name: msgspec.msgpack.Decoder(kinds[0], dec_hook=_unpacked) for name, kinds in _METHODS.items()}
_answers = {name: msgspec.msgpack.Decoder(kinds[1], dec_hook=_unpacked) for name, kinds in _METHODS.items()}
