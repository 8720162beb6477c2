from __future__ import annotations

import random

import numpy as np
import pytest

from tests.observe.fingerprint_twin import crc, murmur
from webstrata.observe.simhash import _mixed, _murmur, distance, simhash

# Published values of MurmurHash3_x86_32: key of one 32-bit word, seed, hash.
PUBLISHED = [
    (0x00000000, 0, 0x2362F9DE),
    (0xFFFFFFFF, 0, 0x76293B50),
    (0x87654321, 0, 0xF55B516B),
    (0x87654321, 0x5082EDEE, 0x2362F9DE),
    (0x61616161, 0x9747B28C, 0x5A97808A),
]


@pytest.mark.parametrize(("key", "seed", "expected"), PUBLISHED)
def test_twin_is_murmur(key: int, seed: int, expected: int) -> None:
    """The twin gives the published values."""
    assert murmur([key], seed) == expected


def test_columns_are_murmur() -> None:
    """Many keys at once give what the twin gives one by one, for both seeds."""
    words = [random.Random(1).getrandbits(32) for _ in range(50)]
    for length in (1, 2, 3):
        low, high = _murmur(_mixed(np.array(words, dtype=np.uint32)), length)
        keys = [words[place : place + length] for place in range(len(words) - length + 1)]
        assert low.tolist() == [murmur(key, 0x9E3779B9) for key in keys]
        assert high.tolist() == [murmur(key, 0) for key in keys]


def test_twin_is_crc() -> None:
    """The check value that every description of CRC-32 gives."""
    assert crc(b"123456789") == 0xCBF43926


def test_near_and_far() -> None:
    """One other word in a thousand moves few bits, another text about half; no words have no simhash."""
    chance = random.Random(2)
    words = [b"%d" % chance.randrange(500) for _ in range(1000)]
    other = [b"%d" % chance.randrange(500, 1000) for _ in range(1000)]
    one, edited, far = simhash(words), simhash([*words[:500], b"new", *words[501:]]), simhash(other)
    assert one is not None
    assert edited is not None
    assert far is not None
    assert distance(one, edited) <= 6
    assert 16 <= distance(one, far) <= 48
    assert simhash([]) is None
