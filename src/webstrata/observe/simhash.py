"""Text -> 64 bits that differ in few places where the texts differ in few words.

Every three words in a row are hashed: each word by a polynomial over its bytes, the three by two polynomials over their
hashes, mixed. One gives the upper half, the other the lower. A bit of the result is set if more than half of these
hashes have it set. All of it works on 32-bit integers, so that it is a few lines in any language.
"""

from __future__ import annotations

from webstrata.observe.kernel import library as kernel


def simhash(text: bytes) -> int | None:
    """Of words in UTF-8, one space apart; None if there are none. A text of fewer than three words is one shingle."""
    return int(kernel.simhash(text, len(text))) if text else None


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits they differ."""
    return (one ^ other).bit_count()
