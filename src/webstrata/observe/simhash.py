"""Words -> 64 bits that differ in few places where the texts differ in few words.

Every three words in a row are hashed: each word by CRC-32, the three together by two MurmurHash3 (x86, 32 bits) with
different seeds, of which the first gives the upper half. A bit of the result is set if more than half of these hashes
have it set. All of it works on 32-bit integers, so that it is a few lines in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

SHINGLE = 3

_Hashes = NDArray[np.uint32]

_SEEDS = np.array([[0x9E3779B9], [0]], dtype=np.uint32)  # of the lower and the upper half
_C1, _C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
_FIVE, _PLUS = np.uint32(5), np.uint32(0xE6546B64)
_BY_13, _BY_15 = (np.uint32(13), np.uint32(19)), (np.uint32(15), np.uint32(17))
_BY_16 = np.uint32(16)
_LAST = ((_BY_16, np.uint32(0x85EBCA6B)), (np.uint32(13), np.uint32(0xC2B2AE35)))
_BITS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)
"""What a byte adds to the counts of its eight bits, lowest first."""
_COLUMNS = np.arange(8) * 256


def simhash(words: Sequence[bytes]) -> int | None:
    """Of a text given as its words in UTF-8; None if there are none. A text of fewer than three is one shingle."""
    if not words:
        return None
    hashes = np.fromiter(map(crc32, words), dtype=np.uint32, count=len(words))
    halves = _murmur(_mixed(hashes), min(SHINGLE, len(words)))
    return _majority(np.ascontiguousarray(halves.T, dtype="<u4"))


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits they differ."""
    return (one ^ other).bit_count()


def _mixed(hashes: _Hashes) -> _Hashes:
    """What MurmurHash3 does to each 32-bit word of a key before it comes to the others."""
    mixed = hashes * _C1
    mixed = _turned(mixed, *_BY_15)
    mixed *= _C2
    return mixed


def _murmur(mixed: _Hashes, length: int) -> _Hashes:
    """MurmurHash3_x86_32 of every `length` words in a row, in one row for each seed."""
    number = len(mixed) - length + 1
    state = np.repeat(_SEEDS, number, axis=1)
    for start in range(length):
        state ^= mixed[start : start + number]
        state = _turned(state, *_BY_13)
        state *= _FIVE
        state += _PLUS
    state ^= np.uint32(4 * length)
    for shift, factor in _LAST:
        state ^= state >> shift
        state *= factor
    state ^= state >> _BY_16
    return state


def _turned(values: _Hashes, left: np.uint32, right: np.uint32) -> _Hashes:
    turned = values << left
    turned |= values >> right
    return turned


def _majority(hashes: _Hashes) -> int:
    """The bits that more than half of the hashes (rows of two halves, the lower first) have."""
    places = hashes.view(np.uint8).reshape(-1, 8) + _COLUMNS
    bytes_seen = np.bincount(places.ravel(), minlength=8 * 256).reshape(8, 256)
    counts = bytes_seen.astype(np.float64) @ _BITS
    return int.from_bytes(np.packbits(counts.ravel() * 2 > len(hashes), bitorder="little").tobytes(), "little")
