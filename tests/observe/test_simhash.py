from __future__ import annotations

import random

import numpy as np
import pytest

from tests.observe.fingerprint_twin import murmur, polynomial
from webstrata.observe.simhash import _BLOCK, _mixed, _murmur, _word_hashes, distance, simhash

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


def test_words_at_once() -> None:
    """All words of a text at once have the hashes that the twin gives one by one, whatever their bytes and length."""
    chance = random.Random(3)
    words = [chance.randbytes(chance.randrange(1, 40)).replace(b" ", b"x") for _ in range(500)]
    words += [b"y" * 5_000, "größe".encode()]
    assert _word_hashes(b" ".join(words)).tolist() == [polynomial(word) for word in words]


def test_long_texts_and_long_words() -> None:
    """Texts longer than a block, and words longer than one, are hashed as if there were no blocks."""
    words = [b"%d" % number for number in range(60_000)]
    text = b" ".join([*words, b"z" * (_BLOCK + 10), *words])
    hashes = [polynomial(word) for word in text.split()]
    high = _murmur(_mixed(np.array(hashes, dtype=np.uint32)), 3)[1]
    expected = sum(1 << bit for bit in range(32) if int((high >> np.uint32(bit) & np.uint32(1)).sum()) * 2 > len(high))
    found = simhash(text)
    assert found is not None
    assert found >> 32 == expected


def test_near_and_far() -> None:
    """One other word in a thousand moves few bits, another text about half; no words have no simhash."""
    chance = random.Random(2)
    words = [b"%d" % chance.randrange(500) for _ in range(1000)]
    other = [b"%d" % chance.randrange(500, 1000) for _ in range(1000)]
    texts = (b" ".join(one) for one in (words, [*words[:500], b"new", *words[501:]], other))
    one, edited, far = (simhash(text) for text in texts)
    assert one is not None
    assert edited is not None
    assert far is not None
    assert distance(one, edited) <= 6
    assert 16 <= distance(one, far) <= 48
    assert simhash(b"") is None
