"""Hashes of texts: a 64-bit hash, and a sketch by which the number of differing words can be estimated.

A sketch has 64 bits, of which each word (or value of a data field) inverts one. Words that two texts have in common
cancel out, so two sketches differ in about as many bits as the texts have other words (`detect/comparison.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from zlib import crc32

import numpy as np

_MANY = 64
"""From this number of words on, NumPy is faster than a loop."""


def hash64(content: str | bytes) -> int:
    """A 64-bit hash; texts are hashed in UTF-8."""
    packed = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return int.from_bytes(blake2b(packed, digest_size=8).digest(), "little")


def sketch_of(words: Sequence[bytes]) -> int:
    """The sketch of some words in UTF-8."""
    if len(words) >= _MANY:
        bits = np.fromiter(map(crc32, words), dtype=np.uint32, count=len(words)) & np.uint32(63)
        odd = np.bincount(bits, minlength=64) & 1
        return int.from_bytes(np.packbits(odd.astype(np.bool_), bitorder="little").tobytes(), "little")
    sketch = 0
    for word in words:
        sketch ^= 1 << (crc32(word) & 63)
    return sketch
