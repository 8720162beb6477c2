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
_SEEDS = (np.uint32(0), np.uint32(0x9E3779B9))

_Words = NDArray[np.uint32]

# What a byte adds to the counts of its eight bits, lowest first.
_BITS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.int64)


def simhash(words: Sequence[bytes]) -> int | None:
    """Of a text given as its words in UTF-8; None if there are none. A text of fewer than three is one shingle."""
    if not words:
        return None
    hashes = np.fromiter(map(crc32, words), dtype=np.uint32, count=len(words))
    length = min(SHINGLE, len(words))
    number = len(words) - length + 1
    shingles = [hashes[start : start + number] for start in range(length)]
    low, high = (_majority(_murmur(shingles, seed)) for seed in reversed(_SEEDS))
    return high << 32 | low


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits they differ."""
    return (one ^ other).bit_count()


def _majority(hashes: _Words) -> int:
    """The bits that more than half of the hashes have."""
    columns = hashes.astype("<u4", copy=False).view(np.uint8).reshape(-1, 4)
    counts = np.concatenate([np.bincount(columns[:, place], minlength=256) @ _BITS for place in range(4)])
    return int.from_bytes(np.packbits(counts * 2 > len(hashes), bitorder="little").tobytes(), "little")


def _murmur(blocks: Sequence[_Words], seed: np.uint32) -> _Words:
    """MurmurHash3_x86_32 of as many keys as the columns are long, each made of one 32-bit word per column."""
    state = np.full(len(blocks[0]), seed)
    for block in blocks:
        mixed = block * np.uint32(0xCC9E2D51)
        mixed = mixed << np.uint32(15) | mixed >> np.uint32(17)
        state ^= mixed * np.uint32(0x1B873593)
        state = state << np.uint32(13) | state >> np.uint32(19)
        state = state * np.uint32(5) + np.uint32(0xE6546B64)
    state ^= np.uint32(4 * len(blocks))
    state ^= state >> np.uint32(16)
    state *= np.uint32(0x85EBCA6B)
    state ^= state >> np.uint32(13)
    state *= np.uint32(0xC2B2AE35)
    return state ^ state >> np.uint32(16)
