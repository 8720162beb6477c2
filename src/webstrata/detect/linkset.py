"""All links ever seen on a page, in a few kilobytes.

Up to 512 links the set is exact: their 64-bit hashes. Beyond, it becomes a Bloom filter of 8 KB. A Bloom filter never
calls a link new that was seen; with 5,000 links in it, one new link in a hundred is taken for known. When half of its
bits are set it is begun afresh with the links of the present version: from then on a link that had left the page long
ago may count as new again. `new links` grades a change and never hides one, so either error is bearable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import LINK

MOST_EXACT = 512
_BITS = 65_536
_HASHES = 5
_FILTER = _BITS // 8


def unseen(seen: bytes, links: bytes) -> int:
    """How many of the links are not in the set. `links` has rows of `LINK`, sorted, each once."""
    if not seen:
        return len(links) // LINK.itemsize
    now = _hashes(links)
    if _is_filter(seen):
        return int(np.count_nonzero(~_in_filter(_bits(seen), now)))
    return int(np.count_nonzero(~np.isin(now, _hashes(seen))))


def with_links(seen: bytes, links: bytes) -> bytes:
    """The set with the links of one more version in it."""
    if not seen and len(links) <= MOST_EXACT * LINK.itemsize:
        return links
    now = _hashes(links)
    if not _is_filter(seen):
        union = np.union1d(_hashes(seen), now)
        if len(union) <= MOST_EXACT:
            return union.astype(LINK).tobytes()
        bits, now = np.zeros(_BITS, dtype=np.bool_), union
    else:
        bits = _bits(seen)
        if np.count_nonzero(bits) > _BITS // 2:
            bits = np.zeros(_BITS, dtype=np.bool_)
    bits[_positions(now)] = True
    return np.packbits(bits).tobytes()


def _is_filter(seen: bytes) -> bool:
    return len(seen) == _FILTER


def _hashes(packed: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(packed[: len(packed) // LINK.itemsize * LINK.itemsize], dtype=LINK)


def _bits(seen: bytes) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(seen, dtype=np.uint8)).astype(np.bool_)


def _positions(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of each hash, one row each: double hashing with its two halves."""
    low, high = hashes & np.uint64(0xFFFFFFFF), (hashes >> np.uint64(32)) | np.uint64(1)
    steps = np.arange(_HASHES, dtype=np.uint64)[:, None]
    return (low[None, :] + steps * high[None, :]) % np.uint64(_BITS)


def _in_filter(bits: NDArray[np.bool_], hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.asarray(bits[_positions(hashes)].all(axis=0), dtype=np.bool_)
