"""Text -> 64 bits that differ in few places where the texts differ in few words.

Every three words in a row are hashed: each word by a polynomial over its bytes, the three by two polynomials over their
hashes, mixed. One gives the upper half, the other the lower. A bit of the result is set if more than half of these
hashes have it set. All of it works on 32-bit integers, so that it is a few lines in any language.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SHINGLE = 3

_Hashes = NDArray[np.uint32]

_FACTOR = 0x9E3779B1
_INVERSE = pow(_FACTOR, -1, 2**32)
_BLOCK = 1 << 18
"""Bytes of text whose words are hashed together."""

_HALVES = np.array([[0xC2B2AE3D], [0x85EBCA77]], dtype=np.uint32)  # factors for the lower and the upper half
_MIX = tuple((np.uint32(shift), np.uint32(factor)) for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)))
_BITS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)
"""What a byte adds to the counts of its eight bits, lowest first."""
_COLUMNS = np.arange(8) * 256


def simhash(text: bytes) -> int | None:
    """Of words in UTF-8, one space apart; None if there are none. A text of fewer than three words is one shingle."""
    if not text:
        return None
    hashes = (
        np.concatenate([_word_hashes(block) for block in _blocks(text)]) if len(text) > _BLOCK else _word_hashes(text)
    )
    halves = _shingles(hashes, min(SHINGLE, len(hashes)))
    return _majority(np.ascontiguousarray(halves.T, dtype="<u4"))


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits they differ."""
    return (one ^ other).bit_count()


def _blocks(text: bytes) -> Iterator[bytes]:
    """The text in pieces of whole words."""
    start = 0
    while start < len(text):
        end = text.find(b" ", start + _BLOCK)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _word_hashes(text: bytes) -> _Hashes:
    """Of each word: start with 0, and for each byte multiply by `_FACTOR` and add the byte, modulo 2^32.

    All words at once: with sums of bytes times negative powers up to each place, a word is the difference of two sums,
    times a power.
    """
    array = np.frombuffer(text, dtype=np.uint8)
    powers, inverses = _powers(len(array))
    sums = np.zeros(len(array) + 1, dtype=np.uint32)
    np.cumsum(array * inverses, dtype=np.uint32, out=sums[1:])
    spaces = np.flatnonzero(array == _SPACE)
    starts, ends = np.concatenate(([0], spaces + 1)), np.concatenate((spaces, [len(array)]))
    hashes: _Hashes = (sums[ends] - sums[starts]) * powers[ends - 1]
    return hashes


_SPACE = 0x20


def _powers(length: int) -> tuple[_Hashes, _Hashes]:
    """Powers of the factor and of its inverse, from 0 on."""
    size = 1 << max(12, (length - 1).bit_length())
    powers, inverses = _tables(size) if size <= 2 * _BLOCK else _tables.__wrapped__(size)
    return powers[:length], inverses[:length]


@lru_cache(maxsize=8)
def _tables(size: int) -> tuple[_Hashes, _Hashes]:
    powers, inverses = np.full((2, size), [[_FACTOR], [_INVERSE]], dtype=np.uint32)
    powers[0] = inverses[0] = 1
    return np.multiply.accumulate(powers, dtype=np.uint32), np.multiply.accumulate(inverses, dtype=np.uint32)


def _shingles(hashes: _Hashes, length: int) -> _Hashes:
    """The hash of every `length` words in a row: a row for the lower halves, and one for the upper."""
    number = len(hashes) - length + 1
    state = np.zeros((2, number), dtype=np.uint32)
    for start in range(length):
        state *= _HALVES
        state += hashes[start : start + number]
    for shift, factor in _MIX:
        state ^= state >> shift
        state *= factor
    return state


def _majority(hashes: _Hashes) -> int:
    """The bits that more than half of the hashes (rows of two halves, the lower first) have."""
    places = hashes.view(np.uint8).reshape(-1, 8) + _COLUMNS
    bytes_seen = np.bincount(places.ravel(), minlength=8 * 256).reshape(8, 256)
    counts = bytes_seen.astype(np.float64) @ _BITS
    return int.from_bytes(np.packbits(counts.ravel() * 2 > len(hashes), bitorder="little").tobytes(), "little")
