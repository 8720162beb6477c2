from __future__ import annotations

import random

import pytest

from tests.observe.fingerprint_twin import mixed, simhash_of
from webstrata.observe.text_runs import distance, simhash


def test_mixing_is_murmurs() -> None:
    """The last steps of MurmurHash3 give its published hash of no bytes with seed 1, and keep 0."""
    assert (mixed(0), mixed(1)) == (0, 0x514E28B7)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 254, 255, 256, 257, 258, 511, 3_000])
def test_twin(number: int) -> None:
    """Texts of any number of words have the simhash that the twin computes word by word, whatever their bytes."""
    chance = random.Random(number)
    words = [chance.randbytes(chance.randrange(1, 40)).replace(b" ", b"x") for _ in range(number - 1)]
    words.append(b"y" * 5_000)
    assert simhash(b" ".join(words)) == simhash_of(words)


def test_one_word_again_and_again() -> None:
    """Counts do not overflow where every shingle is the same."""
    assert simhash(b" ".join([b"word"] * 100_000)) == simhash_of([b"word"] * 3)


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
