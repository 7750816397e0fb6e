"""Where terms occur in a document: found, read and put in order, without branches to guess wherever that is possible.

Most postings have few positions, so eight numbers are read at once, however many of them are wanted, and eight
comparisons at once tell before which field they stand. What is read beyond a posting is still in the file, as
``core.machine.bits`` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import bare_helper, intrinsic, ir, types
from periplus.core.format.positions import SEVERAL, WIDTH
from periplus.core.layout.documents import FIELD_COUNT
from periplus.core.layout.segment_tables import BLOCK
from periplus.core.machine.bits import byte_at, first_lanes, lowest_of, number_at, ones_of, word_at

LANES = 8
LABEL_BITS, POSITION_BITS = 16, 32  # of a place: its word, its position in its field; above these the field
LABEL, POSITION = (1 << LABEL_BITS) - 1, (1 << POSITION_BITS) - 1
_NUMBERS = ir.VectorType(ir.IntType(64), LANES)
_EVERY_BYTE = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)


def _every(builder: Any, value: Any) -> Any:
    """A number in all lanes."""
    index = ir.IntType(32)
    one = builder.insert_element(ir.Constant(_NUMBERS, ir.Undefined), value, index(0))
    return builder.shuffle_vector(one, ir.Constant(_NUMBERS, ir.Undefined), _lanes([0] * LANES))


def _lanes(places: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)


def _loaded(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


def _summed(builder: Any, numbers: Any) -> Any:
    """The sum of each number and those before it."""
    nothing = ir.Constant(_NUMBERS, [0] * LANES)
    for step in (1, 2, 4):
        moved = _lanes([LANES] * step + list(range(LANES - step)))  # what is beyond the lanes is taken from nothing
        numbers = builder.add(numbers, builder.shuffle_vector(numbers, nothing, moved))
    return numbers


@intrinsic
def eight(typing_context: Any, at: Any, bit: Any, width: Any, position: Any, starts_at: Any, to: Any) -> Any:
    """Write eight positions: each the one before it (the first: ``position``) and the number that begins at a bit.

    Returns a byte for each field but the first, of bits that are set for positions before the field's start.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, bit, width, position, starts_at, to = arguments
        number = ir.IntType(64)
        words = ir.Constant(_NUMBERS, ir.Undefined)
        for lane in range(LANES):
            place = builder.add(bit, builder.mul(width, number(lane)))
            word = _loaded(builder, builder.add(at, builder.lshr(place, number(3))), number)
            words = builder.insert_element(words, word, ir.IntType(32)(lane))
        steps = builder.mul(_every(builder, width), ir.Constant(_NUMBERS, list(range(LANES))))
        shifts = builder.and_(builder.add(_every(builder, bit), steps), ir.Constant(_NUMBERS, [7] * LANES))
        mask = builder.sub(builder.shl(number(1), width), number(1))
        numbers = builder.and_(builder.lshr(words, shifts), _every(builder, mask))
        positions = builder.add(_summed(builder, numbers), _every(builder, position))
        builder.store(positions, builder.inttoptr(to, _NUMBERS.as_pointer()), align=8)
        result = number(0)
        for field in range(1, FIELD_COUNT):
            start = _loaded(builder, builder.add(starts_at, number(4 * field)), ir.IntType(32))
            before = builder.icmp_signed("<", positions, _every(builder, builder.zext(start, number)))
            bits = builder.zext(builder.bitcast(before, ir.IntType(LANES)), number)
            result = builder.or_(result, builder.shl(bits, number(8 * (field - 1))))
        return result

    return types.uint64(*[types.int64] * 6), generate


@bare_helper
def _place_of_one(word: Any, ones: Any) -> Any:
    """Where the set bit of a word stands that has ``ones`` set ones before it."""
    sums = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    sums = (sums & np.uint64(0x3333333333333333)) + ((sums >> np.uint64(2)) & np.uint64(0x3333333333333333))
    sums = ((sums + (sums >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)) * _EVERY_BYTE  # up to each byte's end
    passed = (((np.uint64(ones) * _EVERY_BYTE) | _HIGH_BITS) - sums) & _HIGH_BITS  # bytes that end before it
    shift = np.uint64(ones_of(passed) << 3)
    left = np.uint64(ones) - (((sums << np.uint64(8)) >> shift) & np.uint64(255))
    byte = (word >> shift) & np.uint64(255)
    place = np.int64(shift)
    for half in (4, 2, 1):
        low = byte & ((np.uint64(1) << np.uint64(half)) - np.uint64(1))
        count = np.uint64(ones_of(low))
        beyond = left >= count
        left = left - count if beyond else left
        byte = byte >> np.uint64(half) if beyond else low
        place += half if beyond else 0
    return place


@bare_helper
def _after_ones(at: Any, ones: Any) -> Any:
    """The place after the first ``ones`` (at least one) set bits of the bytes at ``at``."""
    first = at
    while True:
        passed, before, found = np.int64(0), np.int64(0), np.int64(0)
        for word in range(LANES):
            found += ones_of(word_at(at + 8 * word))
            passed += np.int64(found < ones)
            before = found if found < ones else before
        if passed < LANES:
            break
        ones -= found
        at += 8 * LANES
    at += 8 * passed
    return ((at - first) << 3) + _place_of_one(word_at(at), ones - before - 1) + 1


@bare_helper
def _until_one(at: Any, bit: Any) -> Any:
    """How many bits there are from ``bit`` of the bytes at ``at`` to the next set one, that one included."""
    here = bit
    while True:
        free = 64 - (here & 7)  # bits that the word holds from here on
        lowest = lowest_of(word_at(at + (here >> 3)) >> np.uint64(here & 7))
        if lowest < free:
            return here + lowest + 1 - bit
        here += free


@bare_helper
def seek(at: Any, posting: Any) -> Any:
    """(address of its block's numbers, their width, place of its first one, how many) of a posting of the block at an
    address: what ``positions.seek`` says."""
    rank = posting & (BLOCK - 1)
    head = np.int64(byte_at(at))
    at += 1
    if head < SEVERAL:
        return at, head, rank, np.int64(1)
    count, more = np.int64(byte_at(at)), np.int64(byte_at(at + 1))
    goes_on = count >> 7
    count = (count & 127) | (more & 127) * goes_on << 7
    at += 1 + goes_on
    shift = 14
    while goes_on and more > 127:  # seldom: a block of more than 16,383 positions
        more = np.int64(byte_at(at))
        count |= (more & 127) << shift
        shift += 7
        at += 1
    first = _after_ones(at, rank) if rank > 0 else np.int64(0)
    return at + ((count + 7) >> 3), head & WIDTH, first, _until_one(at, first)


@bare_helper
def read(at: Any, bit: Any, width: Any, count: Any, starts_at: Any, steps_at: Any, firsts: Any) -> Any:
    """The positions of a posting whose numbers begin at a bit, and which of them is the first of each field.

    ``starts_at`` is where the document's fields begin; behind the first of each field is how many there are in all.
    """
    before = eight(at, bit, width, np.int64(0), starts_at, steps_at) & (first_lanes(min(count, LANES)) * _EVERY_BYTE)
    for field in range(FIELD_COUNT - 1):
        firsts[field + 1] = ones_of((before >> np.uint64(8 * field)) & np.uint64(255))
    for begin in range(LANES, count, LANES):
        position = np.int64(word_at(steps_at + 8 * (begin - 1)))
        before = eight(at, bit + begin * width, width, position, starts_at, steps_at + 8 * begin)
        before &= first_lanes(min(count - begin, LANES)) * _EVERY_BYTE
        for field in range(FIELD_COUNT - 1):
            firsts[field + 1] += ones_of((before >> np.uint64(8 * field)) & np.uint64(255))
    firsts[0], firsts[FIELD_COUNT] = 0, count


@bare_helper
def gathered(
    steps: Any,
    firsts: Any,
    starts_at: Any,
    fields: Any,  # whose places are wanted, as bits
    label: Any,
    most: Any,  # places of a field
    places: Any,
    size: Any,  # of ``places`` so far
) -> Any:
    """Appends places of a posting, ascending; how many there are then. Eight are written where one is wanted."""
    rest = np.uint64(fields)
    while rest:
        field = lowest_of(rest)
        rest &= rest - np.uint64(1)
        first, count = firsts[field], min(firsts[field + 1] - firsts[field], most)
        start = np.int64(number_at(starts_at + 4 * field))
        same = (field << (LABEL_BITS + POSITION_BITS)) - (start << LABEL_BITS) + label
        for begin in range(0, count, LANES):
            for lane in range(LANES):
                places[size + begin + lane] = (steps[first + begin + lane] << LABEL_BITS) + same
        size += count
    return size


@bare_helper
def merged(source: Any, target: Any, ends: Any, runs: Any) -> Any:
    """Sorted runs of ``source`` as one, without what two of them have in common; whether it is in ``target`` then."""
    swapped = False
    while runs > 1:
        begin, made, at = np.int64(0), 0, np.int64(0)
        for run in range(0, runs, 2):
            left, middle = begin, ends[run]
            right, end = middle, ends[run + 1] if run + 1 < runs else middle
            while left < middle and right < end:
                one, other = source[left], source[right]
                target[at] = min(one, other)
                left += np.int64(one <= other)
                right += np.int64(other <= one)
                at += 1
            for rest in range(left, middle):
                target[at] = source[rest]
                at += 1
            for rest in range(right, end):
                target[at] = source[rest]
                at += 1
            ends[made] = at
            made += 1
            begin = end
        runs = made
        source, target = target, source
        swapped = not swapped
    return swapped


@bare_helper
def laid_out(places: Any, size: Any, ends: Any, positions: Any, words: Any) -> Any:
    """Places in order as ``features_of`` takes them, each once: where those of a field end, positions, words."""
    for field in range(FIELD_COUNT):
        ends[field] = 0
    total, before = np.int64(0), np.int64(-1)
    for at in range(size):
        place = places[at]
        positions[total] = (place >> LABEL_BITS) & POSITION
        words[total] = place & LABEL
        total += np.int64(place != before)
        ends[place >> (LABEL_BITS + POSITION_BITS)] = total
        before = place
    end = np.int64(0)
    for field in range(FIELD_COUNT):
        end = max(end, ends[field])
        ends[field] = end
