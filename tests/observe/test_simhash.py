from __future__ import annotations

import random

import numpy as np

from tests.observe.fingerprint_twin import mixed, polynomial
from webstrata.observe.simhash import _BLOCK, _shingles, _word_hashes, distance, simhash

WORDS = 0x9E3779B1


def test_mixing_is_murmurs() -> None:
    """The last steps of MurmurHash3 give its published hash of no bytes with seed 1, and keep 0."""
    assert (mixed(0), mixed(1)) == (0, 0x514E28B7)


def test_shingles_at_once() -> None:
    """Many shingles at once give what the twin gives one by one, for both halves."""
    words = [random.Random(1).getrandbits(32) for _ in range(50)]
    for length in (1, 2, 3):
        low, high = _shingles(np.array(words, dtype=np.uint32), length)
        keys = [words[place : place + length] for place in range(len(words) - length + 1)]
        assert low.tolist() == [mixed(polynomial(key, 0xC2B2AE3D)) for key in keys]
        assert high.tolist() == [mixed(polynomial(key, 0x85EBCA77)) for key in keys]


def test_words_at_once() -> None:
    """All words of a text at once have the hashes that the twin gives one by one, whatever their bytes and length."""
    chance = random.Random(3)
    words = [chance.randbytes(chance.randrange(1, 40)).replace(b" ", b"x") for _ in range(500)]
    words += [b"y" * 5_000, "größe".encode()]
    assert _word_hashes(b" ".join(words)).tolist() == [polynomial(word, WORDS) for word in words]


def test_long_texts_and_long_words() -> None:
    """Texts longer than a block, and words longer than one, are hashed as if there were no blocks."""
    words = [b"%d" % number for number in range(60_000)]
    text = b" ".join([*words, b"z" * (_BLOCK + 10), *words])
    hashes = [polynomial(word, WORDS) for word in text.split()]
    high = _shingles(np.array(hashes, dtype=np.uint32), 3)[1]
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
