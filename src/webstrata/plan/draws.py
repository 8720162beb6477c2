"""Pseudo-random numbers by key: each number depends only on its host, replicate and count, not on a stream.

Therefore the n-th download of a host takes the same time whatever else is planned, a further document does not change
the earlier ones, and two plans can be compared download by download.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Numbers = NDArray[np.float64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_WORD = 2**64 - 1


def keys(names: Sequence[str]) -> Keys:
    """A number for each name, which is always the same."""
    return np.array([zlib.crc32(name.encode("utf-8", "replace")) for name in names], dtype=np.uint64)


def uniforms(of: Keys, replicate: int, count: NDArray[np.integer] | int) -> Numbers:
    """Numbers between 0 and 1, by key, replicate and count (SplitMix64 finalisers, one for each of them)."""
    mixed = _mix(of * _STEP + np.uint64((replicate + 1) * int(_MIX_1) & _WORD))
    counts = np.atleast_1d(np.asarray(count)).astype(np.uint64)
    bits = _mix(mixed + counts * _STEP) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def normals(of: Keys, replicate: int, use: int) -> Numbers:
    """Standard normal numbers, one for each key (Box and Muller); independent for each value of `use`."""
    # Counts of downloads are much smaller than 2**40.
    first = uniforms(of, replicate, 2**40 + 2 * use)
    second = uniforms(of, replicate, 2**40 + 2 * use + 1)
    numbers: Numbers = np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * np.pi * second)
    return numbers


def _mix(value: Keys) -> Keys:
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))
